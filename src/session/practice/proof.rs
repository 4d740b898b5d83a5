//! Only bugs that are real, stable and can be repaired are practised on; each is held against its own
//! reversal, by the judge, before anybody sees it.

use crate::artifact::Artifact;
use crate::consistency::{self, Minima};
use crate::diff::Patch;
use crate::grading::{self, Task};
use crate::harness::{How, Program};
use crate::practice::Unfit;
use crate::session::open::Opened;
use crate::session::{Error, Event, Job};

/// What was proved of a bug.
pub(super) struct Proof {
    pub(super) task: Task,
    /// Tests that it makes fail.
    pub(super) failing: Vec<String>,
    /// The strategy that made it; `given` where nobody here did.
    pub(super) strategy: String,
}

/// Lists of a kept report.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    pub(super) fail_to_pass: Vec<String>,
}

pub(super) fn prove(
    opened: &Opened,
    artifact: &Artifact,
    job: &Job,
) -> Result<Result<Proof, Unfit>, Error> {
    let harness = &opened.harness;
    let base = harness.base();
    let task = match Task::of(base, artifact) {
        Ok(task) => task,
        Err(why) => return Ok(Err(Unfit::Unplayable(why.to_string()))),
    };
    let row = opened.record.store.artifact(&artifact.id()).map_err(Error::harness)?;
    let strategy = row.as_ref().map_or_else(|| "given".to_owned(), |row| row.strategy.clone());
    // What a check found on this tree holds.
    let known = row.filter(|row| row.valid && row.base == base.id);
    let mut expected = match known {
        Some(row) => serde_json::from_str::<Kept>(&row.report).unwrap_or_default().fail_to_pass,
        None => match checked(opened, artifact, job)? {
            Ok(failing) => failing,
            Err(unfit) => return Ok(Err(unfit)),
        },
    };
    job.step("looking whether the bug is stable, and whether its own reversal repairs it");
    let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
    let run = harness
        .run(task.with_oracle(), program, How::CHECK, true)
        .map_err(|error| job.failed(error))?;
    let failing = match run.verdicts {
        Ok(verdicts) => verdicts.failing(),
        Err(problem) => {
            let found = format!("no verdict ({problem})");
            let expected = format!("{} failing tests", expected.len());
            return Ok(Err(Unfit::Unstable { found, expected }));
        }
    };
    expected.sort();
    if let Some(unfit) = Unfit::by_run(&failing, &expected) {
        return Ok(Err(unfit));
    }
    let reversal = match Patch::parse(&artifact.bug_inject) {
        Ok(patch) => patch.reversed().to_bytes(),
        Err(refusal) => return Ok(Err(Unfit::Unplayable(refusal.to_string()))),
    };
    let grade = grading::grade(harness, artifact, &reversal).map_err(|error| job.failed(error))?;
    if !grade.solved {
        return Ok(Err(Unfit::Impossible(grade.reason.to_string())));
    }
    Ok(Ok(Proof { task, failing, strategy }))
}

/// The checks, for a bug that has not passed them on this tree.
fn checked(
    opened: &Opened,
    artifact: &Artifact,
    job: &Job,
) -> Result<Result<Vec<String>, Unfit>, Error> {
    job.tell(Event::Checking);
    let report = consistency::check(&opened.harness, artifact, &Minima::default())
        .map_err(|error| job.failed(error))?;
    job.tell(Event::Checked { valid: report.valid });
    Ok(match report.failed_check {
        None => Ok(report.fail_to_pass),
        Some(check) => {
            let detail = report.checks.last().map(|check| check.detail.clone());
            let check = check.name().to_owned();
            Err(Unfit::NotProven { check, detail: detail.unwrap_or_default() })
        }
    })
}
