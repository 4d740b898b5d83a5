//! Layers as a real copy, where nothing can be laid over them; and what became of the copy.

use super::message::RawChanges;
use super::readback::kind_name;
use super::unlock::with_rights;
use super::upper::{LARGEST_FILE, LARGEST_SET, entries, join, lstat, open, read};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes read at once where two files are compared.
const CHUNK: usize = 64 * 1024;

/// Bytes that the files below a directory take when they are copied; what cannot be read counts nothing.
pub(super) fn size(root: impl AsFd) -> u64 {
    let page = rustix::param::page_size() as u64;
    let mut sum = 0;
    let mut pending = vec![Vec::new()];
    while let Some(dir) = pending.pop() {
        for name in entries(&root, &dir).unwrap_or_default() {
            let path = join(&dir, &name);
            let Ok(Some(stat)) = lstat(&root, &path) else { continue };
            sum += u64::try_from(stat.st_size).unwrap_or(0).div_ceil(page) * page;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                pending.push(path);
            }
        }
    }
    sum
}

/// The copy of a tree, as it was made.
#[derive(Debug)]
pub(super) struct Copied {
    /// Topmost first.
    layers: Vec<OwnedFd>,
    entries: BTreeMap<Vec<u8>, Entry>,
    /// Time of the last change among the copied entries.
    finished: Time,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: FileType,
    /// Index of the layer that it is from.
    layer: usize,
    stamp: Stamp,
}

/// Time of a file's last change, in seconds and nanoseconds. No command can set it back, but many file
/// systems' clocks stand still for some milliseconds.
type Time = (i64, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    changed: Time,
}

#[expect(clippy::useless_conversion, reason = "these differ in width between machines")]
fn stamp(stat: &Stat) -> Stamp {
    Stamp { inode: stat.st_ino.into(), changed: (stat.st_ctime.into(), stat.st_ctime_nsec.into()) }
}

/// Copies layers, topmost first, into an empty directory. Nothing comes to the paths in `skip`.
pub(super) fn copy(
    layers: Vec<OwnedFd>,
    target: impl AsFd,
    skip: &BTreeSet<Vec<u8>>,
) -> Result<Copied, String> {
    let mut copy =
        Copy { target: target.as_fd(), skip, links: BTreeMap::new(), entries: BTreeMap::new() };
    for (index, layer) in layers.iter().enumerate().rev() {
        copy.links.clear();
        copy.layer(index, layer)
            .map_err(|(path, errno)| format!("copy {}: {errno}", String::from_utf8_lossy(&path)))?;
    }
    let entries = copy.entries;
    let finished = entries.values().map(|entry| entry.stamp.changed).max().unwrap_or_default();
    Ok(Copied { layers, entries, finished })
}

struct Copy<'a> {
    target: BorrowedFd<'a>,
    skip: &'a BTreeSet<Vec<u8>>,
    /// Where files with several names in the current layer were copied to.
    links: BTreeMap<(u64, u64), Vec<u8>>,
    entries: BTreeMap<Vec<u8>, Entry>,
}

impl Copy<'_> {
    fn layer(&mut self, index: usize, layer: &OwnedFd) -> Result<(), (Vec<u8>, Errno)> {
        let mut pending = vec![Vec::new()];
        while let Some(dir) = pending.pop() {
            let named = |errno| (dir.clone(), errno);
            for name in entries(layer, &dir).map_err(named)? {
                let path = join(&dir, &name);
                let copied = self.entry(index, layer, &path);
                if copied.map_err(|errno| (path.clone(), errno))? {
                    pending.push(path);
                }
            }
        }
        Ok(())
    }

    /// Copies one entry; whether it is a directory to descend into.
    fn entry(&mut self, layer: usize, from: &OwnedFd, path: &[u8]) -> Result<bool, Errno> {
        let Some(stat) = lstat(from, path)?.filter(|_| !self.skip.contains(path)) else {
            return Ok(false);
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if let Some(below) = self.entries.get(path)
            && !(kind == FileType::Directory && below.kind == kind)
        {
            self.remove(path)?;
        }
        match kind {
            FileType::Directory => {
                let mode = Mode::from_raw_mode(stat.st_mode & 0o777 | 0o700);
                match rustix::fs::mkdirat(self.target, path, mode) {
                    Err(Errno::EXIST) | Ok(()) => {}
                    Err(errno) => return Err(errno),
                }
            }
            FileType::RegularFile => self.file(from, path, &stat)?,
            FileType::Symlink => {
                let to = rustix::fs::readlinkat(from, path, Vec::new())?;
                rustix::fs::symlinkat(to, self.target, path)?;
            }
            // Nothing that a tree or a cache needs.
            _ => return Ok(false),
        }
        let made = lstat(self.target, path)?.ok_or(Errno::NOENT)?;
        self.entries.insert(path.to_vec(), Entry { kind, layer, stamp: stamp(&made) });
        Ok(kind == FileType::Directory)
    }

    fn file(&mut self, from: &OwnedFd, path: &[u8], stat: &Stat) -> Result<(), Errno> {
        if stat.st_nlink > 1 {
            if let Some(first) = self.links.get(&(stat.st_dev, stat.st_ino)) {
                return rustix::fs::linkat(
                    self.target,
                    first.as_slice(),
                    self.target,
                    path,
                    AtFlags::empty(),
                );
            }
            self.links.insert((stat.st_dev, stat.st_ino), path.to_vec());
        }
        let mut source = File::from(open(from, path, OFlags::NOFOLLOW)?);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
        let mut file = File::from(rustix::fs::openat(self.target, path, flags, mode)?);
        std::io::copy(&mut source, &mut file)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        // Build tools compare times.
        let time = Timespec { tv_sec: stat.st_mtime, tv_nsec: stat.st_mtime_nsec.cast_signed() };
        rustix::fs::futimens(&file, &Timestamps { last_access: time, last_modification: time })
    }

    /// Removes what a lower layer put at a path.
    fn remove(&mut self, path: &[u8]) -> Result<(), Errno> {
        let inside = [path, b"/"].concat();
        let gone: Vec<_> =
            self.entries.keys().filter(|key| key.starts_with(&inside)).cloned().collect();
        for path in gone.iter().rev().map(Vec::as_slice).chain([path]) {
            let entry = self.entries.remove(path);
            let is_dir = entry.is_some_and(|entry| entry.kind == FileType::Directory);
            let flags = if is_dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            rustix::fs::unlinkat(self.target, path, flags)?;
        }
        Ok(())
    }
}

impl Copied {
    /// What was written and deleted since, told as [`super::upper::changes`] tells it.
    pub(super) fn changes(&self, tree: &OwnedFd, mounts: &BTreeSet<Vec<u8>>) -> RawChanges {
        let mut walk = Walk {
            copied: self,
            tree,
            found: RawChanges::default(),
            there: BTreeMap::new(),
            unread: Vec::new(),
            size: 0,
        };
        let mut pending = vec![Vec::new()];
        while let Some(dir) = pending.pop() {
            let names = match with_rights(tree, &dir, || entries(tree, &dir)) {
                Ok(names) => names,
                Err(errno) => {
                    walk.unreadable(&dir, errno);
                    continue;
                }
            };
            for path in names.iter().map(|name| join(&dir, name)) {
                if mounts.contains(&path) {
                    continue;
                }
                match walk.visit(&path) {
                    Ok(true) => pending.push(path),
                    Ok(false) => {}
                    Err(errno) => walk.unreadable(&path, errno),
                }
            }
        }
        walk.missing();
        walk.found
    }
}

struct Walk<'a> {
    copied: &'a Copied,
    tree: &'a OwnedFd,
    found: RawChanges,
    there: BTreeMap<Vec<u8>, FileType>,
    unread: Vec<Vec<u8>>,
    size: u64,
}

impl Walk<'_> {
    fn unreadable(&mut self, path: &[u8], errno: Errno) {
        self.found.others.push((path.to_vec(), format!("unreadable: {errno}")));
        self.unread.push(path.to_vec());
    }

    /// Notes one entry of the tree; whether it is a directory to descend into.
    fn visit(&mut self, path: &[u8]) -> Result<bool, Errno> {
        let stat = with_rights(self.tree, path, || lstat(self.tree, path))?.ok_or(Errno::NOENT)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        self.there.insert(path.to_vec(), kind);
        let before = self.copied.entries.get(path).copied();
        match kind {
            FileType::Directory => return Ok(true),
            FileType::RegularFile => self.file(path, &stat, before)?,
            FileType::Symlink if self.same_link(path, before) => {}
            _ => self.found.others.push((path.to_vec(), kind_name(kind).into())),
        }
        Ok(false)
    }

    fn file(&mut self, path: &[u8], stat: &Stat, before: Option<Entry>) -> Result<(), Errno> {
        let before = before.filter(|before| before.kind == FileType::RegularFile);
        if let Some(before) = before
            && (self.untouched(stat, before) || self.same_file(path, stat, before)?)
        {
            return Ok(());
        }
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if size > LARGEST_FILE || self.size.saturating_add(size) > LARGEST_SET {
            let told = format!("a file too large to list: {size} bytes");
            self.found.others.push((path.to_vec(), told));
            return Ok(());
        }
        let after = with_rights(self.tree, path, || read(self.tree, path, stat))?;
        self.size += size;
        self.found.files.insert(path.to_vec(), Some(after));
        Ok(())
    }

    /// Whether a file's stamp shows that nothing changed it. That of one as young as the youngest copy shows
    /// nothing: a command that wrote it at once may have met the same time. Others would have a later one.
    fn untouched(&self, stat: &Stat, before: Entry) -> bool {
        before.stamp == stamp(stat) && before.stamp.changed < self.copied.finished
    }

    /// Whether a file is by content and mode what was copied.
    fn same_file(&self, path: &[u8], stat: &Stat, before: Entry) -> Result<bool, Errno> {
        let layer = &self.copied.layers[before.layer];
        let original = lstat(layer, path)?.ok_or(Errno::NOENT)?;
        let runs = |stat: &Stat| stat.st_mode & 0o100 != 0;
        if original.st_size != stat.st_size || runs(&original) != runs(stat) {
            return Ok(false);
        }
        let now = with_rights(self.tree, path, || open(self.tree, path, OFlags::NOFOLLOW))?;
        let (mut left, mut right) = (vec![0; CHUNK], vec![0; CHUNK]);
        let (now, then) = (File::from(now), File::from(open(layer, path, OFlags::NOFOLLOW)?));
        let mut at = 0;
        loop {
            let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
            let read = then.read_at(&mut left, at).map_err(errno)?;
            if read == 0 {
                return Ok(true);
            }
            match now.read_exact_at(&mut right[..read], at) {
                Ok(()) if left[..read] == right[..read] => at += read as u64,
                Ok(()) => return Ok(false),
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return Ok(false);
                }
                Err(error) => return Err(errno(error)),
            }
        }
    }

    fn same_link(&self, path: &[u8], before: Option<Entry>) -> bool {
        let target = |root: &OwnedFd| rustix::fs::readlinkat(root, path, Vec::new());
        before.is_some_and(|before| {
            before.kind == FileType::Symlink
                && target(&self.copied.layers[before.layer])
                    .is_ok_and(|before| target(self.tree).is_ok_and(|now| now == before))
        })
    }

    /// Notes as deleted what was copied and is no more.
    fn missing(&mut self) {
        for (path, entry) in &self.copied.entries {
            let below = |dir: &Vec<u8>| {
                Path::new(OsStr::from_bytes(path)).starts_with(OsStr::from_bytes(dir))
            };
            if self.there.get(path) == Some(&entry.kind) || self.unread.iter().any(below) {
                continue;
            }
            match entry.kind {
                FileType::Directory => {}
                FileType::RegularFile => {
                    self.found.files.entry(path.clone()).or_insert(None);
                }
                kind => {
                    let told = format!("{} deleted", kind_name(kind));
                    self.found.others.push((path.clone(), told));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt as _;

    /// Whether a change of a file is told whose time of change is that of the last copy, as happens where
    /// the clock of a file system stands still for a while.
    fn is_told(change: impl FnOnce(&Path)) -> bool {
        let (base, copy_of) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(base.path().join("a"), "old").unwrap();
        let opened = |dir: &Path| OwnedFd::from(File::open(dir).unwrap());
        let tree = opened(copy_of.path());
        let mut copied = copy(vec![opened(base.path())], &tree, &BTreeSet::new()).unwrap();
        change(&copy_of.path().join("a"));
        let met = stamp(&lstat(&tree, b"a").unwrap().unwrap());
        copied.finished = met.changed;
        copied.entries.get_mut(b"a".as_slice()).unwrap().stamp = met;
        let found = copied.changes(&tree, &BTreeSet::new());
        assert!(found.others.is_empty(), "{:?}", found.others);
        found.files.contains_key(b"a".as_slice())
    }

    #[test]
    fn a_change_within_one_tick_of_the_clock_is_told() {
        assert!(is_told(|file| write(file, "new").unwrap()));
        assert!(is_told(|file| write(file, "older").unwrap()));
        assert!(is_told(|file| write(file, "").unwrap()));
        assert!(is_told(|file| set_permissions(file, Permissions::from_mode(0o755)).unwrap()));
        assert!(!is_told(|_| {}));
        assert!(!is_told(|file| write(file, "old").unwrap()));
        assert!(!is_told(|file| set_permissions(file, Permissions::from_mode(0o600)).unwrap()));
    }
}
