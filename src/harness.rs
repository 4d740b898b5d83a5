//! Runs an artifact's script and parser on a tree, with warm caches and a memo: the bench on which
//! the checks, the injector, the solver and the judge all work.

use crate::runner::Runner;
use crate::sandbox::{Cancel, End, Sandbox, Tier};
use crate::tree::{Changes, RelPath};
use crate::verdict::{TestId, Verdicts};
use crate::workspace::Base;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One repository ready to be played on. Shared by threads (`&Harness` everywhere).
pub struct Harness {}

/// The harness could not do its work (exit code 3): never evidence about the code under test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("an instrument of ours failed in the sandbox: {0}")]
    Instrument(String),
    #[error("cancelled")]
    Cancelled,
}

/// Who may be running in the sandbox: decides which caches are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// Runs of trusted states (checks): caches built from the original may be shown.
    Check,
    /// Runs that include a solver's code: no cache that was built from an original file which the
    /// bug changed.
    Solver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct How {
    /// `PYTHONHASHSEED` and the like.
    pub hash_seed: u32,
    pub audience: Audience,
}

/// A script and its parser.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    pub script: &'a [u8],
    pub parser: &'a [u8],
}

/// Why a script run gave no verdicts. A value, not a harness error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
pub enum NoVerdict {
    #[error("the test script did not end in {0} s")]
    TimedOut(u64),
    #[error("the test script was ended: {0}")]
    Ended(String),
    #[error("the log is longer than {0} bytes")]
    LogTooLong(u64),
    #[error("the parser failed: {0}")]
    ParserFailed(String),
    #[error("the parser printed no JSON object: {0}")]
    NotJson(String),
    #[error("the parser reported no test")]
    NoTests,
    #[error("the parser reported {0:?} twice")]
    Duplicate(String),
    #[error("the parser gave {id:?} the unknown status {status:?}")]
    UnknownStatus { id: String, status: String },
    #[error("cancelled")]
    Cancelled,
}

#[derive(Clone, Debug)]
pub struct ScriptRun {
    pub verdicts: Result<Verdicts, NoVerdict>,
    pub end: End,
    pub log: std::sync::Arc<[u8]>,
    pub wall: Duration,
    pub cpu: Duration,
}

/// What the suite says of the untouched tree, from two runs that agree.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Baseline {
    pub passing: BTreeSet<TestId>,
    /// Already failing, skipped or unstable: excluded from play, with the reason.
    pub excluded: BTreeMap<TestId, String>,
    /// Source file to the test files whose tests may execute it.
    pub reach: BTreeMap<RelPath, BTreeSet<RelPath>>,
    /// Wall seconds of a run of everything.
    pub seconds: f64,
}

/// One candidate repair to be screened, and what its failing tests said.
#[derive(Clone, Debug, Default)]
pub struct Screened {
    /// Of the given tests: which passed. Not evidence: only a filter.
    pub passed: BTreeSet<TestId>,
}

impl Harness {
    pub fn base(&self) -> &Base {
        todo!()
    }
    pub fn runner(&self) -> &Runner {
        todo!()
    }
    pub fn tier(&self) -> Tier {
        todo!()
    }
    pub fn sandbox(&self) -> &Sandbox {
        todo!()
    }
    pub fn cancel(&self) -> &Cancel {
        todo!()
    }
    pub fn baseline(&self) -> Result<std::sync::Arc<Baseline>, Error> {
        todo!()
    }
    /// Runs the script on base + `changes`, then the parser on its log in a sandbox of its own.
    /// Equal arguments are answered from the memo (`fresh` asks for a new run).
    pub fn run(
        &self,
        _changes: &Changes,
        _program: Program<'_>,
        _how: How,
        _fresh: bool,
    ) -> Result<ScriptRun, Error> {
        todo!()
    }
    /// Screens candidates in order on base + `changes`: each candidate's own changes on top, the
    /// given tests only. Stops after the first that passes all of them; the result is as long as
    /// what was run.
    pub fn screen(
        &self,
        _changes: &Changes,
        _candidates: &[Changes],
        _tests: &[TestId],
        _test_files: &[RelPath],
    ) -> Result<Vec<Screened>, Error> {
        todo!()
    }
    /// Lines executed by each test on base + `changes`: test id to file to lines (1-based).
    /// `None` where the framework cannot tell.
    pub fn coverage(
        &self,
        _changes: &Changes,
        _test_files: &[RelPath],
    ) -> Result<Option<BTreeMap<TestId, BTreeMap<RelPath, BTreeSet<u32>>>>, Error> {
        todo!()
    }
}
