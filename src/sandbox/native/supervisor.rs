//! The server's side of one live sandbox: starts the helper, sends steps, drains their output.

use super::capture::Capture;
use super::fork_server::socket_pair;
use super::groups::Group;
use super::message::{Ended, Order, Policy, RawChanges, Report};
use super::translate::Translation;
use super::wire::{Channel, Wire};
use super::{
    Cancel, Captured, ChangeSet, End, Error, Finished, Limits, Machine, Step, View, check,
};
use crate::tree::{File, RelPath};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::Signal;
use std::borrow::Cow;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a frame may take to pass, and the helper to die.
const PATIENCE: Duration = Duration::from_mins(1);

/// Beyond a step's deadline: the grace period, the killing, the reading of files.
const SLACK: Duration = Duration::from_mins(1);

/// How soon a cancellation is seen.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// A running helper and the socket to it. The socket is also the lifeline: the helper's side ends
/// everything when this side closes, however this process ends.
#[derive(Debug)]
pub(in crate::sandbox) struct Live {
    /// `None` once closed.
    pub(super) channel: Option<Channel>,
    /// The helper's process, once it has begun.
    helper: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    group: Option<Group>,
    machine: Arc<Machine>,
    pub(super) limits: Limits,
    /// Whether the view is built.
    ready: bool,
    /// Where the paths of the view are not those inside.
    pub(super) translation: Option<Translation>,
}

impl Live {
    /// Starts a helper and sends it the view.
    pub(in crate::sandbox) fn start(machine: &Arc<Machine>, view: &View) -> Result<Self, Error> {
        check::view(view, machine.runs_as)?;
        let (view, way, translation) = machine.arrange(view)?;
        let (ours, theirs) = socket_pair()?;
        let (stderr, stderr_end) = pipe()?;
        let channel = Channel::new(ours);
        channel
            .limit(PATIENCE)
            .map_err(|source| Error::Io { what: "set up the socket", source })?;
        machine.server.begin(&theirs, &stderr_end)?;
        drop((theirs, stderr_end));
        let mut live = Self {
            channel: Some(channel),
            helper: None,
            stderr: Some(stderr),
            group: machine.groups.take(&view.limits),
            machine: Arc::clone(machine),
            limits: view.limits.clone(),
            ready: false,
            translation,
        };
        let groups = live.group.as_ref().map(Group::doors).unwrap_or_default();
        let (system, filter) = (machine.system.clone(), machine.filter.clone());
        let policy = Policy { view, system, filter, way, groups };
        live.send(&policy, &[])?;
        Ok(live)
    }

    /// Waits until the view is built. A step may be sent before that.
    pub(in crate::sandbox) fn wait_ready(&mut self) -> Result<(), Error> {
        while !self.ready {
            let report = self.receive()?;
            self.note_beginning(report)?;
        }
        Ok(())
    }

    /// Where the tree is, if not where the view wants it.
    pub(in crate::sandbox) fn root(&self) -> Option<&Path> {
        self.translation.as_ref().map(Translation::root)
    }

    /// Takes the reports before the first step's.
    fn note_beginning(&mut self, report: Report) -> Result<(), Error> {
        match report {
            Report::Begun => Ok(()),
            Report::Ready => {
                self.ready = true;
                Ok(())
            }
            Report::Broken(reason) => {
                self.close();
                Err(Error::Setup(reason))
            }
            _ => Err(Error::Lost("it answered out of turn".into())),
        }
    }

    pub(in crate::sandbox) fn run(
        &mut self,
        step: &Step,
        cancel: &Cancel,
    ) -> Result<Finished, Error> {
        check::step(step)?;
        let inside = self.translated(step)?;
        let names: Vec<_> = inside.collect.iter().cloned().zip(step.collect.clone()).collect();
        let (out, out_end) = pipe()?;
        let (err, err_end) = if step.merge_stderr {
            (None, None)
        } else {
            pipe().map(|(a, b)| (Some(a), Some(b)))?
        };
        let ends: Vec<BorrowedFd<'_>> =
            [Some(&out_end), err_end.as_ref()].into_iter().flatten().map(|fd| fd.as_fd()).collect();
        self.send(&Order::Run(inside), &ends)?;
        drop((out_end, err_end));
        let mut streams = [self.stream(Some(out)), self.stream(err)];
        let report = self.attend(&mut streams, cancel, Instant::now() + step.deadline + SLACK)?;
        let total: u64 = streams.iter().map(|stream| stream.total).sum();
        let [stdout, stderr] = streams.map(Stream::finish);
        match report {
            Report::Ended(Ended { mut end, wall, cpu, mut collected, wanted_network }) => {
                // Whether the command ended before it was told to must not depend on timing.
                if total > self.limits.output && matches!(end, End::Exited(_) | End::Signalled(_)) {
                    end = End::OutputLimit;
                }
                let ended = matches!(end, End::Exited(_) | End::Signalled(_));
                if ended && self.group.as_ref().is_some_and(Group::ran_out_of_memory) {
                    end = End::OutOfMemory;
                }
                let told = |(inside, name)| Some((name, collected.remove(&inside)?));
                let collected = names.into_iter().filter_map(told).collect();
                Ok(Finished { end, stdout, stderr, wall, cpu, collected, wanted_network })
            }
            Report::NotStarted(program, reason) => Err(Error::NotStarted { program, reason }),
            Report::NotWritten(path, reason) => Err(Error::NotWritten { path, reason }),
            _ => Err(Error::Lost("it answered out of turn".into())),
        }
    }

    /// The step with the paths inside.
    pub(super) fn translated<'a>(&self, step: &'a Step) -> Result<Cow<'a, Step>, Error> {
        match &self.translation {
            None => Ok(Cow::Borrowed(step)),
            Some(translation) => translation.step(step).map(Cow::Owned),
        }
    }

    pub(in crate::sandbox) fn changes(&mut self) -> Result<ChangeSet, Error> {
        self.send(&Order::ListChanges, &[])?;
        match self.receive()? {
            Report::Changed(raw) => Ok(checked(raw)),
            _ => Err(Error::Lost("it answered out of turn".into())),
        }
    }

    fn stream(&self, pipe: Option<OwnedFd>) -> Stream {
        Stream {
            pipe,
            capture: Capture::new(self.limits.keep_head, self.limits.keep_tail),
            total: 0,
        }
    }

    /// Drains both streams until they end and the report is there; stops the command if it prints too
    /// much or is cancelled. No process is left when the report comes, so the streams end with it.
    fn attend(
        &mut self,
        streams: &mut [Stream; 2],
        cancel: &Cancel,
        latest: Instant,
    ) -> Result<Report, Error> {
        let mut report = None;
        let mut stopped = false;
        while report.is_none() || streams.iter().any(|stream| stream.pipe.is_some()) {
            if Instant::now() > latest {
                self.kill();
                return Err(Error::Lost(
                    "it did not end the command in time and was killed".into(),
                ));
            }
            let (heard, ready) = self.wait(streams, report.is_none())?;
            for (stream, ready) in streams.iter_mut().zip(ready) {
                if ready {
                    stream.drain();
                }
            }
            if heard {
                let received = self.receive()?;
                if self.ready {
                    report = Some(received);
                } else {
                    self.note_beginning(received)?;
                }
            }
            let total: u64 = streams.iter().map(|stream| stream.total).sum();
            let cause = if total > self.limits.output {
                Some(End::OutputLimit)
            } else if cancel.is_cancelled() {
                Some(End::Cancelled)
            } else {
                None
            };
            if let (Some(cause), false, None) = (cause, stopped, &report) {
                stopped = true;
                self.send(&Order::Stop(cause), &[])?;
            }
        }
        report.ok_or_else(|| Error::Lost("it sent no report".into()))
    }

    /// Whether the socket has news, and which streams have.
    fn wait(&self, streams: &[Stream; 2], listen: bool) -> Result<(bool, [bool; 2]), Error> {
        let channel = self.channel.as_ref().filter(|_| listen);
        let sources = [
            channel.map(|channel| channel.as_fd()),
            streams[0].pipe.as_ref().map(|pipe| pipe.as_fd()),
            streams[1].pipe.as_ref().map(|pipe| pipe.as_fd()),
        ];
        let mut fds: Vec<PollFd<'_>> = sources
            .iter()
            .flatten()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
            .collect();
        let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
        match poll(&mut fds, Some(&tick)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => {
                return Err(Error::Io { what: "wait for the sandbox", source: errno.into() });
            }
        }
        let mut events = fds.iter().map(|fd| !fd.revents().is_empty());
        let [heard, out, err] =
            sources.map(|source| source.is_some() && events.next().unwrap_or(false));
        Ok((heard, [out, err]))
    }

    pub(super) fn send(
        &mut self,
        message: &impl Wire,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(), Error> {
        match self.channel.as_ref().map(|channel| channel.send(message, fds)) {
            Some(Ok(())) => Ok(()),
            // A helper that could not even begin may have said why before it went.
            Some(Err(error)) => Err(match self.wait_ready() {
                Err(reason @ Error::Setup(_)) => reason,
                _ => self.lost(&error.to_string()),
            }),
            None => Err(Error::Lost("the session is over".into())),
        }
    }

    pub(super) fn receive(&mut self) -> Result<Report, Error> {
        match self.channel.as_ref().map(Channel::receive) {
            Some(Ok(Some((report, mut fds)))) => {
                self.helper = self.helper.take().or(fds.pop());
                Ok(report)
            }
            Some(Ok(None)) => Err(self.lost("its end of the socket closed")),
            Some(Err(error)) => Err(self.lost(&error.to_string())),
            None => Err(Error::Lost("the session is over".into())),
        }
    }

    /// The session is over: with what the helper said on its standard error, if anything.
    pub(super) fn lost(&mut self, what: &str) -> Error {
        self.close();
        let mut said = Vec::new();
        if let Some(stderr) = self.stderr.take() {
            std::fs::File::from(stderr).take(4096).read_to_end(&mut said).ok();
        }
        let said = String::from_utf8_lossy(&said);
        let server = self.machine.server.last_words();
        let said = [said.trim(), &server].join(" ");
        Error::Lost(format!("{what}; {}", said.trim()).trim_end_matches("; ").into())
    }

    /// Ends everything inside and waits until it has ended: the first process goes when the socket
    /// closes, its namespace with it, and the helper after that.
    pub(super) fn close(&mut self) {
        let channel = self.channel.take();
        // A helper that has hardly begun is known by its first report alone: its directory must not be
        // another run's before it has ended.
        while self.helper.is_none()
            && let Some(Ok(Some((_, mut fds)))) = channel.as_ref().map(Channel::receive::<Report>)
        {
            self.helper = fds.pop();
        }
        drop(channel);
        if !self.has_ended(Duration::from_secs(10)) {
            self.kill();
            self.has_ended(Duration::from_secs(10));
        }
    }

    /// Whether the helper ends within a time.
    fn has_ended(&self, patience: Duration) -> bool {
        let Some(helper) = &self.helper else {
            return true;
        };
        let latest = Instant::now() + patience;
        loop {
            let rest = Timespec::try_from(latest.saturating_duration_since(Instant::now())).ok();
            match poll(&mut [PollFd::new(helper, PollFlags::IN)], rest.as_ref()) {
                Err(Errno::INTR) => {}
                ready => return ready.is_ok_and(|ready| ready > 0),
            }
        }
    }

    fn kill(&self) {
        if let Some(helper) = &self.helper {
            rustix::process::pidfd_send_signal(helper, Signal::KILL).ok();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.channel.is_some() {
            self.close();
        }
    }
}

pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), Error> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .map_err(|errno| Error::Io { what: "make a pipe", source: errno.into() })
}

/// One of a command's output streams.
struct Stream {
    /// `None` once it ended.
    pipe: Option<OwnedFd>,
    capture: Capture,
    total: u64,
}

impl Stream {
    /// Reads once; only called when that does not block.
    fn drain(&mut self) {
        let mut buffer = [0; 1 << 14];
        let Some(pipe) = &self.pipe else {
            return;
        };
        match rustix::io::read(pipe, &mut buffer) {
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => self.pipe = None,
            Ok(read) => {
                self.capture.push(&buffer[..read]);
                self.total += read as u64;
            }
        }
    }

    fn finish(self) -> Captured {
        self.capture.finish()
    }
}

/// Takes the paths that a tree may have; the rest is named.
fn checked(raw: RawChanges) -> ChangeSet {
    let mut set = ChangeSet::default();
    let lossy = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    for (path, file) in raw.files {
        match (RelPath::parse(&path), file) {
            (Ok(path), Some((bytes, executable))) => {
                set.changes.write(path, File { bytes: bytes.into(), executable });
            }
            (Ok(path), None) => set.changes.delete(path),
            (Err(refusal), _) => set.others.push((lossy(&path), refusal.to_string())),
        }
    }
    set.others.extend(raw.others.into_iter().map(|(path, kind)| (lossy(&path), kind)));
    set.others.sort();
    set
}
