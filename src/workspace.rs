//! The repository in play: what the developer sees, frozen into a base of our own.
//!
//! Invariants: the developer's tree is only ever read, and nothing is run in it. A base is visible
//! under its final name only when it is complete, and is never written again. Two bases of one
//! content have one id.

mod apply;
mod base;
mod blobs;
mod build;
mod commit;
mod error;
mod files;
mod freeze;
mod git;
mod history;
mod known;
mod listing;
mod practice_tree;
mod products;
mod prune;
mod report;
mod seen;
mod shown;
mod skip;
mod state;
#[cfg(test)]
mod tests;
mod upkeep;

pub use apply::{NotApplied, Planned};
pub use base::{Base, Drift};
pub use commit::files_at;
pub use error::Error;
pub use freeze::{Freezing, Unsaved};
pub use git::{Head, Vcs};
pub use history::{Commit, Gone, History, NoHistory, Revision, Wanted};
pub use practice_tree::Edited;
pub use products::Products;
pub use report::FreezeReport;
pub use upkeep::{OldBase, Upkeep, size as disk_size, states};

use crate::tree::Changes;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The root that a state directory is of.
pub fn root_of_state(state: &Path) -> Option<PathBuf> {
    state::root_of(state)
}

/// A directory opened for play, with its own state directory.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Canonical. Always the directory that was asked for, also where the git repository around it
    /// begins further up: what is played on is then the part of that repository below `root`.
    pub root: PathBuf,
    /// This workspace's own state directory, mode 0700.
    pub state: PathBuf,
}

impl Workspace {
    /// `state_root` is the parent of all workspaces' state directories; it is made if absent.
    pub fn open(dir: &Path, state_root: &Path) -> Result<Self, Error> {
        let root = git::playable_root(dir)?;
        let state = state::open(&root, state_root)?;
        Ok(Self { root, state })
    }

    /// `owner`: uid and gid the base's files must have (see `Sandbox::owner`).
    pub fn freeze(&self, owner: Option<(u32, u32)>) -> Result<Base, Error> {
        self.freeze_unsaved(owner, &Unsaved::new())
    }

    /// `freeze` with what an editor has not saved.
    pub fn freeze_unsaved(
        &self,
        owner: Option<(u32, u32)>,
        unsaved: &Unsaved,
    ) -> Result<Base, Error> {
        let unsaved = unsaved.clone();
        self.freeze_with(&Freezing { owner, unsaved, ..Freezing::at(SystemTime::now()) })
    }

    /// `freeze` with the clock and the limits given. The base's `report` tells what it took.
    pub fn freeze_with(&self, options: &Freezing) -> Result<Base, Error> {
        freeze::freeze(self, options)
    }

    /// The base with this id; `None` where it was pruned.
    pub fn base(&self, id: &str, owner: Option<(u32, u32)>) -> Result<Option<Base>, Error> {
        freeze::frozen(self, id, &Freezing { owner, ..Freezing::at(SystemTime::now()) })
    }

    /// Keeps a base until then, whatever else is frozen meanwhile, for whoever is named (the id of what rests
    /// on it). Only `state prune`, which knows what is still open, takes it sooner.
    pub fn pin(&self, base: &Base, by: &str, until: SystemTime) -> Result<(), Error> {
        let _held = state::lock(&self.state)?;
        base.dir.parent().map_or(Ok(()), |home| prune::pin(home, by, until))
    }

    /// Lets go of what is pinned for somebody.
    pub fn unpin(&self, by: &str) -> Result<(), Error> {
        let _held = state::lock(&self.state)?;
        prune::unpin(&self.state, by)
    }

    /// `base` with `changes` as a tree of its own, in which nothing tells what was changed.
    pub fn show(
        &self,
        base: &Base,
        changes: &Changes,
        owner: Option<(u32, u32)>,
    ) -> Result<Base, Error> {
        let options = Freezing { owner, ..Freezing::at(SystemTime::now()) };
        shown::show(self, base, changes, &options)
    }

    /// The version control around the root; `None` for a plain folder.
    pub fn vcs(&self) -> Result<Option<Vcs>, Error> {
        git::describe(&self.root)
    }

    /// Whether there is a history that may be read; the reason where there is none.
    pub fn has_history(&self) -> Result<(), NoHistory> {
        history::readable(&self.root)
    }

    /// What commits changed in files of `base`; newest first, bounded. `cancelled` is asked now and
    /// then.
    pub fn history(
        &self,
        base: &Base,
        wanted: &Wanted,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<History, NoHistory> {
        history::read(&self.root, base, wanted, cancelled)
    }
}
