//! Standard input, or a pipe of ours, as frames, read as they come.

use super::{Frame, Frames, LONGEST};
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Stdin};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

pub struct Input {
    source: Source,
    piece: Vec<u8>,
    frames: Frames,
    ended: bool,
}

enum Source {
    Stdin(Stdin),
    Pipe(File),
}

impl Source {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stdin(stdin) => stdin.lock().read(piece),
            Self::Pipe(file) => file.read(piece),
        }
    }
}

impl AsFd for Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stdin(stdin) => stdin.as_fd(),
            Self::Pipe(file) => file.as_fd(),
        }
    }
}

impl Input {
    /// This process's standard input. There should be one of it.
    pub fn stdin() -> Self {
        Self::of(Source::Stdin(io::stdin()))
    }

    /// The end of a pipe.
    pub fn pipe(end: OwnedFd) -> Self {
        Self::of(Source::Pipe(end.into()))
    }

    fn of(source: Source) -> Self {
        Self { source, piece: vec![0; PIECE], frames: Frames::new(LONGEST), ended: false }
    }

    /// The next frame; waits for it. `None` once nothing more comes, also where reading fails.
    pub fn receive(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.frames.pop() {
                return Some(frame);
            }
            if self.ended {
                return self.frames.end();
            }
            match self.source.read(&mut self.piece) {
                Ok(0) => self.ended = true,
                Ok(length) => self.frames.push(&self.piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Whoever started us may have left the descriptor in that mode.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::IN, None);
                }
                Err(error) => {
                    tracing::debug!("the client cannot be read: {error}");
                    self.ended = true;
                }
            }
        }
    }

    /// Whether the other end has gone, whatever it left to be read. Waits for that so long.
    pub fn hung_up(&self, within: Duration) -> bool {
        let seen = self.wait(PollFlags::RDHUP, Some(within));
        seen.intersects(PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR)
    }

    fn wait(&self, what: PollFlags, within: Option<Duration>) -> PollFlags {
        let mut polled = [PollFd::new(&self.source, what)];
        let within = within.and_then(|within| within.try_into().ok());
        if poll(&mut polled, within.as_ref()).is_err() {
            return PollFlags::empty();
        }
        polled[0].revents()
    }
}
