//! Edits that the tests execute and do not notice, with the evidence that behaviour changed: holes of a
//! test suite.
//!
//! An edit is kept where no test fails under it, in a run that records calls and in a plain one, and where
//! a call that tests make does something else in every run of the edit than in every run of the original.
//! What no record tells apart is counted and not kept: most of it is equivalent.

mod choice;
mod reached;
mod search;

use crate::harness::{Error, Harness};
use crate::injector::Target;
use crate::runner::Difference;
use crate::syntax::Languages;
use crate::verdict::TestId;

#[derive(Clone, Debug)]
pub struct Request {
    pub seed: u64,
    pub target: Option<Target>,
    /// Most unnoticed edits that are looked for.
    pub limit: usize,
    /// Most edits that tests are run on.
    pub runs: usize,
}

/// What became of the edits that were drawn.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Counts {
    /// Edits that tests were run on.
    pub tried: usize,
    /// Of these: tests failed, or did not end in time.
    pub failed: usize,
    pub timed_out: usize,
    /// Of these: tests failed only where no call was recorded.
    pub failed_plainly: usize,
    /// Of these: the sandbox was brought down.
    pub lost: usize,
    /// Of these: no test failed, and what the function does cannot be recorded.
    pub unseen: usize,
    /// Of these: no test failed, and no record of a call differs.
    pub no_difference: usize,
    /// Of these: records differ, but not in every run.
    pub unstable: usize,
    /// Of these: no test failed although a call does something else.
    pub unnoticed: usize,
    /// Not run: it does not compile.
    pub invalid: usize,
    /// Not run: no passing test executes its lines.
    pub not_reached: usize,
    /// Not run: tried before on this tree.
    pub known: usize,
}

/// An edit that no test notices.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Unnoticed {
    /// Digest of the edited file: equal for equal edits of equal trees.
    pub id: String,
    /// From the repository's root.
    pub file: String,
    /// First and last lines that it changes, from 1.
    pub line: u32,
    pub last_line: u32,
    /// The function it is in; null outside of functions.
    pub function: Option<String>,
    /// What was done, by a stable name.
    pub operator: String,
    /// The edit in one line.
    pub summary: String,
    pub diff: String,
    /// The tests that execute these lines.
    pub tests: Vec<TestId>,
    /// One call that does something else.
    pub evidence: Difference,
}

/// One edit that was tried; `unnoticed` where that is what it came to.
#[derive(Clone, Debug)]
pub struct Tried {
    pub id: String,
    pub outcome: &'static str,
    pub unnoticed: Option<Unnoticed>,
}

/// Why nothing was tried, in words for people.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NothingToTry(pub String);

/// Tries edits in the order that the seed gives. `known` says whether an edit was tried before; `keep` is
/// given each batch as soon as it is known.
pub fn search(
    harness: &Harness,
    languages: &Languages,
    request: &Request,
    known: &dyn Fn(&str) -> bool,
    keep: &mut dyn FnMut(&[Tried]) -> Result<(), crate::store::Error>,
) -> Result<Result<Counts, NothingToTry>, Error> {
    search::search(harness, languages, request, known, keep)
}
