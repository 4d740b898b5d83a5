//! Strategies that make an artifact from a repository: structural edits, removal, and their mix.

use crate::artifact::Artifact;
use crate::harness::{Error, Harness};
use crate::syntax::Languages;
use crate::tree::RelPath;

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Structural edits at several sites.
    Direct,
    /// Hunks, bodies or files deleted, callers fixed so that the rest still runs.
    Removal,
    /// Direct or removal, by seed.
    Mixed,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub strategy: Strategy,
    pub seed: u64,
    pub target: Option<Target>,
    /// Fewest code files a bug changes.
    pub changed_files: usize,
    /// Fewest originally passing tests that must fail.
    pub failing_tests: usize,
    /// Fewest passing tests a script must run.
    pub passing_tests: usize,
    /// Most candidate bugs that are run before giving up.
    pub candidates: usize,
}

/// Where to inject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub file: RelPath,
    /// A function's plain or qualified name.
    pub symbol: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Candidates that were put together.
    pub proposed: usize,
    /// Dropped before any run: did not parse.
    pub unparsable: usize,
    /// Dropped: the store or this run knows the tree they lead to.
    pub duplicates: usize,
    /// Ran, and no passing test failed.
    pub unnoticed: usize,
    /// Ran, and the suite could not run: does not compile, import error, time out.
    pub broken: usize,
    /// Failing tests could not be hidden by a weakening.
    pub unhidden: usize,
}

#[derive(Clone, Debug)]
pub struct Injected {
    pub artifact: Artifact,
    /// Never `Mixed`: what was sampled.
    pub strategy: Strategy,
    /// Digest of the buggy tree's changes: equal for equal bugs.
    pub tree_digest: String,
    /// One line for people: operators and places.
    pub summary: String,
    pub counts: Counts,
}

/// No bug came out. A value: the counts say why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct NotInjected {
    pub reason: String,
    pub counts: Counts,
}

/// Makes one artifact. `known` says whether a buggy tree (by digest) is in the store already.
pub fn inject(
    _harness: &Harness,
    _languages: &Languages,
    _request: &Request,
    _known: &dyn Fn(&str) -> bool,
) -> Result<Result<Injected, NotInjected>, Error> {
    todo!()
}
