//! Reads a run's output files when no process is left, and takes nothing but regular files.

use super::Collected;
use super::write::BENEATH;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::path::Path;

/// The file at an absolute path inside, if it is a regular file of at most `limit` bytes that is
/// reached without a symbolic link.
pub(super) fn collect(root: impl AsFd, path: &Path, limit: u64) -> Collected {
    let Ok(below) = path.strip_prefix("/") else {
        return Collected::Refused("the path is not absolute".into());
    };
    // A FIFO must not hold the open up.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::openat2(root, below, flags, Mode::empty(), BENEATH) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return Collected::Missing,
        Err(Errno::LOOP) => return Collected::Refused("a symbolic link".into()),
        Err(Errno::XDEV) => return Collected::Refused("the path leaves the sandbox".into()),
        Err(errno) => return Collected::Refused(errno.to_string()),
    };
    match read_regular(file.into(), limit) {
        Ok(bytes) => Collected::File(bytes),
        Err(reason) => Collected::Refused(reason),
    }
}

/// The content of an open regular file of at most `limit` bytes; the reason for a refusal otherwise.
pub(super) fn read_regular(file: File, limit: u64) -> Result<Vec<u8>, String> {
    let stat = rustix::fs::fstat(&file).map_err(|errno| errno.to_string())?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        kind => return Err(kind_name(kind).into()),
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > limit {
        return Err(format!("larger than the limit: {size} bytes, {limit} allowed"));
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

pub(super) fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "a file of an unknown kind",
    }
}
