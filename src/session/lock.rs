//! Who works on something holds the lock of its file, which the system lets go however the process ends.

use super::Error;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Opens and locks the file of an id; `None` where another process holds it, or did so and removed it.
pub(super) fn locked(dir: &Path, id: &str) -> Result<Option<(PathBuf, File)>, Error> {
    let path = dir.join(format!("{id}.lock"));
    let attempt = || -> io::Result<Option<File>> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
        let ours = file.metadata()?;
        let there = path.metadata().is_ok_and(|there| there.ino() == ours.ino());
        Ok(there.then_some(file))
    };
    let file = attempt().map_err(|error| cannot(&path, &error))?;
    Ok(file.map(|file| (path, file)))
}

pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot(path, &error)),
        _ => Ok(()),
    }
}

pub(super) fn cannot(path: &Path, error: &io::Error) -> Error {
    Error::harness(anyhow::anyhow!(
        "the lock {} cannot be used ({error}); check the permissions of its directory or choose another \
         state directory",
        path.display()
    ))
}
