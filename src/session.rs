//! The one owner of state: the verbs that every face offers. Plain data in, plain data out.
//!
//! A verb takes a request and a [`Job`] and gives an answer whose JSON is what the faces show. It
//! opens what it needs and leaves behind only what is in the state directory.

mod apply;
mod bugs;
mod by_model;
mod cases;
mod check;
mod configured;
mod csv;
mod curve;
mod doctor;
mod documents;
mod error;
mod eval;
mod folder;
mod game;
mod grade;
mod history;
mod inject;
mod instructions;
mod job;
mod jobs;
mod lock;
mod models;
mod open;
mod past;
mod parse;
mod place;
mod play;
mod played;
mod plays;
mod policy;
mod practice;
mod probe;
mod proxy;
mod prune;
mod record;
mod reference;
mod report;
mod roles;
mod run_tests;
mod runs;
mod score;
mod setup;
mod solve;
mod status;
#[cfg(test)]
mod tests;
mod train;
mod unnoticed;
mod warnings;
mod wrong_book;

pub use crate::agent::Player;
pub use apply::Plan;
pub use bugs::{Bug, Stamp};
pub use check::{CheckAnswer, CheckLine, CheckRequest};
pub use configured::{ConfigAnswer, SettingLine};
pub use csv::CsvLog;
pub use doctor::{
    DoctorAnswer, ProtocolCheck, SandboxState, StateDirectory, Surroundings, Toolchain,
};
pub use documents::{Document, KeptArtifact, KeptRun};
pub use error::Error;
pub use eval::{EvalAnswer, EvalLead, EvalRequest, Evaluated, Interval, Rate, RateAt, RateOf};
pub use game::Game;
pub use grade::{GradeAnswer, GradeRequest};
pub use inject::{InjectAnswer, InjectRequest};
pub use instructions::INSTRUCTIONS;
pub use job::{Event, Job};
pub use jobs::{JobLine, JobRequest, State, Work};
pub use models::{ProviderState, RolePlayer};
pub use open::{Repository, time_limit};
pub use parse::{ParseAnswer, ParseRequest};
pub use play::{DEFAULT_SECOND_ORDER, PlayRequest};
pub use played::PlayedRound;
pub use plays::{
    Budget, COMMAND, DEFAULT_TURNS, PlayBashAnswer, PlayBashRequest, PlayBeginAnswer,
    PlayBeginRequest, PlayCreateAnswer, PlayCreateRequest, PlayEditAnswer, PlayEditRequest,
    PlayReadAnswer, PlayReadRequest, PlayRef, PlayRole, PlaySubmitAnswer, PlaySubmitRequest,
};
pub use policy::{PolicyLine, START};
pub use practice::{
    DueLine, FamilyLine, Hint, PlaceLine, PlayerLine, PlayerStats, PracticeAnswer,
    PracticeCheckAnswer, PracticeHintAnswer, PracticeLine, PracticeListAnswer, PracticePick,
    PracticePlace, PracticeRaceAnswer, PracticeRaceRequest, PracticeRef, PracticeRevealAnswer,
    PracticeRunAnswer, PracticeRunRequest, PracticeStartRequest, PracticeStatsAnswer, RatingLine,
    RatingPoint, VerdictLine,
};
pub use probe::{ProbeAnswer, ProbeLine, ProbeRequest};
pub use proxy::ProxyRequest;
pub use prune::PruneAnswer;
pub use reference::ArtifactRef;
pub use report::{EvalLine, Point, ReportAnswer, ReportRequest, RunReport, StepLine};
pub use roles::{CONFIGURED, DEFAULT_CONCURRENCY, EMBEDDED, Roles};
pub use run_tests::{RunTestsAnswer, RunTestsRequest};
pub use score::{Outcome, RewardsAnswer, ScoreAnswer, ScoreRequest, score};
pub use setup::{ClientEntry, SetupAction, SetupAnswer, SetupOutcome, SetupRequest};
pub use solve::{AttemptLine, SolveAnswer, SolveRequest};
pub use status::{LastRound, LeftOut, RunLine, StatusAnswer};
pub use train::{
    TRAINING_BUGS, TRAINING_RUNS, TrainAnswer, TrainRequest, TrainStep, Trained, TrainedRole,
};
pub use unnoticed::{
    DEFAULT_EDITS, DEFAULT_UNNOTICED, UnnoticedAnswer, UnnoticedLine, UnnoticedRequest,
};
pub use warnings::Warning;
pub use wrong_book::{
    EntryAnswer, EntryLine, ExportAnswer, ReplayAnswer, ReplayRequest, Replayed, WrongBookAnswer,
};

use crate::config::Config;
use crate::sandbox::Sandbox;
use std::sync::OnceLock;

/// Attempts per bug (G) where nobody says otherwise: the paper's.
pub const DEFAULT_ATTEMPTS: usize = 8;
/// Below the state root: evaluations, and the trees of cases that bring none.
const EVALS: &str = "evals";
/// Most candidate bugs that one round runs before it gives up.
const CANDIDATES: usize = 200;

/// Shared by all jobs of a process.
#[derive(Debug)]
pub struct Session {
    config: Config,
    /// The one that was found to work, probed once a process.
    sandbox: OnceLock<Sandbox>,
    /// The jobs that this process works on.
    working: jobs::Working,
    plays: plays::Table,
}

impl Session {
    pub fn new(config: Config) -> Self {
        let (working, plays) = (jobs::Working::default(), plays::Table::default());
        Self { config, sandbox: OnceLock::new(), working, plays }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// The word by which a strategy, a check or a tier goes in every answer.
pub fn name(word: impl serde::Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}
