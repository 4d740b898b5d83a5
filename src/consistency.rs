//! The checks that make an injected bug real, one function each, to a report.
//! (SSR, arXiv 2512.18552, section 2: seven consistency checks; plus `separation` and `stability`.)

use crate::artifact::Artifact;
use crate::harness::{Error, Harness};
use crate::sandbox::Tier;
use crate::verdict::TestId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minima {
    pub passing_tests: usize,
    pub changed_files: usize,
    pub failing_tests: usize,
}

impl Default for Minima {
    fn default() -> Self {
        Self { passing_tests: 5, changed_files: 1, failing_tests: 1 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Separation,
    TestFiles,
    Parser,
    TestScript,
    Scope,
    Bug,
    Weakening,
    InverseMutation,
    Stability,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct CheckResult {
    pub check: Check,
    pub passed: bool,
    pub detail: String,
    pub millis: u64,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    pub valid: bool,
    pub failed_check: Option<Check>,
    /// In the order they ran; the last one is the one that failed, if any.
    pub checks: Vec<CheckResult>,
    pub fail_to_pass: Vec<TestId>,
    pub pass_to_pass: Vec<TestId>,
    /// Tier of the sandbox that all runs used.
    pub sandbox: Tier,
    /// Things that are not forbidden but that a reader should know.
    pub flags: Vec<String>,
    /// User and system seconds of all runs.
    pub cpu_seconds: f64,
}

/// Runs the checks in order and stops at the first that fails.
pub fn check(_harness: &Harness, _artifact: &Artifact, _minima: &Minima) -> Result<Report, Error> {
    todo!()
}
