//! The tool `grade_patch`.

use super::artifact_argument::ArtifactArguments;
use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, GradeAnswer, GradeRequest, Job, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    #[serde(flatten)]
    artifact: ArtifactArguments,
    /// The repair: a unified or git diff against the tree with bug and weakening applied.
    patch: String,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "grade_patch",
        title: "Self-play: grade a repair",
        description: "Judges whether a patch repairs a bug artifact: rebuilds from the original, restores \
                      the tests, runs them in a sandbox, and wants exactly the expected ones to pass. A \
                      patch that does not apply is refused by name. Give exactly one of artifact_id, \
                      artifact_folder and artifact_files. Seconds to minutes.",
        effect: Effect::Reads,
    };
    Entry::job(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<GradeAnswer, Error> {
    let request = GradeRequest {
        artifact: arguments.artifact.reference()?,
        repository: arguments.repository.repository()?,
        patch: arguments.patch.into_bytes(),
    };
    session.grade(&request, job)
}
