//! The rights of an owner over files whose modes a command changed: for a first process that has no
//! capabilities.

use super::write::BENEATH;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What `act` gives; where that is a refusal, what it gives with every right on the way to `path`.
/// The modes are as they were afterwards.
pub(super) fn with_rights<T>(
    root: impl AsFd,
    path: &[u8],
    act: impl Fn() -> Result<T, Errno>,
) -> Result<T, Errno> {
    match act() {
        Err(Errno::ACCESS) => {
            let _unlocked = Unlocked::on_the_way(root, path);
            act()
        }
        other => other,
    }
}

/// Makes every directory at and below one removable by its owner.
pub(super) fn give_rights(dir: &Path) {
    let mut pending = vec![dir.to_owned()];
    while let Some(dir) = pending.pop() {
        rustix::fs::chmod(&dir, Mode::RWXU).ok();
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        let is_dir = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        pending.extend(entries.filter(is_dir).map(|entry| entry.path()));
    }
}

/// Files with their modes before, outermost first.
pub(super) struct Unlocked(Vec<(OwnedFd, Mode)>);

impl Unlocked {
    /// Goes as far as it can: what follows tells what was not enough.
    pub(super) fn on_the_way(root: impl AsFd, path: &[u8]) -> Self {
        let mut unlocked = Self(Vec::new());
        let mut dir: Option<OwnedFd> = None;
        let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        for part in [b".".as_slice()].into_iter().chain(parts) {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let part = Path::new(OsStr::from_bytes(part));
            let above = dir.as_ref().map_or(root.as_fd(), |dir| dir.as_fd());
            let Ok(fd) = rustix::fs::openat2(above, part, flags, Mode::empty(), BENEATH) else {
                break;
            };
            unlocked.one(&fd);
            dir = Some(fd);
        }
        unlocked
    }

    fn one(&mut self, fd: &OwnedFd) {
        let Ok(stat) = rustix::fs::fstat(fd) else { return };
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        let needed = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Mode::RWXU,
            FileType::RegularFile => Mode::RUSR,
            _ => return,
        };
        if !mode.contains(needed)
            && set_mode(fd, mode | needed).is_ok()
            && let Ok(copy) = fd.try_clone()
        {
            self.0.push((copy, mode));
        }
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        for (fd, mode) in self.0.iter().rev() {
            set_mode(fd, *mode).ok();
        }
    }
}

/// `fchmod` takes no descriptor of a path.
fn set_mode(fd: &OwnedFd, mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmod(format!("/proc/self/fd/{}", fd.as_raw_fd()), mode)
}
