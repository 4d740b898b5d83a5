//! The tool `run_parser`.

use super::artifact_argument::ArtifactArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, ParseRequest, Repository, Session};
use std::collections::BTreeMap;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// Path of the repository. Default: the server's working directory.
    #[serde(default)]
    #[schemars(with = "String")]
    repo: Option<String>,
    #[serde(flatten)]
    artifact: ArtifactArguments,
    /// What the artifact's `test_script.sh` printed.
    log: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Answer {
    /// Test id to "passed" or "failed".
    outcomes: BTreeMap<String, String>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "run_parser",
        title: "Self-play: parse a test log",
        description: "Runs an artifact's test_parser.py, in a sandbox, on a log of its test_script.sh \
                      and answers with each test's outcome. Give exactly one of artifact_id, \
                      artifact_folder and artifact_files.",
        effect: Effect::Reads,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<Answer, Error> {
    let request = ParseRequest {
        artifact: arguments.artifact.reference()?,
        repository: Repository { dir: arguments.repo.map(Into::into), ..Repository::default() },
        log: arguments.log.into_bytes(),
    };
    session.parse(&request, job).map(|answer| Answer { outcomes: answer.0 })
}
