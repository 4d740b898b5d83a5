//! The tool `unnoticed_edits`.

use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{
    DEFAULT_EDITS, DEFAULT_UNNOTICED, Error, Job, Session, UnnoticedAnswer, UnnoticedRequest,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// Only in this file, or in this function of it: `FILE` or `FILE:SYMBOL`, relative to the repository.
    #[serde(default)]
    #[schemars(with = "String")]
    target: Option<String>,
    /// Most unnoticed edits to look for, beside those that are known. Default: 10.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1))]
    limit: Option<usize>,
    /// Most edits that the tests are run on. Default: 200. 0: only list those that are known.
    #[serde(default)]
    #[schemars(with = "usize")]
    runs: Option<usize>,
    /// The same seed tries the same edits. Default: from the clock; the answer says it.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "unnoticed_edits",
        title: "Self-play: where the tests are weak",
        description: "Finds small edits of the code that the tests execute, that change what it does, and \
                      that no test notices: each is a missing test, told with file, lines, diff and the \
                      tests that ran through it. Seconds to minutes.",
        effect: Effect::Adds,
    };
    Entry::job(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<UnnoticedAnswer, Error> {
    let repository = arguments.repository.repository()?;
    if arguments.runs == Some(0) {
        return session.known_unnoticed(&repository);
    }
    let request = UnnoticedRequest {
        repository,
        target: arguments.target,
        seed: arguments.seed,
        limit: arguments.limit.unwrap_or(DEFAULT_UNNOTICED),
        runs: arguments.runs.unwrap_or(DEFAULT_EDITS),
    };
    session.unnoticed(&request, job)
}
