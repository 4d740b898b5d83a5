//! The tool `play_submit`.

use super::play_argument::PlayArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PlaySubmitAnswer, PlaySubmitRequest, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    play: PlayArguments,
    /// Solver only: a git diff against the tree as it was shown. Default: what was changed in the tree.
    #[serde(default)]
    #[schemars(with = "String")]
    patch: Option<String>,
    /// Injector only: `test_script.sh`, which runs the chosen tests from the root of the tree. Default:
    /// made for the framework.
    #[serde(default)]
    #[schemars(with = "String")]
    test_script: Option<String>,
    /// Injector only: `test_parser.py`, which reads the script's log on standard input and prints a JSON
    /// object from test id to "passed" or "failed". Default: made for the framework.
    #[serde(default)]
    #[schemars(with = "String")]
    test_parser: Option<String>,
    /// Injector only: the test files that the script runs, all changed ones among them. Default: those
    /// that were changed or that reach changed code.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    test_files: Option<Vec<String>>,
    /// Injector only: attempts of the embedded solver at a valid bug, for the full reward. Default: 0.
    #[serde(default)]
    #[schemars(with = "usize", range(max = 64))]
    attempts: Option<usize>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "play_submit",
        title: "Self-play: submit the play",
        description: "Ends a play and says its reward and why. Solver: the repair is graded by the \
                      original tests: +1 or -1; a patch that is refused, empty or does not apply is -1. \
                      Injector: the artifact is checked and kept: -1 if it is invalid; the reward of a \
                      valid one depends on the solve rate, so give attempts to have it solved at once. \
                      Once a play only. Runs tests: seconds to minutes.",
        effect: Effect::Adds,
    };
    Entry::job_waiting(&notice, 20.0, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PlaySubmitAnswer, Error> {
    let Arguments { play, patch, test_script, test_parser, test_files, attempts } = arguments;
    let attempts = attempts.unwrap_or(0);
    if attempts > 64 {
        return Err(Error::Usage("at most 64 attempts are made at once".to_owned()));
    }
    let play = play.reference();
    let request = PlaySubmitRequest { play, patch, test_script, test_parser, test_files, attempts };
    session.play_submit(&request, job)
}
