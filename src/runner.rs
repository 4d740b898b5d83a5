//! Test frameworks as data: detect one, find its tools, write its script and parser, read its
//! machine-format reports.

use crate::sandbox::Mount;
use crate::tree::{RelPath, Tree};
use crate::verdict::{TestId, Verdicts};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Facts about the machine that `config` read once: nothing here looks at the environment itself.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Directories of `PATH`, in order.
    pub path: Vec<PathBuf>,
    pub home: PathBuf,
    /// `VIRTUAL_ENV` where set.
    pub virtual_env: Option<PathBuf>,
    pub cargo_home: Option<PathBuf>,
    pub rustup_home: Option<PathBuf>,
}

/// What the user said about the tests; wins over detection.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// A shell command that runs the tests.
    pub test_command: Option<String>,
    /// The JUnit XML file that the command writes, relative to the root.
    pub report: Option<String>,
    /// Framework by name.
    pub framework: Option<String>,
}

/// A framework bound to one repository and one set of tools.
#[derive(Clone, Debug)]
pub struct Runner {}

#[derive(Debug, thiserror::Error)]
pub enum Error {}

/// What a script's command needs around it in the sandbox.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    pub mounts: Vec<Mount>,
    pub env: BTreeMap<OsString, OsString>,
    /// In-sandbox paths of caches worth keeping warm between runs, e.g. the bytecode cache
    /// directory or cargo's target directory. Absolute.
    pub caches: Vec<PathBuf>,
}

impl Runner {
    pub fn detect(
        _tree: &dyn Tree,
        _root: &std::path::Path,
        _machine: &Machine,
        _overrides: &Overrides,
    ) -> Result<Self, Error> {
        todo!()
    }
    pub fn framework(&self) -> &str {
        todo!()
    }
    /// Language name, as in `grammars/`.
    pub fn language(&self) -> &str {
        todo!()
    }
    pub fn tools(&self) -> &Tools {
        todo!()
    }
    /// The test files of a tree: what a weakening may touch.
    pub fn test_files(&self, _tree: &dyn Tree) -> Vec<RelPath> {
        todo!()
    }
    /// A bash script that runs the given test files less the excluded ids, from the tree's root, and
    /// prints the framework's report in its machine format. Self-contained: it needs bash and the
    /// framework only.
    pub fn script(&self, _test_files: &[RelPath], _excluded: &[TestId]) -> Vec<u8> {
        todo!()
    }
    /// A Python 3 program (standard library only): log of `script` to `{id: "passed" | "failed"}`.
    pub fn parser(&self) -> Vec<u8> {
        todo!()
    }
    /// The same log read by us, with all five outcomes.
    pub fn read_log(&self, _log: &[u8]) -> Result<Verdicts, Error> {
        todo!()
    }
    /// Whether a file sways tests without being one: restored before every grading.
    pub fn sways(&self, _path: &RelPath) -> bool {
        todo!()
    }
    /// Whether a *new* file would be imported in place of the framework or the standard library.
    pub fn shadows(&self, _path: &RelPath) -> bool {
        todo!()
    }
}
