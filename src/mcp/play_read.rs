//! The tool `play_read`.

use super::play_argument::PlayArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PlayReadAnswer, PlayReadRequest, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    play: PlayArguments,
    /// The file, relative to the root of the tree, or below /tmp.
    path: String,
    /// The first line to show, from 1. Default: 1.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1))]
    from_line: Option<usize>,
    /// How many lines to show. Default: 400.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1))]
    lines: Option<usize>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "play_read",
        title: "Self-play: read a file",
        description: "Shows lines of a file of a play, each with its number.",
        // It uses up a turn, and the play keeps it.
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PlayReadAnswer, Error> {
    let Arguments { play, path, from_line, lines } = arguments;
    session.play_read(&PlayReadRequest { play: play.reference(), path, from_line, lines }, job)
}
