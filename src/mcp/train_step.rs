//! The tool `train_step`.

use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, Session, TrainAnswer, TrainRequest, TrainedRole};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// Who learns: solver (from the bugs that are kept), both or injector (from new bugs). Default: solver.
    #[serde(default)]
    #[schemars(with = "TrainedRole")]
    role: Option<TrainedRole>,
    /// The same seed plays the same bugs. Default: from the clock; the answer says it.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "train_step",
        title: "Self-play: take a training step",
        description: "Has bugs attempted by the embedded policy, updates it once by what came of that, and keeps \
                      it for this repository: inject_bug and solve go by it from then on. Says plainly what was \
                      trained, or why nothing was. Runs tests in a sandbox: seconds to minutes.",
        effect: Effect::Adds,
    };
    Entry::job(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<TrainAnswer, Error> {
    let request = TrainRequest {
        repositories: vec![arguments.repository.repository()?],
        role: arguments.role.unwrap_or(TrainedRole::Solver),
        seed: arguments.seed,
        ..TrainRequest::default()
    };
    session.train_step(&request, job)
}
