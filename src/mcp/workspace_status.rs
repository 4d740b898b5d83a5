//! The tool `workspace_status`.

use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, Session, StatusAnswer};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "workspace_status",
        title: "Self-play: what is known here",
        description: "Says what is known of the repository: its test framework, its state directory, \
                      how many artifacts and rounds there are, and the last rounds. Runs no test.",
        effect: Effect::Reads,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, _job: &Job) -> Result<StatusAnswer, Error> {
    session.status(&arguments.repository.repository()?)
}
