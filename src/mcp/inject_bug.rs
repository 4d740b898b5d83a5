//! The tool `inject_bug`.

use super::model_argument::ModelArguments;
use super::repository_argument::RepositoryArguments;
use super::strategy_argument::AnyStrategy;
use super::tool::{Effect, Entry, Notice};
use crate::config::Player;
use crate::consistency::Minima;
use crate::session::{Error, InjectAnswer, InjectRequest, Job, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// direct: structural edits at several sites. removal: code deleted and callers fixed. history: what
    /// a commit of the repository changed is undone on today's code. mixed: removal or history by seed,
    /// direct or removal where there is no history. By a model only: `higher_order`, like what failed repairs leave
    /// behind; feature, what a new feature breaks. Default: mixed.
    #[serde(default)]
    #[schemars(with = "AnyStrategy")]
    strategy: Option<AnyStrategy>,
    /// Only in this file, or in this function of it: `FILE` or `FILE:SYMBOL`, relative to the repository.
    #[serde(default)]
    #[schemars(with = "String")]
    target: Option<String>,
    /// The same seed on the same tree and history gives the same bug. Default: from the clock; the answer
    /// says it.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
    /// What the embedded injector goes by: a checkpoint's file, or `start` for the fixed rules. Default: what
    /// `train_step` made of this repository, if anything.
    #[serde(default)]
    #[schemars(with = "String")]
    policy: Option<String>,
    #[serde(flatten)]
    model: ModelArguments,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "inject_bug",
        title: "Self-play: inject a bug",
        description: "Makes one bug in a copy of the repository, hides it by weakening the tests that \
                      would show it, and proves it with the consistency checks. Answers with the \
                      artifact's id, the folder of its five files and the report of the checks. The \
                      repository itself is never changed. Runs its tests: seconds to minutes.",
        effect: Effect::Asks,
    };
    Entry::job(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<InjectAnswer, Error> {
    let strategy = arguments.strategy.unwrap_or(AnyStrategy::Mixed).into();
    let repository = arguments.repository.repository()?;
    let roles = arguments.model.roles(session, (Player::Injector, &repository), job)?;
    let request = InjectRequest {
        repository,
        strategy,
        target: arguments.target,
        seed: arguments.seed,
        policy: arguments.policy,
        out: None,
        minima: Minima::default(),
        roles,
    };
    session.inject(&request, job)
}
