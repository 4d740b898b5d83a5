//! Calls of a command that the first process makes in its place, where Landlock cannot tell the run's own
//! files from the user's: modes and times. It also hears of sockets, which nobody gets.

use super::seccomp::{FCHMODAT2, apply_asking};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const RECEIVE: u64 = 0xc050_2100;
const SEND: u64 = 0xc018_2101;
const IS_VALID: u64 = 0x4008_2102;

/// What a command may ask for, and the kernel's end of the question.
#[derive(Debug)]
pub(super) struct Asked {
    listener: OwnedFd,
    /// Below these, modes and times may be set.
    own: Vec<PathBuf>,
    /// Whether an internet socket was asked for.
    pub(super) wanted_network: bool,
}

/// One call that waits.
struct Call {
    id: u64,
    /// Of the thread.
    pid: u32,
    number: i64,
    arguments: [u64; 6],
}

impl Asked {
    pub(super) fn new(listener: OwnedFd, own: Vec<PathBuf>) -> Self {
        Self { listener, own, wanted_network: false }
    }

    pub(super) fn listener(&self) -> &OwnedFd {
        &self.listener
    }

    /// Answers one call. Only called when that does not block; the caller may be gone by now.
    pub(super) fn answer(&mut self) {
        let Some(call) = self.receive() else { return };
        let answer = self.act(&call);
        let mut response = libc::seccomp_notif_resp {
            id: call.id,
            val: 0,
            error: answer.err().map_or(0, |errno| -errno.raw_os_error()),
            flags: 0,
        };
        #[expect(unsafe_code, reason = "no library wraps this ioctl")]
        // SAFETY: the kernel reads a response of this size, which lives across the call.
        unsafe {
            libc::ioctl(self.listener.as_raw_fd(), SEND as _, &raw mut response);
        }
    }

    fn receive(&self) -> Option<Call> {
        #[expect(unsafe_code, reason = "no library wraps this ioctl")]
        // SAFETY: an all-zero notification is a value and is what the kernel wants; it fills it in.
        let notification = unsafe {
            let mut notification: libc::seccomp_notif = MaybeUninit::zeroed().assume_init();
            let fd = self.listener.as_raw_fd();
            if libc::ioctl(fd, RECEIVE as _, &raw mut notification) != 0 {
                return None;
            }
            notification
        };
        let libc::seccomp_notif { id, pid, data, .. } = notification;
        Some(Call { id, pid, number: data.nr.into(), arguments: data.args })
    }

    /// Whether the caller still waits, so that what was read of it was its own.
    fn waits(&self, call: &Call) -> bool {
        #[expect(unsafe_code, reason = "no library wraps this ioctl")]
        // SAFETY: the kernel reads a number, which lives across the call.
        let valid = unsafe {
            libc::ioctl(self.listener.as_raw_fd(), IS_VALID as _, std::ptr::from_ref(&call.id))
        };
        valid == 0
    }

    fn act(&mut self, call: &Call) -> Result<(), Errno> {
        let [a, b, c, d, ..] = call.arguments;
        match call.number {
            libc::SYS_socket => {
                self.wanted_network |= [libc::AF_INET, libc::AF_INET6].contains(&int(a));
                Err(Errno::NETDOWN)
            }
            libc::SYS_fchmod => self.set_mode(call, &call.open(int(a))?, b),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => self.set_mode(call, &call.find(libc::AT_FDCWD, a, 0)?, b),
            libc::SYS_fchmodat => self.set_mode(call, &call.find(int(a), b, 0)?, c),
            FCHMODAT2 => self.set_mode(call, &call.find(int(a), b, d)?, c),
            libc::SYS_utimensat => {
                let file = if b == 0 { call.open(int(a))? } else { call.find(int(a), b, d)? };
                self.set_times(call, &file, c)
            }
            _ => Err(Errno::PERM),
        }
    }

    fn set_mode(&self, call: &Call, file: &OwnedFd, mode: u64) -> Result<(), Errno> {
        self.check(call, file)?;
        #[allow(clippy::cast_possible_truncation, reason = "nine bits")]
        let mode = Mode::from_raw_mode((mode & 0o777) as u32);
        match rustix::fs::chmod(by_number(file), mode) {
            // As for a link itself.
            Err(Errno::LOOP) => Err(Errno::OPNOTSUPP),
            other => other,
        }
    }

    fn set_times(&self, call: &Call, file: &OwnedFd, times: u64) -> Result<(), Errno> {
        let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let mut wanted = Timestamps { last_access: now, last_modification: now };
        if times != 0 {
            let mut raw = [0; 32];
            call.memory()?.read_exact_at(&mut raw, times).map_err(|_| Errno::FAULT)?;
            let word = |at: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&raw[at..at + 8]);
                i64::from_ne_bytes(bytes)
            };
            wanted.last_access = Timespec { tv_sec: word(0), tv_nsec: word(8) };
            wanted.last_modification = Timespec { tv_sec: word(16), tv_nsec: word(24) };
        }
        self.check(call, file)?;
        rustix::fs::utimensat(rustix::fs::CWD, by_number(file), &wanted, AtFlags::empty())
    }

    /// The file is the run's own, whatever name it was given by, and the caller is the one that was asked
    /// about.
    fn check(&self, call: &Call, file: &OwnedFd) -> Result<(), Errno> {
        let path = rustix::fs::readlink(by_number(file), Vec::new())?;
        let path = PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes()));
        let own = self.own.iter().any(|dir| path.starts_with(dir) && path != *dir);
        if own && self.waits(call) { Ok(()) } else { Err(Errno::PERM) }
    }
}

impl Call {
    fn proc(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.pid.to_string()).join(name)
    }

    fn memory(&self) -> Result<File, Errno> {
        File::open(self.proc("mem")).map_err(|_| Errno::PERM)
    }

    /// What a descriptor of the caller's stands for.
    fn open(&self, fd: i32) -> Result<OwnedFd, Errno> {
        if fd < 0 {
            return Err(Errno::BADF);
        }
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        match rustix::fs::open(self.proc("fd").join(fd.to_string()), flags, Mode::empty()) {
            Err(Errno::NOENT) => Err(Errno::BADF),
            other => other,
        }
    }

    /// What a path of the caller's leads to. Never through a link of `/proc`, which would be this process's.
    fn find(&self, dir: i32, path: u64, flags: u64) -> Result<OwnedFd, Errno> {
        let path = self.text(path)?;
        let flags = int(flags);
        if path.is_empty() && flags & libc::AT_EMPTY_PATH != 0 && dir != libc::AT_FDCWD {
            return self.open(dir);
        }
        let start = if dir == libc::AT_FDCWD || path.starts_with(b"/") {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            rustix::fs::open(self.proc("cwd"), flags, Mode::empty())?
        } else {
            self.open(dir)?
        };
        let mut how = OFlags::PATH | OFlags::CLOEXEC;
        if flags & libc::AT_SYMLINK_NOFOLLOW != 0 {
            how |= OFlags::NOFOLLOW;
        }
        rustix::fs::openat2(start, path, how, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
    }

    /// A path in the caller's memory.
    fn text(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let memory = self.memory()?;
        let mut text = Vec::new();
        // By pieces that end with a page: what follows may not be there.
        while text.len() < 4096 {
            let at = address.wrapping_add(text.len() as u64);
            let mut piece = [0; 256];
            #[expect(clippy::cast_possible_truncation, reason = "at most 256")]
            let length = (256 - at % 256) as usize;
            memory.read_exact_at(&mut piece[..length], at).map_err(|_| Errno::FAULT)?;
            match piece[..length].iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&piece[..end]);
                    return Ok(text);
                }
                None => text.extend_from_slice(&piece[..length]),
            }
        }
        Err(Errno::NAMETOOLONG)
    }
}

/// An argument as the kernel takes it.
#[expect(clippy::cast_possible_truncation, reason = "the kernel looks at 32 bits, too")]
fn int(argument: u64) -> i32 {
    (argument as u32).cast_signed()
}

fn by_number(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Puts a filter that asks on the calling thread and hands the kernel's end of the questions over.
pub(super) fn listen(filter: &[u8], to: &OwnedFd) -> Result<(), String> {
    let listener = apply_asking(filter)?;
    send(to, &listener).map_err(|errno| format!("hand over the listener: {errno}"))
}

fn send(to: &OwnedFd, listener: &OwnedFd) -> Result<(), Errno> {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    use std::os::fd::AsFd as _;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [listener.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&fds));
    let byte = [std::io::IoSlice::new(&[0])];
    retry_on_intr(|| sendmsg(to, &byte, &mut control, SendFlags::NOSIGNAL)).map(drop)
}

/// The listener that a child hands over; `None` if it ended before it could.
pub(super) fn receive(from: &OwnedFd) -> Option<OwnedFd> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut buffer = [std::io::IoSliceMut::new(&mut byte)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    while matches!(recvmsg(from, &mut buffer, &mut control, flags), Err(Errno::INTR)) {}
    let mut handed = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            handed = handed.or(fds.last());
        }
    }
    handed
}
