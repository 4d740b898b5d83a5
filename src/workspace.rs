//! The repository in play: what the developer sees, frozen into a base of our own.

use crate::tree::{File, RelPath, Tree};
use std::path::{Path, PathBuf};

/// A frozen copy of what the developer sees, made once per content, never written again.
#[derive(Clone, Debug)]
pub struct Base {
    /// SHA-256 over the listing and contents.
    pub id: String,
    /// The directory that serves as the lowest layer.
    pub dir: PathBuf,
    /// The original root: where the tree appears in a sandbox.
    pub root: PathBuf,
}

impl Tree for Base {
    fn read(&self, _path: &RelPath) -> Option<File> {
        todo!()
    }
    fn paths(&self) -> Vec<RelPath> {
        todo!()
    }
}

/// A directory opened for play, with its own state directory.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Canonical.
    pub root: PathBuf,
    /// This workspace's own state directory, mode 0700.
    pub state: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {}

impl Workspace {
    /// `state_root` is the parent of all workspaces' state directories.
    pub fn open(_dir: &Path, _state_root: &Path) -> Result<Self, Error> {
        todo!()
    }
    /// `owner`: uid and gid the base's files must have (see `Sandbox::owner`).
    pub fn freeze(&self, _owner: Option<(u32, u32)>) -> Result<Base, Error> {
        todo!()
    }
}
