//! The one process that helpers are forked from: this program again, started once.
//!
//! To start the whole program anew for each sandbox would cost more than all the rest, most of it in
//! the loader; and to fork this process would cost time in proportion to its memory.

use super::Error;
use super::wire::{Channel, Wire};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The argument that makes this program the fork server. No command line of ours can mean it otherwise.
pub(super) const ARGUMENT: &str = "__sandbox-init";

/// The request for one helper. A socket for the helper and its standard error come with it.
#[derive(Debug)]
pub(super) struct Begin;

impl Wire for Begin {
    fn put(&self, _out: &mut Vec<u8>) {}
    fn take(_input: &mut &[u8]) -> Option<Self> {
        Some(Self)
    }
}

/// Starts helpers; started itself when first needed, and again if it died.
#[derive(Debug)]
pub(super) struct ForkServer {
    program: PathBuf,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    /// `None` once closed.
    channel: Option<Channel>,
    child: Child,
}

impl ForkServer {
    pub(super) fn new(program: PathBuf) -> Self {
        Self { program, running: Mutex::new(None) }
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a helper that listens on `socket` and complains on `stderr`.
    pub(super) fn begin(&self, socket: &OwnedFd, stderr: &OwnedFd) -> Result<(), Error> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let fds = [socket.as_fd(), stderr.as_fd()];
        let ask = |server: &Running| {
            server.channel.as_ref().is_some_and(|channel| channel.send(&Begin, &fds).is_ok())
        };
        if running.as_ref().is_some_and(ask) {
            return Ok(());
        }
        let mut server = Running::start(&self.program)?;
        if ask(&server) {
            *running = Some(server);
            return Ok(());
        }
        Err(Error::Lost(server.last_words()))
    }

    /// Why the last server ended, if it said so.
    pub(super) fn last_words(&self) -> String {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(server) = running.as_mut() else {
            return String::new();
        };
        let ended = matches!(server.child.try_wait(), Ok(Some(_)));
        if ended { server.last_words() } else { String::new() }
    }
}

impl Running {
    /// Starts the program with an empty environment and without a fork of this process.
    fn start(program: &Path) -> Result<Self, Error> {
        let (ours, theirs) = socket_pair()?;
        #[expect(clippy::disallowed_methods, reason = "this is the module that starts processes")]
        let child = Command::new(program)
            .arg(OsStr::new(ARGUMENT))
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| Error::Io { what: "start the sandbox's helper", source })?;
        Ok(Self { channel: Some(Channel::new(ours)), child })
    }

    /// Ends the server and returns what it said on its standard error.
    fn last_words(&mut self) -> String {
        self.end();
        let mut said = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            stderr.take(4096).read_to_end(&mut said).ok();
        }
        let said = String::from_utf8_lossy(&said);
        format!("its fork server ended; it said: {:?}", said.trim())
    }

    /// The server ends by itself when its socket closes; the helpers it forked go on.
    fn end(&mut self) {
        self.channel = None;
        self.child.wait().ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// A socket that no other process that this one starts inherits.
pub(super) fn socket_pair() -> Result<(OwnedFd, OwnedFd), Error> {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|errno| Error::Io { what: "make a socket pair", source: errno.into() })
}
