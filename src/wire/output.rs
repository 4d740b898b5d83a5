//! Standard output (or a pipe of ours), kept for the protocol: whatever else prints to it goes to standard error.

use super::Framing;
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;

pub struct Output(File);

impl Output {
    /// A private duplicate of standard output; descriptor 1 then is standard error.
    pub fn take_stdout() -> io::Result<Self> {
        let private = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Self(File::from(private)))
    }

    /// The end of a pipe.
    pub fn pipe(end: OwnedFd) -> Self {
        Self(end.into())
    }

    /// Writes a message, delimited as said. `message` is JSON without a line break.
    pub fn write(&mut self, framing: Framing, message: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(message.len() + 32);
        if framing == Framing::Header {
            write!(bytes, "Content-Length: {}\r\n\r\n", message.len())?;
        }
        bytes.extend_from_slice(message);
        if framing == Framing::Line {
            bytes.push(b'\n');
        }
        self.write_all(&bytes)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.0.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(length) => bytes = &bytes[length..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Whoever started us may have left the descriptor in that mode.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
