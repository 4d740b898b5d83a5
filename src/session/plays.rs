//! Plays: a calling agent is injector or solver itself, call by call, in a sandbox of its own.
//!
//! A play is a row of the store: what was asked, every call with what was answered, and the tree and the
//! shell as the last call left them. While a process plays it, it holds the lock of its file, and a live
//! sandbox for as long as that is used; another one is opened from the row when it is needed. The agent
//! never touches the user's tree, and sees what the embedded roles see.

mod act;
mod begin;
mod budget;
mod seat;
mod submit;
mod table;

pub use act::{
    PlayBashAnswer, PlayBashRequest, PlayCreateAnswer, PlayCreateRequest, PlayEditAnswer,
    PlayEditRequest, PlayReadAnswer, PlayReadRequest,
};
pub use begin::{PlayBeginAnswer, PlayBeginRequest, PlayRole};
pub use budget::Budget;
pub use submit::{PlaySubmitAnswer, PlaySubmitRequest};

pub(super) use table::Table;

use std::path::PathBuf;
use std::time::Duration;

/// How long one command may take.
pub const COMMAND: Duration = Duration::from_mins(2);
/// Calls that a play may make, where nobody says otherwise (those of the paper's scaffold).
pub const DEFAULT_TURNS: u32 = 128;
/// How long a play may be submitted after it was begun.
const LIFE: Duration = Duration::from_hours(24);
/// How long a sandbox is kept that nobody uses.
const IDLE: Duration = Duration::from_mins(15);
/// Sandboxes of plays that one process keeps.
const LIVE: usize = 8;

/// Which play a call belongs to.
#[derive(Clone, Debug)]
pub struct PlayRef {
    /// 32 hexadecimal digits.
    pub id: String,
    /// The repository that it was begun in, relative to the working directory. `None`: this process's last
    /// one of that id, else the working directory.
    pub repo: Option<PathBuf>,
}
