//! The tool `practice_run`.

use super::practice_argument::PracticeArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PracticeRunAnswer, PracticeRunRequest, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    practice: PracticeArguments,
    /// The tests as they are in the practice tree, without the lines put back that they lack. Default: false.
    #[serde(default)]
    #[schemars(with = "bool")]
    weakened: Option<bool>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "practice_run",
        title: "Practice: run the tests",
        description: "Runs the visible tests on the practice tree as the person has it now, in the sandbox, \
                      and gives the verdicts and the end of the log.",
        effect: Effect::Adds,
    };
    Entry::job_waiting(&notice, 20.0, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PracticeRunAnswer, Error> {
    let weakened = arguments.weakened.unwrap_or(false);
    let request = PracticeRunRequest { practice: arguments.practice.reference(), weakened };
    session.practice_run(&request, job)
}
