//! The tool `solve`.

use super::artifact_argument::{reference, repository};
use super::tool::{Effect, Entry, Notice};
use crate::session::{DEFAULT_ATTEMPTS, Error, Job, Session, SolveAnswer, SolveRequest};
use std::collections::BTreeMap;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// Path of the repository. Default: the server's working directory.
    #[serde(default)]
    #[schemars(with = "String")]
    repo: Option<String>,
    /// The id of an artifact of this repository, or the first 8 or more characters of it.
    #[serde(default)]
    #[schemars(with = "String")]
    artifact_id: Option<String>,
    /// Path of a folder with the artifact's five files.
    #[serde(default)]
    #[schemars(with = "String")]
    artifact_folder: Option<String>,
    /// The artifact itself: file name (`bug_inject.diff`, `test_weaken.diff`, `test_script.sh`,
    /// `test_parser.py`, `test_files.txt`) to content.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    artifact_files: Option<BTreeMap<String, String>>,
    /// Attempts to make (G), from 1. Default: 8.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1))]
    attempts: Option<usize>,
    /// The same seed gives the same attempts. Default: from the clock; the answer says it.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "solve",
        title: "Self-play: attempt repairs",
        description: "Makes attempts to repair a bug artifact with the embedded solver, from the \
                      reversed weakened test alone, and grades each honestly. Give exactly one of \
                      artifact_id, artifact_folder and artifact_files. Runs tests in a sandbox: \
                      seconds to minutes.",
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<SolveAnswer, Error> {
    let request = SolveRequest {
        artifact: reference(
            arguments.artifact_id,
            arguments.artifact_folder,
            arguments.artifact_files,
        )?,
        repository: repository(arguments.repo),
        attempts: arguments.attempts.unwrap_or(DEFAULT_ATTEMPTS),
        seed: arguments.seed,
    };
    session.solve(&request, job)
}
