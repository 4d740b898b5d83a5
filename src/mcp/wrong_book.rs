//! The tool `wrong_book`.

use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{EntryAnswer, EntryLine, Error, Job, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// Show this entry with its patch: its id, or the beginning of it. Default: list them.
    #[serde(default)]
    #[schemars(with = "String")]
    entry: Option<String>,
    /// List the solved entries, too. Default: false.
    #[serde(default)]
    #[schemars(with = "bool")]
    all: Option<bool>,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Answer {
    /// Failed attempts, the most failures first; empty where one entry was asked for.
    entries: Vec<EntryLine>,
    /// Entries that are not solved; null where one entry was asked for.
    unsolved: Option<usize>,
    /// The entry that was asked for; null where they are listed.
    shown: Option<EntryAnswer>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "wrong_book",
        title: "Self-play: failed attempts",
        description: "Lists the failed attempts at bugs of this repository, or shows one with its patch. \
                      replay_bug attempts them again.",
        effect: Effect::Reads,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, _job: &Job) -> Result<Answer, Error> {
    let repository = arguments.repository.repository()?;
    if let Some(id) = &arguments.entry {
        let shown = session.wrong_book_entry(&repository, id)?;
        return Ok(Answer { entries: Vec::new(), unsolved: None, shown: Some(shown) });
    }
    let listed = session.wrong_book(&repository, arguments.all.unwrap_or_default())?;
    Ok(Answer { entries: listed.entries, unsolved: Some(listed.unsolved), shown: None })
}
