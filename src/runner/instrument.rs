//! Programs that look at tests while they run: what they reach, which lines they execute, and which
//! candidate repairs pass a few of them. The harness runs one as a step and hands the output back.

use super::spec::ToolKind;
use super::{NoReport, Runner, embedded};
use crate::tree::{Changes, RelPath, Tree};
use crate::verdict::TestId;
use base64::Engine as _;
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Where an instrument and its request lie inside.
const PLACE: &str = "/tmp/ssr/instrument";

/// A program to be run from the tree's root, with the environment of the runner's tools.
#[derive(Clone, Debug)]
pub struct Instrument {
    pub argv: Vec<OsString>,
    /// Files to be written first: absolute path inside (below `/tmp`), content, mode.
    pub files: Vec<(PathBuf, Vec<u8>, u32)>,
    /// The file to read back, whatever the exit status: absolute path inside.
    pub output: PathBuf,
}

/// What the tests of each test file may execute or read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reach {
    /// File to the test files whose tests may execute or open it.
    pub files: BTreeMap<String, BTreeSet<String>>,
    /// Wall seconds of each test when its file runs alone.
    pub seconds: BTreeMap<TestId, f64>,
    /// Test files that start processes: they are listed under every file.
    pub opaque: BTreeSet<String>,
}

/// Lines executed by each test, 1-based. What a test file's imports execute counts for all its tests.
pub type Lines = BTreeMap<TestId, BTreeMap<RelPath, BTreeSet<u32>>>;

/// What became of one candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Trial {
    /// Of the asked tests.
    pub passed: BTreeSet<TestId>,
    pub timed_out: bool,
    /// Where tests stopped, as far as it is known: a line of the test, and whether an assertion of its
    /// own stopped it. A test that stops later got further.
    #[serde(default)]
    pub stages: BTreeMap<TestId, (u32, bool)>,
}

/// What a screen asks.
#[derive(Clone, Debug, Default)]
pub struct Asked<'a> {
    pub tests: &'a [TestId],
    /// Of these: the tests that are asked first, none for all at once. A candidate of which none of them passes nor
    /// comes further than in `stages` is not asked for the others, where the runner can tell.
    pub first: &'a [TestId],
    pub stages: BTreeMap<TestId, (u32, bool)>,
}

impl Runner {
    /// Tells which files the tests of each test file may reach. `None` where the framework cannot tell.
    pub fn reach_program(&self, test_files: &[RelPath]) -> Option<Instrument> {
        self.instrument("reach", &json!({ "files": names(test_files) }))
    }

    /// Reads the output of `reach_program`. Files are those of `tree` that are not the test file itself.
    pub fn read_reach(&self, output: &[u8], tree: &dyn Tree) -> Result<Reach, NoReport> {
        #[derive(Deserialize)]
        struct Entry {
            files: BTreeSet<String>,
            everything: bool,
            seconds: BTreeMap<TestId, f64>,
        }
        let entries: BTreeMap<String, Entry> =
            serde_json::from_slice(output).map_err(unreadable)?;
        let paths = tree.paths();
        let mut reach = Reach::default();
        for (test_file, entry) in entries {
            let touched = |path: &&RelPath| entry.everything || entry.files.contains(path.as_str());
            for path in paths.iter().filter(touched).filter(|path| path.as_str() != test_file) {
                reach.files.entry(path.to_string()).or_default().insert(test_file.clone());
            }
            if entry.everything {
                reach.opaque.insert(test_file);
            }
            reach.seconds.extend(entry.seconds);
        }
        Ok(reach)
    }

    /// Tells which lines each test executes, of all tests in the files or of `tests` alone. `None` where
    /// the framework cannot tell.
    pub fn lines_program(
        &self,
        test_files: &[RelPath],
        tests: Option<&[TestId]>,
    ) -> Option<Instrument> {
        let files = names(test_files);
        self.instrument("lines", &json!({ "files": files, "skip": files, "only": tests }))
    }

    /// Reads the output of `lines_program`.
    pub fn read_lines(&self, output: &[u8]) -> Result<Lines, NoReport> {
        #[derive(Deserialize)]
        struct Entry {
            imports: BTreeMap<String, BTreeSet<u32>>,
            tests: BTreeMap<TestId, BTreeMap<String, BTreeSet<u32>>>,
        }
        let mut lines = Lines::new();
        for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let entry: Entry = serde_json::from_slice(line).map_err(unreadable)?;
            for (test, executed) in entry.tests {
                let files = lines.entry(test).or_default();
                for (name, numbers) in executed.iter().chain(&entry.imports) {
                    if let Ok(path) = RelPath::parse(name.as_bytes()) {
                        files.entry(path).or_default().extend(numbers);
                    }
                }
            }
        }
        Ok(lines)
    }

    /// Tries candidates in order, each laid over the tree that the step sees, with these tests (all of them
    /// in `test_files`) only; ends after the first that passes them all. `each` is the time limit of one
    /// candidate. The result is a filter, not evidence.
    pub fn screen_program(
        &self,
        candidates: &[Changes],
        asked: &Asked<'_>,
        test_files: &[RelPath],
        each: Duration,
    ) -> Instrument {
        let request = json!({
            "candidates": contents(candidates),
            "tests": asked.tests,
            "first": asked.first,
            "stages": asked.stages,
            "files": names(test_files),
            "seconds": each.as_secs_f64(),
        });
        self.instrument("screen", &request)
            .unwrap_or_else(|| self.screen_by_script(&request, test_files))
    }

    /// Reads the output of `screen_program`: as many trials as were made, in order. A last line that
    /// was cut off counts as not made.
    pub fn read_screen(&self, output: &[u8]) -> Vec<Trial> {
        let lines = output.split(|byte| *byte == b'\n');
        lines.map_while(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// A program of the language, beside the framework's driver. It is written in Python or for Node.js.
    fn instrument(&self, name: &str, request: &serde_json::Value) -> Option<Instrument> {
        if self.0.command.is_some() {
            return None;
        }
        let spec = &self.0.spec;
        let driver = embedded::file(spec.folder(), &spec.script.driver);
        if spec.tools == ToolKind::Node {
            let program = &format!("{name}.cjs");
            let text = embedded::file(spec.folder(), program);
            let support = embedded::file(spec.folder(), &spec.script.support);
            let parts = vec![
                (program.as_str(), text.into()),
                ("driver.cjs", driver.into()),
                ("support.cjs", support.into()),
                ("hook.cjs", embedded::file(spec.folder(), "hook.cjs").into()),
            ];
            return (!text.is_empty()).then(|| self.assembled(program, parts, request));
        }
        let program = &format!("{name}.py");
        let text = embedded::file(spec.folder(), program);
        // A screen looks into the driver itself; the others may do without.
        if text.is_empty() || (driver.is_empty() && !spec.script.driver.is_empty()) {
            return None;
        }
        let fork = embedded::file(spec.folder(), "fork.py");
        let parts = vec![
            (program.as_str(), text.into()),
            ("ssr_driver.py", driver.into()),
            ("ssr_fork.py", fork.into()),
        ];
        Some(self.assembled(program, parts, request))
    }

    fn screen_by_script(&self, request: &serde_json::Value, test_files: &[RelPath]) -> Instrument {
        let parts = vec![
            ("screen.py", include_bytes!("screen.py").to_vec()),
            ("test_script.sh", self.script(test_files, &[])),
            ("test_parser.py", self.parser()),
        ];
        self.assembled("screen.py", parts, request)
    }

    pub(super) fn assembled(
        &self,
        program: &str,
        parts: Vec<(&str, Vec<u8>)>,
        request: &serde_json::Value,
    ) -> Instrument {
        let place = PathBuf::from(PLACE);
        let file = |name: &str| place.join(name);
        let mut files: Vec<_> =
            parts.into_iter().map(|(name, text)| (file(name), text, 0o644)).collect();
        files.push((file("request.json"), request.to_string().into_bytes(), 0o644));
        let output = file("output.json");
        let argv = vec![
            self.interpreter(program).as_os_str().to_owned(),
            file(program).into(),
            file("request.json").into(),
            output.clone().into(),
        ];
        Instrument { argv, files, output }
    }
}

/// Of each candidate: path to content in base 64, nothing where the file is to go.
pub(super) fn contents(candidates: &[Changes]) -> Vec<BTreeMap<&str, Option<String>>> {
    let encode = |file: &crate::tree::File| base64::prelude::BASE64_STANDARD.encode(&file.bytes);
    candidates
        .iter()
        .map(|changes| {
            changes.iter().map(|(path, file)| (path.as_str(), file.map(encode))).collect()
        })
        .collect()
}

fn names(paths: &[RelPath]) -> Vec<&str> {
    paths.iter().map(RelPath::as_str).collect()
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn unreadable(error: serde_json::Error) -> NoReport {
    NoReport::Unreadable(error.to_string())
}
