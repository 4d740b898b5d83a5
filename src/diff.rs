//! A patch over bytes: parse, print, apply, reverse, make; and the policy of what a patch may touch.

use crate::tree::{Changes, RelPath, Tree};

/// A parsed patch that passed the policy: text hunks on regular files inside the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {}

/// Why a patch is refused before anything is applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {}

/// Why a patch does not apply to a tree. An outcome: never treated as "unchanged".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyFailure {}

impl Patch {
    pub fn parse(_bytes: &[u8]) -> Result<Self, Refusal> {
        todo!()
    }
    /// The patch that turns `base` into `base` with `changes`: git format, 3 lines of context,
    /// paths sorted. Entries equal to the base are left out.
    pub fn between(_base: &dyn Tree, _changes: &Changes) -> Self {
        todo!()
    }
    pub fn to_bytes(&self) -> Vec<u8> {
        todo!()
    }
    #[must_use]
    pub fn reversed(&self) -> Self {
        todo!()
    }
    /// What applying to `tree` changes. Strict: context must match; a hunk may have moved only if it
    /// fits in exactly one place.
    pub fn apply(&self, _tree: &dyn Tree) -> Result<Changes, ApplyFailure> {
        todo!()
    }
    /// Every path the patch names, old and new, sorted.
    pub fn paths(&self) -> Vec<RelPath> {
        todo!()
    }
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// Added and removed lines.
    pub fn changed_lines(&self) -> (usize, usize) {
        todo!()
    }
}
