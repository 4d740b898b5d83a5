//! The tool `replay_bug`.

use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{DEFAULT_ATTEMPTS, Error, Job, ReplayAnswer, ReplayRequest, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// The wrong-book entry: its id, or the beginning of it. Default: those with the most failures.
    #[serde(default)]
    #[schemars(with = "String")]
    entry: Option<String>,
    /// Attempts to make (G), from 1. Default: 8.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1))]
    attempts: Option<usize>,
    /// The same seed gives the same attempts. Default: from the clock; the answer says it.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "replay_bug",
        title: "Self-play: attempt failed bugs again",
        description: "Makes attempts at bugs that earlier attempts failed (see wrong_book), with the \
                      embedded solver, and updates their entries. Seconds to minutes.",
        effect: Effect::Adds,
    };
    Entry::job(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<ReplayAnswer, Error> {
    let request = ReplayRequest {
        repository: arguments.repository.repository()?,
        entry: arguments.entry,
        attempts: arguments.attempts.unwrap_or(DEFAULT_ATTEMPTS),
        runs: None,
        seed: arguments.seed,
    };
    session.replay(&request, job)
}
