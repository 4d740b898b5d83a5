//! `status`: what is known of a repository, without running anything in it.

use super::record::Record;
use super::{Error, Repository, Session};

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct StatusAnswer {
    /// The repository's canonical root.
    pub workspace: String,
    /// Where everything about it is kept.
    pub state_directory: String,
    /// The content id of the tree as it is now.
    pub base: String,
    /// The test framework that was found.
    pub framework: String,
    pub language: String,
    /// Artifacts that are kept.
    pub artifacts: usize,
    /// Rounds played so far.
    pub rounds: usize,
    /// Attempts made so far.
    pub attempts: usize,
    /// Artifacts with at least one failed attempt.
    pub wrong_book_size: usize,
    /// The last rounds, newest first.
    pub last_rounds: Vec<LastRound>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct LastRound {
    /// The artifact's content id; null if the injector found no bug.
    pub artifact: Option<String>,
    pub strategy: String,
    pub valid: bool,
    pub inject_reward: f64,
    pub solve_rate: Option<f64>,
    pub summary: String,
}

impl Session {
    pub fn status(&self, repository: &Repository) -> Result<StatusAnswer, Error> {
        let workspace = self.workspace(repository)?;
        let base = workspace.freeze(self.sandbox()?.owner()).map_err(Error::harness)?;
        let runner = self.runner(&base, repository)?;
        let record = Record::open(&workspace)?;
        Ok(StatusAnswer {
            workspace: workspace.root.display().to_string(),
            state_directory: workspace.state.display().to_string(),
            base: base.id,
            framework: runner.framework().to_owned(),
            language: runner.language().to_owned(),
            artifacts: record.artifacts(),
            rounds: 0,
            attempts: 0,
            wrong_book_size: 0,
            last_rounds: Vec::new(),
        })
    }
}
