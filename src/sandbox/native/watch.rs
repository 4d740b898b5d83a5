//! Watches a running command: its end, its deadline, its limits, a word of the supervisor.

use super::asked::Asked;
use super::init::Init;
use super::message::Order;
use super::wire::Channel;
use super::{End, memory};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

/// Between the polite end of a command at its deadline and the other one.
const GRACE: Duration = Duration::from_secs(2);

/// How often memory is looked at and the dead are buried while a command runs.
const TICK: Duration = Duration::from_millis(50);

impl Init {
    /// Waits for the command's own process and ends it when it must end. The cause that came first counts.
    pub(super) fn watch(
        &self,
        channel: &Channel,
        child: Pid,
        asked: &mut Option<Asked>,
        deadline: Instant,
    ) -> End {
        let pidfd = rustix::process::pidfd_open(child, PidfdFlags::empty());
        let mut cause = None;
        let mut kill_at = deadline;
        let mut looked = Instant::now();
        loop {
            if let Some(status) = reap(child) {
                return cause.unwrap_or_else(|| ended(status));
            }
            let wait = kill_at.min(looked + TICK).saturating_duration_since(Instant::now());
            let sources = [
                Some(channel.as_fd()),
                self.others.alive().map(|alive| alive.as_fd()),
                asked.as_ref().map(|asked| asked.listener().as_fd()),
                pidfd.as_ref().ok().map(|pidfd| pidfd.as_fd()),
            ];
            let [heard, alone, question, _] = wait_for(sources, wait);
            if alone {
                self.others.end_with_this();
            }
            if let Some(asked) = asked.as_mut().filter(|_| question) {
                asked.answer();
            }
            if heard {
                match channel.receive::<Order<'_>>() {
                    Ok(Some((Order::Stop(end), _))) => {
                        cause.get_or_insert(end);
                        self.others.signal(Signal::KILL);
                    }
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => self.others.end_with_this(),
                }
            }
            if Instant::now() >= kill_at {
                if cause.is_none() {
                    cause = Some(End::TimedOut);
                    self.others.signal(Signal::TERM);
                    // A stopped process sees its TERM only when it goes on.
                    self.others.signal(Signal::CONT);
                } else {
                    self.others.signal(Signal::KILL);
                }
                kill_at += GRACE;
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                if let (None, Some(limit)) = (cause, self.exceeded()) {
                    cause = Some(limit);
                    self.others.signal(Signal::KILL);
                }
            }
        }
    }

    /// The limit that has to be looked after and was passed.
    fn exceeded(&self) -> Option<End> {
        if memory::exceeds(self.policy.view.limits.memory, || self.others.pids()) {
            Some(End::OutOfMemory)
        } else {
            self.is_full(false).then_some(End::OutOfDisk)
        }
    }

    /// Whether more was written than may be, where nothing else tells a command so. `last`: it has ended.
    pub(super) fn is_full(&self, last: bool) -> bool {
        let mut space = self.space.borrow_mut();
        space.as_mut().is_some_and(|space| space.exceeded(|| self.others.pids(), last))
    }
}

/// Which of these have news within a time.
fn wait_for<const N: usize>(sources: [Option<BorrowedFd<'_>>; N], wait: Duration) -> [bool; N] {
    let open = sources.iter().flatten();
    let mut fds: Vec<PollFd<'_>> =
        open.map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let wait = Timespec::try_from(wait).ok();
    if poll(&mut fds, wait.as_ref()).is_err() {
        return [false; N];
    }
    let mut events = fds.iter().map(PollFd::revents);
    sources.map(|source| source.is_some() && events.next().is_some_and(|found| !found.is_empty()))
}

/// Buries every dead child; the status of `child` if it was among them.
fn reap(child: Pid) -> Option<WaitStatus> {
    let mut status = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, its))) if pid == child => status = Some(its),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return status,
        }
    }
}

fn ended(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signalled(signal),
        (None, None) => End::Signalled(0),
    }
}
