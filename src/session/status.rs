//! `status`: what is known of a repository, without running anything in it.

use super::played::Detail;
use super::policy::policy_line;
use super::record::Record;
use super::warnings::stopped;
use super::{Error, PolicyLine, Repository, Session};
use crate::sandbox::Tier;
use crate::store;

/// How many rounds are shown.
const LAST: u32 = 5;

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct StatusAnswer {
    /// The repository's canonical root.
    pub workspace: String,
    /// Where everything about it is kept.
    pub state_directory: String,
    /// The content id of the tree as it is now.
    pub base: String,
    /// The test framework that was found; null if none was.
    pub framework: Option<String>,
    pub language: Option<String>,
    /// Why the tests cannot be run, and what to do; null if they can.
    pub problem: Option<String>,
    /// Why bugs are checked by plain runs of the whole suite alone; null where the fast ways are taken.
    pub fast_ways_stopped: Option<String>,
    /// What is in the repository and not in the copy that is played on, and why.
    pub left_out: Vec<LeftOut>,
    /// Artifacts that are kept.
    pub artifacts: u64,
    /// Artifacts that passed every check.
    pub valid: u64,
    /// Rounds played so far.
    pub rounds: u64,
    /// Attempts made so far.
    pub attempts: u64,
    /// Attempts that repaired a bug.
    pub solved: u64,
    /// Entries of the wrong-book that are not solved.
    pub wrong_book_size: usize,
    /// Edits that no test noticed, of all states of the repository in which they were looked for.
    pub unnoticed: u64,
    /// The policy that was trained in this workspace; null if none was.
    pub policy: Option<PolicyLine>,
    /// The last rounds, newest first.
    pub last_rounds: Vec<LastRound>,
    /// The last runs of `play`, newest first.
    pub runs: Vec<RunLine>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// Relative to the root; what is not UTF-8 as `%XX`.
    pub path: String,
    pub reason: String,
}

impl From<(String, String)> for LeftOut {
    fn from((path, reason): (String, String)) -> Self {
        Self { path, reason }
    }
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct LastRound {
    /// The artifact's content id; null if the injector found no bug.
    pub artifact: Option<String>,
    pub strategy: String,
    pub seed: u64,
    /// Null for a bug from the wrong-book.
    pub inject_reward: Option<f64>,
    pub solve_rate: Option<f64>,
    pub summary: String,
    /// The tier of isolation; null where nothing was checked.
    #[schemars(with = "Option<String>")]
    pub sandbox: Option<Tier>,
}

impl From<store::Kept> for LastRound {
    fn from(store::Kept { round, .. }: store::Kept) -> Self {
        let Detail { summary, sandbox, .. } = Detail::of(&round);
        Self {
            artifact: round.artifact,
            strategy: round.strategy,
            seed: round.seed,
            inject_reward: round.inject_reward,
            solve_rate: round.solve_rate,
            summary,
            sandbox,
        }
    }
}

/// One run of `play`.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct RunLine {
    pub run: String,
    /// open: being played, or interrupted; finished; left: given up for another one.
    pub state: String,
    /// Rounds that are kept.
    pub played: u32,
    /// Null for a run that ends at a time.
    pub planned: Option<u32>,
    /// Seconds since 1970 at which its last round begins; null for a run of so many rounds.
    pub deadline: Option<i64>,
    /// The first round's.
    pub seed: u64,
    /// Seconds since 1970.
    pub begun: i64,
    /// The tree that it is played on.
    pub base: String,
    /// What the command asked for, as JSON.
    pub settings: String,
    /// What a person has to put right before it can go on; null where it waits for nobody.
    pub waits: Option<String>,
}

impl From<store::Run> for RunLine {
    fn from(run: store::Run) -> Self {
        Self {
            state: run.state.name().to_owned(),
            played: run.next.saturating_sub(1),
            planned: run.planned,
            deadline: run.deadline,
            seed: run.seed,
            begun: run.begun,
            base: run.base,
            settings: run.settings,
            waits: run.waits,
            run: run.id,
        }
    }
}

impl Session {
    pub fn status(&self, repository: &Repository) -> Result<StatusAnswer, Error> {
        let workspace = self.workspace(repository)?;
        let base = workspace
            .freeze_unsaved(self.sandbox()?.owner(), &repository.unsaved)
            .map_err(Error::harness)?;
        let runner = self.runner(&base, repository);
        let record = Record::open(&workspace)?;
        let counts = record.counts()?;
        let difference = match &runner {
            Ok(runner) => record.store.difference(runner.framework()).map_err(Error::harness)?,
            Err(_) => None,
        };
        Ok(StatusAnswer {
            workspace: workspace.root.display().to_string(),
            state_directory: workspace.state.display().to_string(),
            base: base.id,
            framework: runner.as_ref().ok().map(|runner| runner.framework().to_owned()),
            language: runner.as_ref().ok().map(|runner| runner.languages().join(", ")),
            problem: runner.err().map(|problem| problem.to_string()),
            fast_ways_stopped: difference.as_ref().map(stopped),
            left_out: base.report.left_out.iter().cloned().map(LeftOut::from).collect(),
            artifacts: counts.artifacts,
            valid: counts.valid,
            rounds: counts.rounds,
            attempts: counts.attempts,
            solved: counts.solved,
            wrong_book_size: record.wrong_book_size()?,
            unnoticed: record.store.count_unnoticed_edits().map_err(Error::harness)?,
            policy: policy_line(&workspace),
            last_rounds: record.rounds(LAST)?.into_iter().map(LastRound::from).collect(),
            runs: record.runs(LAST)?.into_iter().map(RunLine::from).collect(),
        })
    }
}
