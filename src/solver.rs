//! Attempts that repair a bug from its reversed weakened test, without a model.

use crate::artifact::Artifact;
use crate::grading::Reason;
use crate::harness::{Error, Harness};
use crate::syntax::Languages;

#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// G: attempts per bug.
    pub attempts: usize,
    pub seed: u64,
    /// Candidate repairs one attempt may run.
    pub runs: usize,
    /// Attempts at once.
    pub parallel: usize,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Attempt {
    pub solved: bool,
    /// +1 or -1.
    pub reward: f64,
    /// Git diff against the tree the solver saw; empty if none was found.
    pub patch: String,
    /// Candidate repairs that were run.
    pub runs: usize,
    pub reason: Reason,
    pub flags: Vec<String>,
}

/// G independent attempts; the result does not depend on `parallel`.
pub fn solve(
    _harness: &Harness,
    _languages: &Languages,
    _artifact: &Artifact,
    _request: &Request,
) -> Result<Vec<Attempt>, Error> {
    todo!()
}
