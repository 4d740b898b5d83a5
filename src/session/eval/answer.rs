//! What an evaluation comes to, of one policy and of several beside each other.

use super::tally::{self, Interval, Rate, Share, rate};
use super::{REPAIRED, by_case, is_attempt};
use crate::session::cases::{Case, Cases};
use crate::store::EvalOutcome;
use std::collections::BTreeMap;

/// Where the curve is read, as far as the budget goes.
const CURVE: [usize; 4] = [10, 20, 50, 100];

/// Several policies on the same cases.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Evaluated {
    pub policies: Vec<EvalAnswer>,
    /// What they were compared with.
    pub against: Vec<EvalAnswer>,
    /// The mean of the policies; empty of one.
    pub mean: Vec<RateAt>,
    pub leads: Vec<EvalLead>,
}

/// The mean of the policies less the rate of another, by the runs that an attempt may take.
#[derive(Clone, Debug, serde::Serialize)]
pub struct EvalLead {
    /// What the other one is called in its own answer.
    pub against: String,
    pub curve: Vec<RateAt>,
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

/// Of each case: the share of its attempts that repaired it within so many runs.
#[expect(clippy::cast_precision_loss, reason = "counts of attempts")]
fn shares(cases: &Cases, outcomes: &[EvalOutcome], runs: usize) -> Vec<Share> {
    let by_case = by_case(outcomes);
    let share = |case: &Case| {
        let none = Vec::new();
        let of = by_case.get(case.id.as_str()).unwrap_or(&none);
        let repaired = of.iter().filter(|one| is_repair(one, runs)).count();
        let repaired = repaired as f64 / of.len().max(1) as f64;
        Share { package: case.package.clone(), repaired }
    };
    cases.cases.iter().map(share).collect()
}

/// Of each case: the mean over several policies.
#[expect(clippy::cast_precision_loss, reason = "few policies")]
fn mean_shares(cases: &Cases, policies: &[Vec<EvalOutcome>], runs: usize) -> Vec<Share> {
    let tables: Vec<Vec<Share>> =
        policies.iter().map(|outcomes| shares(cases, outcomes, runs)).collect();
    let mean = |(at, case): (usize, &Case)| {
        let sum: f64 = tables.iter().map(|table| table[at].repaired).sum();
        Share { package: case.package.clone(), repaired: sum / tables.len().max(1) as f64 }
    };
    cases.cases.iter().enumerate().map(mean).collect()
}

/// Numbers of runs up to the budget at which rates are told.
fn curve(budget: usize) -> impl Iterator<Item = usize> {
    CURVE.into_iter().filter(move |runs| *runs < budget).chain([budget])
}

/// The mean of several policies; none of one.
pub(super) fn mean(budget: usize, cases: &Cases, policies: &[Vec<EvalOutcome>]) -> Vec<RateAt> {
    if policies.len() < 2 {
        return Vec::new();
    }
    let at = |runs| Some(RateAt { runs, rate: rate(&mean_shares(cases, policies, runs))?.0 });
    curve(budget).filter_map(at).collect()
}

/// The mean of the policies less another one's rate, case by case.
pub(super) fn lead(
    budget: usize,
    cases: &Cases,
    policies: &[Vec<EvalOutcome>],
    (other, outcomes): (&str, &[EvalOutcome]),
) -> EvalLead {
    let at = |runs| {
        let mut apart = mean_shares(cases, policies, runs);
        for (share, other) in apart.iter_mut().zip(shares(cases, outcomes, runs)) {
            share.repaired -= other.repaired;
        }
        Some(RateAt { runs, rate: tally::difference(&apart)? })
    };
    EvalLead { against: other.to_owned(), curve: curve(budget).filter_map(at).collect() }
}

#[expect(clippy::cast_precision_loss, reason = "counts of attempts")]
pub(super) fn answer(
    budget: usize,
    policy: &str,
    cases: &Cases,
    outcomes: &[EvalOutcome],
) -> EvalAnswer {
    let by_case = by_case(outcomes);
    let whole_shares = shares(cases, outcomes, budget);
    let whole = rate(&whole_shares);
    let at = |runs| Some(RateAt { runs, rate: rate(&shares(cases, outcomes, runs))?.0 });
    let mut of_packages: BTreeMap<&str, Vec<Share>> = BTreeMap::new();
    for share in &whole_shares {
        of_packages.entry(&share.package).or_default().push(share.clone());
    }
    let package = |(package, shares): (&str, Vec<Share>)| {
        let (cases, rate) = (shares.len(), rate(&shares)?.0);
        Some(RateOf { package: package.to_owned(), cases, rate })
    };
    let repaired = outcomes.iter().filter(|one| is_repair(one, budget)).count();
    let runs: usize = outcomes.iter().map(|one| one.runs as usize).sum();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in outcomes {
        *counts.entry(one.outcome.clone()).or_default() += 1;
    }
    EvalAnswer {
        eval: String::new(),
        policy: policy.to_owned(),
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
        budget,
        seed: 0,
        seconds: outcomes.iter().map(|one| one.seconds).sum(),
        curve: curve(budget).filter_map(at).collect(),
        packages: of_packages.into_iter().filter_map(package).collect(),
        outcomes: counts,
        not_attempted: by_case.values().filter(|of| of.iter().any(|one| !is_attempt(one))).count(),
        known: 0,
    }
}

pub(super) fn is_repair(outcome: &EvalOutcome, within: usize) -> bool {
    outcome.outcome == REPAIRED && outcome.runs as usize <= within
}
