//! Attempts by a model: it sees what every solver sees, and is graded as every solver is.

use super::{Attempt, Request};
use crate::agent::prompt::{SANDBOX, SOLVER, SUITE};
use crate::agent::task::{self, Voice};
use crate::agent::{
    self, Ending, Error, Played, Role, Scene, Seat, Sitting, Stage, Submission, Tool, Verdict, Who,
};
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::grading::{self, Grade, Reason, Task};
use crate::harness::Harness;
use crate::reward;
use crate::scaffold::{Room, shortened};
use crate::tree::Overlaid;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const TOOLS: [Tool; 5] = [Tool::Bash, Tool::Read, Tool::Edit, Tool::Create, Tool::SubmitFix];

/// A model as the solver of one bug.
#[derive(Clone, Copy)]
pub struct ByModel<'a> {
    pub stage: Stage<'a>,
    pub seat: &'a Seat,
    /// Whose attempts they are; role, phase, attempt and artifact are filled in.
    pub who: &'a Who,
    /// How much of the oracle stays hidden from the model, 0 to 1.
    pub hidden: f64,
}

/// G independent attempts; the result does not depend on `parallel`. Where one cannot be made, what the others
/// were answered is kept, and none is returned.
pub fn solve_by_model(
    artifact: &Artifact,
    request: &Request,
    by: &ByModel<'_>,
) -> Result<Vec<Attempt>, Error> {
    let harness = by.stage.harness;
    let task = match Task::of(harness.base(), artifact) {
        Ok(task) => task,
        Err(refusal) => {
            let none = Attempt::unsolved(Reason::Unplayable(refusal.to_string()));
            return Ok(vec![none; request.attempts]);
        }
    };
    harness.baseline()?;
    let bench = Bench {
        by,
        oracle: task.public(by.hidden, request.seed),
        task: &task,
        artifact,
        id: artifact.id(),
        graded: Mutex::default(),
    };
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..request.parallel.clamp(1, request.attempts.max(1)) {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= request.attempts {
                        break;
                    }
                    let attempt = bench.attempt(number, request.seed);
                    failed.fetch_or(attempt.is_err(), Ordering::Relaxed);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, attempt);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// What all attempts share.
struct Bench<'a> {
    by: &'a ByModel<'a>,
    task: &'a Task,
    /// What a model is told of it.
    oracle: Vec<u8>,
    artifact: &'a Artifact,
    id: String,
    /// Grades by patch: the same in every attempt.
    graded: Mutex<BTreeMap<Vec<u8>, Grade>>,
}

impl Bench<'_> {
    fn attempt(&self, number: usize, seed: u64) -> Result<Attempt, Error> {
        let ByModel { stage, seat, who, .. } = self.by;
        let harness = stage.harness;
        let who = Who {
            role: Role::Solver,
            phase: "solve",
            attempt: u32::try_from(number).unwrap_or(u32::MAX),
            artifact: Some(self.id.clone()),
            ..(*who).clone()
        };
        let told = |root: &Path| task::of_solver(harness, root, &self.oracle, Voice::Model);
        let sitting = Sitting {
            who: &who,
            prompts: &[SOLVER, SANDBOX, SUITE],
            tools: &TOOLS,
            scene: Scene {
                task: Some(self.task),
                changes: crate::tree::Changes::new(),
                files: task::files(harness, Some(&self.oracle)),
                shell: Vec::new(),
            },
            task: &told,
            seed: seed_of(seed, number),
        };
        let mut judge = |room: &mut Room, given: &Submission| self.looked_at(room, given);
        let Played { ending, submitted, account } = agent::play(stage, seat, &sitting, &mut judge)?;
        let patch = submitted.as_deref().map(agent::bytes_of).unwrap_or_default();
        let grade = self.grade(&patch, &ending)?;
        let reward = reward::solver(grade.solved);
        let parts = serde_json::json!({
            "solved": grade.solved,
            "reason": grade.reason.to_string(),
            "ending": account.ending,
        });
        agent::rewarded(harness, &account, reward, &parts)?;
        Ok(Attempt {
            solved: grade.solved,
            reward,
            patch: String::from_utf8_lossy(&patch).into_owned(),
            runs: 0,
            reason: grade.reason,
            flags: grade.flags,
            bill: Some(account),
            drawn: None,
            policy: None,
            kinds: BTreeMap::new(),
        })
    }

    /// What was changed in the tree, or the patch that was given, which is read as one written by hand.
    fn looked_at(&self, room: &mut Room, given: &Submission) -> Result<Verdict, Error> {
        let base = self.by.stage.harness.base();
        let patch = match &given.patch {
            Some(text) => {
                let shown = Overlaid { base, changes: &self.task.changes };
                match Patch::written(text.as_bytes(), &shown) {
                    Ok(patch) => patch.to_bytes(),
                    Err(unplaced) => return Ok(Verdict::Refused(format!("{unplaced}."))),
                }
            }
            None => agent::fix_of(base, self.task, &room.changes()?.changes).0,
        };
        if patch.trim_ascii().is_empty() {
            let text = "nothing was changed in the tree, and no patch was given.";
            return Ok(Verdict::Refused(text.to_owned()));
        }
        let echo = format!(
            "This is what you submitted:\n\n```diff\n{}```\n\nIf it is what you want, end with a reply without \
             a call; else go on, and submit again.",
            shortened(&patch)
        );
        Ok(Verdict::Kept { kept: agent::text_of(patch), echo, over: false })
    }

    fn grade(&self, patch: &[u8], ending: &Ending) -> Result<Grade, Error> {
        if patch.is_empty() {
            let reason = Reason::NotSubmitted(ending.to_string());
            return Ok(Grade { solved: false, reason, flags: Vec::new() });
        }
        let known = |patch: &[u8]| {
            let graded = self.graded.lock().unwrap_or_else(PoisonError::into_inner);
            graded.get(patch).cloned()
        };
        if let Some(grade) = known(patch) {
            return Ok(grade);
        }
        let harness: &Harness = self.by.stage.harness;
        let grade = grading::grade(harness, self.artifact, patch)?;
        if harness.cancel().is_cancelled() {
            return Err(crate::harness::Error::Cancelled.into());
        }
        let mut graded = self.graded.lock().unwrap_or_else(PoisonError::into_inner);
        graded.insert(patch.to_vec(), grade.clone());
        Ok(grade)
    }
}

/// Small and not negative: what every server takes for a seed.
fn seed_of(seed: u64, number: usize) -> u64 {
    crate::dice::Dice::new(seed).fork(&format!("attempt {number}")).roll() >> 33
}
