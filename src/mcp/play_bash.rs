//! The tool `play_bash`.

use super::play_argument::PlayArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PlayBashAnswer, PlayBashRequest, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    play: PlayArguments,
    /// The command, for bash. It starts in the root of the tree, or where the last command left off.
    command: String,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "play_bash",
        title: "Self-play: run a command",
        description: "Runs a command in the shell of a play, inside its sandbox. Working directory, \
                      variables, functions, aliases and options last from call to call; processes do \
                      not: what runs in the background is ended with the command. 120 seconds a \
                      command; of a long output the beginning and the end are shown (30,000 characters).",
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PlayBashAnswer, Error> {
    let Arguments { play, command } = arguments;
    session.play_bash(&PlayBashRequest { play: play.reference(), command, limit: None }, job)
}
