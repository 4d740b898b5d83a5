//! The tool `practice_hint`.

use super::practice_argument::PracticeArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PracticeHintAnswer, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    practice: PracticeArguments,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "practice_hint",
        title: "Practice: the next hint",
        description: "Tells the next hint: the file, then the function, the line, and the kind of edit. Each \
                      lowers the score, so only when the person asks for one.",
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, _job: &Job) -> Result<PracticeHintAnswer, Error> {
    session.practice_hint(&arguments.practice.reference())
}
