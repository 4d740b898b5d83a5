//! Attempts that repair a bug from its reversed weakened test; without a model, or (`by_model`) by one.
//!
//! Every attempt sees what a [`Task`] holds: the tree with bug and weakening applied, the reversed
//! weakening, the test files. It never sees the bug's diff or the original of a file that the bug
//! changed; the parts below work on a `&dyn Tree` of the task.
//!
//! An attempt localises (Ochiai over coverage, else names reachable from the failing tests), ranks
//! the proposals of repair templates, screens the likeliest with the failing tests only, and has what
//! passes them judged by [`grading::grade`]: only that makes it solved.

mod by_model;
mod donors;
mod evidence;
mod features;
mod hints;
mod inverse;
mod place;
mod proposal;
mod ranking;
mod reach;
mod search;
mod source;
mod survey;
mod templates;
mod together;
mod words;

#[cfg(test)]
mod tests;

pub use by_model::{ByModel, solve_by_model};
pub use features::{SHARE, SUSPICION, start_weights};
pub use ranking::Player;

use crate::agent::Bill;
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::grading::{self, Grade, Reason, Task};
use crate::harness::{Audience, Error, Harness, How, Program, Screened};
use crate::reward;
use crate::syntax::Languages;
use crate::tree::{Changes, Overlaid, RelPath};
use crate::verdict::{Outcome, TestId};
use ranking::{Learned, Proposals, Ranked, Taste};
use search::{Answer, Confirmed, Limits, Outcome as Ended, Space, Stages};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Candidate repairs one attempt may run where nothing else is asked for.
const USUAL_RUNS: usize = 160;
/// Candidates that are screened at once; and where all of them share one build.
const BATCH: usize = 16;
const BATCH_TOGETHER: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// G: attempts per bug.
    pub attempts: usize,
    pub seed: u64,
    /// Candidate repairs one attempt may run. `None`: 160, or 40 where each must be built by itself.
    pub runs: Option<usize>,
    /// Attempts at once.
    pub parallel: usize,
}

impl Default for Request {
    fn default() -> Self {
        Self { attempts: 8, seed: 0, runs: None, parallel: 2 }
    }
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Attempt {
    pub solved: bool,
    /// +1 or -1.
    pub reward: f64,
    /// Git diff against the tree the solver saw; empty if none was found. That of an attempt that
    /// did not solve is the best it had.
    pub patch: String,
    /// Candidate repairs that were run.
    pub runs: usize,
    pub reason: Reason,
    pub flags: Vec<String>,
    /// A model's: what it took.
    pub bill: Option<Bill>,
}

impl Attempt {
    /// One that came to this patch, however it did.
    pub fn graded(patch: String, runs: usize, grade: Grade) -> Self {
        Self {
            solved: grade.solved,
            reward: reward::solver(grade.solved),
            patch,
            runs,
            reason: grade.reason,
            flags: grade.flags,
            bill: None,
        }
    }

    /// One in which nothing could be tried.
    fn unsolved(reason: Reason) -> Self {
        Self {
            solved: false,
            reward: reward::solver(false),
            patch: String::new(),
            runs: 0,
            reason,
            flags: Vec::new(),
            bill: None,
        }
    }
}

/// G independent attempts; the result does not depend on `parallel`.
pub fn solve(
    harness: &Harness,
    languages: &Languages,
    artifact: &Artifact,
    request: &Request,
) -> Result<Vec<Attempt>, Error> {
    solve_as(harness, languages, artifact, request, None)
}

/// The same, with candidates in the order of a player; `None`: in the fixed order.
pub fn solve_as(
    harness: &Harness,
    languages: &Languages,
    artifact: &Artifact,
    request: &Request,
    player: Option<Player<'_>>,
) -> Result<Vec<Attempt>, Error> {
    let task = match Task::of(harness.base(), artifact) {
        Ok(task) => task,
        Err(refusal) => {
            let reason = Reason::Unplayable(refusal.to_string());
            return Ok(vec![Attempt::unsolved(reason); request.attempts]);
        }
    };
    let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
    let bench = match Bench::new(harness, languages, &task, program)? {
        Ok(bench) => bench,
        Err(reason) => return Ok(vec![Attempt::unsolved(reason); request.attempts]),
    };
    let judge = |patch: &[u8]| grading::grade(harness, artifact, patch);
    bench.attempts(request, player, &judge)
}

/// A patch against the tree that a solver sees which leads to exactly the original, where one or two of the
/// solver's own proposals do: what no order can beat. It takes the original, so that no player may ask.
pub fn inverse_of(
    harness: &Harness,
    languages: &Languages,
    artifact: &Artifact,
) -> Result<Option<String>, Error> {
    let Ok(task) = Task::of(harness.base(), artifact) else { return Ok(None) };
    let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
    let Ok(bench) = Bench::new(harness, languages, &task, program)? else { return Ok(None) };
    let inverse = bench.proposals.inverse(harness.base());
    let changes = inverse.and_then(|proposals| bench.proposals.candidate(&proposals));
    Ok(changes.map(|changes| String::from_utf8_lossy(&bench.patch(&changes)).into_owned()))
}

/// The judge: a patch to a grade.
type Judge<'a> = &'a (dyn Fn(&[u8]) -> Result<Grade, Error> + Sync);

/// What all attempts share.
struct Bench<'a> {
    harness: &'a Harness,
    languages: &'a Languages,
    task: &'a Task,
    /// The task with the original tests back.
    state: Changes,
    failing: BTreeSet<TestId>,
    /// How long the script took on `state`.
    usual: Duration,
    /// The test files that the failing tests are in.
    files: Vec<RelPath>,
    proposals: Proposals,
    /// Answers by candidate: the same in every attempt.
    screened: Mutex<BTreeMap<String, Answer>>,
    graded: Mutex<BTreeMap<String, Grade>>,
}

impl<'a> Bench<'a> {
    fn new(
        harness: &'a Harness,
        languages: &'a Languages,
        task: &'a Task,
        program: Program<'_>,
    ) -> Result<Result<Self, Reason>, Error> {
        // Warm caches and the time limit come with it; made here, before attempts run in parallel.
        harness.baseline()?;
        let state = task.with_oracle().clone();
        let how = How { hash_seed: 0, audience: Audience::Solver };
        let run = harness.run(&state, program, how, false)?;
        let verdicts = match run.verdicts {
            Ok(verdicts) => verdicts,
            Err(none) => return Ok(Err(Reason::NoVerdict(none.to_string()))),
        };
        let outcomes: BTreeMap<TestId, bool> = verdicts
            .iter()
            .map(|(id, outcome)| (id.clone(), matches!(outcome, Outcome::Failed | Outcome::Error)))
            .collect();
        let failing: BTreeSet<TestId> =
            outcomes.iter().filter(|(_, failed)| **failed).map(|(id, _)| id.clone()).collect();
        if failing.is_empty() {
            let text = "no test fails with the original tests back: there is nothing to repair by";
            return Ok(Err(Reason::NoVerdict(text.to_owned())));
        }
        let files = files_of(&failing, &task.test_files);
        let started = Instant::now();
        let coverage = match harness.runner().probes() {
            None => harness.coverage(&state, &files, None)?,
            Some(_) => together::coverage(harness, languages, task, &outcomes, run.wall)?,
        };
        let covered = started.elapsed();
        let tree = Overlaid { base: harness.base(), changes: &state };
        let runner = harness.runner();
        let failure =
            survey::Failure { outcomes: &outcomes, log: &run.log, coverage: coverage.as_ref() };
        let proposals = survey::survey(
            &tree,
            languages,
            &task.test_files,
            &|path| !runner.sways(path),
            &failure,
        );
        tracing::debug!(
            failing = failing.len(),
            proposals = proposals.len(),
            usual = ?run.wall,
            coverage = ?covered,
            proposing = ?started.elapsed().saturating_sub(covered),
            "surveyed"
        );
        Ok(Ok(Self {
            harness,
            languages,
            task,
            state,
            failing,
            usual: run.wall,
            files,
            proposals,
            screened: Mutex::default(),
            graded: Mutex::default(),
        }))
    }

    fn attempts(
        &self,
        request: &Request,
        player: Option<Player<'_>>,
        judge: Judge<'_>,
    ) -> Result<Vec<Attempt>, Error> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(BTreeMap::new());
        // Where the failing tests stop on the task itself. No candidate: it does not count.
        let start = match self.runs(request) {
            0 => Answer::default(),
            _ => self.screen(&[Changes::new()])?.pop().flatten().unwrap_or_default(),
        };
        std::thread::scope(|scope| {
            for _ in 0..request.parallel.clamp(1, request.attempts.max(1)) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= request.attempts {
                            break;
                        }
                        let attempt = self.attempt(number, request, player, &start.stages, judge);
                        lock(&done).insert(number, attempt);
                    }
                });
            }
        });
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    fn runs(&self, request: &Request) -> usize {
        let runner = self.harness.runner();
        let dear = runner.builds() && runner.switch().is_none();
        let usual = if dear { USUAL_RUNS / 4 } else { USUAL_RUNS };
        request.runs.unwrap_or(usual)
    }

    fn attempt(
        &self,
        number: usize,
        request: &Request,
        player: Option<Player<'_>>,
        start: &Stages,
        judge: Judge<'_>,
    ) -> Result<Attempt, Error> {
        let (proposals, seed) = (&self.proposals, request.seed);
        let outcome = if let Some(player) = player {
            let space = Learned { proposals, player, seed, attempt: number };
            self.search(&space, request, start, judge)?
        } else {
            let space = Ranked { proposals, taste: Taste::of(seed, number) };
            self.search(&space, request, start, judge)?
        };
        let cancelled = self.harness.cancel().is_cancelled();
        let grade = match (outcome.judged, &outcome.candidate) {
            (Some(grade), _) => grade,
            (None, Some(partial)) if !cancelled => self.grade(partial, judge)?,
            (None, _) => Grade {
                solved: false,
                reason: if cancelled {
                    Reason::NoVerdict("cancelled".to_owned())
                } else {
                    Reason::NoPatch
                },
                flags: Vec::new(),
            },
        };
        let patch = outcome.candidate.map(|changes| self.patch(&changes)).unwrap_or_default();
        Ok(Attempt {
            solved: grade.solved,
            reward: reward::solver(grade.solved),
            patch: String::from_utf8_lossy(&patch).into_owned(),
            runs: outcome.runs,
            reason: grade.reason,
            flags: grade.flags,
            bill: None,
        })
    }

    fn search(
        &self,
        space: &dyn Space<Candidate = Changes>,
        request: &Request,
        start: &Stages,
        judge: Judge<'_>,
    ) -> Result<Ended<Changes, Grade>, Error> {
        let together = self.harness.switch().is_some();
        let batch = if together { BATCH_TOGETHER } else { BATCH };
        let limits = Limits { runs: self.runs(request), batch };
        search::search(
            space,
            (&self.failing, start),
            limits,
            &mut |candidates| self.screen(candidates),
            &mut |candidate| {
                let grade = self.grade(candidate, judge)?;
                Ok(if grade.solved { Confirmed::Solved(grade) } else { Confirmed::Refused(grade) })
            },
            &|| self.harness.cancel().is_cancelled(),
        )
    }

    /// Against the tree that a solver sees: bug and weakening.
    fn patch(&self, candidate: &Changes) -> Vec<u8> {
        let seen = Overlaid { base: self.harness.base(), changes: &self.task.changes };
        Patch::between(&seen, candidate).to_bytes()
    }

    /// What the failing tests say of each candidate; `None` where it was not run, since one before it
    /// passes all of them, or for want of room. What is known is not run again.
    fn screen(&self, candidates: &[Changes]) -> Result<Vec<Option<Answer>>, Error> {
        let digests: Vec<String> = candidates.iter().map(Changes::digest).collect();
        let mut unknown = Vec::new();
        {
            let known = lock(&self.screened);
            for (digest, candidate) in digests.iter().zip(candidates) {
                match known.get(digest) {
                    Some(answer) if answer.passed == self.failing => break,
                    Some(_) => {}
                    None => unknown.push((digest, candidate.clone())),
                }
            }
        }
        if !unknown.is_empty() {
            let fresh: Vec<Changes> = unknown.iter().map(|(_, changes)| changes.clone()).collect();
            let started = Instant::now();
            let answers = self.screen_now(&fresh)?;
            let answered = answers.iter().flatten().count();
            tracing::debug!(candidates = answered, wall = ?started.elapsed(), "screened");
            let mut known = lock(&self.screened);
            for ((digest, changes), answer) in unknown.into_iter().zip(answers) {
                if let Some(answer) = answer {
                    self.trace(&changes, &answer);
                    known.insert(digest.clone(), answer);
                }
            }
        }
        let known = lock(&self.screened);
        let mut answers = Vec::new();
        for digest in digests {
            let answer = known.get(&digest).cloned();
            let all = answer.as_ref().is_some_and(|answer| answer.passed == self.failing);
            answers.push(answer);
            if all {
                break;
            }
        }
        Ok(answers)
    }

    fn trace(&self, candidate: &Changes, answer: &Answer) {
        if tracing::enabled!(tracing::Level::TRACE) {
            let state = Overlaid { base: self.harness.base(), changes: &self.state };
            let patch = Patch::between(&state, candidate).to_bytes();
            let (passed, of) = (answer.passed.len(), self.failing.len());
            let patch = String::from_utf8_lossy(&patch);
            tracing::trace!(passed, of, stages = ?answer.stages, "candidate\n{patch}");
        }
    }

    fn screen_now(&self, candidates: &[Changes]) -> Result<Vec<Option<Answer>>, Error> {
        match self.harness.switch() {
            Some(switch) => self.screen_together(switch, candidates),
            None => self.screen_one_by_one(candidates),
        }
    }

    fn screen_one_by_one(&self, candidates: &[Changes]) -> Result<Vec<Option<Answer>>, Error> {
        let tests: Vec<TestId> = self.failing.iter().cloned().collect();
        let answers =
            self.harness.screen(&self.state, candidates, &tests, &self.files, self.usual)?;
        let answer = |Screened { passed, stages }| Some(Answer { passed, stages });
        Ok(answers.into_iter().map(answer).collect())
    }

    fn grade(&self, candidate: &Changes, judge: Judge<'_>) -> Result<Grade, Error> {
        let digest = candidate.digest();
        if let Some(grade) = lock(&self.graded).get(&digest) {
            return Ok(grade.clone());
        }
        let started = Instant::now();
        let grade = judge(&self.patch(candidate))?;
        tracing::debug!(solved = grade.solved, wall = ?started.elapsed(), "graded");
        lock(&self.graded).insert(digest, grade.clone());
        Ok(grade)
    }
}

/// A poisoned lock means that another attempt panicked; what it had written is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The test files that the ids name by their path; all of them where an id names none.
fn files_of(failing: &BTreeSet<TestId>, test_files: &[RelPath]) -> Vec<RelPath> {
    let in_file = |id: &TestId, path: &RelPath| id.starts_with(path.as_str());
    if failing.iter().any(|id| !test_files.iter().any(|path| in_file(id, path))) {
        return test_files.to_vec();
    }
    let named = |path: &&RelPath| failing.iter().any(|id| in_file(id, path));
    test_files.iter().filter(named).cloned().collect()
}
