//! The calls of a play: its shell and its editor.

use super::seat::Seat;
use super::{Budget, COMMAND, PlayRef};
use crate::harness;
use crate::sandbox::End;
use crate::scaffold::{self, Edited, Ran, Room, Trouble, in_words, numbered};
use crate::session::record::now;
use crate::session::{Error, Job, Session};
use crate::store::Turn;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// Lines shown by `play_read` where nobody says how many.
const LINES: usize = 400;
/// How soon a call that waits for another one of its play looks again.
const WAIT: Duration = Duration::from_millis(10);

#[derive(Clone, Debug)]
pub struct PlayBashRequest {
    pub play: PlayRef,
    pub command: String,
    /// [`COMMAND`] where `None`.
    pub limit: Option<Duration>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlayBashAnswer {
    /// Standard output and error, in one; of a long output the beginning and the end.
    pub output: String,
    /// Bytes of the output that were left out.
    pub left_out: u64,
    /// Null where the command did not end by itself.
    pub exit_status: Option<i32>,
    /// How it ended: exited, or what ended it.
    pub end: String,
    pub seconds: f64,
    /// Whether directory, variables, functions and options of the shell are kept as the command left
    /// them; otherwise they are what they were before it.
    pub shell_kept: bool,
    pub budget: Budget,
}

#[derive(Clone, Debug)]
pub struct PlayEditRequest {
    pub play: PlayRef,
    pub path: String,
    pub search: String,
    pub replace: String,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlayEditAnswer {
    pub path: String,
    /// The line, from 1, on which the new text begins.
    pub line: usize,
    /// The lines around it, with their numbers.
    pub text: String,
    pub budget: Budget,
}

#[derive(Clone, Debug)]
pub struct PlayCreateRequest {
    pub play: PlayRef,
    pub path: String,
    pub content: String,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlayCreateAnswer {
    pub path: String,
    pub bytes: usize,
    pub budget: Budget,
}

#[derive(Clone, Debug)]
pub struct PlayReadRequest {
    pub play: PlayRef,
    pub path: String,
    /// From 1.
    pub from_line: Option<usize>,
    pub lines: Option<usize>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlayReadAnswer {
    pub path: String,
    /// The lines with their numbers.
    pub text: String,
    /// The first and the last line shown; null where there is none.
    pub first: Option<usize>,
    pub last: Option<usize>,
    /// How many lines the file has.
    pub lines: usize,
    pub budget: Budget,
}

/// What a call does, and whether it leaves the tree as it is.
struct Call<'a> {
    tool: &'static str,
    arguments: Value,
    looks: bool,
    play: &'a PlayRef,
}

type Worked<T> = Result<Result<T, Trouble>, scaffold::Error>;

impl Session {
    pub fn play_bash(&self, request: &PlayBashRequest, job: &Job) -> Result<PlayBashAnswer, Error> {
        let limit = request.limit.unwrap_or(COMMAND);
        let call = Call {
            tool: "play_bash",
            arguments: json!({ "command": request.command }),
            looks: false,
            play: &request.play,
        };
        let work = |room: &mut Room| room.command(&request.command, limit, &job.cancel);
        self.act(&call, job, work, |ran: Ran, budget| PlayBashAnswer {
            exit_status: match ran.end {
                End::Exited(status) => Some(status),
                _ => None,
            },
            end: in_words(ran.end, limit),
            output: ran.output.text,
            left_out: ran.output.left_out,
            seconds: (ran.wall.as_secs_f64() * 1000.0).round() / 1000.0,
            shell_kept: ran.remembered,
            budget,
        })
    }

    pub fn play_edit(&self, request: &PlayEditRequest, job: &Job) -> Result<PlayEditAnswer, Error> {
        let PlayEditRequest { play, path, search, replace } = request;
        let call = Call {
            tool: "play_edit",
            arguments: json!({ "path": path, "search": search, "replace": replace }),
            looks: false,
            play,
        };
        let work = |room: &mut Room| room.edit_at(path, search, replace, &job.cancel);
        self.act(&call, job, work, |Edited { place, line, text }, budget| PlayEditAnswer {
            path: place.to_string(),
            line,
            text,
            budget,
        })
    }

    pub fn play_create(
        &self,
        request: &PlayCreateRequest,
        job: &Job,
    ) -> Result<PlayCreateAnswer, Error> {
        let PlayCreateRequest { play, path, content } = request;
        let call = Call {
            tool: "play_create",
            arguments: json!({ "path": path, "content": content }),
            looks: false,
            play,
        };
        let work = |room: &mut Room| room.create_at(path, content, &job.cancel);
        let bytes = content.len();
        self.act(&call, job, work, |place, budget| PlayCreateAnswer {
            path: place.to_string(),
            bytes,
            budget,
        })
    }

    pub fn play_read(&self, request: &PlayReadRequest, job: &Job) -> Result<PlayReadAnswer, Error> {
        let PlayReadRequest { play, path, from_line, lines } = request;
        let call = Call {
            tool: "play_read",
            arguments: json!({ "path": path, "from_line": from_line, "lines": lines }),
            looks: true,
            play,
        };
        let (from, many) = (from_line.unwrap_or(1).max(1), lines.unwrap_or(LINES).max(1));
        let work = |room: &mut Room| room.read_at(path, &job.cancel);
        self.act(&call, job, work, |(place, file), budget| {
            let wanted = from..=from.saturating_add(many - 1);
            let (text, shown) = numbered(&file.bytes, wanted);
            PlayReadAnswer {
                path: place.to_string(),
                text,
                first: shown.as_ref().map(|shown| *shown.start()),
                last: shown.as_ref().map(|shown| *shown.end()),
                lines: crate::text::lines(&file.bytes).count(),
                budget,
            }
        })
    }

    /// One call: its budget, its work, and what is kept of it whatever comes of it.
    fn act<W, A: Serialize>(
        &self,
        call: &Call<'_>,
        job: &Job,
        work: impl FnOnce(&mut Room) -> Worked<W>,
        answer: impl FnOnce(W, Budget) -> A,
    ) -> Result<A, Error> {
        let held = self.seat(call.play)?;
        let mut seat = in_turn(&held, job)?;
        seat.refuse_over()?;
        if seat.row.turns >= seat.row.most_turns {
            return Err(Error::usage(format!(
                "all {} turns of this play are used; call play_submit",
                seat.row.most_turns
            )));
        }
        seat.enter(self, job)?;
        let begun = Instant::now();
        let number = seat.row.turns + 1;
        let worked = match &mut seat.room {
            Some(room) => work(room),
            None => {
                return Err(Error::harness(anyhow::anyhow!("the sandbox of this play is gone")));
            }
        };
        let budget = Budget::of(&seat.row, number, now());
        let notice = budget.notice();
        let outcome = match worked {
            Ok(Ok(done)) => Ok(answer(done, budget)),
            Ok(Err(trouble)) => Err(Error::usage(format!("{trouble} {notice}"))),
            Err(error) => Err(broken(&mut seat, error, job)),
        };
        let result = match &outcome {
            Ok(answer) => serde_json::to_string(answer).map_err(Error::harness)?,
            Err(error) => error.to_string(),
        };
        let turn = Turn {
            number,
            tool: call.tool.to_owned(),
            arguments: call.arguments.to_string(),
            result,
            failed: outcome.is_err(),
            millis: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        if let Err(error) = seat.keep(&turn, call.looks) {
            // What cannot be kept must not be gone on with: the next call begins where the last kept one
            // ended.
            seat.room = None;
            return Err(error);
        }
        outcome
    }
}

/// The calls of a play are made one after the other. One that is cancelled while it waits is not made.
pub(super) fn in_turn<'s>(held: &'s Mutex<Seat>, job: &Job) -> Result<MutexGuard<'s, Seat>, Error> {
    loop {
        match held.try_lock() {
            Ok(seat) => return Ok(seat),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if job.cancel.is_cancelled() => {
                return Err(Error::Cancelled);
            }
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(WAIT),
        }
    }
}

/// After a failure that is none of the player's the sandbox is opened anew; after a cancellation it is
/// as good as before.
pub(super) fn broken(seat: &mut MutexGuard<'_, Seat>, error: scaffold::Error, job: &Job) -> Error {
    match error {
        scaffold::Error::Harness(harness::Error::Cancelled) => Error::Cancelled,
        scaffold::Error::Harness(error) => {
            seat.room = None;
            job.failed(error)
        }
        scaffold::Error::Spoilt(reason) => {
            seat.room = None;
            Error::usage(format!(
                "the sandbox could not go on ({reason}); the next call finds the tree as it was after the \
                 last call that worked, and nothing outside of it"
            ))
        }
    }
}
