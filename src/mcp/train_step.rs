//! The tool `train_step`.

use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Answer {
    /// Whether any weights were changed.
    trained: bool,
    /// What was trained, or why nothing was.
    reason: String,
    /// Rounds with their rewards that a step could learn from.
    rounds: u64,
    /// Graded attempts of these rounds.
    attempts: u64,
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

fn run(session: &Session, arguments: Arguments, _job: &Job) -> Result<Answer, Error> {
    let status = session.status(&arguments.repository.repository()?)?;
    Ok(Answer {
        trained: false,
        reason: "nothing trainable is configured: the embedded players follow fixed rules, and no model is \
                 attached. The rounds are kept for a policy to learn from"
            .to_owned(),
        rounds: status.rounds,
        attempts: status.attempts,
    })
}
