//! Mount trees as file descriptors: cloned, given attributes, attached.

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub(super) const NO_EXEC: u64 = libc::MOUNT_ATTR_NOEXEC;

/// A detached copy of what is mounted at a path.
#[derive(Debug)]
pub(super) struct MountTree {
    fd: OwnedFd,
    pub(super) is_dir: bool,
}

impl MountTree {
    /// Copies the mounts at and below `path`, then adds `attributes` to all of them.
    ///
    /// The path is resolved with the rights of the caller; who attaches the copy later needs none.
    pub(super) fn clone_at(path: &Path, attributes: u64) -> Result<Self, Errno> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        let fd = rustix::mount::open_tree(rustix::fs::CWD, path, flags)?;
        let stat = rustix::fs::fstat(&fd)?;
        let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
        let tree = Self { fd, is_dir };
        if attributes != 0 {
            set_attributes(&tree.fd, attributes, true)?;
        }
        Ok(tree)
    }

    pub(super) fn attach(&self, target: impl AsFd) -> Result<(), Errno> {
        let flags =
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        rustix::mount::move_mount(&self.fd, c"", target, c"", flags)
    }
}

impl AsFd for MountTree {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Adds attributes to the mount that `fd` is on, and to those below it if `recursive`.
pub(super) fn set_attributes(fd: impl AsFd, attributes: u64, recursive: bool) -> Result<(), Errno> {
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    mount_setattr(fd.as_fd(), flags, &attr)
}

/// Shows owners as the user namespace maps them.
pub(super) fn map_owners(tree: &MountTree, namespace: &OwnedFd) -> Result<(), Errno> {
    let attr = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_IDMAP,
        attr_clr: 0,
        propagation: 0,
        userns_fd: u64::from(namespace.as_raw_fd().cast_unsigned()),
    };
    mount_setattr(tree.fd.as_fd(), 0, &attr)
}

fn mount_setattr(fd: BorrowedFd<'_>, flags: i32, attr: &libc::mount_attr) -> Result<(), Errno> {
    #[expect(unsafe_code, reason = "no library wraps mount_setattr")]
    // SAFETY: the path is a NUL-terminated literal, `attr` lives across the call and its size is passed.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd.as_raw_fd(),
            c"".as_ptr(),
            flags | libc::AT_EMPTY_PATH,
            std::ptr::from_ref(attr),
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

pub(super) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The place for a mount below `root`, made where it is missing: a directory, or an empty file.
///
/// Symbolic links on the way are followed as a process with that root would.
pub(super) fn mount_point(
    root: BorrowedFd<'_>,
    target: &Path,
    is_dir: bool,
) -> Result<OwnedFd, Errno> {
    let open = || {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        rustix::fs::openat2(root, target, flags, Mode::empty(), ResolveFlags::IN_ROOT)
    };
    match open() {
        Err(Errno::NOENT) => {}
        other => return other,
    }
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(Errno::NOENT);
    };
    let parent = mount_point(root, parent, true)?;
    if is_dir {
        rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755))?;
    } else {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        drop(rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o644))?);
    }
    open()
}
