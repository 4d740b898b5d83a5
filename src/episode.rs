//! One round: inject, check, attempts, rewards.
//!
//! The rewards are the paper's (SSR, arXiv 2512.18552, section 2.4): the injector's from the checks
//! and the solve rate, each solver's from its own attempt. A round in which the injector finds no
//! bug submits no artifact; the paper's injector that submits none, or an invalid one, earns the
//! reward of an invalid artifact, and so does ours.

use crate::artifact::Artifact;
use crate::consistency::{self, Minima, Report};
use crate::harness::{Error, Harness};
use crate::injector::{self, Counts, Injected, NotInjected, Strategy, Undone};
use crate::reward::Scheme;
use crate::solver::{self, Attempt};
use crate::syntax::Languages;
use std::time::Instant;

#[cfg(test)]
mod tests;

#[derive(Clone, Debug)]
pub struct Rules {
    pub injector: crate::injector::Request,
    pub solver: crate::solver::Request,
    pub minima: Minima,
    pub scheme: Scheme,
}

#[derive(Clone, Debug)]
pub struct Round {
    /// `None`: the injector found no bug.
    pub artifact: Option<Artifact>,
    pub strategy: Strategy,
    /// The bug in one line; where there is none, why not.
    pub summary: String,
    /// Empty where there is no bug.
    pub tree_digest: String,
    pub counts: Counts,
    /// The commits that the bug undoes.
    pub origin: Option<Undone>,
    pub report: Option<Report>,
    pub attempts: Vec<Attempt>,
    pub inject_reward: f64,
    /// `None` for an invalid artifact.
    pub solve_rate: Option<f64>,
    pub seconds: f64,
}

impl Round {
    /// Whether an artifact came out that passed all checks.
    pub fn is_valid(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.valid)
    }
}

/// Plays one round. `progress` is told what happens, for people.
pub fn play(
    harness: &Harness,
    languages: &Languages,
    rules: &Rules,
    known: &dyn Fn(&str) -> bool,
    progress: &dyn Fn(Progress),
) -> Result<Round, Error> {
    let started = Instant::now();
    // A scheme that refuses is found out before anything is run.
    let invalid = reward(&rules.scheme, None)?;
    reward(&rules.scheme, Some(0.0))?;
    progress(Progress::Injecting);
    let injected = injector::inject(harness, languages, &rules.injector, known)?;
    let mut round = begun(injected, rules, invalid);
    if let Some(artifact) = &round.artifact {
        progress(Progress::Injected(round.summary.clone()));
        progress(Progress::Checking);
        let report = consistency::check(harness, artifact, &rules.minima)?;
        progress(Progress::Checked { valid: report.valid });
        if report.valid {
            round.attempts = solver::solve(harness, languages, artifact, &rules.solver)?;
            for (index, attempt) in round.attempts.iter().enumerate() {
                progress(Progress::Attempted { index, solved: attempt.solved });
            }
            let rate = solve_rate(&round.attempts)?;
            round.inject_reward = reward(&rules.scheme, Some(rate))?;
            round.solve_rate = Some(rate);
        }
        round.report = Some(report);
    }
    round.seconds = started.elapsed().as_secs_f64();
    Ok(round)
}

/// A round as it stands before the checks: not valid yet.
fn begun(injected: Result<Injected, NotInjected>, rules: &Rules, invalid: f64) -> Round {
    let (artifact, strategy, summary, tree_digest, counts, origin) = match injected {
        Ok(Injected { artifact, strategy, tree_digest, summary, counts, origin }) => {
            (Some(artifact), strategy, summary, tree_digest, counts, origin)
        }
        Err(NotInjected { reason, counts }) => {
            (None, rules.injector.sampled(), reason, String::new(), counts, None)
        }
    };
    Round {
        artifact,
        strategy,
        summary,
        tree_digest,
        counts,
        origin,
        report: None,
        attempts: Vec::new(),
        inject_reward: invalid,
        solve_rate: None,
        seconds: 0.0,
    }
}

/// Solved attempts by attempts: never a share of tests.
#[allow(clippy::cast_precision_loss, reason = "attempts are few")]
fn solve_rate(attempts: &[Attempt]) -> Result<f64, Error> {
    if attempts.is_empty() {
        return Err(Error::Instrument(
            "a round without attempts has no solve rate; ask for at least one".to_owned(),
        ));
    }
    let solved = attempts.iter().filter(|attempt| attempt.solved).count();
    Ok(solved as f64 / attempts.len() as f64)
}

fn reward(scheme: &Scheme, solve_rate: Option<f64>) -> Result<f64, Error> {
    scheme
        .injector(solve_rate)
        .map_err(|refusal| Error::Instrument(format!("the reward scheme is refused: {refusal}")))
}

#[derive(Clone, Debug)]
pub enum Progress {
    Injecting,
    Injected(String),
    Checking,
    Checked { valid: bool },
    Attempted { index: usize, solved: bool },
}
