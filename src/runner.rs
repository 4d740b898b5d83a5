//! Test frameworks as data: detect one, find its tools, write its script and parser, read its
//! machine-format reports.
//!
//! What is known of a framework stands in `grammars/<language>/runners/<framework>.toml`. The code here
//! is generic over that; it knows the kinds of tools (`python`, `cargo`, `node`, `go`, `cmake`) and the report
//! formats.

mod canary;
mod cargo;
mod cmake;
mod command;
mod detect;
mod embedded;
mod error;
mod found;
mod go;
mod instrument;
mod live;
mod node;
mod observe;
mod own_copies;
mod python;
mod report;
mod scope;
mod script;
mod server;
mod settings;
mod spec;
mod sway;
mod switch;
mod tools;
pub mod weave;
#[cfg(test)]
mod tests;

pub use canary::Canary;
pub use error::Error;
pub use instrument::{Asked, Instrument, Lines, Reach, Trial};
pub use live::LiveReply;
pub use observe::{Difference, Reaction, Recorded, Watched, WatchedEdit, WovenEdit};
pub use report::{NoReport, printed};
pub use scope::Near;
pub use script::Chosen;
pub use server::{Served, Server};
pub use spec::Notes;
pub use switch::{Piece, Probe, Probed, Purpose, Switch, Tried, Versions, Woven};
pub use tools::parsing_tools;

use crate::sandbox::Mount;
use crate::tree::{RelPath, Tree};
use crate::verdict::{TestId, Verdicts};
use detect::Reader;
use scope::Below;
use spec::{ReportKind, Spec, ToolKind};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// `GOPATH` and `GOMODCACHE` where set.
    pub go_path: Option<PathBuf>,
    pub go_mod_cache: Option<PathBuf>,
}

/// What the user said about the tests; wins over detection.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// A shell command that runs the tests.
    pub test_command: Option<String>,
    /// The `JUnit` XML file that the command writes, relative to the root.
    pub report: Option<String>,
    /// Framework by name.
    pub framework: Option<String>,
    /// Where there are several packages or languages, the one of this file.
    pub near: Option<Near>,
}

/// A framework bound to one repository and one set of tools. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Runner(Arc<Bound>);

#[derive(Debug)]
struct Bound {
    spec: Spec,
    /// The package whose tests are run; empty where all are.
    scope: String,
    tools: Tools,
    ground: sway::Ground,
    crates: cargo::Crates,
    modules: go::Modules,
    project: cmake::Project,
    /// What the user wants to be run in place of the framework's own script.
    command: Option<command::Command>,
}

/// What a script's command needs around it in the sandbox.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    pub mounts: Vec<Mount>,
    pub env: BTreeMap<OsString, OsString>,
    /// In-sandbox paths of caches worth keeping warm between runs, e.g. the bytecode cache
    /// directory or cargo's target directory. Absolute.
    pub caches: Vec<PathBuf>,
    /// In-sandbox paths of installed copies of the repository's own packages, and whether each is a
    /// directory: nothing of them may be seen. Absolute.
    pub hidden: Vec<(PathBuf, bool)>,
}

impl Runner {
    /// Chooses the framework and finds its tools. `root` is where the repository lies on this machine:
    /// a virtual environment there is used even where version control ignores it.
    pub fn detect(
        tree: &dyn Tree,
        root: &Path,
        machine: &Machine,
        overrides: &Overrides,
    ) -> Result<Self, Error> {
        let reader = Reader::new(tree);
        let command = command::Command::of(overrides)?;
        let (spec, scope) = choose(tree, overrides, command.is_some())
            .map_err(|error| explained(error, &reader))?;
        let (tools, installed) = tools::of(&spec, &reader, tree, root, machine, command.is_some())?;
        let ground = sway::Ground::survey(&spec, &reader, &test_files(&spec, tree, ""), installed);
        let crates = cargo::Crates::of(&reader);
        let scope = scope.filter(|_| command.is_none()).unwrap_or_default();
        let files = test_files(&spec, tree, "");
        let modules = go::Modules::of(&reader, &files);
        let project = cmake::Project::of(&reader, &files);
        Ok(Self(Arc::new(Bound { spec, scope, tools, ground, crates, modules, project, command })))
    }

    pub fn framework(&self) -> &str {
        &self.0.spec.name
    }

    /// The directory of the one package whose tests are run; empty where all are.
    pub fn scope(&self) -> &str {
        &self.0.scope
    }

    /// Whether changed code must be built before its tests run.
    pub fn builds(&self) -> bool {
        !matches!(self.0.spec.tools, ToolKind::Python | ToolKind::Node)
    }

    /// Whether code of the repository may run while it is built, in the compiler or before it.
    pub fn runs_while_building(&self) -> bool {
        self.0.crates.macros || self.0.spec.tools == ToolKind::CMake
    }

    /// Languages of the code under test, named as in `grammars/`; the first holds the runner.
    pub fn languages(&self) -> &[String] {
        &self.0.spec.languages
    }

    pub fn tools(&self) -> &Tools {
        &self.0.tools
    }

    /// The Python 3 interpreter that parsers and instruments run with: absolute, shown by `tools`.
    pub fn python(&self) -> &Path {
        let named = self.0.tools.env.get(std::ffi::OsStr::new("PYTHON"));
        named.map_or(Path::new("/usr/bin/python3"), Path::new)
    }

    /// What runs a program of ours, by its name.
    fn interpreter(&self, program: &str) -> &Path {
        let node = self.0.tools.env.get(std::ffi::OsStr::new("NODE"));
        match node {
            Some(node) if Path::new(program).extension().is_some_and(|kind| kind == "cjs") => {
                Path::new(node)
            }
            _ => self.python(),
        }
    }

    /// The test files of a tree: what a weakening may touch.
    pub fn test_files(&self, tree: &dyn Tree) -> Vec<RelPath> {
        test_files(&self.0.spec, tree, &self.0.scope)
    }

    /// A bash script that runs the given test files less the excluded ids, from the tree's root, and
    /// prints the framework's report in its machine format. Self-contained: it needs bash and the
    /// framework only.
    pub fn script(&self, test_files: &[RelPath], excluded: &[TestId]) -> Vec<u8> {
        if let Some(command) = &self.0.command {
            return command.script(excluded);
        }
        let calls = match self.0.spec.tools {
            ToolKind::Python | ToolKind::Node | ToolKind::Command => String::new(),
            ToolKind::Cargo => self.0.crates.calls(test_files, excluded),
            ToolKind::Go => self.0.modules.calls(test_files, excluded),
            ToolKind::CMake => self.0.project.calls(test_files, excluded),
        };
        script::fill(&self.0.spec, test_files, excluded, &calls, &self.0.project.known)
    }

    /// What a script runs that is, byte for byte, one of [`script`](Self::script)'s; `None` for others.
    pub fn own_script(&self, script: &[u8]) -> Option<Chosen> {
        if self.0.command.is_some() {
            return None;
        }
        let chosen = match self.0.spec.tools {
            ToolKind::Python | ToolKind::Node => script::chosen(&self.0.spec, script)?,
            ToolKind::Command => return None,
            ToolKind::Cargo => cargo::Crates::chosen_by(script::calls(&self.0.spec, script)?)?,
            ToolKind::Go => go::Modules::chosen_by(script::calls(&self.0.spec, script)?)?,
            ToolKind::CMake => {
                let known = &self.0.project.known;
                cmake::chosen_by(script::calls_after(&self.0.spec, script, known)?)?
            }
        };
        (self.script(&chosen.files, &chosen.excluded) == script).then_some(chosen)
    }

    /// A Python 3 program (standard library only): log of `script` to `{id: "passed" | "failed"}`.
    pub fn parser(&self) -> Vec<u8> {
        report::parser(self.report_kind())
    }

    /// The same log read by us, with all five outcomes.
    pub fn read_log(&self, log: &[u8]) -> Result<Verdicts, Error> {
        Ok(report::read(self.report_kind(), log)?)
    }

    fn report_kind(&self) -> ReportKind {
        if self.0.command.is_some() { ReportKind::Junit } else { self.0.spec.report }
    }

    /// Whether a file sways tests without being one: restored before every grading.
    pub fn sways(&self, path: &RelPath) -> bool {
        self.0.ground.sways(&self.0.spec, path) || self.0.crates.sways(path)
    }

    /// Whether a *new* file would be imported in place of the framework, the standard library or an
    /// installed package.
    pub fn shadows(&self, path: &RelPath) -> bool {
        self.0.ground.shadows(&self.0.spec, path)
    }
}

/// The framework, and the package that the file at hand belongs to where it alone decides. `commanded`:
/// the user has a command that runs the tests.
fn choose(
    tree: &dyn Tree,
    overrides: &Overrides,
    commanded: bool,
) -> Result<(Spec, Option<String>), Error> {
    let among = |directory: &str| {
        let below = Below { tree, directory };
        let reader = Reader::new(&below);
        let holds_tests = |spec: &Spec| !test_files(spec, tree, directory).is_empty();
        let (ours, theirs) = embedded::specs()
            .into_iter()
            .partition(|spec| !matches!(spec.tools, ToolKind::Command));
        let chosen = detect::choose(&reader, ours, overrides, &holds_tests);
        match chosen {
            Err(Error::NoTests { .. } | Error::UnknownFramework { .. }) if commanded => {
                detect::choose(&reader, theirs, overrides, &holds_tests).or(chosen)
            }
            chosen => chosen,
        }
    };
    if let Some(near) = &overrides.near {
        for directory in scope::packages(tree, &near.file) {
            if let Ok(spec) = among(directory) {
                return Ok((spec, near.only.then(|| directory.to_owned())));
            }
        }
    }
    Ok((among("")?, None))
}

/// The test files below a directory.
fn test_files(spec: &Spec, tree: &dyn Tree, directory: &str) -> Vec<RelPath> {
    let below = Below { tree, directory };
    let reader = Reader::new(&below);
    let found = match spec.tools {
        ToolKind::Cargo => cargo::Crates::of(&reader).test_files(),
        ToolKind::Go => go::Modules::of(&reader, &reader.test_files(&spec.tests)).test_files(),
        _ => reader.test_files(&spec.tests),
    };
    found.iter().filter_map(|path| below.whole(path)).collect()
}

/// A sharper reason where the tree shows one.
fn explained(error: Error, reader: &Reader<'_>) -> Error {
    let tested = |path: &&RelPath| {
        path.extension() == "rs" && detect::contains(&reader.bytes(path), b"#[test]")
    };
    let nothing = matches!(error, Error::NoTests { .. } | Error::NoTestsFor { .. });
    if matches!(error, Error::NoTests { .. })
        && let Some(java) = java(reader)
    {
        return java;
    }
    let crates = reader.named("Cargo.toml").next().is_some();
    if nothing && crates && reader.paths().iter().any(|path| tested(&path)) {
        return Error::UnitTestsOnly;
    }
    error
}

/// What is missing for a Java project.
fn java(reader: &Reader<'_>) -> Option<Error> {
    let tested = |path: &RelPath| {
        format!("/{path}").contains("/src/test/java/") && path.extension() == "java"
    };
    if !reader.paths().iter().any(tested) {
        return None;
    }
    let sign = |name| reader.named(name).min_by_key(|path| path.as_str().len()).cloned();
    if let Some(sign) = sign("pom.xml") {
        let report = "target/surefire-reports/TEST-org.example.FooTest.xml";
        return Some(Error::Java { sign, tool: "Maven", command: "mvn -o -q test", report });
    }
    let sign = sign("build.gradle").or_else(|| sign("build.gradle.kts"))?;
    let report = "build/test-results/test/TEST-org.example.FooTest.xml";
    Some(Error::Java { sign, tool: "Gradle", command: "gradle --offline test", report })
}
