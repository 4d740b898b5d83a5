//! File contents by digest: written once, shared by all bases through hard links.

use super::error::Error;
use super::files::{BASE_TIME, set_base_time};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// Uid and gid that files must have, if it matters.
pub(super) type Owner = Option<(u32, u32)>;

pub(super) struct Blobs {
    dir: PathBuf,
    owner: Owner,
}

impl Blobs {
    /// The caller holds the workspace's lock for as long as this is used to write.
    pub(super) fn open(state: &Path, owner: Owner) -> Result<Self, Error> {
        let dir = state.join("blobs");
        let made = fs::create_dir_all(&dir).and_then(|()| remove_if_there(&dir.join(".new")));
        made.map_err(|error| Error::state(&dir, error))?;
        Ok(Self { dir, owner })
    }

    /// A hard link shares its mode with the blob, so each mode has a blob of its own.
    pub(super) fn path(&self, sha256: &str, executable: bool) -> PathBuf {
        self.dir.join(if executable { format!("{sha256}.x") } else { sha256.to_owned() })
    }

    /// Whether the blob is there, has the right owner and was not written to: a base's files are
    /// the blobs themselves, so a base that was damaged must not damage the next.
    pub(super) fn has(&self, sha256: &str, executable: bool, size: u64) -> bool {
        let is_sound = |metadata: fs::Metadata| {
            self.owner.is_none_or(|owner| owner == (metadata.uid(), metadata.gid()))
                && metadata.size() == size
                && metadata.mtime() == BASE_TIME
        };
        self.path(sha256, executable).symlink_metadata().is_ok_and(is_sound)
    }

    pub(super) fn put(&self, sha256: &str, executable: bool, bytes: &[u8]) -> Result<(), Error> {
        let partial = self.dir.join(".new");
        let write = || -> io::Result<()> {
            remove_if_there(&partial)?;
            fs::write(&partial, bytes)?;
            own(&partial, self.owner)?;
            let mode = if executable { 0o755 } else { 0o644 };
            fs::set_permissions(&partial, Permissions::from_mode(mode))?;
            set_base_time(&partial)?;
            fs::rename(&partial, self.path(sha256, executable))
        };
        write().map_err(|error| Error::state(&partial, error))
    }

    /// Removes what no base links to. Where the file system has no hard links this removes
    /// everything, which costs a copy and nothing else.
    pub(super) fn sweep(&self) -> io::Result<()> {
        for blob in fs::read_dir(&self.dir)? {
            let blob = blob?;
            if blob.metadata()?.nlink() == 1 {
                fs::remove_file(blob.path())?;
            }
        }
        Ok(())
    }
}

pub(super) fn own(path: &Path, owner: Owner) -> io::Result<()> {
    owner.map_or(Ok(()), |(uid, gid)| chown(path, Some(uid), Some(gid)))
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
