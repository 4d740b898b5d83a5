//! Is this patch a repair? The one judge of every solver, person or machine; and the task a solver
//! is given. (SSR, arXiv 2512.18552, section 2: rebuild from the original, apply bug, weakening and
//! prediction, restore the test files, run; solved if and only if all tests pass.)

mod canary;
mod rebuild;
mod scan;
mod signs;
mod task;

pub use rebuild::{Rebuilt, rebuild, restored};
pub use task::{Task, Unplayable};

use crate::artifact::Artifact;
use crate::harness::{Audience, Error, Harness, How, Program};
use crate::tree::Changes;
use crate::verdict::{Outcome, TestId, Verdicts};

/// Why a patch is or is not a repair.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    #[error("every expected test passed")]
    Solved,
    #[error("there is no patch")]
    NoPatch,
    /// A model's attempt that ended otherwise.
    #[error("nothing was submitted: {0}")]
    NotSubmitted(String),
    #[error("the artifact cannot be played: {0}")]
    Unplayable(String),
    #[error("the patch is refused: {0}")]
    PatchRefused(String),
    #[error("the patch does not apply: {0}")]
    DoesNotApply(String),
    #[error("no verdict: {0}")]
    NoVerdict(String),
    #[error("{} of the expected tests failed, first {}", .0.len(), first(.0))]
    TestsFailed(Vec<TestId>),
    #[error(
        "{} expected tests did not report (first {}), {} unexpected ones did (first {})",
        .missing.len(), first(.missing), .unexpected.len(), first(.unexpected)
    )]
    OtherTests { missing: Vec<TestId>, unexpected: Vec<TestId> },
    #[error("the test runner was tampered with: {0}")]
    Tampered(String),
}

fn first(ids: &[TestId]) -> &str {
    ids.first().map_or("none", String::as_str)
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Grade {
    pub solved: bool,
    pub reason: Reason,
    /// What looked suspicious without being proof; empty for an honest patch.
    pub flags: Vec<String>,
}

impl Grade {
    fn unsolved(reason: Reason, flags: Vec<String>) -> Self {
        Self { solved: false, reason, flags }
    }
}

/// Rebuilds the tree from the original, applies bug, weakening and prediction, restores every test
/// file and every file that sways tests, runs in a fresh sandbox, and wants exactly the expected ids,
/// all passed. An exit code is no evidence of a pass; one may contradict it. A green run is then repeated by our own script beside
/// canary tests that must fail.
///
/// `patch` is a diff against the tree the solver saw: [`Task::changes`] over the base.
pub fn grade(harness: &Harness, artifact: &Artifact, patch: &[u8]) -> Result<Grade, Error> {
    let rebuilt = match rebuild(harness, artifact, patch) {
        Ok(rebuilt) => rebuilt,
        Err(reason) => return Ok(Grade::unsolved(reason, Vec::new())),
    };
    let mut flags = rebuilt.flags;
    let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
    let expected = match harness.run(&Changes::new(), program, How::CHECK, false)?.verdicts {
        Ok(original) => original,
        Err(problem) => {
            let reason = Reason::Unplayable(format!("on the original: {problem}"));
            return Ok(Grade::unsolved(reason, flags));
        }
    };
    let how = How { hash_seed: 0, audience: Audience::Solver };
    let verdicts = match harness.run(&rebuilt.tree, program, how, true)?.verdicts {
        Ok(verdicts) => verdicts,
        Err(problem) => {
            return Ok(Grade::unsolved(Reason::NoVerdict(problem.to_string()), flags));
        }
    };
    if let Some(reason) = shortfall(&expected, &verdicts) {
        return Ok(Grade::unsolved(reason, flags));
    }
    let song = canary::sing(harness, artifact, patch, &rebuilt.tree, &expected)?;
    flags.extend(song.flags);
    Ok(match song.reason {
        Some(reason) => Grade::unsolved(reason, flags),
        None => Grade { solved: true, reason: Reason::Solved, flags },
    })
}

/// Why `verdicts` is not "exactly the expected ids, all passed".
fn shortfall(expected: &Verdicts, verdicts: &Verdicts) -> Option<Reason> {
    let failing = verdicts.failing();
    if !failing.is_empty() {
        return Some(Reason::TestsFailed(failing));
    }
    let wanted = expected.with(Outcome::Passed);
    let lacking = |id: &&TestId| verdicts.of(id) != Outcome::Passed;
    let missing: Vec<TestId> = wanted.iter().filter(lacking).cloned().collect();
    let unexpected: Vec<TestId> = verdicts
        .iter()
        .filter(|(id, _)| expected.of(id) == Outcome::Missing)
        .map(|(id, _)| id.clone())
        .collect();
    (!missing.is_empty() || !unexpected.is_empty())
        .then_some(Reason::OtherTests { missing, unexpected })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(list: &[(&str, Outcome)]) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for (id, outcome) in list {
            verdicts.add((*id).to_owned(), *outcome);
        }
        verdicts
    }

    #[track_caller]
    fn check(verdicts_: &[(&str, Outcome)], expect: &str) {
        let expected = verdicts(&[("a", Outcome::Passed), ("b", Outcome::Passed)]);
        let got = shortfall(&expected, &verdicts(verdicts_));
        assert_eq!(got.map_or("solved".to_owned(), |reason| reason.to_string()), expect);
    }

    #[test]
    fn only_exactly_the_expected_ids_all_passed_is_a_repair() {
        use Outcome::{Error, Failed, Passed, Skipped};
        check(&[("a", Passed), ("b", Passed)], "solved");
        check(&[("a", Passed), ("b", Failed)], "1 of the expected tests failed, first b");
        check(&[("a", Error), ("b", Passed)], "1 of the expected tests failed, first a");
        check(
            &[("a", Passed)],
            "1 expected tests did not report (first b), 0 unexpected ones did (first none)",
        );
        check(
            &[("a", Passed), ("b", Skipped)],
            "1 expected tests did not report (first b), 0 unexpected ones did (first none)",
        );
        check(
            &[("a", Passed), ("b", Passed), ("c", Passed)],
            "0 expected tests did not report (first none), 1 unexpected ones did (first c)",
        );
    }
}
