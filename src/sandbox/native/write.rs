//! Writes files into the view without ever following what a command may have left there.

use crate::tree::Changes;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::io::Errno;
use rustix::time::ClockId;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Which path, and why it was not written.
pub(super) type NotWritten = (String, String);

/// Opens below a directory with no symbolic link on the way, at the end, or through `/proc`.
pub(super) const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Lays changes over the tree at `root`. Deletions come first, so that a file may take a directory's place.
pub(super) fn lay(root: impl AsFd, changes: &Changes) -> Result<(), NotWritten> {
    let named = |path: &dyn ToString, errno: Errno| (path.to_string(), errno.to_string());
    for (path, _) in changes.iter().filter(|(_, file)| file.is_none()) {
        delete(&root, path.as_str()).map_err(|errno| named(path, errno))?;
    }
    for (path, file) in changes.iter() {
        if let Some(file) = file {
            let mode = if file.executable { 0o755 } else { 0o644 };
            put(&root, Path::new(path.as_str()), &file.bytes, mode)
                .map_err(|errno| named(path, errno))?;
        }
    }
    Ok(())
}

/// Writes a step's own files: absolute paths below `tmp`.
pub(super) fn files(place: &Path, files: &[(PathBuf, Vec<u8>, u32)]) -> Result<(), NotWritten> {
    let shown = |path: &Path| path.display().to_string();
    if files.is_empty() {
        return Ok(());
    }
    let tmp = open_dir(rustix::fs::CWD, place, ResolveFlags::empty())
        .map_err(|errno| (shown(place), errno.to_string()))?;
    for (path, bytes, mode) in files {
        let below =
            path.strip_prefix(place).map_err(|_| (shown(path), "it is not below /tmp".into()))?;
        put(&tmp, below, bytes, *mode).map_err(|errno| (shown(path), errno.to_string()))?;
    }
    Ok(())
}

fn open_dir(root: impl AsFd, path: &Path, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)
}

/// Makes the file anew: what was there, whatever it was but a directory, is unlinked and not opened.
fn put(root: impl AsFd, path: &Path, bytes: &[u8], mode: u32) -> Result<(), Errno> {
    let (parent, name) =
        (path.parent().unwrap_or(Path::new("")), path.file_name().ok_or(Errno::INVAL)?);
    let dir = make_dirs(root.as_fd(), parent)?;
    let before = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => {
            rustix::fs::unlinkat(&dir, name, AtFlags::empty())?;
            Some(stat.st_mtime)
        }
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(errno),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file =
        File::from(rustix::fs::openat(&dir, name, flags, Mode::from_raw_mode(mode & 0o777))?);
    file.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let time = stamp(before);
    rustix::fs::futimens(&file, &Timestamps { last_access: time, last_modification: time })
}

/// Now, and at least two whole seconds after the file that was there.
///
/// Build tools take a source for changed if it is newer than what was built from it; Python's
/// compiled files remember whole seconds of it and the size, nothing else.
fn stamp(before: Option<i64>) -> Timespec {
    let now = rustix::time::clock_gettime(ClockId::Realtime);
    match before {
        Some(before) if now.tv_sec < before + 2 => {
            Timespec { tv_sec: before + 2, tv_nsec: now.tv_nsec }
        }
        _ => now,
    }
}

/// A directory below another, made where it is missing.
pub(super) fn make_dirs(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    match open_dir(root, path, BENEATH) {
        Err(Errno::NOENT) => {
            let (parent, name) =
                (path.parent().ok_or(Errno::NOENT)?, path.file_name().ok_or(Errno::NOENT)?);
            let parent = make_dirs(root, parent)?;
            rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755))?;
            open_dir(parent, Path::new(name), BENEATH)
        }
        other => other,
    }
}

/// Unlinks a file that may be gone already, and the directories that it leaves empty, as version
/// control does: an empty directory can still be an importable package.
fn delete(root: impl AsFd, path: &str) -> Result<(), Errno> {
    let path = Path::new(path);
    let (parent, name) =
        (path.parent().unwrap_or(Path::new("")), path.file_name().ok_or(Errno::INVAL)?);
    let dir = match open_dir(&root, parent, BENEATH) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        other => other?,
    };
    match rustix::fs::unlinkat(&dir, name, AtFlags::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    }
    let mut empty = parent;
    while let (Some(above), Some(name)) = (empty.parent(), empty.file_name()) {
        let above_fd = open_dir(&root, above, BENEATH)?;
        match rustix::fs::unlinkat(&above_fd, name, AtFlags::REMOVEDIR) {
            Ok(()) => empty = above,
            Err(_) => break,
        }
    }
    Ok(())
}
