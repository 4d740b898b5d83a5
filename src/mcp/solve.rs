//! The tool `solve`.

use super::artifact_argument::ArtifactArguments;
use super::model_argument::ModelArguments;
use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::config::Player;
use crate::session::{DEFAULT_ATTEMPTS, Error, Job, Session, SolveAnswer, SolveRequest};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    #[serde(flatten)]
    artifact: ArtifactArguments,
    #[serde(flatten)]
    model: ModelArguments,
    /// Attempts to make (G), from 1. Default: 8.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1))]
    attempts: Option<usize>,
    /// The same seed gives the same attempts. Default: from the clock; the answer says it.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
    /// What the embedded solver goes by: a checkpoint's file, or `start` for the fixed rules. Default: what
    /// `train_step` made of this repository, if anything.
    #[serde(default)]
    #[schemars(with = "String")]
    policy: Option<String>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "solve",
        title: "Self-play: attempt repairs",
        description: "Makes attempts to repair a bug artifact with the embedded solver or a model, from the \
                      reversed weakened test alone, and grades each honestly. Give exactly one of \
                      artifact_id, artifact_folder and artifact_files. Runs tests in a sandbox: \
                      seconds to minutes.",
        effect: Effect::Asks,
    };
    Entry::job(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<SolveAnswer, Error> {
    let artifact = arguments.artifact.reference()?;
    let repository = arguments.repository.repository()?;
    let roles = arguments.model.roles(session, (Player::Solver, &repository), job)?;
    let request = SolveRequest {
        artifact,
        repository,
        attempts: arguments.attempts.unwrap_or(DEFAULT_ATTEMPTS),
        runs: None,
        seed: arguments.seed,
        policy: arguments.policy,
        roles,
    };
    session.solve(&request, job)
}
