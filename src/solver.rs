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
mod prepared;
mod proposal;
mod ranking;
mod reach;
mod remembered;
mod sample;
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
pub use prepared::{Prepared, Remembered};

use crate::agent::Bill;
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::grading::{Grade, Reason, Task};
use crate::harness::{Asked, Audience, Error, Harness, How, Live, Loaded, Program, Screened};
use crate::policy::{Drawn, Past, Player};
use crate::reward;
use crate::syntax::Languages;
use crate::tree::{Changes, Overlaid, RelPath};
use crate::verdict::{Outcome, TestId};
use features::Choices;
use proposal::Template;
use ranking::{Learned, OPTIONS, Proposals, Ranked, Taste};
use remembered::Memory;
use search::{Answer, Confirmed, Limits, Outcome as Ended, Space, Stages};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
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
    /// A policy's: what it drew on the bug itself, up to the last that was run. What it drew on top of
    /// partial repairs is not told.
    #[serde(skip)]
    pub drawn: Option<Drawn>,
    /// The hash of the policy, where one played.
    #[serde(skip)]
    pub policy: Option<String>,
    /// The embedded solver's: of each kind of repair, how many candidates were run and how many were (part of)
    /// the repair.
    #[serde(skip)]
    pub kinds: BTreeMap<&'static str, (u64, u64)>,
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
            drawn: None,
            policy: None,
            kinds: BTreeMap::new(),
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
            drawn: None,
            policy: None,
            kinds: BTreeMap::new(),
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
    Prepared::of(harness, languages, artifact)?.attempts(request, player)
}

/// The judge: a patch to a grade.
type Judge<'a> = &'a (dyn Fn(&[u8]) -> Result<Grade, Error> + Sync);

/// What all attempts share.
struct Bench<'a> {
    harness: &'a Harness,
    languages: &'a Languages,
    task: Task,
    /// The task with the original tests back.
    state: Changes,
    failing: BTreeSet<TestId>,
    /// How long the script took on `state`.
    usual: Duration,
    /// The test files that the failing tests are in.
    files: Vec<RelPath>,
    /// The failing tests that a candidate is asked first; none where it is asked all.
    first: Vec<TestId>,
    proposals: Proposals,
    /// Answers by candidate: the same in every attempt.
    screened: Mutex<BTreeMap<String, Answer>>,
    graded: Mutex<BTreeMap<String, Grade>>,
    /// What a policy chooses from on the task itself.
    choices: OnceLock<Choices>,
    /// Where the failing tests stop on the task itself.
    start: OnceLock<Stages>,
    /// Processes that have the failing tests loaded.
    live: Live,
    /// Whether the best candidate of an attempt is graded that repairs a part alone.
    grades_partial: bool,
    /// What the store knows of the bug, where it is asked.
    memory: Option<Memory>,
}

impl<'a> Bench<'a> {
    fn new(
        harness: &'a Harness,
        languages: &'a Languages,
        task: Task,
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
            Some(_) => together::coverage(harness, languages, &task, &outcomes, run.wall)?,
        };
        let covered = started.elapsed();
        let tree = Overlaid { base: harness.base(), changes: &state };
        let runner = harness.runner();
        let failure =
            survey::Failure { outcomes: &outcomes, log: &run.log, coverage: coverage.as_ref() };
        let first = sample::of(&failing, coverage.as_ref());
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
            first,
            proposals,
            screened: Mutex::default(),
            graded: Mutex::default(),
            choices: OnceLock::new(),
            start: OnceLock::new(),
            live: Live::default(),
            grades_partial: true,
            memory: None,
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
        let start = self.start(request)?;
        std::thread::scope(|scope| {
            for _ in 0..request.parallel.clamp(1, request.attempts.max(1)) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= request.attempts {
                            break;
                        }
                        let attempt = self.attempt(number, request, player, &start, judge);
                        lock(&done).insert(number, attempt);
                    }
                });
            }
        });
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    /// Where the failing tests stop on the task itself. No candidate: it does not count.
    fn start(&self, request: &Request) -> Result<Stages, Error> {
        if self.runs(request) == 0 {
            return Ok(Stages::new());
        }
        if let Some(known) = self.start.get() {
            return Ok(known.clone());
        }
        let answer = self.screen(&[Changes::new()])?.pop().flatten().unwrap_or_default();
        Ok(self.start.get_or_init(|| answer.stages).clone())
    }

    /// What a policy chooses from on the task itself: worked out once for all attempts.
    fn choices(&self, past: &Past) -> &Choices {
        self.choices.get_or_init(|| {
            let started = Instant::now();
            let choices = self.proposals.choices(&[], &self.failing, past, OPTIONS);
            tracing::debug!(
                options = choices.options.len(),
                cut = choices.rest.len(),
                wall = ?started.elapsed(),
                "described"
            );
            choices
        })
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
        let (outcome, drawn) = if let Some(player) = player {
            let first = self.choices(player.past);
            let space = Learned { proposals, first, player, seed, attempt: number };
            let outcome = self.search(&space, request, start, judge)?;
            let drawn = space.drawn(&outcome.tried);
            (outcome, drawn)
        } else {
            let space = Ranked { proposals, taste: Taste::of(seed, number) };
            (self.search(&space, request, start, judge)?, None)
        };
        let kinds = self.kinds(&outcome.tried, &outcome.repair);
        let cancelled = self.harness.cancel().is_cancelled();
        let grade = match (outcome.judged, &outcome.candidate) {
            (Some(grade), _) => grade,
            (None, Some(partial)) if !cancelled && self.grades_partial => {
                self.grade(partial, judge)?
            }
            (None, Some(partial)) if !cancelled => self.ungraded(partial),
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
            drawn,
            policy: player.map(|player| player.hash.to_owned()),
            kinds,
        })
    }

    /// What was tried by itself, and what the repair is made of.
    fn kinds(&self, tried: &[usize], repair: &[usize]) -> BTreeMap<&'static str, (u64, u64)> {
        let mut kinds: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
        let apart = repair.iter().filter(|number| !tried.contains(number));
        for number in tried.iter().chain(apart) {
            let kind = self.proposals.made[*number].1.main().map_or("none", Template::name);
            let of = kinds.entry(kind).or_default();
            *of = (of.0 + 1, of.1 + u64::from(repair.contains(number)));
        }
        kinds
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
        let mut fresh = Vec::new();
        if !unknown.is_empty() {
            let wanted: Vec<Changes> = unknown.iter().map(|(_, changes)| changes.clone()).collect();
            let started = Instant::now();
            let answers = self.screen_now(&wanted)?;
            let answered = answers.iter().flatten().count();
            tracing::debug!(candidates = answered, wall = ?started.elapsed(), "screened");
            for ((digest, changes), answer) in unknown.into_iter().zip(answers) {
                if let Some(answer) = answer {
                    self.trace(&changes, &answer);
                    fresh.push((digest.clone(), answer));
                }
            }
        }
        let mut known = lock(&self.screened);
        if let Some(memory) = &self.memory {
            let store = self.harness.store();
            memory.screened(store, &mut known, (candidates.len(), &fresh))?;
        }
        known.extend(fresh);
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
        // On the task itself all are asked: where they stop is what candidates are compared with.
        let start = self.start.get().into_iter().flatten();
        let stages = start.filter(|(id, _)| self.first.contains(id));
        let asked = Asked {
            tests: &tests,
            first: if self.start.get().is_some() { &self.first } else { &[] },
            stages: stages.map(|(id, stage)| (id.clone(), *stage)).collect(),
        };
        let mut answers = match self.start.get() {
            Some(start) => {
                let loaded = Loaded {
                    changes: &self.state,
                    tests: &tests,
                    test_files: &self.files,
                    usual: self.usual,
                    start,
                };
                self.harness.screen_live(&self.live, &loaded, candidates, &asked)?
            }
            None => vec![None; candidates.len()],
        };
        let open: Vec<usize> =
            answers.iter().enumerate().filter(|(_, it)| it.is_none()).map(|(at, _)| at).collect();
        if !open.is_empty() {
            let rest: Vec<Changes> = open.iter().map(|at| candidates[*at].clone()).collect();
            let screened =
                self.harness.screen(&self.state, &rest, &asked, &self.files, self.usual)?;
            // What stands behind one that passes was not run: neither is it said to be.
            let ran = screened.len();
            for (at, one) in open.iter().zip(screened) {
                answers[*at] = Some(one);
            }
            if let Some(not_run) = open.get(ran) {
                answers.truncate(*not_run);
            }
        }
        let answer = |Screened { passed, stages }| Answer { passed, stages };
        Ok(answers.into_iter().map(|it| it.map(answer)).collect())
    }

    /// What a screen says of a candidate that repairs a part.
    fn ungraded(&self, partial: &Changes) -> Grade {
        let screened = lock(&self.screened);
        let passed = screened.get(&partial.digest()).map(|answer| &answer.passed);
        let fails = |id: &&TestId| passed.is_none_or(|passed| !passed.contains(*id));
        let failed = self.failing.iter().filter(fails).cloned().collect();
        Grade { solved: false, reason: Reason::TestsFailed(failed), flags: Vec::new() }
    }

    fn grade(&self, candidate: &Changes, judge: Judge<'_>) -> Result<Grade, Error> {
        let digest = candidate.digest();
        if let Some(grade) = lock(&self.graded).get(&digest) {
            return Ok(grade.clone());
        }
        let started = Instant::now();
        let grade = judge(&self.patch(candidate))?;
        tracing::debug!(solved = grade.solved, wall = ?started.elapsed(), "graded");
        if let Some(memory) = &self.memory {
            memory.graded(self.harness.store(), &digest, &grade)?;
        }
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
