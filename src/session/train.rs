//! `train_step`: one update of what can be trained.

use super::{Error, Repository, Session};

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct TrainAnswer {
    /// Whether any weights were changed.
    pub trained: bool,
    /// What was trained, or why nothing was.
    pub reason: String,
    /// Rounds with their rewards that a step could learn from.
    pub rounds: u64,
    /// Graded attempts of these rounds.
    pub attempts: u64,
}

impl Session {
    pub fn train(&self, repository: &Repository) -> Result<TrainAnswer, Error> {
        let status = self.status(repository)?;
        Ok(TrainAnswer {
            trained: false,
            reason: "nothing trainable is configured: the embedded players follow fixed rules, and no model is \
                     attached. The rounds are kept for a policy to learn from"
                .to_owned(),
            rounds: status.rounds,
            attempts: status.attempts,
        })
    }
}
