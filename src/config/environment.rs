//! The process's environment and working directory as a value, so that tests can make one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// Read once at the start; nothing else looks at the environment.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    /// The working directory, or why it cannot be read.
    pub cwd: Result<PathBuf, String>,
    /// The program that runs, at its real path where that can be told.
    pub program: PathBuf,
}

/// The running program, whatever it is called.
const SELF: &str = "/proc/self/exe";

impl Environment {
    /// The environment of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn of_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            cwd: std::env::current_dir().map_err(|error| error.to_string()),
            program: std::env::current_exe().unwrap_or_else(|_| SELF.into()),
        }
    }

    /// An environment that is made up.
    pub fn of<'a>(
        cwd: impl Into<PathBuf>,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let variables =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, cwd: Ok(cwd.into()), program: SELF.into() }
    }

    /// `None` where unset or empty: an empty variable is an unset one (XDG says so of its own).
    fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(OsStr::new(name)).filter(|value| !value.is_empty())
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// A relative path in a variable means nothing to anybody: taken for unset.
    pub(super) fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.path(name).filter(|path| path.is_absolute())
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|value| value.to_str()).map(str::to_owned)
    }

    /// Those of these that are set.
    pub(super) fn some(&self, names: &[&str]) -> BTreeMap<OsString, OsString> {
        let set = |name: &&str| Some((OsString::from(name), self.get(name)?.clone()));
        names.iter().filter_map(set).collect()
    }

    /// Names of those that are set and are text.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .filter_map(|(name, _)| name.to_str())
    }

    /// The absolute directories of a `:`-separated list, in order.
    pub(super) fn path_list(&self, name: &str) -> Vec<PathBuf> {
        let Some(list) = self.get(name) else { return Vec::new() };
        std::env::split_paths(list).filter(|path| path.is_absolute()).collect()
    }
}

/// Values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("cwd", &self.cwd)
            .field("program", &self.program)
            .finish()
    }
}
