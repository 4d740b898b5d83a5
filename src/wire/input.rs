//! Standard input as frames, read as they come.

use super::{Frame, Frames, LONGEST};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{ErrorKind, Read, Stdin};
use std::time::Duration;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

pub struct Input {
    stdin: Stdin,
    piece: Vec<u8>,
    frames: Frames,
    ended: bool,
}

impl Input {
    /// This process's standard input. There should be one of it.
    pub fn stdin() -> Self {
        let piece = vec![0; PIECE];
        Self { stdin: std::io::stdin(), piece, frames: Frames::new(LONGEST), ended: false }
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
            match self.stdin.lock().read(&mut self.piece) {
                Ok(0) => self.ended = true,
                Ok(length) => self.frames.push(&self.piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Whoever started us may have left the descriptor in that mode.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::IN, None);
                }
                Err(error) => {
                    tracing::debug!("standard input cannot be read: {error}");
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
        let mut polled = [PollFd::new(&self.stdin, what)];
        let within = within.and_then(|within| within.try_into().ok());
        if poll(&mut polled, within.as_ref()).is_err() {
            return PollFlags::empty();
        }
        polled[0].revents()
    }
}
