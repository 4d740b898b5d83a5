//! Strategies that make an artifact from a repository: structural edits, removal, commits undone, and
//! their mix.
//!
//! A *draft* is one code file with a few edits; a *candidate* is one draft or several of different
//! files. Candidates are drawn by seed alone, so the same seed on the same repository state gives
//! the same bytes: file first (by the square root of its size), then function, then what is done to
//! it, then where, so that what has many sites does not crowd out the rest. A candidate becomes a
//! bug when the tests that passed notice it, every changed file is needed, and a weakening that
//! takes assertions or tests away makes a failing test pass.
//! (SSR, arXiv 2512.18552, sections 2.2 and 2.3.)
//!
//! Removal changes no file but the one it removes from: where another file names a function, a stub
//! stays. A bug that deletes a module and mends its importers can never pass the inverse mutation
//! check: with an importer restored alone, it would import what is not there.

mod begin;
mod bench;
mod by_model;
mod candidate;
mod choice;
mod code;
mod direct;
mod draft;
mod features;
mod hide;
mod history;
mod inverse;
mod learned;
mod locate;
mod names;
mod parts;
mod removal;
mod search;
mod single;
mod site;
mod task;
mod titles;
mod weaken;
mod words;

#[cfg(test)]
mod tests;

pub use by_model::{ByModel, Lesson, Made, Style, inject_by_model};
pub use features::start_weights;
pub use learned::{Choice, Fate, Tried};
pub use parts::{Given, artifact_of};
pub use single::{Editable, Singles};
pub use task::of_injector;

use crate::artifact::Artifact;
use crate::harness::{Error, Harness};
use crate::policy::Player;
use crate::syntax::Languages;
use crate::tree::RelPath;
use crate::workspace::{History, Wanted};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Structural edits at several sites.
    Direct,
    /// Hunks, bodies or files deleted, callers fixed so that the rest still runs.
    Removal,
    /// What commits changed, undone on today's code.
    History,
    /// Removal or history by seed; direct or removal where there is no history.
    Mixed,
    /// A bug such as a failed repair leaves. By a model only.
    HigherOrder,
    /// What a new feature broke. By a model only.
    Feature,
}

/// The test files (those given, and further ones where these have fewer than `least` passing tests) and the
/// script that runs them: for a bug that somebody else made. What fails with these files alone on the
/// original is left out.
pub fn script_for(
    harness: &Harness,
    files: &BTreeSet<RelPath>,
    least: usize,
) -> Result<(Vec<RelPath>, Vec<u8>), Error> {
    let mut bench = bench::Bench::new(harness, least)?;
    let plan = match bench.proved(files)? {
        Some(plan) => (*plan).clone(),
        None => bench.planned(files),
    };
    Ok((plan.test_files, plan.script))
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
    /// What the commits changed; `None` where there is none, or none may be used.
    pub history: Option<Arc<History>>,
}

impl Request {
    /// The strategy that the seed comes to.
    #[must_use]
    pub fn sampled(&self) -> Strategy {
        self.strategy.sampled(self.seed, self.history.is_some())
    }
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
    /// Ran, and the bug did without one of its files (inverse mutation).
    pub unneeded: usize,
    /// Failing tests could not be hidden by a weakening.
    pub unhidden: usize,
}

#[derive(Clone, Debug)]
pub struct Injected {
    pub artifact: Artifact,
    /// Never `Mixed`: what made it.
    pub strategy: Strategy,
    /// Digest of the buggy tree's changes: equal for equal bugs.
    pub tree_digest: String,
    /// One line for people: operators and places.
    pub summary: String,
    pub counts: Counts,
    /// The commits that it undoes; `None` for the other strategies.
    pub origin: Option<Undone>,
    /// What a policy drew until the bug stood.
    pub tried: Vec<Tried>,
}

/// The commits that a bug undoes.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Undone {
    /// Newest first.
    pub commits: Vec<UndoneCommit>,
    /// How close the bug is to them, 0 to 1: twice the changed lines that the bug and the commits'
    /// reversal have in common, by the changed lines of both. Code files that still exist count; white
    /// space around lines does not. 1: the bug is the exact reversal.
    pub similarity: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct UndoneCommit {
    /// In hexadecimal.
    pub id: String,
    /// The first line of its message.
    pub summary: String,
}

/// No bug came out. A value: the counts say why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct NotInjected {
    pub reason: String,
    pub counts: Counts,
    /// What a policy drew, in vain.
    pub tried: Vec<Tried>,
}

impl Strategy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Removal => "removal",
            Self::History => "history",
            Self::Mixed => "mixed",
            Self::HigherOrder => "higher_order",
            Self::Feature => "feature",
        }
    }

    /// What `Mixed` comes to under this seed; the others are themselves.
    #[must_use]
    pub fn sampled(self, seed: u64, has_history: bool) -> Self {
        match (self, has_history) {
            (Self::Mixed, true) if self.may_undo(seed) => Self::History,
            (Self::Mixed, false) if self.may_undo(seed) => Self::Direct,
            (Self::Mixed, _) => Self::Removal,
            (other, _) => other,
        }
    }

    /// Whether this seed comes to history where there is one: else it need not be read.
    pub fn may_undo(self, seed: u64) -> bool {
        match self {
            Self::History => true,
            Self::Mixed => crate::dice::Dice::new(seed).fork("strategy").below(2) == 0,
            Self::Direct | Self::Removal | Self::HigherOrder | Self::Feature => false,
        }
    }

    /// Whether the embedded injector knows it.
    pub fn is_embedded(self) -> bool {
        !matches!(self, Self::HigherOrder | Self::Feature)
    }
}

/// The files whose history the strategy looks at: code that passing tests reach, or the target of
/// it, and all test files.
pub fn wanted_history(
    harness: &Harness,
    languages: &Languages,
    target: Option<&Target>,
) -> Result<Wanted, Error> {
    begin::wanted_history(harness, languages, target)
}

/// Makes one artifact. `known` says whether a buggy tree (by digest) is in the store already.
pub fn inject(
    harness: &Harness,
    languages: &Languages,
    request: &Request,
    known: &dyn Fn(&str) -> bool,
) -> Result<Result<Injected, NotInjected>, Error> {
    inject_as(harness, languages, request, known, None)
}

/// The same, with edits drawn by a player; `None`: by the fixed chances. Commits that are undone are drawn by
/// these in either case.
pub fn inject_as(
    harness: &Harness,
    languages: &Languages,
    request: &Request,
    known: &dyn Fn(&str) -> bool,
    player: Option<Player<'_>>,
) -> Result<Result<Injected, NotInjected>, Error> {
    begin::search(harness, languages, request, known, player)
}
