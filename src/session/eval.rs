//! `eval`: how many of a fixed set of bugs a policy repairs, and in how many test runs.
//!
//! Every attempt's outcome is in the store before the next one begins, under what was asked for: an
//! interrupted evaluation goes on, and nothing is attempted twice. What cannot be attempted has an outcome
//! of its own, and counts as not repaired.

mod case;
mod player;
mod ready;
mod tally;

pub use tally::{Interval, Rate};

use super::open::{Opened, create_private};
use super::{Error, Job, Session};
use crate::grading;
use crate::solver::Attempt;
use crate::store::{Eval, EvalOutcome, Store};
use crate::tree::hex;
use case::{Case, Cases};
use player::Policy;
use ready::{NotReady, Ready};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tally::{Share, rate};

/// Where the curve is read, as far as the budget goes.
const CURVE: [usize; 4] = [10, 20, 50, 100];
/// Below the state root: evaluations, and the trees of their cases.
const FOLDER: &str = "evals";

const REPAIRED: &str = "repaired";
/// Passes the bug's tests, and fails others that the original passes.
const BREAKS_OTHERS: &str = "breaks_others";
const NOT_REPAIRED: &str = "not_repaired";

#[derive(Clone, Debug)]
pub struct EvalRequest {
    /// A checkpoint's file, or the name of an order that needs none.
    pub policy: String,
    pub cases: PathBuf,
    /// Where the trees are that cases name.
    pub repositories: Option<PathBuf>,
    /// Candidate repairs that one attempt may run.
    pub budget: usize,
    /// Attempts that draw, for each case; `None`: one that takes the likeliest.
    pub sampled: Option<usize>,
    /// The configuration's where `None`.
    pub seed: Option<u64>,
    /// Begin anew, whatever is known.
    pub anew: bool,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct EvalAnswer {
    /// Of the cases, the policy and all that was asked for: what the store knows it by.
    pub eval: String,
    /// What played: start, uniform, fixed, ochiai, oracle, or a checkpoint's hash.
    pub policy: String,
    /// SHA-256 of the cases.
    pub case_set: String,
    pub cases: usize,
    /// Attempts, of all cases.
    pub attempts: usize,
    /// Attempts that repaired their case.
    pub repaired: usize,
    /// Mean over cases of the share of attempts that repaired; null where there is no case.
    pub rate: Option<f64>,
    /// The rate's 95 % interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// How the intervals were made; null where there is no case.
    pub interval: Option<Interval>,
    /// Candidate repairs that were run, of all attempts, for each repair; null without one.
    pub runs_per_repair: Option<f64>,
    pub runs: usize,
    pub budget: usize,
    pub seed: u64,
    /// Wall seconds of all attempts.
    pub seconds: f64,
    /// The rate within fewer runs, read from the same attempts.
    pub curve: Vec<RateAt>,
    pub packages: Vec<RateOf>,
    /// How many attempts ended how.
    pub outcomes: BTreeMap<String, usize>,
    /// Cases that could not be attempted: they count as not repaired.
    pub not_attempted: usize,
    /// Attempts that were known from before.
    pub known: usize,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct RateAt {
    pub runs: usize,
    #[serde(flatten)]
    pub rate: Rate,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct RateOf {
    pub package: String,
    pub cases: usize,
    #[serde(flatten)]
    pub rate: Rate,
}

impl Session {
    pub fn eval(&self, request: &EvalRequest, job: &Job) -> Result<EvalAnswer, Error> {
        if request.budget == 0 || request.sampled == Some(0) {
            return Err(Error::usage(
                "there is nothing to do: give at least one run (--budget) and one attempt (--sampled)",
            ));
        }
        let seed = request.seed.unwrap_or(self.config().seed);
        let policy = Policy::named(&request.policy, &self.config().cwd)?;
        let cases = Cases::read(&self.config().cwd.join(&request.cases))?;
        let (eval, settings) = identity(request, &policy, &cases, seed);
        let store = self.evals()?;
        if request.anew {
            store.forget_eval(&eval).map_err(Error::harness)?;
        }
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let row = Eval {
            id: eval.clone(),
            begun: begun.cast_signed(),
            settings: settings.to_string(),
            answer: None,
        };
        store.begin_eval(&row).map_err(Error::harness)?;
        let known = store.eval_outcomes(&eval).map_err(Error::harness)?;
        let mut done: BTreeSet<String> = BTreeSet::new();
        for (case, known) in by_case(&known) {
            if known.len() >= request.sampled.unwrap_or(1)
                || known.iter().any(|one| !is_attempt(one))
            {
                done.insert(case.to_owned());
            }
        }
        let mut order: Vec<&Case> =
            cases.cases.iter().filter(|case| !done.contains(&case.id)).collect();
        // One tree after another: opening one takes its baseline.
        order.sort_by(|a, b| a.package.cmp(&b.package));
        let (mut open, started, mut repaired) = (None, Instant::now(), 0);
        for (number, case) in order.iter().enumerate() {
            if job.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let at = done.len() + number + 1;
            let left = match number {
                0 => String::new(),
                number => {
                    let each = started.elapsed().as_secs_f64()
                        / f64::from(u32::try_from(number).unwrap_or(1));
                    let left = each * f64::from(u32::try_from(order.len() - number).unwrap_or(0));
                    format!("; {repaired} of {number} repaired, about {:.0} min left", left / 60.0)
                }
            };
            job.step(&format!("case {at} of {}: {}{left}", cases.cases.len(), case.id));
            let whole = Playing { session: self, request, policy: &policy, seed, job };
            for one in whole.case(case, &mut open)? {
                let row = EvalOutcome { eval: eval.clone(), ..one };
                repaired += usize::from(is_repair(&row, request.budget));
                store.keep_eval_outcome(&row).map_err(Error::harness)?;
            }
        }
        let outcomes = store.eval_outcomes(&eval).map_err(Error::harness)?;
        let mut answer = answer(request, &policy, &cases, &outcomes);
        (answer.eval, answer.seed, answer.known) = (eval.clone(), seed, known.len());
        let text = serde_json::to_string(&answer).map_err(Error::harness)?;
        store.end_eval(&eval, &text).map_err(Error::harness)?;
        Ok(answer)
    }

    /// Evaluations are of many repositories, and kept beside them.
    pub(super) fn evals(&self) -> Result<Store, Error> {
        let dir = self.config().state_root()?.join(FOLDER);
        create_private(&dir)?;
        Store::open(&dir).map_err(Error::harness)
    }
}

/// What an evaluation is known by, and what says so.
fn identity(
    request: &EvalRequest,
    policy: &Policy,
    cases: &Cases,
    seed: u64,
) -> (String, serde_json::Value) {
    let settings = json!({
        "cases": cases.hash,
        "policy": policy.id(),
        "budget": request.budget,
        "sampled": request.sampled,
        "seed": seed,
        "version": env!("CARGO_PKG_VERSION"),
    });
    let id = hex(&Sha256::digest(settings.to_string()));
    (id[..16].to_owned(), settings)
}

fn by_case(outcomes: &[EvalOutcome]) -> BTreeMap<&str, Vec<&EvalOutcome>> {
    let mut cases: BTreeMap<&str, Vec<&EvalOutcome>> = BTreeMap::new();
    for one in outcomes {
        cases.entry(&one.case).or_default().push(one);
    }
    cases
}

fn is_attempt(outcome: &EvalOutcome) -> bool {
    [REPAIRED, BREAKS_OTHERS, NOT_REPAIRED].contains(&outcome.outcome.as_str())
}

/// One evaluation at work.
struct Playing<'a> {
    session: &'a Session,
    request: &'a EvalRequest,
    policy: &'a Policy,
    seed: u64,
    job: &'a Job,
}

impl Playing<'_> {
    /// `open`: the tree of the case before, which is often this one's.
    fn case(
        &self,
        case: &Case,
        open: &mut Option<(PathBuf, Opened)>,
    ) -> Result<Vec<EvalOutcome>, Error> {
        let one = |number: usize, outcome: &str, detail: String| EvalOutcome {
            eval: String::new(),
            case: case.id.clone(),
            number: u32::try_from(number).unwrap_or(u32::MAX),
            package: case.package.clone(),
            outcome: outcome.to_owned(),
            runs: 0,
            seconds: 0.0,
            detail,
        };
        let place = self.request.repositories.as_ref();
        let place = place.map(|place| self.session.config().cwd.join(place));
        let ready = match self.session.ready(case, place.as_deref(), open, self.job) {
            Ok(ready) => ready,
            Err(NotReady::Error(error)) => return Err(error),
            Err(NotReady::Outcome(outcome, why)) => return Ok(vec![one(0, outcome, why)]),
        };
        let Some((_, opened)) = open.as_ref() else { return Ok(Vec::new()) };
        let mut outcomes = Vec::new();
        let (budget, sampled) = (self.request.budget, self.request.sampled);
        let seed = crate::dice::Dice::new(self.seed).fork(&case.id).roll();
        let started = Instant::now();
        let attempts = self.policy.attempts(
            opened,
            &ready.artifact,
            player::Wanted { budget, sampled, seed, parallel: self.session.config().cores },
        );
        let attempts = attempts.map_err(|error| self.job.failed(error))?;
        if self.job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let (seconds, count) = (started.elapsed().as_secs_f64(), attempts.len().max(1));
        for (number, attempt) in attempts.iter().enumerate() {
            let (outcome, detail) =
                judged(opened, &ready, attempt).map_err(|error| self.job.failed(error))?;
            let runs = u32::try_from(attempt.runs).unwrap_or(u32::MAX);
            #[expect(clippy::cast_precision_loss, reason = "few attempts")]
            let seconds = seconds / count as f64;
            outcomes.push(EvalOutcome { runs, seconds, ..one(number, outcome, detail) });
        }
        Ok(outcomes)
    }
}

/// A repair must pass what the original passes, in the whole suite.
fn judged(
    opened: &Opened,
    ready: &Ready,
    attempt: &Attempt,
) -> Result<(&'static str, String), crate::harness::Error> {
    let reason = attempt.reason.to_string();
    if !attempt.solved {
        let refused = matches!(
            attempt.reason,
            grading::Reason::NoVerdict(_) | grading::Reason::Unplayable(_)
        );
        return Ok((
            if refused && attempt.runs == 0 { "unplayable" } else { NOT_REPAIRED },
            reason,
        ));
    }
    let rebuilt = grading::rebuild(&opened.harness, &ready.artifact, attempt.patch.as_bytes());
    let (true, Ok(rebuilt)) = (ready.has_original, rebuilt) else {
        return Ok((
            REPAIRED,
            "the original is not known: its other tests were not compared".to_owned(),
        ));
    };
    let verdicts = match opened.harness.run_everything(&rebuilt.tree)?.verdicts {
        Ok(verdicts) => verdicts,
        Err(none) => {
            return Ok((BREAKS_OTHERS, format!("the whole suite gave no verdict: {none}")));
        }
    };
    let baseline = opened.harness.baseline()?;
    let lost: Vec<&String> = baseline
        .passing
        .iter()
        .filter(|id| verdicts.of(id) != crate::verdict::Outcome::Passed)
        .collect();
    Ok(match lost.first() {
        None => (REPAIRED, reason),
        Some(first) => {
            let count = lost.len();
            (
                BREAKS_OTHERS,
                format!("{count} tests of the whole suite no longer pass, first {first}"),
            )
        }
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of attempts")]
fn answer(
    request: &EvalRequest,
    policy: &Policy,
    cases: &Cases,
    outcomes: &[EvalOutcome],
) -> EvalAnswer {
    let by_case = by_case(outcomes);
    let within = |runs: usize| -> Vec<Share> {
        let share = |case: &Case| {
            let none = Vec::new();
            let of = by_case.get(case.id.as_str()).unwrap_or(&none);
            let repaired = of.iter().filter(|one| is_repair(one, runs)).count();
            let repaired = repaired as f64 / of.len().max(1) as f64;
            Share { package: case.package.clone(), repaired }
        };
        cases.cases.iter().map(share).collect()
    };
    let shares = within(request.budget);
    let whole = rate(&shares);
    let mut curve: Vec<usize> = CURVE.into_iter().filter(|runs| *runs < request.budget).collect();
    curve.push(request.budget);
    let curve = curve
        .into_iter()
        .filter_map(|runs| Some(RateAt { runs, rate: rate(&within(runs))?.0 }))
        .collect();
    let mut of_packages: BTreeMap<&str, Vec<Share>> = BTreeMap::new();
    for share in &shares {
        of_packages.entry(&share.package).or_default().push(share.clone());
    }
    let package = |(package, shares): (&str, Vec<Share>)| {
        let (cases, rate) = (shares.len(), rate(&shares)?.0);
        Some(RateOf { package: package.to_owned(), cases, rate })
    };
    let repaired = outcomes.iter().filter(|one| is_repair(one, request.budget)).count();
    let runs: usize = outcomes.iter().map(|one| one.runs as usize).sum();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in outcomes {
        *counts.entry(one.outcome.clone()).or_default() += 1;
    }
    EvalAnswer {
        eval: String::new(),
        policy: policy.id().to_owned(),
        case_set: cases.hash.clone(),
        cases: cases.cases.len(),
        attempts: outcomes.iter().filter(|one| is_attempt(one)).count(),
        repaired,
        rate: whole.map(|(rate, _)| rate.rate),
        low: whole.map(|(rate, _)| rate.low),
        high: whole.map(|(rate, _)| rate.high),
        interval: whole.map(|(_, interval)| interval),
        runs_per_repair: (repaired > 0).then(|| runs as f64 / repaired as f64),
        runs,
        budget: request.budget,
        seed: 0,
        seconds: outcomes.iter().map(|one| one.seconds).sum(),
        curve,
        packages: of_packages.into_iter().filter_map(package).collect(),
        outcomes: counts,
        not_attempted: by_case.values().filter(|of| of.iter().any(|one| !is_attempt(one))).count(),
        known: 0,
    }
}

fn is_repair(outcome: &EvalOutcome, within: usize) -> bool {
    outcome.outcome == REPAIRED && outcome.runs as usize <= within
}
