//! `play_submit`: what was played is judged, once, by the same judge and the same checks as anybody's.

use super::seat::Seat;
use super::{PlayRef, act};
use crate::agent::{Sources, fix_of};
use crate::artifact::{Artifact, Malformed};
use crate::consistency::{self, Minima};
use crate::grading::{self, Task};
use crate::injector::{self, Given, Strategy};
use crate::reward::{self, Scheme};
use crate::sandbox::Tier;
use crate::scaffold::shortened;
use crate::session::open::Opened;
use crate::session::record::Origin;
use crate::session::score::ratio;
use crate::session::{AttemptLine, CheckAnswer, Error, Event, Job, Session};
use crate::solver;
use crate::store::{PlayEnd, Turn};
use crate::tree::{Changes, RelPath};
use serde_json::{Value, json};
use std::time::Instant;

/// Files that are no part of a submission and are named.
const LEFT_OUT: usize = 50;
/// The player of a play that nobody named.
const NAMELESS: &str = "an agent";

#[derive(Clone, Debug)]
pub struct PlaySubmitRequest {
    pub play: PlayRef,
    /// A solver's git diff against the tree that it was shown; `None`: what it changed in the tree.
    pub patch: Option<String>,
    /// An injector's own parts; `None`: those of the runner.
    pub test_script: Option<String>,
    pub test_parser: Option<String>,
    pub test_files: Option<Vec<String>>,
    /// Attempts of the embedded solver at an injector's valid bug. 0: none.
    pub attempts: usize,
}

#[derive(Clone, Debug, Default, serde::Serialize, schemars::JsonSchema)]
pub struct PlaySubmitAnswer {
    /// solver or injector.
    pub role: String,
    /// A solver's +1 or -1. An injector's -1 for an invalid artifact; for a valid one it depends on the
    /// solve rate, and is null where no attempts were made.
    pub reward: Option<f64>,
    /// Why, in one sentence.
    pub reason: String,
    /// Whether a solver repaired the bug; null for an injector.
    pub solved: Option<bool>,
    /// Whether every check of an injector's artifact passed; null for a solver.
    pub valid: Option<bool>,
    /// What looked suspicious without being proof.
    pub flags: Vec<String>,
    /// What was judged: a solver's git diff, or an injector's two, the bug first. Of a long one the
    /// beginning and the end.
    pub patch: String,
    /// New files that are no part of it: caches, build output, what the tree ignores, and what is no
    /// regular file.
    pub left_out: Vec<String>,
    /// The artifact's id; null where none came out.
    pub artifact: Option<String>,
    /// The folder of an injector's artifact.
    pub out: Option<String>,
    /// What the checks said of an injector's artifact.
    pub report: Option<CheckAnswer>,
    /// Solved attempts / attempts; null where none were made.
    pub solve_rate: Option<f64>,
    /// The embedded solver's attempts at an injector's bug.
    pub attempts: Vec<AttemptLine>,
    /// The tier of isolation that all runs used; null where nothing ran.
    #[schemars(with = "Option<String>")]
    pub sandbox: Option<Tier>,
}

impl Session {
    pub fn play_submit(
        &self,
        request: &PlaySubmitRequest,
        job: &Job,
    ) -> Result<PlaySubmitAnswer, Error> {
        let held = self.seat(&request.play)?;
        let mut seat = act::in_turn(&held, job)?;
        seat.refuse_over()?;
        refuse_misfits(request, &seat.row.role)?;
        let begun = Instant::now();
        let mut others = Vec::new();
        let now = match &mut seat.room {
            Some(room) => {
                let found = room.changes().map_err(|error| act::broken(&mut seat, error, job))?;
                others = found.others;
                found.changes
            }
            None => seat.saved()?,
        };
        let opened = seat.open(self, job)?;
        let judged = match seat.settings.artifact()? {
            Some(artifact) => {
                let player = seat.row.player.as_deref().unwrap_or(NAMELESS);
                solved(&opened, &artifact, player, request, &now, job)?
            }
            None => self.injected(&opened, &seat, request, &now, job)?,
        };
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let mut answer = PlaySubmitAnswer {
            role: seat.row.role.clone(),
            sandbox: Some(opened.harness.tier()),
            ..judged
        };
        answer.left_out.extend(others.into_iter().map(|(path, kind)| format!("{path}: {kind}")));
        let more = answer.left_out.len().saturating_sub(LEFT_OUT);
        if more > 0 {
            answer.left_out.truncate(LEFT_OUT);
            answer.left_out.push(format!("{more} more"));
        }
        let turn = Turn {
            number: seat.row.turns + 1,
            tool: "play_submit".to_owned(),
            arguments: arguments(request).to_string(),
            result: serde_json::to_string(&answer).map_err(Error::harness)?,
            failed: false,
            millis: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let end = PlayEnd {
            reward: answer.reward,
            outcome: answer.reason.clone(),
            artifact: answer.artifact.clone(),
        };
        seat.record.store.finish_play(&seat.row.id, &turn, &end).map_err(Error::harness)?;
        seat.close()?;
        let id = seat.row.id.clone();
        drop(seat);
        self.leave(&id);
        Ok(answer)
    }

    fn injected(
        &self,
        opened: &Opened,
        seat: &Seat,
        request: &PlaySubmitRequest,
        now: &Changes,
        job: &Job,
    ) -> Result<PlaySubmitAnswer, Error> {
        let base = opened.harness.base();
        let sources = Sources::of(base, now);
        let left_out = sources.left_out.iter().map(ToString::to_string).collect();
        let (artifact, bug) = match parts(opened, &sources, request, job)? {
            Ok(parts) => parts,
            Err(malformed) => {
                return Ok(PlaySubmitAnswer {
                    reward: Some(Scheme::default().invalid),
                    reason: format!("the artifact is invalid: {malformed}"),
                    valid: Some(false),
                    left_out,
                    ..PlaySubmitAnswer::default()
                });
            }
        };
        job.tell(Event::Checking);
        // Plain runs only: this is no edit of our own.
        let report = consistency::check(&opened.harness, &artifact, &Minima::default())
            .map_err(|error| job.failed(error))?;
        job.tell(Event::Checked { valid: report.valid });
        let tree_digest = bug.against(base).digest();
        let mut flags = Vec::new();
        if opened.record.known(&tree_digest) {
            flags.push("the same bug was made here before".to_owned());
        }
        let origin = Origin {
            strategy: seat.settings.strategy.unwrap_or(Strategy::Direct),
            seed: seat.settings.seed,
            base: &base.id,
            tree_digest: &tree_digest,
            report: &report,
            parent: None,
        };
        let out = opened.record.keep(&artifact, &origin)?;
        let id = artifact.id();
        let patch = [&*artifact.bug_inject, &*artifact.test_weaken].concat();
        let mut answer = PlaySubmitAnswer {
            valid: Some(report.valid),
            patch: shortened(&patch),
            left_out,
            artifact: Some(id.clone()),
            out: Some(out.display().to_string()),
            ..PlaySubmitAnswer::default()
        };
        let last = report.checks.last().map(|check| check.detail.clone()).unwrap_or_default();
        match report.failed_check {
            Some(check) => {
                answer.reward = Some(Scheme::default().invalid);
                answer.reason = format!("the check {} failed: {last}", check.name());
            }
            None if request.attempts > 0 => {
                self.attempt(opened, &artifact, request, &mut answer, job)?;
            }
            None => {
                "every check passed; the reward is 1 - 1.8 times the solve rate, or -0.8 if all or none of \
                 the attempts solve it: call solve with this artifact for attempts"
                    .clone_into(&mut answer.reason);
            }
        }
        flags.extend(report.flags.iter().cloned());
        answer.flags = flags;
        answer.report = Some(CheckAnswer::of(id, report));
        Ok(answer)
    }

    fn attempt(
        &self,
        opened: &Opened,
        artifact: &Artifact,
        request: &PlaySubmitRequest,
        answer: &mut PlaySubmitAnswer,
        job: &Job,
    ) -> Result<(), Error> {
        job.step(&format!("making {} attempts", request.attempts));
        let wanted = self.solver(request.attempts, None, self.config().seed);
        let attempts = solver::solve(&opened.harness, &opened.languages, artifact, &wanted)
            .map_err(|error| job.failed(error))?;
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        opened.record.keep_attempts(&opened.harness, artifact, &attempts, None)?;
        let solved = attempts.iter().filter(|attempt| attempt.solved).count();
        let rate = ratio(solved, attempts.len().max(1));
        answer.reward = Some(Scheme::default().injector(Some(rate)).map_err(Error::harness)?);
        answer.reason =
            format!("every check passed, and {solved} of {} attempts solved it", attempts.len());
        answer.solve_rate = Some(rate);
        answer.attempts = attempts.iter().map(AttemptLine::from).collect();
        Ok(())
    }
}

/// A role's arguments only.
fn refuse_misfits(request: &PlaySubmitRequest, role: &str) -> Result<(), Error> {
    let PlaySubmitRequest { patch, test_script, test_parser, test_files, attempts, .. } = request;
    let injectors =
        test_script.is_some() || test_parser.is_some() || test_files.is_some() || *attempts > 0;
    match role {
        "solver" if injectors => Err(Error::usage(
            "test_script, test_parser, test_files and attempts are an injector's; this play is a solver's",
        )),
        "injector" if patch.is_some() => Err(Error::usage(
            "patch is a solver's; an injector submits what it changed in the tree",
        )),
        _ => Ok(()),
    }
}

fn solved(
    opened: &Opened,
    artifact: &Artifact,
    player: &str,
    request: &PlaySubmitRequest,
    now: &Changes,
    job: &Job,
) -> Result<PlaySubmitAnswer, Error> {
    let base = opened.harness.base();
    let (patch, left_out) = if let Some(patch) = &request.patch {
        (patch.clone().into_bytes(), Vec::new())
    } else {
        let task = Task::of(base, artifact).map_err(Error::harness)?;
        fix_of(base, &task, now)
    };
    job.step("grading the patch");
    let grade =
        grading::grade(&opened.harness, artifact, &patch).map_err(|error| job.failed(error))?;
    let attempt = solver::Attempt {
        solved: grade.solved,
        reward: reward::solver(grade.solved),
        patch: String::from_utf8_lossy(&patch).into_owned(),
        runs: 0,
        reason: grade.reason,
        flags: grade.flags,
        bill: None,
        drawn: None,
        policy: None,
        kinds: std::collections::BTreeMap::new(),
    };
    let made = std::slice::from_ref(&attempt);
    opened.record.keep_attempts(&opened.harness, artifact, made, Some(player))?;
    Ok(PlaySubmitAnswer {
        reward: Some(attempt.reward),
        reason: attempt.reason.to_string(),
        solved: Some(attempt.solved),
        flags: attempt.flags,
        patch: shortened(attempt.patch.as_bytes()),
        left_out: left_out.iter().map(ToString::to_string).collect(),
        artifact: Some(artifact.id()),
        ..PlaySubmitAnswer::default()
    })
}

/// The five parts of what an injector did, and the bug as changes; why there is no artifact otherwise.
fn parts(
    opened: &Opened,
    sources: &Sources,
    request: &PlaySubmitRequest,
    job: &Job,
) -> Result<Result<(Artifact, Changes), Malformed>, Error> {
    let files = request.test_files.as_ref();
    let files = files.map(|given| given.iter().map(|path| test_file(path)).collect());
    let given = Given {
        test_script: request.test_script.clone(),
        test_parser: request.test_parser.clone(),
        test_files: files.transpose()?,
    };
    injector::artifact_of(&opened.harness, sources, &given).map_err(|error| job.failed(error))
}

fn test_file(path: &str) -> Result<RelPath, Error> {
    RelPath::parse(path.as_bytes())
        .map_err(|refusal| Error::usage(format!("test_files: {path:?} is refused: {refusal}")))
}

fn arguments(request: &PlaySubmitRequest) -> Value {
    let PlaySubmitRequest { patch, test_script, test_parser, test_files, attempts, .. } = request;
    json!({
        "patch": patch, "test_script": test_script, "test_parser": test_parser,
        "test_files": test_files, "attempts": attempts,
    })
}
