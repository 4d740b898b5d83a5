//! The helper process: sheds what it inherited, enters new namespaces, forks their first process.
//! Helpers are forks of the fork server, which does the shedding once.

use super::fork_server::Begin;
use super::message::{Policy, Report, Way};
use super::mounts::last_errno;
use super::view::Sources;
use super::wire::Channel;
use super::{bubblewrap, confined, groups, init};
use rustix::fs::{Mode, OFlags};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions};
use rustix::thread::UnshareFlags;
use rustix::{process, thread};
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};

/// The uid and gid outside of everything a sandbox does when it was started by root.
///
/// Outer uid 0 would keep root's rights over the machine's files and settings, and the kernel counts
/// no processes of uid 0. Any uid that owns nothing else will do; this one is below the ranges that
/// `useradd`, `subuid` and systemd hand out by default and above the usual people.
pub(super) const OUTER: u32 = 64738;

/// The uid and gid that a command sees as its own.
pub(super) const INNER: u32 = 1000;

/// The fork server. Never returns to the program's own `main`.
pub(super) fn serve() -> ! {
    let Some(server) = take_over() else {
        finish(2);
    };
    // Helpers are not waited for: the supervisor watches them itself.
    set_disposition(libc::SIGCHLD, libc::SIG_IGN);
    while let Ok(Some((Begin, fds))) = server.receive::<Begin>() {
        let Ok([socket, stderr]) = <[OwnedFd; 2]>::try_from(fds) else {
            continue;
        };
        match fork() {
            Ok(None) => {
                drop(server);
                set_disposition(libc::SIGCHLD, libc::SIG_DFL);
                process::setsid().ok();
                rustix::stdio::dup2_stderr(&stderr).ok();
                drop(stderr);
                main(Channel::new(socket))
            }
            Ok(Some(_)) => {}
            Err(errno) => report(&Channel::new(socket), &Report::Broken(format!("fork: {errno}"))),
        }
    }
    finish(0)
}

fn main(channel: Channel) -> ! {
    match process::pidfd_open(process::getpid(), PidfdFlags::empty()) {
        Ok(this) => drop(channel.send(&Report::Begun, &[this.as_fd()])),
        Err(errno) => refuse(&channel, format!("pidfd_open: {errno}")),
    }
    let Ok(Some((policy, _))) = channel.receive::<Policy>() else {
        finish(2);
    };
    if let Err(reason) = groups::join(&policy.groups) {
        refuse(&channel, reason);
    }
    match &policy.way {
        Way::Namespaces => {}
        Way::Bubblewrap(program) => {
            let reason = bubblewrap::become_it(&channel, &policy, program);
            refuse(&channel, reason);
        }
        Way::Confined(dir) => {
            let dir = dir.clone();
            confined::main(channel, policy, &dir)
        }
    }
    match enter(&policy) {
        Ok(sources) => match fork() {
            Ok(None) => init::main(&channel, init::Init::overlaid(policy, sources)),
            Ok(Some(init)) => {
                // The first process alone answers now; its copies of the mounts are all that is used.
                drop(channel);
                std::mem::forget(sources);
                finish(outlive(init))
            }
            Err(errno) => refuse(&channel, format!("fork: {errno}")),
        },
        Err(reason) => refuse(&channel, reason),
    }
}

pub(super) fn refuse(channel: &Channel, reason: String) -> ! {
    report(channel, &Report::Broken(reason));
    finish(1);
}

/// The supervisor may be gone: there is nobody else to tell.
fn report(channel: &Channel, report: &Report) {
    channel.send(report, &[]).ok();
}

/// Ignores a signal, or no longer: with one of the two constants, not with a handler.
pub(super) fn set_disposition(signal: i32, constant: libc::sighandler_t) {
    #[expect(unsafe_code, reason = "no library sets a disposition without a handler type")]
    // SAFETY: callers pass SIG_IGN or SIG_DFL, which install no code.
    unsafe {
        libc::signal(signal, constant);
    }
}

/// Ends this process without running anything that the program registered.
pub(super) fn finish(code: i32) -> ! {
    #[expect(unsafe_code, reason = "exit handlers of the copied program must not run")]
    // SAFETY: `_exit` has no preconditions.
    unsafe {
        libc::_exit(code)
    }
}

/// `Some(child)` in the parent, `None` in the child.
pub(super) fn fork() -> Result<Option<Pid>, rustix::io::Errno> {
    #[expect(unsafe_code, reason = "the only way to be the first process of a pid namespace")]
    // SAFETY: the helper never starts a thread, so the child may go on with the whole program state.
    let result = unsafe { libc::fork() };
    match result {
        -1 => Err(last_errno()),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Keeps standard input, which is the channel, and standard error; closes all else.
fn take_over() -> Option<Channel> {
    // Own session: no terminal's signals, no terminal.
    process::setsid().ok();
    #[expect(unsafe_code, reason = "file descriptors planted by whoever started the server")]
    // SAFETY: nothing in this process owns a descriptor above 2 yet.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if closed != 0 {
        return None;
    }
    #[expect(unsafe_code, reason = "standard input is handed over as a raw number")]
    // SAFETY: descriptor 0 is open (it is a socket, which is checked) and is owned by nothing else.
    let stdin = unsafe { OwnedFd::from_raw_fd(0) };
    rustix::net::sockopt::socket_type(&stdin).ok()?;
    let socket = rustix::io::fcntl_dupfd_cloexec(&stdin, 3).ok()?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?;
    rustix::stdio::dup2_stdin(&null).ok()?;
    std::mem::forget(stdin);
    process::umask(Mode::empty());
    process::chdir("/").ok()?;
    Some(Channel::new(socket))
}

/// Drops root, then makes and enters the namespaces. Mounts are copied with the rights that the
/// helper was started with, so that a private directory above a source does not matter.
fn enter(policy: &Policy) -> Result<Sources, String> {
    let root = process::geteuid().is_root();
    let early = if root { Some(Sources::open(policy, true)?) } else { None };
    if root {
        become_outer()?;
    }
    let (uid, gid) = (process::geteuid().as_raw(), process::getegid().as_raw());
    unshare()?;
    let write = |path: &str, text: String| {
        std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
    };
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("{INNER} {uid} 1"))?;
    write("/proc/self/gid_map", format!("{INNER} {gid} 1"))?;
    let sources = match early {
        Some(sources) => sources,
        None => Sources::open(policy, false)?,
    };
    Ok(sources)
}

pub(super) fn become_outer() -> Result<(), String> {
    let (uid, gid) = (process::Uid::from_raw(OUTER), process::Gid::from_raw(OUTER));
    thread::set_thread_groups(&[]).map_err(|errno| format!("setgroups: {errno}"))?;
    thread::set_thread_res_gid(gid, gid, gid)
        .map_err(|errno| format!("setresgid {OUTER}: {errno}"))?;
    thread::set_thread_res_uid(uid, uid, uid)
        .map_err(|errno| format!("setresuid {OUTER}: {errno}"))?;
    // A change of uid makes /proc/self root's; the maps are written there.
    process::set_dumpable_behavior(DumpableBehavior::Dumpable)
        .map_err(|errno| format!("prctl(DUMPABLE): {errno}"))
}

fn unshare() -> Result<(), String> {
    let flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    #[expect(unsafe_code, reason = "unshare can split a descriptor table between threads")]
    // SAFETY: `FILES` is not among the flags, and there is one thread.
    let result = unsafe { thread::unshare_unsafe(flags) };
    result.map_err(|errno| format!("unshare(NEWUSER): {errno}"))
}

/// Stays as the parent, so that the supervisor has one process to wait for and to kill: the first
/// process of the namespace asks to die with this one.
pub(super) fn outlive(init: Pid) -> i32 {
    // Standard error is the supervisor's pipe; only the namespace's first process still writes there.
    rustix::stdio::dup2_stderr(rustix::stdio::stdin().as_fd()).ok();
    loop {
        match process::waitpid(Some(init), WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) | Ok(None) => {}
            Ok(Some((_, status))) if status.exit_status() == Some(0) => return 0,
            Ok(Some(_)) | Err(_) => return 1,
        }
    }
}

/// Asks to be killed when the helper is.
pub(super) fn die_with_parent() -> Result<(), String> {
    process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| format!("prctl(PDEATHSIG): {errno}"))
}
