//! `check`: is an artifact's bug real?

use super::{ArtifactRef, Error, Job, Repository, Session};
use crate::consistency::{self, Check, Minima, Report};
use crate::sandbox::Tier;
use crate::verdict::TestId;

#[derive(Clone, Debug)]
pub struct CheckRequest {
    pub artifact: ArtifactRef,
    pub repository: Repository,
    pub minima: Minima,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct CheckLine {
    /// The check's name.
    #[schemars(with = "String")]
    pub check: Check,
    pub passed: bool,
    /// What was found, with counts.
    pub detail: String,
    pub millis: u64,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct CheckAnswer {
    /// Whether every check passed.
    pub valid: bool,
    /// The first check that failed; null if none did.
    #[schemars(with = "Option<String>")]
    pub failed_check: Option<Check>,
    /// The checks that ran, in order; the last one is the one that failed, if any.
    pub checks: Vec<CheckLine>,
    /// Tests that the bug makes fail and that a repair must make pass again.
    pub fail_to_pass: Vec<TestId>,
    /// Tests that pass with and without the bug.
    pub pass_to_pass: Vec<TestId>,
    /// The tier of isolation that all runs used.
    #[schemars(with = "String")]
    pub sandbox: Tier,
    /// The artifact's content id.
    pub artifact: String,
    /// Things that are not forbidden but that a reader should know.
    pub flags: Vec<String>,
    /// User and system seconds of all runs.
    pub cpu_seconds: f64,
}

impl CheckAnswer {
    pub(super) fn of(artifact: String, report: Report) -> Self {
        Self {
            valid: report.valid,
            failed_check: report.failed_check,
            checks: lines(&report),
            fail_to_pass: report.fail_to_pass,
            pass_to_pass: report.pass_to_pass,
            sandbox: report.sandbox,
            artifact,
            flags: report.flags,
            cpu_seconds: report.cpu_seconds,
        }
    }
}

pub(super) fn lines(report: &Report) -> Vec<CheckLine> {
    let line = |result: &consistency::CheckResult| CheckLine {
        check: result.check,
        passed: result.passed,
        detail: result.detail.clone(),
        millis: result.millis,
    };
    report.checks.iter().map(line).collect()
}

impl Session {
    pub fn check(&self, request: &CheckRequest, job: &Job) -> Result<CheckAnswer, Error> {
        let (opened, artifact) = self.open_with(&request.artifact, &request.repository, job)?;
        job.tell(super::Event::Checking);
        let report = consistency::check(&opened.harness, &artifact, &request.minima)
            .map_err(|error| job.failed(error))?;
        Ok(CheckAnswer::of(artifact.id(), report))
    }
}
