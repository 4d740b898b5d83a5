//! The tool `practice_check`.

use super::practice_argument::PracticeArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PracticeCheckAnswer, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    practice: PracticeArguments,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "practice_check",
        title: "Practice: grade the repair",
        description: "Grades what the person changed in the practice tree, as any solver's repair is graded. \
                      A repair ends the round and moves the ratings; anything else costs nothing.",
        effect: Effect::Adds,
    };
    Entry::job_waiting(&notice, 20.0, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PracticeCheckAnswer, Error> {
    session.practice_check(&arguments.practice.reference(), job)
}
