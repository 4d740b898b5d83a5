//! What is known of one test framework: `grammars/<language>/runners/<framework>.toml`, parsed.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One framework. Every glob is relative to the root; `*` does not cross a `/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub name: String,
    /// Of the code that its tests may test, as in `grammars/`; the files of the runner are in the first's
    /// folder.
    pub languages: Vec<String>,
    /// Which tool finder of ours serves it: `python`, `cargo`, `go`, `cmake` or `command`.
    pub tools: ToolKind,
    /// Among the frameworks of one language that fit equally well, the lowest rank is taken.
    pub rank: u32,
    /// Which report reader of ours reads what the script prints.
    pub report: ReportKind,
    /// One holds: the project asks for this framework, and its absence is an error.
    #[serde(default)]
    pub asks: Vec<Evidence>,
    /// One holds: the tests have this framework's shape.
    #[serde(default)]
    pub suits: Vec<Evidence>,
    #[serde(default)]
    pub needs: Needs,
    pub tests: Tests,
    pub script: Script,
    /// Environment of every run, beside what the tool finder adds.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub plugins: Option<Plugins>,
    pub sways: Sways,
    #[serde(default)]
    pub shadows: Shadows,
    #[serde(default)]
    pub cache: Cache,
    /// File extension to a statement that makes importing or compiling the file fail.
    #[serde(default)]
    pub sabotage: BTreeMap<String, String>,
    pub canary: Option<CanaryData>,
    /// How several versions of a function are built at once, where building is dear.
    pub switch: Option<Switch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToolKind {
    Python,
    Cargo,
    Node,
    Go,
    CMake,
    /// None: a command of the user's own runs the tests.
    Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReportKind {
    /// One JSON object a test, a closing line with their number.
    Lines,
    Junit,
    /// The text of Rust's test binaries, beside their own list of tests.
    Libtest,
    /// The events of `go test -json`, beside the files that tests are written in.
    Gotest,
}

/// A file that matches one of the globs has a line that starts with one of `lines`, from its first
/// column, or holds one of `words` anywhere; without either, the file is enough.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Evidence {
    pub files: Globs,
    #[serde(default)]
    pub lines: Vec<String>,
    #[serde(default)]
    pub words: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Needs {
    /// Importable by the interpreter; of Node's packages one is enough.
    #[serde(default)]
    pub modules: Vec<String>,
    /// A command that installs it; `{python}` stands for the interpreter.
    #[serde(default)]
    pub install: String,
}

/// Which files hold tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tests {
    pub files: Globs,
    #[serde(default)]
    pub not: Globs,
    /// One of them occurs in the file; empty: no matter.
    #[serde(default)]
    pub words: Vec<String>,
    pub settings: Option<Settings>,
}

/// Settings of the project that say which files hold tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// File at the root and its section; the first that exists is read.
    pub sections: Vec<(String, String)>,
    /// Key of the file name patterns, which take the place of `files`.
    pub names: String,
    /// Key of the directories that tests are looked for in.
    pub directories: String,
    /// Key of the directories that modules are imported from, beside those of the tests.
    pub roots: String,
}

/// Names of files beside the specification.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    pub template: String,
    #[serde(default)]
    pub driver: String,
    /// What the driver loads from beside it.
    #[serde(default)]
    pub support: String,
}

/// Installed plugins are loaded by name, not by being there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plugins {
    /// The entry point group.
    pub entry_points: String,
    /// The variable that takes the comma-separated modules.
    pub variable: String,
    /// Files of the root that may hold options.
    pub settings: Vec<String>,
    /// Entry point to the options that keep it.
    #[serde(default)]
    pub refused: BTreeMap<String, Vec<String>>,
}

/// Files that sway tests without being one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sways {
    pub files: Globs,
    /// Directories of these names that hold test files sway with all they contain.
    #[serde(default)]
    pub test_directories: Vec<String>,
}

/// New files that would be imported in place of the framework or the standard library.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shadows {
    #[serde(default)]
    pub modules: Vec<String>,
    /// A file beside the specification with one more module name a line.
    #[serde(default)]
    pub module_list: String,
    #[serde(default)]
    pub module_extension: String,
    /// What makes a directory a package that hides others.
    #[serde(default)]
    pub module_marker: String,
    /// Directories that modules are imported from, beside those of the test files.
    #[serde(default)]
    pub roots: Vec<String>,
    #[serde(default)]
    pub files: Globs,
}

/// A test file with known outcomes; the places in it are explained in `canary.rs`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CanaryData {
    pub template: String,
    pub file: String,
    /// Whether the tests may stand at the end of another test file: then they share its process, its realm
    /// and what it has loaded.
    #[serde(default)]
    pub continues: bool,
    /// Ids less the file.
    pub fails: Vec<String>,
    pub passes: Vec<String>,
}

/// The text that lets a run choose among versions of a function by number, and note where it has been.
/// `@N@` stands for the number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// A program beside the specification that builds the versions and runs tests on each.
    pub(super) program: String,
    /// A file beside it that is appended to the root of every crate with versions; empty where the
    /// program itself puts what is needed.
    #[serde(default)]
    pub(super) support: String,
    /// The same without what notes execution; empty where a version never stands for a tree of its own.
    #[serde(default)]
    pub(super) states: String,
    /// Before the versions of a function's body, before each of them, before the body itself, after it.
    pub begin: String,
    pub version: String,
    /// Between the numbers of one version.
    #[serde(default = "or")]
    pub or: String,
    pub rest: String,
    pub end: String,
    /// Stands where execution is noted; around a single value with `open` and `close`. Empty: it is not
    /// noted so.
    #[serde(default)]
    pub probe: String,
    #[serde(default)]
    pub open: String,
    #[serde(default)]
    pub close: String,
    /// A function whose head holds one of these runs at build time, too, and cannot choose.
    #[serde(default)]
    pub never: Vec<String>,
    /// Where verdicts are not told by versions; nowhere are they without it.
    pub unless: Option<Unless>,
    /// How calls are noted; `None` where they cannot be.
    pub notes: Option<Notes>,
}

fn or() -> String {
    " | ".to_owned()
}

/// What keeps a version from standing for a tree of its own. A lint that is an error in a level's
/// parentheses, or anywhere in a file with the quoted level, counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unless {
    pub(super) files: Globs,
    /// Levels at which a lint is an error.
    pub(super) levels: Vec<String>,
    /// What names lints that look at which items are used: those of one version are, by the others.
    pub(super) lints: Vec<String>,
    /// Takes the version's number from a test's processes, or makes errors of warnings.
    pub(super) words: Vec<String>,
}

/// How calls of a function are noted around its body. `@F@` stands for a number, `@NAME@` for its name,
/// `@RETURNS@` for the type of its result, `@ARGUMENTS@` and `@LENT@` for a `value` each (`@V@`): of its
/// arguments, and of those that it may have changed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// As in [`Switch`]; the program may use the switch's.
    pub(super) program: String,
    pub(super) support: String,
    /// The type of no result.
    pub nothing: String,
    pub value: String,
    /// In the head of a function that is given something to write to: what `written` tells is what its
    /// receiver is shown as.
    pub writer: String,
    pub written: String,
    pub before: String,
    pub after: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cache {
    #[serde(default)]
    pub directories: Vec<String>,
}

impl Spec {
    /// The folder of `grammars/` that it lies in.
    pub(super) fn folder(&self) -> &str {
        self.languages.first().map_or("", String::as_str)
    }

    /// `common`: the text of a file of the same folder, by the name that `inherits` gives. Of a table that
    /// both have, the entries of both count, the framework's own first.
    pub(super) fn parse(
        text: &str,
        common: &dyn Fn(&str) -> &'static str,
    ) -> Result<Self, toml::de::Error> {
        let mut table: toml::Table = toml::from_str(text)?;
        if let Some(toml::Value::String(name)) = table.remove("inherits") {
            let inherited: toml::Table = toml::from_str(common(&name))?;
            for (key, value) in inherited {
                match (table.get_mut(&key), value) {
                    (Some(toml::Value::Table(own)), toml::Value::Table(inherited)) => {
                        for (key, value) in inherited {
                            own.entry(key).or_insert(value);
                        }
                    }
                    (Some(_), _) => {}
                    (None, value) => {
                        table.insert(key, value);
                    }
                }
            }
        }
        table.try_into()
    }
}

/// Compiled globs.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub(super) struct Globs(GlobSet);

impl Globs {
    pub(super) fn hit(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

impl Default for Globs {
    fn default() -> Self {
        Self(GlobSet::empty())
    }
}

impl TryFrom<Vec<String>> for Globs {
    type Error = globset::Error;

    fn try_from(patterns: Vec<String>) -> Result<Self, Self::Error> {
        let mut set = GlobSetBuilder::new();
        for pattern in &patterns {
            set.add(GlobBuilder::new(pattern).literal_separator(true).build()?);
        }
        set.build().map(Self)
    }
}
