//! One round: inject, check, attempts, rewards.
//!
//! The rewards are the paper's (SSR, arXiv 2512.18552, section 2.4): the injector's from the checks
//! and the solve rate, each solver's from its own attempt. A round in which the injector finds no
//! bug submits no artifact; the paper's injector that submits none, or an invalid one, earns the
//! reward of an invalid artifact, and so does ours.
//!
//! A round on an entry of the wrong-book has no injector's reward: nobody injected that bug, or it was
//! scored already in the round that made it.

use crate::agent::{self, Bill, Error};
use crate::artifact::Artifact;
use crate::consistency::{self, Minima, Parent, Report};
use crate::harness::{self, Harness};
use crate::injector::{self, Counts, Injected, Made, NotInjected, Strategy, Tried, Undone};
use crate::policy::Player;
use crate::reward::Scheme;
use crate::solver::{self, Attempt, Prepared};
use crate::syntax::Languages;
use crate::wrong_book::{FIRST_ORDER, SECOND_ORDER};
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

/// Who plays: the embedded roles where there is no model.
#[derive(Clone, Copy, Default)]
pub struct Players<'a> {
    pub injector: Option<injector::ByModel<'a>>,
    pub solver: Option<solver::ByModel<'a>>,
    /// What the embedded roles go by; `None`: fixed rules.
    pub policy: Option<Player<'a>>,
    /// Whether what candidates' runs say is kept, and not run again where it is known.
    pub remembers: bool,
}

/// What is played in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A bug that the injector makes.
    Bug,
    /// A failed repair on top of its bug.
    SecondOrder,
    /// A bug of before, attempted once more.
    Again,
}

#[derive(Clone, Debug)]
pub struct Round {
    pub kind: Kind,
    /// 1, or 2 for a failed repair on top of a bug.
    pub bug_order: u32,
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
    /// What a model that injected took.
    pub bill: Option<Bill>,
    /// What a policy drew until the bug stood, or in vain.
    pub tried: Vec<Tried>,
    pub attempts: Vec<Attempt>,
    /// `None` where nobody injected the bug.
    pub inject_reward: Option<f64>,
    /// `None` for an invalid artifact.
    pub solve_rate: Option<f64>,
    pub seconds: f64,
}

impl Round {
    /// Whether there is a bug to attempt: one that passed its checks, or did so before.
    pub fn is_valid(&self) -> bool {
        self.report.as_ref().map_or(self.kind == Kind::Again, |report| report.valid)
    }
}

/// A bug that is to be proved and attempted: the part of a round that may run beside others'.
#[derive(Clone, Debug)]
pub struct Begun {
    round: Round,
    proof: Proof,
}

#[derive(Clone, Debug)]
enum Proof {
    Injected,
    /// By somebody whose artifact is checked as any other's: by plain runs.
    Foreign,
    SecondOrder(Parent),
    Before,
}

impl Begun {
    /// A failed repair as a bug; `parent` is what the checks said of the bug below it.
    pub fn second_order(bug: Injected, parent: Parent) -> Self {
        Self {
            round: Round { kind: Kind::SecondOrder, bug_order: SECOND_ORDER, ..with(bug, None) },
            proof: Proof::SecondOrder(parent),
        }
    }

    /// A bug that passed its checks before.
    pub fn again(bug: Injected, bug_order: u32) -> Self {
        let round = Round { kind: Kind::Again, bug_order, ..with(bug, None) };
        Self { round, proof: Proof::Before }
    }

    /// Empty where there is no bug.
    pub fn tree_digest(&self) -> &str {
        &self.round.tree_digest
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
    let players = Players::default();
    let begun = begin(harness, languages, (rules, &players), known, progress)?;
    finish(harness, languages, (rules, &players), begun, progress)
}

/// The first half of a round: the injector looks for a bug.
pub fn begin(
    harness: &Harness,
    languages: &Languages,
    (rules, players): (&Rules, &Players<'_>),
    known: &dyn Fn(&str) -> bool,
    progress: &dyn Fn(Progress),
) -> Result<Begun, Error> {
    let started = Instant::now();
    // A scheme that refuses is found out before anything is run.
    let invalid = reward(&rules.scheme, None)?;
    reward(&rules.scheme, Some(0.0))?;
    progress(Progress::Injecting);
    let (injected, bill, proof) = if let Some(by) = &players.injector {
        let Made { injected, bill } = injector::inject_by_model(&rules.injector, by, known)?;
        (injected, Some(bill), Proof::Foreign)
    } else {
        let policy = players.policy;
        let injected = injector::inject_as(harness, languages, &rules.injector, known, policy)?;
        (injected, None, Proof::Injected)
    };
    let mut round = Round { bill, ..begun(injected, rules, invalid) };
    if round.artifact.is_some() {
        progress(Progress::Injected(round.summary.clone()));
    }
    round.seconds = started.elapsed().as_secs_f64();
    Ok(Begun { round, proof })
}

/// The second half: checks, attempts, rewards.
pub fn finish(
    harness: &Harness,
    languages: &Languages,
    (rules, players): (&Rules, &Players<'_>),
    begun: Begun,
    progress: &dyn Fn(Progress),
) -> Result<Round, Error> {
    let started = Instant::now();
    let Begun { mut round, proof } = begun;
    if let Some(artifact) = &round.artifact {
        round.report = match &proof {
            Proof::Injected => {
                progress(Progress::Checking);
                Some(consistency::check_injected(
                    harness,
                    artifact,
                    &rules.minima,
                    rules.injector.seed,
                )?)
            }
            Proof::Foreign => {
                progress(Progress::Checking);
                Some(consistency::check(harness, artifact, &rules.minima)?)
            }
            Proof::SecondOrder(parent) => {
                progress(Progress::Checking);
                Some(consistency::check_second_order(harness, artifact, parent)?)
            }
            Proof::Before => None,
        };
        if let Some(report) = &round.report {
            progress(Progress::Checked { valid: report.valid });
        }
        if round.is_valid() {
            round.attempts = if let Some(by) = &players.solver {
                solver::solve_by_model(artifact, &rules.solver, by)?
            } else {
                let mut bug = Prepared::of(harness, languages, artifact)?;
                if players.remembers {
                    bug = bug.remembering(rules.solver.seed)?;
                }
                bug.attempts(&rules.solver, players.policy)?
            };
            for (index, attempt) in round.attempts.iter().enumerate() {
                progress(Progress::Attempted { index, solved: attempt.solved });
            }
            let rate = solve_rate(&round.attempts)?;
            if round.inject_reward.is_some() {
                round.inject_reward = Some(reward(&rules.scheme, Some(rate))?);
            }
            round.solve_rate = Some(rate);
        }
    }
    // What was cut short is no evidence against anybody.
    if harness.cancel().is_cancelled() {
        return Err(harness::Error::Cancelled.into());
    }
    if let (Some(bill), Some(reward)) = (&round.bill, round.inject_reward) {
        let parts = serde_json::json!({
            "valid": round.is_valid(),
            "failed_check": round.report.as_ref().and_then(|report| report.failed_check),
            "solve_rate": round.solve_rate,
            "ending": bill.ending,
        });
        agent::rewarded(harness, bill, reward, &parts)?;
    }
    round.seconds += started.elapsed().as_secs_f64();
    Ok(round)
}

/// A round as it stands before the checks: not valid yet.
fn begun(injected: Result<Injected, NotInjected>, rules: &Rules, invalid: f64) -> Round {
    match injected {
        Ok(bug) => with(bug, Some(invalid)),
        Err(NotInjected { reason, counts, tried }) => Round {
            kind: Kind::Bug,
            bug_order: FIRST_ORDER,
            artifact: None,
            strategy: rules.injector.sampled(),
            summary: reason,
            tree_digest: String::new(),
            counts,
            origin: None,
            report: None,
            bill: None,
            tried,
            attempts: Vec::new(),
            inject_reward: Some(invalid),
            solve_rate: None,
            seconds: 0.0,
        },
    }
}

fn with(bug: Injected, inject_reward: Option<f64>) -> Round {
    Round {
        kind: Kind::Bug,
        bug_order: FIRST_ORDER,
        artifact: Some(bug.artifact),
        strategy: bug.strategy,
        summary: bug.summary,
        tree_digest: bug.tree_digest,
        counts: bug.counts,
        origin: bug.origin,
        report: None,
        bill: None,
        tried: bug.tried,
        attempts: Vec::new(),
        inject_reward,
        solve_rate: None,
        seconds: 0.0,
    }
}

/// Solved attempts by attempts: never a share of tests.
#[allow(clippy::cast_precision_loss, reason = "attempts are few")]
fn solve_rate(attempts: &[Attempt]) -> Result<f64, Error> {
    if attempts.is_empty() {
        let text = "a round without attempts has no solve rate; ask for at least one";
        return Err(harness::Error::Instrument(text.to_owned()).into());
    }
    let solved = attempts.iter().filter(|attempt| attempt.solved).count();
    Ok(solved as f64 / attempts.len() as f64)
}

fn reward(scheme: &Scheme, solve_rate: Option<f64>) -> Result<f64, Error> {
    scheme.injector(solve_rate).map_err(|refusal| {
        harness::Error::Instrument(format!("the reward scheme is refused: {refusal}")).into()
    })
}

#[derive(Clone, Debug)]
pub enum Progress {
    Injecting,
    Injected(String),
    Checking,
    Checked { valid: bool },
    Attempted { index: usize, solved: bool },
}
