//! The checks that make an injected bug real, one function each, to a report.
//! (SSR, arXiv 2512.18552, section 2: seven consistency checks; `separation` and `stability` are
//! ours: the paper asks for the first in its prompts only, and is silent about flaky bugs.)

mod audit;
mod case;
mod dynamic;
mod flags;
mod r#static;

pub use audit::{Audited, is_due as is_audit_due};

use crate::artifact::Artifact;
use crate::harness::{Error, Harness};
use crate::sandbox::Tier;
use crate::verdict::TestId;
use case::{Case, Runs, Seen};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minima {
    /// Tests of the script that pass on the original.
    pub passing_tests: usize,
    /// Files that the bug changes.
    pub changed_files: usize,
    /// Passing tests that fail once the bug is in.
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

impl Check {
    /// The name that reports and command lines use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Separation => "separation",
            Self::TestFiles => "test_files",
            Self::Parser => "parser",
            Self::TestScript => "test_script",
            Self::Scope => "scope",
            Self::Bug => "bug",
            Self::Weakening => "weakening",
            Self::InverseMutation => "inverse_mutation",
            Self::Stability => "stability",
        }
    }
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
    /// User and system seconds of all runs that this report made.
    pub cpu_seconds: f64,
    pub audited: Audited,
    /// What the fast ways said otherwise than plain runs, where they did.
    pub difference: Option<String>,
    #[serde(skip)]
    seen: Seen,
}

/// What a check found: a detail either way.
type Finding = Result<String, String>;

/// The paper's order. `stability` comes last: it is the one whose runs are spent only on bugs that
/// nothing else rejects, and a flaky bug usually fails an earlier check by itself.
const ORDER: [Check; 9] = [
    Check::Separation,
    Check::TestFiles,
    Check::Parser,
    Check::TestScript,
    Check::Scope,
    Check::Bug,
    Check::Weakening,
    Check::InverseMutation,
    Check::Stability,
];

fn run(check: Check, case: &mut Case<'_>) -> Result<Finding, Error> {
    Ok(match check {
        Check::Separation => r#static::separation(case),
        Check::TestFiles => r#static::test_files(case),
        Check::Parser => dynamic::parser(case)?,
        Check::TestScript => dynamic::test_script(case),
        Check::Scope => r#static::scope(case),
        Check::Bug => dynamic::bug(case)?,
        Check::Weakening => dynamic::weakening(case)?,
        Check::InverseMutation => dynamic::inverse_mutation(case)?,
        Check::Stability => dynamic::stability(case)?,
    })
}

/// Runs the checks in order and stops at the first that fails. Every run is a plain one: nothing of an
/// artifact from elsewhere meets a process that later runs are made in.
pub fn check(harness: &Harness, artifact: &Artifact, minima: &Minima) -> Result<Report, Error> {
    report(Case::new(harness, artifact, minima, Runs::Plain), &ORDER, run)
}

/// The same for an artifact that our injector has just made with this seed: its bug is our own edit of the
/// repository's code, so that warm runs serve where plain ones vouch for them. One such bug in twenty is
/// audited; what becomes of the fast ways where they differ is the caller's to decide.
pub fn check_injected(
    harness: &Harness,
    artifact: &Artifact,
    minima: &Minima,
    seed: u64,
) -> Result<Report, Error> {
    if harness.is_plain() {
        return check(harness, artifact, minima);
    }
    let fast = report(Case::new(harness, artifact, minima, Runs::Warm), &ORDER, run)?;
    if audit::is_due(seed, &artifact.id()) {
        return audit::audit(harness, artifact, minima, fast);
    }
    Ok(fast)
}

/// What the checks said of the bug that a second-order one is built upon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parent {
    pub fail_to_pass: Vec<TestId>,
    pub pass_to_pass: Vec<TestId>,
}

/// The checks that still apply to a failed repair on top of a bug. Script, parser, test files and
/// weakening are the parent's and were checked with it; that each changed file matters and how many
/// tests fail were conditions on what an injector may submit, and nobody injected this.
const SECOND_ORDER: [Check; 4] = [Check::Separation, Check::Parser, Check::Bug, Check::Stability];

/// Checks a second-order bug against what is known of its parent.
pub fn check_second_order(
    harness: &Harness,
    artifact: &Artifact,
    parent: &Parent,
) -> Result<Report, Error> {
    let minima = Minima::default();
    report(Case::new(harness, artifact, &minima, Runs::Plain), &SECOND_ORDER, |check, case| {
        match check {
            Check::Bug => dynamic::second_order(case, parent),
            other => run(other, case),
        }
    })
}

fn report<'a>(
    mut case: Case<'a>,
    order: &[Check],
    mut run: impl FnMut(Check, &mut Case<'a>) -> Result<Finding, Error>,
) -> Result<Report, Error> {
    let mut checks = Vec::new();
    for check in order.iter().copied() {
        let start = Instant::now();
        let finding = run(check, &mut case)?;
        let millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let passed = finding.is_ok();
        let detail = finding.unwrap_or_else(|detail| detail);
        checks.push(CheckResult { check, passed, detail, millis });
        if !passed {
            break;
        }
    }
    let failed_check = checks.last().filter(|last| !last.passed).map(|last| last.check);
    Ok(Report {
        valid: failed_check.is_none(),
        failed_check,
        checks,
        fail_to_pass: case.failing.iter().cloned().collect(),
        pass_to_pass: case.still_passing,
        sandbox: case.harness.tier(),
        flags: flags::of(case.artifact),
        cpu_seconds: case.cpu.as_secs_f64(),
        audited: Audited::No,
        difference: None,
        seen: case.seen,
    })
}
