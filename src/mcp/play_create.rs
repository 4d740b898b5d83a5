//! The tool `play_create`.

use super::play_argument::PlayArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PlayCreateAnswer, PlayCreateRequest, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    play: PlayArguments,
    /// The new file, relative to the root of the tree, or below /tmp. Its directory must exist.
    path: String,
    /// The whole content.
    content: String,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "play_create",
        title: "Self-play: make a file",
        description: "Makes a file in a play. Refuses a path where something is, and one whose \
                      directory does not exist.",
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PlayCreateAnswer, Error> {
    let Arguments { play, path, content } = arguments;
    session.play_create(&PlayCreateRequest { play: play.reference(), path, content }, job)
}
