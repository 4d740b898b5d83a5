//! The one table of exit codes, and what a signal does.

use crate::sandbox::Cancel;
use crate::session::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, and the outcome is the one that was hoped for.
    Done,
    /// 1: done, and the outcome is negative: an invalid artifact, an unsolved bug.
    Negative,
    /// 2: the arguments cannot be used.
    Usage,
    /// 3: the harness could not do its work, or was cancelled.
    Harness,
}

impl Exit {
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::Usage(_) => Self::Usage,
            Error::Harness(_)
            | Error::NeedsPerson(_)
            | Error::OutOfBudget(_)
            | Error::Cancelled => Self::Harness,
        }
    }

    pub(super) fn done_if(good: bool) -> Self {
        if good { Self::Done } else { Self::Negative }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Negative => 1,
            Exit::Usage => 2,
            Exit::Harness => 3,
        })
    }
}

pub(super) fn cancel_on_signal(cancel: Cancel) -> Result<(), ctrlc::Error> {
    let again = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        cancel.cancel();
        if again.swap(true, Ordering::SeqCst) {
            leave();
        }
    })
}

/// Children end with us: each holds one end of a pipe whose other end is ours.
#[expect(clippy::exit, reason = "a second Ctrl-C asks for exactly this")]
fn leave() -> ! {
    std::process::exit(3)
}
