//! Which round a path belongs to: an editor that has a practice tree open knows the tree alone.

use super::PracticeRef;
use crate::session::{Repository, Session};
use crate::workspace;
use std::path::{Path, PathBuf};

/// A practice tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PracticePlace {
    /// The round's id.
    pub practice: String,
    pub tree: PathBuf,
    /// The repository that the bug is of.
    pub root: PathBuf,
}

impl PracticePlace {
    pub fn round(&self) -> PracticeRef {
        let repository = Repository { dir: Some(self.root.clone()), ..Repository::default() };
        PracticeRef { repository, id: Some(self.practice.clone()) }
    }
}

impl Session {
    /// The practice tree that holds a path: `STATE/WORKSPACE/practice/ID/NAME` or anything in it.
    pub fn practice_at(&self, path: &Path) -> Option<PracticePlace> {
        let state_root = self.config().state_root().ok()?;
        // An editor may name either by another way to it.
        let spellings = [state_root.to_owned(), state_root.canonicalize().ok()?];
        let found = spellings.iter().find(|spelling| path.starts_with(spelling))?;
        let inside: Vec<&str> = path
            .strip_prefix(found)
            .ok()?
            .iter()
            .map(|part| part.to_str())
            .collect::<Option<_>>()?;
        let [workspace, "practice", practice, name, ..] = inside.as_slice() else { return None };
        let state = found.join(workspace);
        let tree = state.join("practice").join(practice).join(name);
        let root = workspace::root_of_state(&state)?;
        Some(PracticePlace { practice: (*practice).to_owned(), tree, root })
    }
}
