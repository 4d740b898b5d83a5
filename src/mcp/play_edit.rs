//! The tool `play_edit`.

use super::play_argument::PlayArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PlayEditAnswer, PlayEditRequest, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    play: PlayArguments,
    /// The file, relative to the root of the tree, or below /tmp.
    path: String,
    /// The text to be replaced, exactly as it stands in the file, with its indentation.
    search: String,
    /// The text that takes its place; empty to delete.
    replace: String,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "play_edit",
        title: "Self-play: edit a file",
        description: "Replaces a text in a file of a play. The search text must match exactly once; \
                      otherwise nothing changes, and the lines of all matches are told.",
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PlayEditAnswer, Error> {
    let Arguments { play, path, search, replace } = arguments;
    session.play_edit(&PlayEditRequest { play: play.reference(), path, search, replace }, job)
}
