//! What an injector is told: the rules of its strategy, the same for a model and for an agent that calls.

use super::{Strategy, Target};
use crate::agent::prompt::{self, Prompt};
use crate::agent::task::{self, Voice};
use crate::consistency::Minima;
use crate::harness::Harness;
use std::path::Path;

/// Where failed repairs lie, below the directory for temporary files.
pub(super) const EARLIER: &str = "ssr/earlier";

pub fn of_injector(
    harness: &Harness,
    root: &Path,
    (strategy, target): (Strategy, Option<&Target>),
    minima: &Minima,
    voice: Voice,
) -> String {
    let Minima { passing_tests, changed_files, failing_tests } = minima;
    let parts = prompt::PARTS
        .filled(&[("passing_tests", &passing_tests.to_string()), ("play", voice.prefix())]);
    prompt::INJECTOR.filled(&[
        ("root", &root.display().to_string()),
        ("rules", &rules(strategy)),
        ("target", &at(target)),
        ("changed_files", &changed_files.to_string()),
        ("failing_tests", &failing_tests.to_string()),
        ("play", voice.prefix()),
        ("times", voice.times()),
        ("parts", &parts),
        ("sandbox", &task::sandbox(voice)),
        ("suite", &task::suite(harness)),
        ("rewards", &prompt::REWARDS.filled(&[])),
    ])
}

/// The texts that an injector's task is made of.
pub(super) fn prompts(strategy: Strategy) -> [Prompt; 6] {
    use prompt::{INJECTOR, PARTS, REWARDS, SANDBOX, SUITE};
    [INJECTOR, of(strategy), PARTS, REWARDS, SANDBOX, SUITE]
}

pub(super) fn of(strategy: Strategy) -> Prompt {
    match strategy {
        Strategy::Direct | Strategy::Mixed => prompt::DIRECT,
        Strategy::Removal => prompt::REMOVAL,
        Strategy::History => prompt::HISTORY,
        Strategy::HigherOrder => prompt::HIGHER_ORDER,
        Strategy::Feature => prompt::FEATURE,
    }
}

pub(super) fn rules(strategy: Strategy) -> String {
    of(strategy).filled(&[("history", task::HISTORY), ("earlier", EARLIER)])
}

/// Where to inject, as the end of a sentence's neighbour.
pub(super) fn at(target: Option<&Target>) -> String {
    target.map_or_else(String::new, |target| {
        let symbol = target.symbol.as_ref().map(|symbol| format!(", in {symbol}"));
        format!(" Put the bug into {}{}.", target.file, symbol.unwrap_or_default())
    })
}
