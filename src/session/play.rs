//! `play`: what is asked of a run, and how one is begun or gone on with.

use super::by_model::refuse_without_model;
use super::game::Game;
use super::inject::target;
use super::policy::Policy;
use super::runs::{Hold, Wanted};
use super::{Error, Job, Repository, Roles, Session};
use crate::consistency::Minima;
use crate::injector::Strategy;
use crate::reward::Scheme;
use crate::sandbox::Tier;
use std::time::Duration;

/// Every so many rounds one goes to the wrong-book, where nobody says otherwise.
pub const DEFAULT_SECOND_ORDER: u32 = 4;
/// Most bugs of one round.
const LARGEST_BATCH: usize = 64;

#[derive(Clone, Debug)]
pub struct PlayRequest {
    pub repository: Repository,
    /// `None`: one, or with `until` as many as fit.
    pub rounds: Option<u32>,
    /// No round begins later after the run's beginning than this.
    pub until: Option<Duration>,
    /// Begin a run, whatever was interrupted.
    pub new: bool,
    /// G.
    pub attempts: usize,
    /// Candidate repairs that one attempt may run. The solver's default where `None`.
    pub runs: Option<usize>,
    pub strategy: Strategy,
    /// `FILE` or `FILE:SYMBOL`.
    pub target: Option<String>,
    /// Bug n of a run plays with this plus n - 1. The configuration's where `None`.
    pub seed: Option<u64>,
    /// Bugs a round.
    pub batch: usize,
    /// Every so many rounds, the first bug is one from the wrong-book. 0: never.
    pub second_order: u32,
    pub minima: Minima,
    /// Default 0.8.
    pub alpha: Option<f64>,
    /// What an invalid artifact earns. Default -1.
    pub invalid: Option<f64>,
    pub roles: Roles,
    /// A checkpoint that the embedded players go by, or `start`; what was trained in the workspace where
    /// `None`.
    pub policy: Option<String>,
    /// Go on with a run that waits for a person.
    pub resume: bool,
}

impl Session {
    pub fn play(&self, request: PlayRequest, job: &Job) -> Result<Game<'_>, Error> {
        check(&request)?;
        let target = target(request.target.as_deref())?;
        self.refuse_without_history(request.strategy, &request.repository)?;
        let opened = self.open_for(target.as_ref(), &request.repository, job)?;
        let rounds = match (request.rounds, request.until) {
            (None, None) => Some(1),
            (rounds, _) => rounds,
        };
        let policy = self.policy(request.policy.as_deref(), &opened.workspace)?;
        let wanted = Wanted {
            settings: settings(&request, opened.harness.tier(), policy.as_ref()),
            rounds,
            until: request.until,
            seed: request.seed.unwrap_or(self.config().seed),
            new: request.new,
            resume: request.resume,
        };
        let hold = Hold::take(&opened.record, &opened.harness.base().id, &wanted)?;
        let kept = opened.record.store.rounds_of(&hold.run.id).map_err(Error::harness)?;
        let bounds =
            request.roles.bounds(&opened.record.store, &hold.run.id, self.config().cores)?;
        Ok(Game::new(self, (opened, request, target), (hold, kept), (bounds, policy)))
    }
}

/// Refuses what makes no sense before anything runs.
fn check(request: &PlayRequest) -> Result<(), Error> {
    if request.attempts == 0 || request.rounds == Some(0) || request.batch == 0 {
        return Err(Error::usage(
            "there is nothing to play with 0 rounds, attempts or bugs a round; give at least 1",
        ));
    }
    if request.batch > LARGEST_BATCH {
        return Err(Error::usage(format!(
            "a round of {} bugs is too large; give at most {LARGEST_BATCH} and more rounds",
            request.batch
        )));
    }
    request.roles.check()?;
    refuse_without_model(request.strategy, &request.roles)?;
    scheme(request)
        .injector(Some(0.5))
        .map_err(|refusal| Error::usage(refusal.to_string()))
        .map(|_| ())
}

/// What makes two commands the same: all that changes what is played.
fn settings(request: &PlayRequest, tier: Tier, policy: Option<&Policy>) -> String {
    let Repository { tests, time_limit, .. } = &request.repository;
    let mut settings = serde_json::json!({
        // A run keeps the isolation that it began with.
        "sandbox": tier,
        "rounds": request.rounds,
        "until": request.until.map(|until| until.as_secs()),
        "attempts": request.attempts,
        "runs": request.runs,
        "strategy": request.strategy,
        "target": request.target,
        "seed": request.seed,
        "batch": request.batch,
        "second_order": request.second_order,
        "minima": [
            request.minima.passing_tests,
            request.minima.changed_files,
            request.minima.failing_tests,
        ],
        "alpha": request.alpha,
        "invalid_reward": request.invalid,
        "test_command": tests.test_command,
        "report": tests.report,
        "framework": tests.framework,
        "time_limit": time_limit.map(|limit| limit.as_secs_f64()),
    });
    // Without models it is the command of before there were any.
    if request.roles.any() {
        settings["roles"] = request.roles.settings();
    }
    // Nor by fixed rules.
    if let Some(policy) = policy {
        settings["policy"] = policy.hash.clone().into();
    }
    settings.to_string()
}

pub(super) fn scheme(request: &PlayRequest) -> Scheme {
    let usual = Scheme::default();
    Scheme {
        alpha: request.alpha.unwrap_or(usual.alpha),
        invalid: request.invalid.unwrap_or(usual.invalid),
    }
}
