//! The tool `train_step`.

use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, Session, TrainAnswer};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "train_step",
        title: "Self-play: take a training step",
        description: "Trains what is configured on the rounds that are kept of this repository, and says \
                      plainly what it trained, or that nothing trainable is configured.",
        effect: Effect::Reads,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, _job: &Job) -> Result<TrainAnswer, Error> {
    session.train(&arguments.repository.repository()?)
}
