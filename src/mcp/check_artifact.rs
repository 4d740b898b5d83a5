//! The tool `check_artifact`.

use super::artifact_argument::ArtifactArguments;
use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::consistency::Minima;
use crate::session::{CheckAnswer, CheckRequest, Error, Job, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    #[serde(flatten)]
    artifact: ArtifactArguments,
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
    Entry::job(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<CheckAnswer, Error> {
    let least = Minima::default();
    let request = CheckRequest {
        artifact: arguments.artifact.reference()?,
        repository: arguments.repository.repository()?,
        minima: Minima {
            passing_tests: arguments.min_passing_tests.unwrap_or(least.passing_tests),
            changed_files: arguments.min_changed_files.unwrap_or(least.changed_files),
            failing_tests: arguments.min_failing_tests.unwrap_or(least.failing_tests),
        },
    };
    session.check(&request, job)
}
