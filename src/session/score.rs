//! `score`: both roles' rewards from a solve rate. No repository, no run.

use super::{DEFAULT_ATTEMPTS, Error};
use crate::reward::{self, Scheme};

/// What became of a bug.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// A check failed: nobody attempted it.
    Invalid,
    /// So many of the attempts solved it.
    Solved(usize),
    /// Solved attempts / attempts.
    SolveRate(f64),
}

#[derive(Clone, Copy, Debug)]
pub struct ScoreRequest {
    pub outcome: Outcome,
    /// G; [`DEFAULT_ATTEMPTS`] where `None`.
    pub attempts: Option<usize>,
    /// Default 0.8.
    pub alpha: Option<f64>,
    /// What an invalid artifact earns. Default -1.
    pub invalid: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ScoreAnswer {
    /// The injector's reward (SSR, equation 1).
    pub inject_reward: f64,
    /// Solved attempts / attempts; null for an invalid artifact.
    pub solve_rate: Option<f64>,
    /// One reward an attempt, +1 or -1, the solved ones first; empty for an invalid artifact, null
    /// where the solve rate is no whole number of attempts.
    pub solve_rewards: Option<Vec<f64>>,
    /// G, the number of attempts.
    pub attempts: usize,
    /// The solve rate at which the injector's expected reward is largest for so many attempts.
    pub best_solve_rate: f64,
}

pub fn score(request: &ScoreRequest) -> Result<ScoreAnswer, Error> {
    let attempts = request.attempts.unwrap_or(DEFAULT_ATTEMPTS);
    if attempts == 0 {
        return Err(Error::usage("there are no attempts to score; give at least 1"));
    }
    let usual = Scheme::default();
    let scheme = Scheme {
        alpha: request.alpha.unwrap_or(usual.alpha),
        invalid: request.invalid.unwrap_or(usual.invalid),
    };
    let (solve_rate, solved) = match request.outcome {
        Outcome::Invalid => (None, Some(0)),
        Outcome::Solved(solved) if solved > attempts => {
            return Err(Error::usage(format!(
                "{solved} solved attempts are more than the {attempts} attempts; give the number of \
                 attempts, too"
            )));
        }
        Outcome::Solved(solved) => (Some(ratio(solved, attempts)), Some(solved)),
        Outcome::SolveRate(rate) => (Some(rate), whole(rate, attempts)),
    };
    let inject_reward =
        scheme.injector(solve_rate).map_err(|refusal| Error::usage(refusal.to_string()))?;
    let solve_rewards = match (request.outcome, solved) {
        (Outcome::Invalid, _) => Some(Vec::new()),
        (_, Some(solved)) => Some((0..attempts).map(|at| reward::solver(at < solved)).collect()),
        (_, None) => None,
    };
    Ok(ScoreAnswer {
        inject_reward,
        solve_rate,
        solve_rewards,
        attempts,
        best_solve_rate: reward::best_solve_rate(attempts)
            .map_err(|refusal| Error::usage(refusal.to_string()))?,
    })
}

#[expect(clippy::cast_precision_loss, reason = "attempts are few")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// How many attempts a rate stands for, where it stands for a whole number of them.
fn whole(rate: f64, attempts: usize) -> Option<usize> {
    (0..=attempts).find(|solved| (ratio(*solved, attempts) - rate).abs() < 1e-9)
}

/// What both roles have earned with a bug so far, and why.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct RewardsAnswer {
    /// The artifact's content id.
    pub artifact: String,
    pub valid: bool,
    pub attempts: usize,
    pub solved: usize,
    /// Null while nobody has tried to repair it.
    pub solve_rate: Option<f64>,
    /// Null while nobody has tried to repair a valid bug.
    pub inject_reward: Option<f64>,
    /// The solve rate at which the injector's expected reward is largest for so many attempts.
    pub best_solve_rate: Option<f64>,
    /// Each part of the reward with its reason.
    pub reason: String,
}

impl super::Session {
    /// The rewards of a bug by the attempts that are kept of it.
    pub fn rewards(
        &self,
        repository: &super::Repository,
        id: &str,
    ) -> Result<RewardsAnswer, Error> {
        let record = super::record::Record::open(&self.workspace(repository)?)?;
        let id = record.artifact(id)?.id();
        let row = record.store.artifact(&id).map_err(Error::harness)?;
        let row = row.ok_or_else(|| Error::usage(format!("the artifact {id} is gone")))?;
        let attempts = record.store.attempts(&id).map_err(Error::harness)?;
        let solved = attempts.iter().filter(|attempt| attempt.solved).count();
        let outcome = match (row.valid, attempts.is_empty()) {
            (false, _) => Some(Outcome::Invalid),
            (true, true) => None,
            (true, false) => Some(Outcome::Solved(solved)),
        };
        let request = |outcome| ScoreRequest {
            outcome,
            attempts: Some(attempts.len().max(1)),
            alpha: None,
            invalid: None,
        };
        let scored = outcome.map(|outcome| score(&request(outcome))).transpose()?;
        let short = id.get(..12).unwrap_or(&id);
        let failed = row.failed_check.as_deref().unwrap_or("a check");
        let reason = match (&scored, row.valid) {
            (Some(scored), false) => {
                format!(
                    "bug {short}: the injector gets {}, since {failed} failed",
                    scored.inject_reward
                )
            }
            (Some(scored), true) => reason(short, solved, attempts.len(), scored),
            (None, _) => format!("bug {short} is real, and nobody has tried to repair it yet"),
        };
        Ok(RewardsAnswer {
            valid: row.valid,
            attempts: attempts.len(),
            solved,
            solve_rate: scored.as_ref().and_then(|scored| scored.solve_rate),
            inject_reward: scored.as_ref().map(|scored| scored.inject_reward),
            best_solve_rate: scored.as_ref().map(|scored| scored.best_solve_rate),
            artifact: id,
            reason,
        })
    }
}

fn reason(id: &str, solved: usize, attempts: usize, scored: &ScoreAnswer) -> String {
    let injector = match solved {
        0 => "nobody repairs it: it may be no fair task".to_owned(),
        all if all == attempts => "everybody repairs it: nothing is learned from it".to_owned(),
        _ => format!(
            "the fewer repair it the more, and most is expected at a solve rate of {:.3}",
            scored.best_solve_rate
        ),
    };
    format!(
        "bug {id}: {solved} of {attempts} attempts repaired it; the injector gets {:.3} ({injector}); each \
         repair gets 1, each other attempt -1",
        scored.inject_reward
    )
}
