//! `eval`: how many of a fixed set of bugs a policy repairs, and in how many test runs.
//!
//! The outcomes of a case are in the store before the next case begins, under what was asked for: an
//! interrupted evaluation goes on, and nothing is attempted twice. What cannot be attempted has an outcome
//! of its own, and counts as not repaired. Policies that are asked for together share what is dear: a case
//! is surveyed once, and a candidate is run once.

mod answer;
mod case;
mod player;
mod ready;
mod tally;

pub use answer::{EvalAnswer, EvalLead, Evaluated, RateAt, RateOf};
pub use tally::{Interval, Rate};

use super::open::{Opened, create_private};
use super::{Error, Job, Session};
use crate::grading;
use crate::solver::{Attempt, Prepared};
use crate::store::{Eval, EvalOutcome, Store};
use crate::tree::hex;
use case::{Case, Cases};
use player::Policy;
use ready::{NotReady, Ready};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Below the state root: evaluations, and the trees of their cases.
const FOLDER: &str = "evals";

const REPAIRED: &str = "repaired";
/// Passes the bug's tests, and fails others that the original passes.
const BREAKS_OTHERS: &str = "breaks_others";
const NOT_REPAIRED: &str = "not_repaired";

#[derive(Clone, Debug)]
pub struct EvalRequest {
    /// Checkpoints' files, or names of orders that need none. Of several the mean is told: one way of training,
    /// from several seeds.
    pub policies: Vec<String>,
    /// What they are compared with.
    pub against: Vec<String>,
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

/// A policy, and which cases it still has before it.
struct Contest {
    eval: String,
    policy: Policy,
    done: BTreeSet<String>,
    /// Outcomes from before.
    known: usize,
    repaired: usize,
    played: usize,
}

impl Contest {
    fn begin(
        store: &Store,
        request: &EvalRequest,
        policy: Policy,
        (cases, seed): (&Cases, u64),
    ) -> Result<Self, Error> {
        let (eval, settings) = identity(request, &policy, cases, seed);
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
        let wanted = request.sampled.unwrap_or(1);
        let is_done =
            |of: &[&EvalOutcome]| of.len() >= wanted || of.iter().any(|it| !is_attempt(it));
        let done = by_case(&known).into_iter().filter(|(_, of)| is_done(of));
        let done = done.map(|(case, _)| case.to_owned()).collect();
        Ok(Self { eval, policy, done, known: known.len(), repaired: 0, played: 0 })
    }
}

impl Session {
    pub fn eval(&self, request: &EvalRequest, job: &Job) -> Result<Evaluated, Error> {
        if request.policies.is_empty() || request.budget == 0 || request.sampled == Some(0) {
            return Err(Error::usage(
                "there is nothing to do: give a policy, at least one run (--budget) and one attempt (--sampled)",
            ));
        }
        let seed = request.seed.unwrap_or(self.config().seed);
        let mut policies = Vec::new();
        for name in request.policies.iter().chain(&request.against) {
            policies.push(Policy::named(name, &self.config().cwd)?);
        }
        let cases = Cases::read(&self.config().cwd.join(&request.cases))?;
        let store = self.evals()?;
        let mut contests: Vec<Contest> = Vec::new();
        for policy in policies {
            let contest = Contest::begin(&store, request, policy, (&cases, seed))?;
            if contests.iter().any(|other| other.eval == contest.eval) {
                let id = contest.policy.id();
                return Err(Error::usage(format!(
                    "the policy {id} is named twice; name each once"
                )));
            }
            contests.push(contest);
        }
        self.play_cases(request, &cases, &mut contests, (&store, seed), job)?;
        let (mut answers, mut tables) = (Vec::new(), Vec::new());
        for contest in &contests {
            let outcomes = store.eval_outcomes(&contest.eval).map_err(Error::harness)?;
            let mut answer = answer::answer(request.budget, contest.policy.id(), &cases, &outcomes);
            (answer.eval, answer.seed) = (contest.eval.clone(), seed);
            answer.known = contest.known;
            let text = serde_json::to_string(&answer).map_err(Error::harness)?;
            store.end_eval(&contest.eval, &text).map_err(Error::harness)?;
            answers.push(answer);
            tables.push(outcomes);
        }
        let against = answers.split_off(request.policies.len());
        let (own, others) = tables.split_at(request.policies.len());
        let mean = answer::mean(request.budget, &cases, own);
        let leads = against.iter().zip(others);
        let leads = leads
            .map(|(other, outcomes)| {
                answer::lead(request.budget, &cases, own, (&other.policy, outcomes))
            })
            .collect();
        Ok(Evaluated { policies: answers, against, mean, leads })
    }

    /// Until every contest has every case behind it.
    fn play_cases(
        &self,
        request: &EvalRequest,
        cases: &Cases,
        contests: &mut [Contest],
        (store, seed): (&Store, u64),
        job: &Job,
    ) -> Result<(), Error> {
        let waits = |case: &Case, contest: &Contest| !contest.done.contains(&case.id);
        let mut order: Vec<&Case> = cases
            .cases
            .iter()
            .filter(|case| contests.iter().any(|contest| waits(case, contest)))
            .collect();
        // One tree after another: opening one takes its baseline.
        order.sort_by(|a, b| a.package.cmp(&b.package));
        let (mut open, started) = (None, Instant::now());
        for (number, case) in order.iter().enumerate() {
            if job.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let at = cases.cases.len() - order.len() + number + 1;
            let so_far = so_far(contests, number, order.len(), started.elapsed());
            job.step(&format!("case {at} of {}: {}{so_far}", cases.cases.len(), case.id));
            let mut waiting: Vec<&mut Contest> =
                contests.iter_mut().filter(|contest| waits(case, contest)).collect();
            let policies: Vec<&Policy> = waiting.iter().map(|contest| &contest.policy).collect();
            let playing = Playing { session: self, request, seed, job };
            let rows = playing.case(case, &mut open, &policies)?;
            for (contest, rows) in waiting.iter_mut().zip(rows) {
                for one in rows {
                    let row = EvalOutcome { eval: contest.eval.clone(), ..one };
                    contest.repaired += usize::from(answer::is_repair(&row, request.budget));
                    contest.played += 1;
                    store.keep_eval_outcome(&row).map_err(Error::harness)?;
                }
            }
        }
        Ok(())
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

/// What was repaired in this command, and how long the rest will take.
fn so_far(contests: &[Contest], done: usize, of: usize, elapsed: Duration) -> String {
    if done == 0 {
        return String::new();
    }
    let each = |contest: &Contest| format!("{} of {}", contest.repaired, contest.played);
    let repaired: Vec<String> = contests.iter().map(each).collect();
    let (done, left) = (f64::from(count(done)), f64::from(count(of - done)));
    let minutes = elapsed.as_secs_f64() / done * left / 60.0;
    format!("; repaired {}; about {minutes:.0} min left", repaired.join(", "))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Cases at work.
struct Playing<'a> {
    session: &'a Session,
    request: &'a EvalRequest,
    seed: u64,
    job: &'a Job,
}

impl Playing<'_> {
    /// The outcomes of each policy. `open`: the tree of the case before, which is often this one's.
    fn case(
        &self,
        case: &Case,
        open: &mut Option<(PathBuf, Opened)>,
        policies: &[&Policy],
    ) -> Result<Vec<Vec<EvalOutcome>>, Error> {
        let place = self.request.repositories.as_ref();
        let place = place.map(|place| self.session.config().cwd.join(place));
        let ready = match self.session.ready(case, place.as_deref(), open, self.job) {
            Ok(ready) => ready,
            Err(NotReady::Error(error)) => return Err(error),
            Err(NotReady::Outcome(outcome, why)) => {
                return Ok(vec![vec![row(case, 0, outcome, why)]; policies.len()]);
            }
        };
        let Some((_, opened)) = open.as_ref() else { return Ok(Vec::new()) };
        // The same in every evaluation, so that the same candidates are compared.
        let seed = crate::dice::Dice::new(self.seed).fork(&case.id).roll();
        let prepared = Prepared::of(&opened.harness, &opened.languages, &ready.artifact)
            .and_then(|prepared| prepared.remembering(seed))
            .map_err(|error| self.job.failed(error))?;
        let workers = self.session.config().cores.clamp(1, policies.len().max(1));
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(policy) = policies.get(number) else { break };
                        let rows = self.attempts(case, (opened, &ready), &prepared, policy, seed);
                        done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, rows);
                    }
                });
            }
        });
        if self.job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    fn attempts(
        &self,
        case: &Case,
        (opened, ready): (&Opened, &Ready),
        prepared: &Prepared<'_>,
        policy: &Policy,
        seed: u64,
    ) -> Result<Vec<EvalOutcome>, Error> {
        let started = Instant::now();
        let (budget, sampled) = (self.request.budget, self.request.sampled);
        let parallel = self.session.config().cores;
        let wanted = player::Wanted { budget, sampled, seed, parallel };
        let failed = |error| self.job.failed(error);
        let attempts = policy.attempts(prepared, wanted).map_err(failed)?;
        let (seconds, all) = (started.elapsed().as_secs_f64(), attempts.len().max(1));
        let mut rows = Vec::new();
        for (number, attempt) in attempts.iter().enumerate() {
            let (outcome, detail) = judged(opened, ready, attempt).map_err(failed)?;
            let seconds = seconds / f64::from(count(all));
            let one = row(case, number, outcome, detail);
            rows.push(EvalOutcome { runs: count(attempt.runs), seconds, ..one });
        }
        Ok(rows)
    }
}

fn row(case: &Case, number: usize, outcome: &str, detail: String) -> EvalOutcome {
    EvalOutcome {
        eval: String::new(),
        case: case.id.clone(),
        number: count(number),
        package: case.package.clone(),
        outcome: outcome.to_owned(),
        runs: 0,
        seconds: 0.0,
        detail,
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
