//! `practice run`: the visible tests on the tree as the person has it now.

use super::PracticeRef;
use crate::grading::Task;
use crate::harness::{How, Program};
use crate::runner::printed;
use crate::sandbox::Tier;
use crate::session::{Error, Job, Session};
use crate::tree::{Changes, RelPath};
use crate::verdict::Outcome;
use std::path::Path;

/// Bytes of the log's end that are shown.
const LOG: usize = 6000;

#[derive(Clone, Debug, Default)]
pub struct PracticeRunRequest {
    pub practice: PracticeRef,
    /// The tests as they are in the tree; otherwise with the lines put back that they lack, which is what
    /// a repair has to pass.
    pub weakened: bool,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeRunAnswer {
    pub practice: String,
    /// Whether every test that reported passed.
    pub green: bool,
    pub passed: usize,
    pub failing: Vec<String>,
    /// Those that did not pass first.
    pub verdicts: Vec<VerdictLine>,
    /// Why there are no verdicts; null where there are.
    pub problem: Option<String>,
    /// Which tests ran.
    pub tests: String,
    /// The end of what was printed, with the paths of the practice tree.
    pub log: String,
    /// Wall time of the run.
    pub run_seconds: f64,
    /// The tier of isolation.
    #[schemars(with = "String")]
    pub sandbox: Tier,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct VerdictLine {
    pub test: String,
    /// passed, failed, error or skipped.
    pub outcome: String,
}

impl Session {
    pub fn practice_run(
        &self,
        request: &PracticeRunRequest,
        job: &Job,
    ) -> Result<PracticeRunAnswer, Error> {
        let round = self.round(&request.practice)?;
        round.refuse_over()?;
        let opened = round.open(self, job)?;
        let harness = &opened.harness;
        let task = round.task(harness.base())?;
        let edited = round.edited(harness.base(), &task, "run")?;
        let (mut tree, mut tests) = (task.changes.then(&edited.changes), String::new());
        if request.weakened {
            tests.push_str("the tests as they are in the tree, which may pass with the bug");
        } else {
            tests.push_str("the tests with the lines put back that they lack in the tree");
            let own = strengthen(&mut tree, &task, &edited.changes);
            if !own.is_empty() {
                let own: Vec<&str> = own.iter().map(RelPath::as_str).collect();
                tests = format!("{tests}, but {} as you edited it", own.join(", "));
            }
        }
        job.step("running the tests");
        let artifact = &round.artifact;
        let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
        let run =
            harness.run(&tree, program, How::SOLVER, true).map_err(|error| job.failed(error))?;
        // In the sandbox the tree stands where the repository does.
        let log = ending(&printed(&run.log));
        let (here, there) = (inside(&round.workspace.root), inside(&round.tree()));
        let (mut verdicts, problem) = match &run.verdicts {
            Ok(verdicts) => (verdicts.iter().map(|(id, it)| (id.clone(), it)).collect(), None),
            Err(problem) => (Vec::new(), Some(problem.to_string())),
        };
        verdicts.sort_by_key(|(id, outcome)| (*outcome == Outcome::Passed, id.clone()));
        let failing = verdicts.iter().filter(|(_, outcome)| outcome.is_failing());
        let failing: Vec<String> = failing.map(|(id, _)| id.clone()).collect();
        Ok(PracticeRunAnswer {
            practice: round.row.id.clone(),
            green: problem.is_none() && failing.is_empty(),
            passed: verdicts.iter().filter(|(_, outcome)| *outcome == Outcome::Passed).count(),
            failing,
            verdicts: verdicts
                .into_iter()
                .map(|(test, outcome)| VerdictLine { test, outcome: outcome.as_str().to_owned() })
                .collect(),
            problem,
            tests,
            log: log.replace(&here, &there),
            run_seconds: (run.wall.as_secs_f64() * 1000.0).round() / 1000.0,
            sandbox: harness.tier(),
        })
    }
}

/// Puts the original tests in place of the weakened ones, but for those that the person edited, which it
/// gives.
fn strengthen(tree: &mut Changes, task: &Task, edited: &Changes) -> Vec<RelPath> {
    let strong = task.with_oracle();
    let mut own = Vec::new();
    for path in task.changes.paths() {
        if strong.get(path) == task.changes.get(path) {
            continue;
        }
        if edited.get(path).is_some() {
            own.push(path.clone());
            continue;
        }
        match strong.get(path) {
            Some(Some(file)) => tree.write(path.clone(), file.clone()),
            Some(None) => tree.delete(path.clone()),
            None => tree.restore(path),
        }
    }
    own
}

/// What the paths of a directory begin with.
fn inside(dir: &Path) -> String {
    format!("{}/", dir.display())
}

/// The last lines of a log.
fn ending(log: &[u8]) -> String {
    let from = log.len().saturating_sub(LOG);
    let end = &log[from..];
    let start =
        if from == 0 { 0 } else { end.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1) };
    String::from_utf8_lossy(&end[start..]).into_owned()
}
