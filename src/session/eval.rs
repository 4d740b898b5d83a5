//! `eval`: how many of a fixed set of bugs a policy repairs, and in how many test runs.
//!
//! The outcomes of a case are in the store before others begin, under what was asked for: an
//! interrupted evaluation goes on, and nothing is attempted twice. What cannot be attempted has an outcome
//! of its own, and counts as not repaired. Policies that are asked for together share what is dear: a case
//! is surveyed once, and a candidate is run once.

mod answer;
mod player;
mod tally;

pub use answer::{EvalAnswer, EvalLead, Evaluated, RateAt, RateOf};
pub use tally::{Interval, Rate};

use super::cases::{Case, Cases, Found, NotReady, Ready};
use super::open::{Opened, create_private};
use super::{EVALS, Error, Job, Session};
use crate::grading;
use crate::solver::{Attempt, Prepared};
use crate::store::{Eval, EvalOutcome, Store};
use crate::tree::hex;
use player::Policy;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
        let mut number = 0;
        while number < order.len() {
            if job.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let at = cases.cases.len() - order.len() + number + 1;
            let so_far = so_far(contests, number, order.len(), started.elapsed());
            let id = &order[number].id;
            job.step(&format!("case {at} of {}: {id}{so_far}", cases.cases.len()));
            let together = self.together(request, &order[number..], &mut open, job)?;
            number += together.len();
            let contests_of = |case: &Case| -> Vec<&Policy> {
                let waiting = contests.iter().filter(|contest| waits(case, contest));
                waiting.map(|contest| &contest.policy).collect()
            };
            let parallel = (self.config().cores / together.len()).max(1);
            let playing = |judged| Playing { request, seed, parallel, job, judged };
            let opened = open.as_ref().map(|(_, opened)| opened);
            let played: Vec<_> = std::thread::scope(|scope| {
                let mut begun = Vec::new();
                for (case, ready) in &together {
                    let (policies, playing) = (contests_of(case), playing(Mutex::default()));
                    begun.push(scope.spawn(move || playing.case(case, opened, ready, &policies)));
                }
                begun.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
            });
            for ((case, _), rows) in together.iter().zip(played) {
                let rows = rows.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                let waiting = contests.iter_mut().filter(|contest| waits(case, contest));
                for (contest, rows) in waiting.zip(rows) {
                    for one in rows {
                        let row = EvalOutcome { eval: contest.eval.clone(), ..one };
                        contest.repaired += usize::from(answer::is_repair(&row, request.budget));
                        contest.played += 1;
                        store.keep_eval_outcome(&row).map_err(Error::harness)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The next cases that are of one tree, as many as there are cores; the tree is open then.
    fn together<'a>(
        &self,
        request: &EvalRequest,
        order: &[&'a Case],
        open: &mut Option<(PathBuf, Opened)>,
        job: &Job,
    ) -> Result<Vec<AtHand<'a>>, Error> {
        let trees = request.repositories.as_ref().map(|trees| self.config().cwd.join(trees));
        let mut together: Vec<AtHand<'_>> = Vec::new();
        for case in order.iter().take(self.config().cores.max(1)) {
            let found = self.found(case, trees.as_deref());
            let others = |found: &Found| open.as_ref().is_none_or(|(dir, _)| *dir != found.dir);
            if together.iter().any(|(_, ready)| ready.is_ok()) && found.as_ref().is_ok_and(others) {
                break;
            }
            let ready = found.and_then(|found| {
                self.open_found(&found, open, job)?;
                match open.as_ref() {
                    Some((_, opened)) => found.on(opened, job),
                    None => Err(Error::Cancelled.into()),
                }
            });
            together.push(match ready {
                Ok(ready) => (*case, Ok(ready)),
                Err(NotReady::Outcome(outcome, why)) => (*case, Err((outcome, why))),
                Err(NotReady::Error(error)) => return Err(error),
            });
        }
        Ok(together)
    }

    /// Evaluations are of many repositories, and kept beside them.
    pub(super) fn evals(&self) -> Result<Store, Error> {
        let dir = self.config().state_root()?.join(EVALS);
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

/// Why a case cannot be played, in a word and in words.
type Unready = (&'static str, String);
/// A case whose tree is open, or why it is not played.
type AtHand<'a> = (&'a Case, Result<Ready, Unready>);

/// A case at work.
struct Playing<'a> {
    request: &'a EvalRequest,
    seed: u64,
    /// Runs at once.
    parallel: usize,
    job: &'a Job,
    /// What was said of the case's patches that solve it: many policies come to the same.
    judged: Mutex<BTreeMap<String, (&'static str, String)>>,
}

impl Playing<'_> {
    /// The outcomes of each policy.
    fn case(
        &self,
        case: &Case,
        open: Option<&Opened>,
        ready: &Result<Ready, Unready>,
        policies: &[&Policy],
    ) -> Result<Vec<Vec<EvalOutcome>>, Error> {
        let ready = match ready {
            Ok(ready) => ready,
            Err((outcome, why)) => {
                return Ok(vec![vec![row(case, 0, outcome, why.clone())]; policies.len()]);
            }
        };
        let Some(opened) = open else { return Ok(Vec::new()) };
        // The same in every evaluation, so that the same candidates are compared.
        let seed = crate::dice::Dice::new(self.seed).fork(&case.id).roll();
        let prepared = Prepared::of(&opened.harness, &opened.languages, &ready.artifact)
            .and_then(|prepared| prepared.remembering(seed))
            .map_err(|error| self.job.failed(error))?
            .grading_repairs_alone();
        let workers = self.parallel.clamp(1, policies.len().max(1));
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(policy) = policies.get(number) else { break };
                        let rows = self.attempts(case, (opened, ready), &prepared, policy, seed);
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
        let wanted = player::Wanted { budget, sampled, seed, parallel: self.parallel };
        let failed = |error| self.job.failed(error);
        let attempts = policy.attempts(prepared, wanted).map_err(failed)?;
        let (seconds, all) = (started.elapsed().as_secs_f64(), attempts.len().max(1));
        let mut rows = Vec::new();
        for (number, attempt) in attempts.iter().enumerate() {
            let known = |judged: &Self| {
                let judged = judged.judged.lock().unwrap_or_else(PoisonError::into_inner);
                judged.get(&attempt.patch).cloned().filter(|_| attempt.solved)
            };
            let (outcome, detail) = match known(self) {
                Some(known) => known,
                None => judged(opened, ready, attempt).map_err(failed)?,
            };
            if attempt.solved {
                let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
                judged.insert(attempt.patch.clone(), (outcome, detail.clone()));
            }
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
