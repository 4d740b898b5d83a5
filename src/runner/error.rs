//! Why no tests can be run here, and what to do about it.

use super::NoReport;
use crate::tree::{PathRefusal, RelPath};
use std::path::PathBuf;

/// Why no tests can be run here, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "no tests of a known framework were found ({}). Add tests, or name a command with --test-command and \
         the JUnit XML file it writes with --report", .known.join(", ")
    )]
    NoTests { known: Vec<String> },
    #[error(
        "a Java project is recognised ({sign}, tests below src/test/java), but {tool} is not run: it fetches its \
         plugins from a network, which the sandbox does not have. Name a command that runs the tests offline \
         with what is in the repository or the system directories with --test-command (such as \
         '{command}'), and the JUnit XML file that it writes with --report (such as {report})"
    )]
    Java { sign: RelPath, tool: &'static str, command: &'static str, report: &'static str },
    #[error(
        "no tests for {framework} were found. Leave --framework out to have it detected, or name a \
         command with --test-command and --report"
    )]
    NoTestsFor { framework: String },
    #[error("tests of several frameworks were found ({}). Choose one with --framework, or name a file with --target", .frameworks.join(", "))]
    Ambiguous { frameworks: Vec<String> },
    #[error("the framework {name:?} is not known. Known are {}", .known.join(", "))]
    UnknownFramework { name: String, known: Vec<String> },
    #[error(
        "no Python 3 was found in VIRTUAL_ENV, in .venv or on PATH{}. Install Python 3 or activate the \
         project's virtual environment", shims(.seen)
    )]
    NoPython {
        /// What stood on `PATH` under Python's name but leads to no interpreter.
        seen: Vec<PathBuf>,
    },
    #[error(
        "the tests need {module}, which {} does not have. Install it with `{install}`, or activate the \
         virtual environment that has it", .interpreter.display()
    )]
    NoModule { module: String, interpreter: PathBuf, install: String },
    #[error(
        "this crate has unit tests inside its sources only, which a solver may edit. Add integration tests \
         below `tests/`"
    )]
    UnitTestsOnly,
    #[error(
        "--test-command and --report belong together: the command runs the tests, the report is the JUnit XML \
         file that it writes, relative to the repository's root. Give both"
    )]
    HalfACommand,
    #[error(
        "--report {report:?}: {refusal}. Name a file inside the repository, relative to its root"
    )]
    BadReport { report: String, refusal: PathRefusal },
    #[error(
        "no Node.js was found on PATH{}. Install Node.js, or put the directory of the real program in front",
        shims(.seen)
    )]
    NoNode {
        /// What stood on `PATH` under Node's name but is a script that chooses one.
        seen: Vec<PathBuf>,
    },
    #[error(
        "the tests need {module}, which is in no node_modules beside the code. Install the project's packages \
         with `{install}`"
    )]
    NoPackage { module: String, install: String },
    #[error("no cargo was found on PATH. Install Rust with rustup, or add cargo to PATH")]
    NoCargo,
    #[error("the Rust toolchain {name:?} is not installed. Run `rustup toolchain install {name}`")]
    NoToolchain { name: String },
    #[error("no Go was found on PATH{}. Install Go from https://go.dev/dl and add its bin directory to PATH", shims(.seen))]
    NoGo {
        /// What stood on `PATH` under Go's name but belongs to no toolchain.
        seen: Vec<PathBuf>,
    },
    #[error(
        "Go {version} in {} is too old: its tests can print their own verdicts. Install Go 1.20 or newer \
         from https://go.dev/dl", .root.display()
    )]
    OldGo { version: String, root: PathBuf },
    #[error(
        "no CMake was found on PATH{}. Install it from your distribution or with `pip install cmake`, and add \
         it to PATH", shims(.seen)
    )]
    NoCMake {
        /// What stood on `PATH` under `CMake`'s name but leads to no program.
        seen: Vec<PathBuf>,
    },
    #[error(
        "CMake {version} in {} is too old to write a report. Install CMake 3.21 or newer, for instance with \
         `pip install cmake`", .root.display()
    )]
    OldCMake { version: String, root: PathBuf },
    #[error(
        "no {tool} was found in /usr/local/bin, /usr/bin or /bin. Install your distribution's build tools"
    )]
    NoBuildTool { tool: &'static str },
    #[error(transparent)]
    NoReport(#[from] NoReport),
}

fn shims(seen: &[PathBuf]) -> String {
    if seen.is_empty() {
        return String::new();
    }
    let names: Vec<_> = seen.iter().map(|path| path.display().to_string()).collect();
    format!(" ({} are not the program)", names.join(", "))
}
