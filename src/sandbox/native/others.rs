//! The processes of a sandbox but its first: where there is no list of their own, the descendants of
//! the calling process, which must adopt those whose parents die.

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

#[derive(Debug)]
pub(super) enum Others {
    /// All of the pid namespace that the calling process is the first of.
    Namespace,
    /// What the calling process started, and so on. With the process that must live for this one to go
    /// on.
    Descendants(OwnedFd),
}

/// Passes over the process list before all are held to be stopped: each new pass needs a process that
/// forked before the last one saw it.
const PASSES: usize = 200;

impl Others {
    /// Descendants from now on, with all whose parents die among them.
    pub(super) fn adopt(alive: OwnedFd) -> Result<Self, String> {
        adopt_orphans()?;
        Ok(Self::Descendants(alive))
    }

    pub(super) fn signal(&self, signal: Signal) {
        match self {
            Self::Namespace => kill_everybody(signal),
            Self::Descendants(_) => signal_each(descendants().into_iter(), signal),
        }
    }

    /// Kills and buries all. A process that forks meanwhile dies too: the kernel signals a namespace all
    /// at once; descendants are stopped first.
    pub(super) fn kill_all(&self) {
        match self {
            Self::Namespace => loop {
                kill_everybody(Signal::KILL);
                match rustix::process::wait(WaitOptions::empty()) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(_) => return,
                }
            },
            Self::Descendants(_) => kill_descendants(),
        }
    }

    /// Ends all, and this process: nobody waits for a report.
    pub(super) fn end_with_this(&self) -> ! {
        if let Self::Descendants(_) = self {
            kill_descendants();
        }
        // The end of a namespace's first process is the end of all others in it.
        super::helper::finish(0)
    }

    /// Process ids, as directories of `/proc`.
    pub(super) fn pids(&self) -> Vec<i32> {
        match self {
            Self::Namespace => listed().collect(),
            Self::Descendants(_) => descendants().into_iter().collect(),
        }
    }

    /// Processes that the kernel counts with a command's: in a namespace ours, else all of the user's.
    pub(super) fn counted(&self) -> u64 {
        match self {
            Self::Namespace => super::limits::OURS,
            Self::Descendants(_) => {
                let user = rustix::process::getuid().as_raw();
                let of_user = |pid: &i32| {
                    fs::metadata(format!("/proc/{pid}")).is_ok_and(|dir| dir.uid() == user)
                };
                listed().filter(of_user).map(threads).sum()
            }
        }
    }

    /// What has to stay alive for the sandbox to go on.
    pub(super) fn alive(&self) -> Option<&OwnedFd> {
        match self {
            Self::Namespace => None,
            Self::Descendants(alive) => Some(alive),
        }
    }
}

/// Makes the calling process the parent of descendants whose own parents die.
pub(super) fn adopt_orphans() -> Result<(), String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|errno| format!("prctl(CHILD_SUBREAPER): {errno}"))
}

/// Kills and buries all descendants of the calling process, which adopts orphans.
pub(super) fn kill_descendants() {
    let mut stopped = BTreeSet::new();
    for _ in 0..PASSES {
        let fresh: Vec<i32> = descendants().difference(&stopped).copied().collect();
        if fresh.is_empty() {
            break;
        }
        stopped.extend(&fresh);
        signal_each(fresh.into_iter(), Signal::STOP);
    }
    loop {
        signal_each(descendants().into_iter(), Signal::KILL);
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                // Whoever has no child has no descendant.
                Err(_) => return,
            }
        }
        let moment = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        rustix::event::poll(&mut [], Some(&moment)).ok();
    }
}

fn kill_everybody(signal: Signal) {
    #[expect(unsafe_code, reason = "rustix has no kill(-1)")]
    // SAFETY: `kill` takes numbers only, and this process is the first of its own pid namespace.
    unsafe {
        libc::kill(-1, signal.as_raw());
    }
}

/// A number may have gone to a stranger since it was read: the process is held first, and only then
/// asked whose child it is.
fn signal_each(pids: impl Iterator<Item = i32>, signal: Signal) {
    for pid in pids.filter_map(Pid::from_raw) {
        let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
        if is_descendant(pid.as_raw_nonzero().get()) {
            rustix::process::pidfd_send_signal(&held, signal).ok();
        }
    }
}

fn is_descendant(pid: i32) -> bool {
    let this = rustix::process::getpid().as_raw_nonzero().get();
    let mut at = pid;
    while let Some(parent) = parent(at).filter(|parent| *parent > 1) {
        if parent == this {
            return true;
        }
        at = parent;
    }
    false
}

fn descendants() -> BTreeSet<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for pid in listed() {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = BTreeSet::new();
    let mut pending = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(pid) = pending.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.insert(child);
            pending.push(child);
        }
    }
    found
}

fn listed() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Each counts.
fn threads(pid: i32) -> u64 {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(1, |tasks| tasks.count() as u64)
}

/// The second number after the name in parentheses, which may hold anything.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, after) = stat.rsplit_once(')')?;
    after.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_is_read_past_its_name() {
        let this = rustix::process::getpid().as_raw_nonzero().get();
        let above = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        assert_eq!(parent(this), above);
        assert_eq!(parent(i32::MAX), None);
    }
}
