//! The tool `check_artifact`.

use super::artifact_argument::{reference, repository};
use super::tool::{Effect, Entry, Notice};
use crate::consistency::Minima;
use crate::session::{CheckAnswer, CheckRequest, Error, Job, Session};
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
    /// Fewest passing tests that the artifact's script must run. Default: 5.
    #[serde(default)]
    #[schemars(with = "usize")]
    min_passing_tests: Option<usize>,
    /// Fewest code files that the bug must change. Default: 1.
    #[serde(default)]
    #[schemars(with = "usize")]
    min_changed_files: Option<usize>,
    /// Fewest passing tests that the bug must make fail. Default: 1.
    #[serde(default)]
    #[schemars(with = "usize")]
    min_failing_tests: Option<usize>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "check_artifact",
        title: "Self-play: check a bug",
        description: "Runs the consistency checks on a bug artifact, in order, and stops at the first \
                      that fails: is the bug real, and do the weakened tests hide it? Give exactly one \
                      of artifact_id, artifact_folder and artifact_files. Runs tests in a sandbox: \
                      seconds to minutes.",
        effect: Effect::Reads,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<CheckAnswer, Error> {
    let least = Minima::default();
    let request = CheckRequest {
        artifact: reference(
            arguments.artifact_id,
            arguments.artifact_folder,
            arguments.artifact_files,
        )?,
        repository: repository(arguments.repo),
        minima: Minima {
            passing_tests: arguments.min_passing_tests.unwrap_or(least.passing_tests),
            changed_files: arguments.min_changed_files.unwrap_or(least.changed_files),
            failing_tests: arguments.min_failing_tests.unwrap_or(least.failing_tests),
        },
    };
    session.check(&request, job)
}
