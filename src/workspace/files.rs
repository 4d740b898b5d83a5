//! Reading the developer's files without touching them, and stamping our own.

use super::error::Error;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The time that everything in a base carries, seconds since 1970. One value for all bases, because
/// byte-code caches are keyed by time and size: what a base did not change keeps its cache. What a
/// patch writes is newer.
pub(super) const BASE_TIME: i64 = 1_000_000_000;

/// What tells that a file was not written between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) size: u64,
    /// Nanoseconds since 1970.
    pub(super) modified: i64,
    pub(super) changed: i64,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) executable: bool,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let nanos =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: metadata.size(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
            device: metadata.dev(),
            inode: metadata.ino(),
            executable: metadata.mode() & 0o100 != 0,
        }
    }
}

/// The content of a regular file that has `stamp` before and after it was read.
pub(super) fn read_steady(path: &Path, stamp: Stamp) -> Result<Vec<u8>, Error> {
    let changing = || Error::Changing { path: path.to_path_buf() };
    let read = || -> io::Result<Option<Vec<u8>>> {
        let mut file = open_quietly(path)?;
        let before = file.metadata()?;
        if !before.is_file() || Stamp::of(&before) != stamp {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0));
        file.by_ref().take(stamp.size.saturating_add(1)).read_to_end(&mut bytes)?;
        let steady = bytes.len() as u64 == stamp.size && Stamp::of(&file.metadata()?) == stamp;
        Ok(steady.then_some(bytes))
    };
    read().map_err(|error| Error::source_file(path, error))?.ok_or_else(changing)
}

/// Opens for reading: no link followed, no waiting on a FIFO, and where the system allows it (only
/// to the file's owner) without a new access time.
fn open_quietly(path: &Path) -> io::Result<File> {
    let open = |extra| {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | extra;
        OpenOptions::new().read(true).custom_flags(flags).open(path)
    };
    #[cfg(target_os = "linux")]
    match open(libc::O_NOATIME) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
        opened => return opened,
    }
    open(0)
}

/// Gives a file, directory or link of ours the base's time.
pub(super) fn set_base_time(path: &Path) -> io::Result<()> {
    let time = Timespec { tv_sec: BASE_TIME, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
