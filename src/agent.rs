//! A model at work in a role: the tool loop that injector and solver share.
//!
//! A model is asked, makes one call a step, and sees what came of it and what is left to it, until it submits,
//! gives up, or is at a limit. (The scaffold of SSR's two roles, arXiv 2512.18552, section 3, after CWM's.)
//! All that it calls for is done in a [`Room`](crate::scaffold::Room) inside the sandbox; what it says is data
//! and goes nowhere else. Each message is kept in the store as it comes, with tree and shell: a session that was
//! interrupted goes on behind its last message, and what was answered is not paid for again.

mod act;
mod diary;
mod files;
mod gate;
mod kept;
mod meter;
pub mod prompt;
mod sitting;
mod sources;
mod stage;
mod talk;
pub mod task;
mod text_form;
mod tool;

pub use diary::{Who, files_of, tree_of};
pub use gate::{Gate, Pass};
pub use kept::{bytes_of, text_of};
pub use meter::{Account, Budget, Meter, Price, Reservation, Spent, estimate};
pub use prompt::Prompt;
pub use sitting::{Judge, Sitting, Verdict};
pub use sources::{Sources, fix_of};
pub use stage::{Scene, Stage};
pub use talk::play;
pub use tool::{Call, Fault, Submission, Tool};

use crate::harness;
use crate::model::{self, Chat, Rollout, Sampling};
use crate::scaffold;
use crate::workspace;
use std::sync::Arc;
use std::time::Duration;

/// What a model plays.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Injector,
    Solver,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::Injector => "injector",
            Self::Solver => "solver",
        }
    }
}

/// What bounds one session with a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Requests that may be made.
    pub turns: u32,
    /// Tokens of the conversation; the model's own where that is less.
    pub context: u64,
    /// Longest that a command may take.
    pub command: Duration,
    /// Most bytes of a result that are shown; less where the context is small.
    pub result: usize,
    /// Replies that cannot be used, of which one too many ends the session.
    pub malformed: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 128,
            context: model::DEFAULT_CONTEXT,
            command: Duration::from_mins(2),
            result: scaffold::OUTPUT,
            malformed: 8,
        }
    }
}

/// The same model, whose replies are kept as those of a rollout.
pub type Recorder = Arc<dyn Fn(Rollout) -> Arc<dyn Chat> + Send + Sync>;

/// A model with what it plays by.
#[derive(Clone)]
pub struct Player {
    pub chat: Arc<dyn Chat>,
    pub sampling: Sampling,
    pub limits: Limits,
    /// `None` where none is configured.
    pub price: Option<Price>,
    /// Said to the model beside our own prompts.
    pub instructions: Option<String>,
    /// Where what it says is kept for a policy to be trained on.
    pub recorder: Option<Recorder>,
}

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player").field("model", &self.chat.model()).finish_non_exhaustive()
    }
}

/// A player at a table: within the bounds that all seats of a run share.
#[derive(Clone, Debug)]
pub struct Seat {
    pub player: Player,
    pub bounds: Arc<Bounds>,
}

impl Seat {
    /// Tokens of a conversation, at most.
    pub fn context(&self) -> u64 {
        self.player.limits.context.min(self.player.chat.context())
    }
}

/// What all sessions of a run share.
#[derive(Debug)]
pub struct Bounds {
    pub meter: Meter,
    /// Sessions at once, and commands at once.
    pub sessions: Gate,
    pub commands: Gate,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    #[error("it submitted")]
    Submitted,
    #[error("all {0} turns were used")]
    Turns(u32),
    #[error("the context of {0} tokens was full")]
    Context(u64),
    #[error("{0} replies could not be used")]
    Malformed(u32),
    #[error("it made no call, {0} times")]
    Idle(u32),
    #[error("its reply was filtered")]
    Filtered,
    #[error("its reply was longer than anything that can be read")]
    Oversized,
    #[error("its server refused to go on: {0}")]
    Rejected(String),
}

impl Ending {
    /// One word, for a log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Turns(_) => "turns",
            Self::Context(_) => "context",
            Self::Malformed(_) => "malformed",
            Self::Idle(_) => "idle",
            Self::Filtered => "filtered",
            Self::Oversized => "oversized",
            Self::Rejected(_) => "rejected",
        }
    }

    /// Whether what was submitted before counts: it did its work within the limits.
    fn keeps(&self) -> bool {
        matches!(self, Self::Submitted | Self::Turns(_) | Self::Context(_))
    }
}

/// What came of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub ending: Ending,
    /// What the judge kept of the last submission that counts.
    pub submitted: Option<String>,
    pub account: Bill,
}

/// What a session took, for the record of an attempt.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bill {
    pub model: String,
    /// Id of the session in the store; and of those before it, where a role took several.
    pub sitting: String,
    pub earlier: Vec<String>,
    /// Hash of the prompts.
    pub prompt: String,
    /// One word: how it ended.
    pub ending: String,
    pub turns: u32,
    /// Replies that could not be used.
    pub malformed: u32,
    pub spent: Spent,
}

impl Bill {
    /// With the bill of the session that came before it in the same role.
    #[must_use]
    pub fn after(mut self, before: &Self) -> Self {
        let mut earlier = before.earlier.clone();
        earlier.push(before.sitting.clone());
        earlier.append(&mut self.earlier);
        self.earlier = earlier;
        self.turns += before.turns;
        self.malformed += before.malformed;
        let mut spent = before.spent;
        spent.add(&self.spent);
        Self { spent, ..self }
    }
}

/// Keeps what a role's sessions earned, with them and with what a policy can be trained on. `parts`: JSON.
pub fn rewarded(
    harness: &harness::Harness,
    bill: &Bill,
    reward: f64,
    parts: &serde_json::Value,
) -> Result<(), Error> {
    let store = harness.store();
    // At a limit it was not the player who ended it.
    let truncated = ["turns", "context"].contains(&&*bill.ending);
    let sittings = bill.earlier.iter().chain([&bill.sitting]).filter(|id| !id.is_empty());
    for id in sittings {
        store.reward_sitting(id, reward)?;
        store.end_rollout(id, Some(reward), &parts.to_string(), truncated)?;
    }
    Ok(())
}

/// Why nothing can be said of a model's play: never evidence against it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Harness(#[from] harness::Error),
    #[error(transparent)]
    Workspace(#[from] workspace::Error),
    #[error("the {} could not be asked: {error}", role.name())]
    Model { role: Role, error: model::Error },
    #[error(
        "the budget of {budget} does not hold another request, {spent} are spent; what was played is kept: the \
         same command with a larger --budget goes on"
    )]
    OutOfBudget { spent: Box<Spent>, budget: Budget },
    #[error("the sandbox cannot go on: {0}")]
    Spoilt(String),
}

impl Error {
    /// Nothing that a program does will help.
    pub fn needs_person(&self) -> bool {
        matches!(self, Self::Model { error, .. } if error.needs_person())
    }
}

impl From<crate::store::Error> for Error {
    fn from(error: crate::store::Error) -> Self {
        Self::Harness(error.into())
    }
}

impl From<scaffold::Error> for Error {
    fn from(error: scaffold::Error) -> Self {
        match error {
            scaffold::Error::Harness(error) => Self::Harness(error),
            scaffold::Error::Spoilt(reason) => Self::Spoilt(reason),
        }
    }
}
