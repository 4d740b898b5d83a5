//! Many versions of a program in one build: where building is dear, candidate repairs and probes are
//! woven into the tree as pieces that a run chooses by number.
//!
//! Knows how a framework's language says so ([`Switch`]) and runs the program that builds and tries;
//! what is woven is the caller's business.

use super::instrument::Instrument;
use super::spec::ToolKind;
use super::{NoReport, Runner, embedded};
use crate::tree::{Changes, File, RelPath, Tree};
use crate::verdict::TestId;
use base64::Engine as _;
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub use super::spec::Switch;
use super::spec::Unless;

/// Text of a file, and the group it goes with, if it can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub group: Option<usize>,
    pub text: Vec<u8>,
}

/// Files in pieces. A group is what is left out as a whole when it does not compile; its number is its
/// place in `parents`, which says which group it belongs to.
#[derive(Clone, Debug, Default)]
pub struct Woven {
    pub files: BTreeMap<RelPath, Vec<Piece>>,
    pub parents: Vec<Option<usize>>,
}

impl Woven {
    pub fn group(&mut self, parent: Option<usize>) -> usize {
        self.parents.push(parent);
        self.parents.len() - 1
    }
}

/// What is done with a woven tree.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// Versions by number (from 1), each with the groups that it needs.
    Versions(Vec<(usize, Vec<usize>)>),
    /// Probes by number (from 0).
    Probes(Vec<Probe>),
}

/// A place whose execution is noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub path: RelPath,
    /// The lines that it stands for.
    pub lines: Vec<u32>,
    pub group: usize,
}

/// What probes told.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    pub lines: super::Lines,
    /// Wall seconds of each test in a process of its own.
    pub seconds: BTreeMap<TestId, f64>,
    /// Probes that did not compile: nothing is known of where they stand.
    pub left_out: BTreeSet<usize>,
}

/// What became of one version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Tried {
    pub number: usize,
    /// Of the asked tests.
    pub passed: BTreeSet<TestId>,
    /// As in [`Trial`](super::Trial).
    pub stages: BTreeMap<TestId, (u32, bool)>,
}

/// What a program that tries versions wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// Those that compiled, in order, as far as they were tried.
    pub tried: Vec<Tried>,
    /// Whether every version was tried that compiles.
    pub complete: bool,
}

impl Runner {
    /// How versions are woven here; `None` where trying one needs no build, or cannot be helped.
    pub fn switch(&self) -> Option<&Switch> {
        if self.0.command.is_some() { None } else { self.0.spec.switch.as_ref() }
    }

    /// The same where execution is noted by what is woven.
    pub fn probes(&self) -> Option<&Switch> {
        self.switch().filter(|switch| !switch.probe.is_empty())
    }

    /// Builds a woven tree and runs `tests` of it, each at most `each` long. `None` where
    /// [`Runner::switch`] is, where a file of the woven ones is in no package, or a test in no target.
    pub fn switched_program(
        &self,
        tree: &dyn Tree,
        woven: &Woven,
        purpose: &Purpose,
        tests: &[TestId],
        each: Duration,
    ) -> Option<Instrument> {
        let switch = self.switch()?;
        let count = match purpose {
            Purpose::Probes(probes) => probes.len(),
            Purpose::Versions(_) => 0,
        };
        let mut request = match self.0.spec.tools {
            ToolKind::Cargo => {
                let support = embedded::file(self.0.spec.folder(), &switch.support)
                    .replace("@PROBES@", &count.to_string());
                self.woven_request(tree, woven, &support, tests, each)?
            }
            _ => json!({
                "files": encoded(&woven.files),
                "parents": woven.parents,
                "tests": tests,
                "seconds": each.as_secs_f64(),
            }),
        };
        match purpose {
            Purpose::Versions(versions) => request["versions"] = json!(versions),
            Purpose::Probes(probes) => {
                let places: Vec<_> =
                    probes.iter().map(|probe| (probe.path.as_str(), &probe.lines)).collect();
                let groups: Vec<usize> = probes.iter().map(|probe| probe.group).collect();
                request["probes"] = json!(places);
                request["groups"] = json!(groups);
            }
        }
        let file = |name: &str| embedded::file(self.0.spec.folder(), name).into();
        let mut parts: Vec<(&str, Vec<u8>)> = vec![(&switch.program, file(&switch.program))];
        if self.0.spec.tools != ToolKind::Cargo {
            parts.extend([
                ("ssr_woven.py", include_bytes!("woven.py").to_vec()),
                ("ssr_driver.py", file(&self.0.spec.script.driver)),
                ("test_script.sh", self.script(&files_of(tests)?, &[])),
            ]);
        }
        Some(self.assembled(&switch.program, parts, &request))
    }

    /// The tree with everything woven in, to be laid over `tree`; `None` where a file is in no package.
    pub fn woven_tree(&self, tree: &dyn Tree, woven: &Woven) -> Option<Changes> {
        let switch = self.switch()?;
        let support = embedded::file(self.0.spec.folder(), &switch.states);
        let files = self.with_support(tree, woven, support)?;
        let whole = |(path, pieces): (RelPath, Vec<Piece>)| {
            let bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.text).collect();
            let before = tree.read(&path)?;
            Some((path, Some(File { bytes: bytes.into(), ..before })))
        };
        files.into_iter().map(whole).collect()
    }

    /// Whether what compiles woven compiles by itself, and every process of a test knows which version it is
    /// to take. What a version no longer uses stays used by the others: where that would be an error,
    /// nothing is told by weaving.
    pub fn may_weave(&self, tree: &dyn Tree) -> bool {
        let unless = self.switch().and_then(|switch| switch.unless.as_ref());
        let Some(unless) = unless else { return false };
        let told = |path: &&RelPath| unless.files.hit(path.as_str());
        tree.paths().iter().filter(told).all(|path| {
            let file = tree.read(path);
            let text = file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
            text.is_none_or(|text| !keeps_apart(unless, &text))
        })
    }

    /// The woven files, with the support at the roots of their crates.
    fn with_support(
        &self,
        tree: &dyn Tree,
        woven: &Woven,
        support: &str,
    ) -> Option<BTreeMap<RelPath, Vec<Piece>>> {
        let mut files = woven.files.clone();
        let mut roots = BTreeSet::new();
        for path in woven.files.keys() {
            let of_package = self.0.crates.roots(path);
            roots.extend(of_package.into_iter().filter(|root| tree.read(root).is_some()));
        }
        if roots.is_empty() {
            return None;
        }
        for root in roots {
            let pieces = files.entry(root.clone()).or_insert_with(|| {
                let text = tree.read(&root).map_or_else(Vec::new, |file| file.bytes.to_vec());
                vec![Piece { group: None, text }]
            });
            pieces.push(Piece { group: None, text: support.into() });
        }
        Some(files)
    }

    /// The woven files, with the support at the roots of their crates, what is to be built, and the tests.
    pub(super) fn woven_request(
        &self,
        tree: &dyn Tree,
        woven: &Woven,
        support: &str,
        tests: &[TestId],
        each: Duration,
    ) -> Option<serde_json::Value> {
        let files = self.with_support(tree, woven, support)?;
        let files = encoded(&files);
        let (builds, tests) = self.0.crates.chosen(tests)?;
        Some(json!({
            "files": files,
            "parents": woven.parents,
            "builds": builds,
            "tests": tests,
            "seconds": each.as_secs_f64(),
        }))
    }

    /// Reads what versions did. A last line that was cut off counts as not written.
    pub fn read_versions(&self, output: &[u8]) -> Versions {
        let mut versions = Versions::default();
        for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(tried) => versions.tried.push(tried),
                Err(_) => versions.complete = line.starts_with(b"{\"end\"") && line.ends_with(b"}"),
            }
        }
        versions
    }

    /// Reads what probes told; `None` where nothing was built.
    pub fn read_probes(&self, output: &[u8]) -> Result<Option<Probed>, NoReport> {
        #[derive(Deserialize)]
        struct Beside {
            seconds: BTreeMap<TestId, f64>,
            left_out: BTreeSet<usize>,
        }
        if output.is_empty() {
            return Ok(None);
        }
        let lines = self.read_lines(output)?;
        let Beside { seconds, left_out } = serde_json::from_slice(output)
            .map_err(|error| NoReport::Unreadable(error.to_string()))?;
        Ok(Some(Probed { lines, seconds, left_out }))
    }
}

/// Whether a file says that versions cannot stand for trees.
fn keeps_apart(unless: &Unless, text: &str) -> bool {
    let names_lint = |text: &str| unless.lints.iter().any(|lint| text.contains(lint.as_str()));
    unless.words.iter().any(|word| text.contains(word.as_str()))
        || unless.levels.iter().any(|level| {
            let opening = format!("{level}(");
            let mut lists = text.split(opening.as_str()).skip(1);
            lists.any(|list| names_lint(list.split(')').next().unwrap_or_default()))
                || text.contains(&format!("\"{level}\"")) && names_lint(text)
        })
}

fn encoded(files: &BTreeMap<RelPath, Vec<Piece>>) -> BTreeMap<&str, Vec<serde_json::Value>> {
    let encode =
        |piece: &Piece| json!([piece.group, base64::prelude::BASE64_STANDARD.encode(&piece.text)]);
    files
        .iter()
        .map(|(path, pieces)| (path.as_str(), pieces.iter().map(encode).collect()))
        .collect()
}

/// The test files that ids name.
fn files_of(tests: &[TestId]) -> Option<Vec<RelPath>> {
    let file = |id: &TestId| RelPath::parse(id.split_once("::")?.0.as_bytes()).ok();
    let files: Option<BTreeSet<RelPath>> = tests.iter().map(file).collect();
    files.map(|files| files.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: bool) {
        let mut specs = embedded::specs().into_iter();
        let spec = specs.find(|spec| spec.name == "cargo-test").unwrap();
        assert_eq!(keeps_apart(&spec.switch.unwrap().unless.unwrap(), text), expect, "{text:?}");
    }

    #[test]
    fn lints_of_what_is_used_and_processes_without_the_number_keep_versions_apart() {
        check("#![deny(unsafe_op_in_unsafe_fn)]\n#![allow(dead_code, unused_imports)]", false);
        check("#![forbid(unsafe_code)]\n#[deny(\n    missing_docs,\n)]", false);
        check("#![deny(missing_docs, warnings)]", true);
        check("#![cfg_attr(test, deny(\n    unused_imports\n))]", true);
        check("#![deny(rust_2018_idioms)]", true);
        check("[lints.rust.dead_code]\nlevel = \"deny\"", true);
        check("[lints.clippy]\nall = \"deny\"", false);
        check("[build]\nrustflags = [\"-Dwarnings\"]", true);
        check("Command::new(bin).env_clear().status()", true);
    }
}
