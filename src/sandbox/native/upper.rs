//! The change set of a session, read from the overlay's upper directory.
//!
//! Everything becomes writes and deletions of regular files: a renamed directory is the deletion of
//! the files below its old name and the writing of those below its new one.

use super::message::{RawChanges, Written};
use super::readback::{kind_name, read_regular};
use super::view::Upper;
use super::write::BENEATH;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Contents beyond these are listed and not read: a source tree has no such files.
pub(super) const LARGEST_FILE: u64 = 16 << 20;
pub(super) const LARGEST_SET: u64 = 256 << 20;

/// What was written and deleted. `mounts` are the paths below the root where something else is
/// mounted: the directories made to hold them are not changes. What cannot be read is named.
pub(super) fn changes(upper: &Upper, mounts: &BTreeSet<Vec<u8>>) -> RawChanges {
    let mut walk = Walk { upper, mounts, found: RawChanges::default(), size: 0 };
    let mut pending = vec![Vec::new()];
    while let Some(dir) = pending.pop() {
        let names = entries(&upper.written, &dir);
        for name in names.unwrap_or_else(|errno| walk.unreadable(&dir, errno)) {
            let path = join(&dir, &name);
            if mounts.contains(&path) {
                continue;
            }
            match walk.visit(&path) {
                Ok(true) => pending.push(path),
                Ok(false) => {}
                Err(errno) => drop(walk.unreadable(&path, errno)),
            }
        }
    }
    walk.found
}

struct Walk<'a> {
    upper: &'a Upper,
    mounts: &'a BTreeSet<Vec<u8>>,
    found: RawChanges,
    size: u64,
}

impl Walk<'_> {
    /// Names a path in place of its content, which is then taken for nothing.
    fn unreadable(&mut self, path: &[u8], errno: Errno) -> Vec<Vec<u8>> {
        self.found.others.push((path.to_vec(), format!("unreadable: {errno}")));
        Vec::new()
    }

    /// Records one entry of the upper directory; says whether it is a directory to descend into.
    fn visit(&mut self, path: &[u8]) -> Result<bool, Errno> {
        let stat = lstat(&self.upper.written, path)?.ok_or(Errno::NOENT)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::CharacterDevice && stat.st_rdev == 0 {
            self.delete_below(path)?;
            return Ok(false);
        }
        if kind == FileType::Directory {
            if self.hides(path)? {
                self.delete_below(path)?;
            }
            return Ok(true);
        }
        match kind {
            FileType::RegularFile => self.write(path, &stat)?,
            FileType::Symlink if self.same_link(path) => {}
            _ => self.found.others.push((path.to_vec(), kind_name(kind).into())),
        }
        let was_file = lstat(&self.upper.below, path)?
            .is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        if kind != FileType::RegularFile && was_file {
            self.found.files.insert(path.to_vec(), None);
        } else if !was_file {
            self.delete_below(path)?;
        }
        Ok(false)
    }

    /// Whether a directory of the upper stands for itself, so that what the layers have there is gone.
    fn hides(&self, path: &[u8]) -> Result<bool, Errno> {
        let dir = open(&self.upper.written, path, OFlags::DIRECTORY)?;
        let mut value = [0; 1];
        let opaque = rustix::fs::fgetxattr(&dir, c"user.overlay.opaque", &mut value);
        Ok(matches!(opaque, Ok(1)) && value == *b"y")
    }

    fn write(&mut self, path: &[u8], stat: &Stat) -> Result<(), Errno> {
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if size > LARGEST_FILE || self.size.saturating_add(size) > LARGEST_SET {
            self.found
                .others
                .push((path.to_vec(), format!("a file too large to list: {size} bytes")));
            return Ok(());
        }
        let after = read(&self.upper.written, path, stat)?;
        let before = lstat(&self.upper.below, path)?;
        let unchanged = match before {
            // A file that was only touched is copied up too.
            Some(before) if before.st_size == stat.st_size && is_regular(&before) => {
                read(&self.upper.below, path, &before)? == after
            }
            _ => false,
        };
        if !unchanged {
            self.size += size;
            self.found.files.insert(path.to_vec(), Some(after));
        }
        Ok(())
    }

    fn same_link(&self, path: &[u8]) -> bool {
        let target = |root: &OwnedFd| rustix::fs::readlinkat(root, path, Vec::new());
        target(&self.upper.below)
            .is_ok_and(|before| target(&self.upper.written).is_ok_and(|now| now == before))
    }

    /// Records as deleted every file that the layers have at or below `path` and that was not
    /// written again. A write that is found later takes the deletion's place.
    fn delete_below(&mut self, path: &[u8]) -> Result<(), Errno> {
        let Some(stat) = lstat(&self.upper.below, path)? else {
            return Ok(());
        };
        let mut pending = vec![(path.to_vec(), stat)];
        while let Some((path, stat)) = pending.pop() {
            if self.mounts.contains(&path) {
                continue;
            }
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    for name in entries(&self.upper.below, &path)? {
                        let path = join(&path, &name);
                        if let Some(stat) = lstat(&self.upper.below, &path)? {
                            pending.push((path, stat));
                        }
                    }
                }
                FileType::RegularFile => {
                    self.found.files.entry(path).or_insert(None);
                }
                kind => self.found.others.push((path, format!("{} deleted", kind_name(kind)))),
            }
        }
        Ok(())
    }
}

fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

pub(super) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}

pub(super) fn lstat(root: impl AsFd, path: &[u8]) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

pub(super) fn open(root: impl AsFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = if path.is_empty() { b".".as_slice() } else { path };
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat2(
        root,
        Path::new(std::ffi::OsStr::from_bytes(path)),
        flags,
        Mode::empty(),
        BENEATH,
    )
}

pub(super) fn read(root: impl AsFd, path: &[u8], stat: &Stat) -> Result<Written, Errno> {
    let file = open(root, path, OFlags::empty())?;
    let bytes = read_regular(file.into(), LARGEST_FILE).map_err(|_| Errno::IO)?;
    Ok((bytes, stat.st_mode & 0o100 != 0))
}

/// The names in a directory, sorted.
pub(super) fn entries(root: impl AsFd, path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let dir = open(root, path, OFlags::DIRECTORY)?;
    let mut names = Vec::new();
    for entry in Dir::new(dir)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
