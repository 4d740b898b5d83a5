//! Keeps standard output for the protocol: whatever else prints to it goes to standard error.

use std::fs::File;
use std::io;

/// A private duplicate of standard output; descriptor 1 then is standard error.
pub(super) fn take_standard_output() -> io::Result<File> {
    let private = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(File::from(private))
}
