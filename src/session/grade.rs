//! `grade`: is a patch a repair? The same judge for a person's patch as for the solver's.

use super::{ArtifactRef, Error, Job, Repository, Session};
use crate::grading::{self, Reason};
use crate::sandbox::Tier;

#[derive(Clone, Debug)]
pub struct GradeRequest {
    pub artifact: ArtifactRef,
    pub repository: Repository,
    /// A diff against the tree with bug and weakening applied.
    pub patch: Vec<u8>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct GradeAnswer {
    pub solved: bool,
    /// Why, in one sentence.
    pub reason: String,
    /// What looked suspicious without being proof; empty for an honest patch.
    pub flags: Vec<String>,
    /// The reason as one word, for machines.
    pub code: String,
    /// The artifact's content id.
    pub artifact: String,
    /// The tier of isolation that all runs used.
    #[schemars(with = "String")]
    pub sandbox: Tier,
}

impl Session {
    pub fn grade(&self, request: &GradeRequest, job: &Job) -> Result<GradeAnswer, Error> {
        let (opened, artifact) = self.open_with(&request.artifact, &request.repository, job)?;
        job.step("grading the patch");
        let grade = grading::grade(&opened.harness, &artifact, &request.patch)
            .map_err(|error| job.failed(error))?;
        Ok(GradeAnswer {
            solved: grade.solved,
            reason: grade.reason.to_string(),
            flags: grade.flags,
            code: code(&grade.reason).to_owned(),
            artifact: artifact.id(),
            sandbox: opened.harness.tier(),
        })
    }
}

/// A reason as one word.
pub(super) fn code(reason: &Reason) -> &'static str {
    match reason {
        Reason::Solved => "solved",
        Reason::NoPatch => "no_patch",
        Reason::NotSubmitted(_) => "not_submitted",
        Reason::PatchRefused(_) => "patch_refused",
        Reason::DoesNotApply(_) => "does_not_apply",
        Reason::Unplayable(_) => "unplayable",
        Reason::NoVerdict(_) => "no_verdict",
        Reason::TestsFailed(_) => "tests_failed",
        Reason::OtherTests { .. } => "other_tests",
        Reason::Tampered(_) => "tampered",
    }
}
