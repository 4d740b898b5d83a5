//! The five parts of a bug artifact, their aliases, their errors, and the content id.
//! (SSR, arXiv 2512.18552, section 2.)

use crate::tree::RelPath;
use std::collections::BTreeMap;

/// A bug artifact. Never changes; its id is its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// `bug_inject.diff`: original code to buggy code, code files only.
    pub bug_inject: Vec<u8>,
    /// `test_weaken.diff`: original tests to weakened tests, test files only.
    pub test_weaken: Vec<u8>,
    /// `test_script.sh`: a bash script that runs the chosen tests from the tree's root.
    pub test_script: Vec<u8>,
    /// `test_parser.py`: log on standard input, one JSON object `{id: "passed" | "failed"}` on
    /// standard output.
    pub test_parser: Vec<u8>,
    /// `test_files.txt`, parsed: the files that are restored before every grading.
    pub test_files: Vec<RelPath>,
}

/// What is wrong with a part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {}

impl Artifact {
    /// From file names (either name set) to contents; names that are no part are ignored.
    pub fn from_files(_files: &BTreeMap<String, Vec<u8>>) -> Result<Self, Malformed> {
        todo!()
    }
    /// Canonical file names to contents.
    pub fn to_files(&self) -> BTreeMap<&'static str, Vec<u8>> {
        todo!()
    }
    pub fn from_json(_json: &serde_json::Value) -> Result<Self, Malformed> {
        todo!()
    }
    /// One object, canonical file name to content: a string, or `{"base64": ".."}` where the bytes
    /// are not UTF-8.
    pub fn to_json(&self) -> serde_json::Value {
        todo!()
    }
    /// SHA-256 over the five parts, hexadecimal.
    pub fn id(&self) -> String {
        todo!()
    }
}
