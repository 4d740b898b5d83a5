//! What tests see of single edits of one file: the program that records calls, and what it tells.

use super::spec::ToolKind;
use super::{Instrument, Runner, embedded, weave};
use crate::syntax::{Function, Parsed};
use crate::tree::{RelPath, Tree};
use crate::verdict::TestId;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Edits of one file, and the tests that are to look at them.
#[derive(Clone, Debug)]
pub struct Watched<'a> {
    pub path: &'a RelPath,
    /// First and last lines (from 1) of its outermost functions.
    pub units: &'a [(u32, u32)],
    /// The same functions, by their bytes.
    pub bodies: &'a [Recorded],
    pub test_files: &'a [RelPath],
    pub excluded: &'a [TestId],
    pub edits: &'a [WatchedEdit],
    /// Longest that one run may take.
    pub each: Duration,
}

/// A function whose calls can be recorded.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Recorded {
    pub name: String,
    /// Where it begins, and its body, in bytes.
    pub head: usize,
    pub start: usize,
    pub end: usize,
    pub parameters: Vec<String>,
}

impl Recorded {
    /// The outermost functions of a file that have a body, in source order.
    pub fn all(parsed: &Parsed) -> Vec<Self> {
        let has_body =
            |function: &&Function| function.parent.is_none() && !function.body.is_empty();
        let functions = parsed.functions().iter().filter(has_body);
        functions
            .map(|function| Self {
                name: function.qualified.clone(),
                head: function.range.start,
                start: function.body.start,
                end: function.body.end,
                parameters: function.parameters.iter().map(|it| it.name.clone()).collect(),
            })
            .collect()
    }
}

/// One edit of the file.
#[derive(Clone, Debug)]
pub struct WatchedEdit {
    /// The whole file.
    pub content: Vec<u8>,
    pub bodies: Vec<Recorded>,
    /// The place of the outermost function that it is in, in [`Watched::units`].
    pub unit: Option<usize>,
    /// The last line of the original that it touches, and how many lines the file has more by it.
    pub last: u32,
    pub added: i64,
}

/// The tests that are to look at an edit which is woven.
#[derive(Clone, Debug)]
pub struct WovenEdit {
    pub tests: Vec<TestId>,
}

/// What became of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Reaction {
    /// It does not compile.
    Invalid,
    /// A test fails that passed.
    Failed,
    Timeout,
    /// What it does cannot be recorded.
    Unseen,
    /// No record differs.
    Same,
    /// A record differed, but not in every run.
    Unstable,
    Different(Difference),
}

/// A place where every run of the edit differs from every run of the original.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, Deserialize, schemars::JsonSchema)]
pub struct Difference {
    /// The test that ran there.
    pub test: TestId,
    /// The function that was called.
    pub function: String,
    /// Which of the test's calls of it that were recorded, from 1.
    pub call: u32,
    /// What it was called with; empty where that is not known.
    pub arguments: String,
    /// result: it returns, yields or raises something else; arguments: it leaves its arguments (`self`
    /// among them) otherwise; private: only in attributes whose names begin with an underscore.
    pub kind: String,
    /// Whether it was called from outside of its file.
    pub outside: bool,
    pub before: String,
    pub after: String,
}

impl Runner {
    /// Whether calls can be recorded: by a program of the language, or in what is built.
    pub fn observes(&self) -> bool {
        let has = |name| !embedded::file(self.0.spec.folder(), name).is_empty();
        let program = has("observe.py") || has("observe.cjs");
        self.0.command.is_none()
            && (program || self.0.spec.switch.as_ref().is_some_and(|switch| switch.notes.is_some()))
    }

    /// `None` where the framework's language has no such program, or the user's own command runs the tests.
    pub fn observe_program(&self, watched: &Watched<'_>) -> Option<Instrument> {
        if self.0.command.is_some() {
            return None;
        }
        let spec = &self.0.spec;
        let part = |name: &'static str, file: &str| {
            let text = embedded::file(spec.folder(), file);
            (!text.is_empty()).then(|| (name, text.as_bytes().to_vec()))
        };
        let parts = match spec.tools {
            ToolKind::Node => vec![
                part("observe.cjs", "observe.cjs")?,
                part("driver.cjs", &spec.script.driver)?,
                part("support.cjs", &spec.script.support)?,
            ],
            _ => vec![
                part("observe.py", "observe.py")?,
                part("ssr_describe.py", "describe.py")?,
                part("ssr_driver.py", &spec.script.driver)?,
                part("ssr_fork.py", "fork.py")?,
            ],
        };
        let edits: Vec<_> = watched
            .edits
            .iter()
            .enumerate()
            .map(|(number, edit)| {
                json!({
                    "number": number,
                    "content": BASE64_STANDARD.encode(&edit.content),
                    "bodies": edit.bodies,
                    "unit": edit.unit,
                    "last": edit.last,
                    "added": edit.added,
                })
            })
            .collect();
        let files: Vec<&str> = watched.test_files.iter().map(RelPath::as_str).collect();
        let request = json!({
            "path": watched.path.as_str(),
            "units": watched.units,
            "bodies": watched.bodies,
            "files": files,
            "excluded": watched.excluded,
            "edits": edits,
            "seconds": watched.each.as_secs_f64(),
        });
        let program = parts[0].0;
        Some(self.assembled(program, parts, &request))
    }

    /// The same for edits that are woven into one build. `None` as for [`Runner::switched_program`].
    pub fn watch_program(
        &self,
        tree: &dyn Tree,
        watching: &weave::Watching,
        edits: &[WovenEdit],
        each: Duration,
    ) -> Option<Instrument> {
        let switch = self.switch()?;
        let notes = switch.notes.as_ref()?;
        let file = |name: &str| embedded::file(self.0.spec.folder(), name);
        let mut all: Vec<TestId> = edits.iter().flat_map(|edit| edit.tests.clone()).collect();
        all.sort();
        all.dedup();
        let support = file(&notes.support);
        let mut request = self.woven_request(tree, &watching.woven, support, &all, each)?;
        let numbers: BTreeMap<usize, &Vec<usize>> =
            watching.numbers.iter().map(|(number, groups)| (*number, groups)).collect();
        let files: Vec<&str> = request["tests"].as_object()?.keys().map(String::as_str).collect();
        let edits: Vec<_> = edits
            .iter()
            .enumerate()
            .map(|(place, edit)| {
                let function = watching.functions.get(&place);
                let notes: Vec<_> = function
                    .iter()
                    .flat_map(|function| [(**function, 0), (**function, place + 1)])
                    .filter_map(|key| watching.notes.get(&key))
                    .collect();
                let tests: Vec<_> = edit.tests.iter().filter_map(|id| parted(id, &files)).collect();
                json!({
                    "version": function.map(|_| place + 1),
                    "function": function,
                    "groups": numbers.get(&(place + 1)),
                    "notes": notes,
                    "tests": tests,
                })
            })
            .collect();
        request["edits"] = json!(edits);
        let parts = vec![
            (&*notes.program, file(&notes.program).into()),
            (&*switch.program, file(&switch.program).into()),
        ];
        Some(self.assembled(&notes.program, parts, &request))
    }

    /// Reads what such a program wrote: reactions in order, as far as it came.
    pub fn read_observed(&self, output: &[u8]) -> Vec<Reaction> {
        let lines = output.split(|byte| *byte == b'\n');
        lines.map_while(|line| serde_json::from_slice(line).ok()).collect()
    }
}

/// A test's file and its name in it.
fn parted<'a>(id: &'a TestId, files: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let of = |file: &&'a str| Some((*file, id.strip_prefix(*file)?.strip_prefix("::")?));
    files.iter().find_map(of)
}
