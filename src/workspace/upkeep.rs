//! What the state directories take, and taking some of it back: for whoever keeps a size budget.

use super::blobs::Blobs;
use super::error::Error;
use super::prune::{homes, remove};
use super::state::{lock, lock_file};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The state directory of one workspace, with its lock: nobody freezes a tree meanwhile.
pub struct Upkeep {
    pub state: PathBuf,
    _held: File,
}

/// A frozen copy that may be removed.
#[derive(Clone, Debug)]
pub struct OldBase {
    home: PathBuf,
    pub used: SystemTime,
}

impl OldBase {
    /// Whether it is a copy of the base with this id, for whatever owner.
    pub fn is_of(&self, base: &str) -> bool {
        let name = self.home.file_name().unwrap_or_default().to_string_lossy();
        name.split('-').next() == Some(base)
    }
}

impl Upkeep {
    pub fn of(state: &Path) -> Result<Self, Error> {
        Ok(Self { state: state.to_path_buf(), _held: lock(state)? })
    }

    /// The frozen copies that no process uses, and whether some process uses another one.
    pub fn bases(&self) -> Result<(Vec<OldBase>, bool), Error> {
        let found = || -> io::Result<_> {
            let (mut old, mut in_use) = (Vec::new(), false);
            for home in homes(&self.state)? {
                let lock = lock_file(&home.join("lock"))?;
                let used = lock.metadata()?.modified()?;
                if lock.try_lock().is_ok() {
                    old.push(OldBase { home, used });
                } else {
                    in_use = true;
                }
            }
            Ok((old, in_use))
        };
        found().map_err(|error| Error::state(&self.state, error))
    }

    /// Removes a frozen copy with the contents that only it had.
    pub fn remove_base(&self, base: &OldBase) -> Result<(), Error> {
        let removed = || -> io::Result<()> {
            // Its lock is free: nobody can have taken it since without the workspace's.
            remove(&self.state, &base.home)
        };
        removed().map_err(|error| Error::state(&base.home, error))?;
        let blobs = Blobs::open(&self.state, None)?;
        blobs.sweep().map_err(|error| Error::state(&self.state, error))
    }
}

/// Every workspace's state directory below `state_root`, sorted.
pub fn states(state_root: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(state_root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Error::state(state_root, error))?,
    };
    let mut states: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("workspace.json").is_file())
        .collect();
    states.sort();
    Ok(states)
}

/// Bytes on disk of everything below `dir`; a file of several names counts once. What vanishes
/// meanwhile counts for nothing.
pub fn size(dir: &Path) -> u64 {
    let (mut bytes, mut seen, mut todo) = (0, BTreeSet::new(), vec![dir.to_path_buf()]);
    while let Some(path) = todo.pop() {
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_dir() {
            todo.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()));
        }
        if found.is_dir() || found.nlink() == 1 || seen.insert((found.dev(), found.ino())) {
            bytes += found.blocks() * 512;
        }
    }
    bytes
}
