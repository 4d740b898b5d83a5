//! The room that a role is given: the same for a model, and for an agent that calls.

use super::Error;
use crate::grading::Task;
use crate::harness::{Audience, Harness};
use crate::scaffold::{Furnishing, Room};
use crate::tree::Changes;
use crate::workspace::Workspace;

/// Where roles are played.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    pub harness: &'a Harness,
    pub workspace: &'a Workspace,
}

/// What a room begins with.
pub struct Scene<'a> {
    /// What a solver is given; `None` for an injector, whose tree is the base.
    pub task: Option<&'a Task>,
    /// What was changed in the tree that is shown.
    pub changes: Changes,
    pub files: Vec<(String, Vec<u8>)>,
    /// The state of the shell; empty for a new one.
    pub shell: Vec<u8>,
}

impl Stage<'_> {
    pub fn open(&self, scene: Scene<'_>) -> Result<Room, Error> {
        let Scene { task, changes, files, shell } = scene;
        let harness = self.harness;
        let tree = match task {
            Some(task) => self.workspace.show(harness.base(), &task.changes, harness.owner())?,
            None => harness.base().clone(),
        };
        let none = Changes::new();
        let furnishing = Furnishing {
            tree,
            changes,
            hidden: task.map_or(&none, |task| &task.changes),
            audience: if task.is_some() { Audience::Solver } else { Audience::Check },
            files,
            shell,
        };
        Ok(Room::open(harness, furnishing)?)
    }
}
