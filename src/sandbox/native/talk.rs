//! A command that is asked line by line: both ends of its standard input and output but its own.

use super::message::{Ended, Order, Report};
use super::supervisor::{Live, TICK, pipe};
use super::{Cancel, End, Error, Reply, Step, check};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::borrow::Cow;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

/// How long a command may go on that has closed its output.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(in crate::sandbox) struct Talk {
    live: Live,
    /// Never blocks.
    requests: OwnedFd,
    /// `None` once it ended.
    replies: Option<OwnedFd>,
    /// Read, and not handed out yet.
    read: Vec<u8>,
    /// How much of it is known to hold no end of line.
    searched: usize,
}

/// What can be done without waiting.
struct Ready {
    reports: bool,
    replies: bool,
    requests: bool,
}

impl Talk {
    pub(in crate::sandbox) fn begin(mut live: Live, step: &Step) -> Result<Self, Error> {
        check::step(step)?;
        if !step.merge_stderr || !step.stdin.is_empty() {
            return Err(Error::View("a conversation has no other streams than its own".into()));
        }
        let (replies, replies_end) = pipe()?;
        let (requests_end, requests) = pipe()?;
        rustix::io::ioctl_fionbio(&requests, true)
            .map_err(|errno| Error::Io { what: "set up a pipe", source: errno.into() })?;
        let inside = live.translated(step)?.into_owned();
        let ends = [replies_end.as_fd(), requests_end.as_fd()];
        live.send(&Order::Run(Cow::Owned(inside)), &ends)?;
        Ok(Self { live, requests, replies: Some(replies), read: Vec::new(), searched: 0 })
    }

    pub(in crate::sandbox) fn ask(
        &mut self,
        line: &[u8],
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<Reply, Error> {
        let mut until = Instant::now() + limit;
        let line = if line.is_empty() { Vec::new() } else { [line, b"\n"].concat() };
        let mut unsent = line.as_slice();
        loop {
            if let Some(line) = self.next_line() {
                return Ok(Reply::Line(line));
            }
            let cause = if self.read.len() as u64 > self.live.limits.output {
                Some(End::OutputLimit)
            } else if cancel.is_cancelled() {
                Some(End::Cancelled)
            } else {
                (Instant::now() > until).then_some(End::TimedOut)
            };
            if let Some(cause) = cause {
                return self.end(cause);
            }
            let ready = self.wait(!unsent.is_empty())?;
            if ready.requests {
                match rustix::io::write(&self.requests, unsent) {
                    Ok(written) => unsent = &unsent[written..],
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    // Nobody reads any more: the report will tell.
                    Err(_) => unsent = &[],
                }
            }
            if ready.replies {
                self.drain();
                if self.replies.is_none() {
                    until = until.min(Instant::now() + GRACE);
                }
            } else if ready.reports {
                return self.hear();
            }
        }
    }

    /// The next whole line of what was read.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        let found = self.read[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(found) = found else {
            self.searched = self.read.len();
            return None;
        };
        let end = std::mem::take(&mut self.searched) + found;
        let mut line: Vec<u8> = self.read.drain(..=end).collect();
        line.pop();
        Some(line)
    }

    /// Reads once; only called when that does not block.
    fn drain(&mut self) {
        let mut buffer = [0; 1 << 14];
        let Some(replies) = &self.replies else { return };
        match rustix::io::read(replies, &mut buffer) {
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => self.replies = None,
            Ok(read) => self.read.extend_from_slice(&buffer[..read]),
        }
    }

    fn wait(&self, sending: bool) -> Result<Ready, Error> {
        let Some(channel) = &self.live.channel else {
            return Err(Error::Lost("the conversation is over".into()));
        };
        let sources = [
            Some(channel.as_fd()),
            self.replies.as_ref().map(|replies| replies.as_fd()),
            sending.then(|| self.requests.as_fd()),
        ];
        let flags = [PollFlags::IN, PollFlags::IN, PollFlags::OUT];
        let mut fds: Vec<PollFd<'_>> = sources
            .iter()
            .zip(flags)
            .filter_map(|(fd, flags)| Some(PollFd::from_borrowed_fd((*fd)?, flags)))
            .collect();
        let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
        match poll(&mut fds, Some(&tick)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => {
                return Err(Error::Io { what: "wait for the sandbox", source: errno.into() });
            }
        }
        let mut events = fds.iter().map(|fd| !fd.revents().is_empty());
        let [reports, replies, requests] =
            sources.map(|source| source.is_some() && events.next().unwrap_or(false));
        Ok(Ready { reports, replies, requests })
    }

    /// Ends the command for a reason, unless it has ended by itself.
    fn end(&mut self, cause: End) -> Result<Reply, Error> {
        self.live.send(&Order::Stop(cause), &[])?;
        self.hear()
    }

    /// The report on the command's end, after which nothing more can be asked.
    fn hear(&mut self) -> Result<Reply, Error> {
        let report = self.live.receive()?;
        self.live.close();
        match report {
            Report::Ended(Ended { end, cpu, .. }) => Ok(Reply::Over { end, cpu }),
            Report::NotStarted(program, reason) => Err(Error::NotStarted { program, reason }),
            Report::NotWritten(path, reason) => Err(Error::NotWritten { path, reason }),
            _ => Err(Error::Lost("it answered out of turn".into())),
        }
    }
}
