//! The tool `practice_reveal`.

use super::practice_argument::PracticeArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PracticeRevealAnswer, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    practice: PracticeArguments,
    /// End an open round by giving up. Without it an open round's bug is not told. Default: false.
    #[serde(default)]
    #[schemars(with = "bool")]
    give_up: Option<bool>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "practice_reveal",
        title: "Practice: tell the bug",
        description: "Explains the bug of a round that is over, with its diff, who else tried it, and what \
                      the round scored. Give up an open round only when the person says so.",
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, _job: &Job) -> Result<PracticeRevealAnswer, Error> {
    let practice = arguments.practice.reference();
    if arguments.give_up.unwrap_or(false) {
        session.practice_give_up(&practice)
    } else {
        session.practice_reveal(&practice)
    }
}
