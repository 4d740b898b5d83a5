//! Is this patch a repair? The one judge of every solver, person or machine; and the task a solver
//! is given.

use crate::artifact::Artifact;
use crate::harness::{Error, Harness};
use crate::tree::{Changes, RelPath};
use crate::verdict::TestId;

/// What a solver sees: the tree with bug and weakening applied, and the reversed weakening.
#[derive(Clone, Debug)]
pub struct Task {
    /// Bug and weakening, laid over the base.
    pub changes: Changes,
    /// The reversed weakening: a git diff that turns the weakened tests back into the original ones.
    pub oracle: Vec<u8>,
    pub test_files: Vec<RelPath>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplayable {
    #[error("{0}")]
    Patch(String),
}

impl Task {
    pub fn of(_harness: &Harness, _artifact: &Artifact) -> Result<Self, Unplayable> {
        todo!()
    }
    /// The state a solver works on to see the failure: `changes` with the original tests back.
    pub fn with_oracle(&self, _harness: &Harness) -> Changes {
        todo!()
    }
}

/// Why a patch is or is not a repair.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    #[error("every expected test passed")]
    Solved,
    #[error("the patch is empty")]
    NoPatch,
    #[error("the patch is refused: {0}")]
    PatchRefused(String),
    #[error("the patch does not apply: {0}")]
    DoesNotApply(String),
    #[error("no verdict: {0}")]
    NoVerdict(String),
    #[error("{} of the expected tests failed, first {:?}", .0.len(), .0.first())]
    TestsFailed(Vec<TestId>),
    #[error("{} expected tests did not report, {} unexpected ones did", .missing.len(), .unexpected.len())]
    OtherTests { missing: Vec<TestId>, unexpected: Vec<TestId> },
    #[error("the test runner was tampered with: {0}")]
    Tampered(String),
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Grade {
    pub solved: bool,
    pub reason: Reason,
    /// What looked suspicious without being proof; empty for an honest patch.
    pub flags: Vec<String>,
}

/// Rebuilds the tree from the original, applies bug, weakening and prediction, restores every test
/// file and every file that sways tests, runs, and wants exactly the expected ids, all passed.
pub fn grade(_harness: &Harness, _artifact: &Artifact, _patch: &[u8]) -> Result<Grade, Error> {
    todo!()
}
