//! The tool `score_reward`.

use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, Outcome, ScoreAnswer, ScoreRequest, Session, score};

#[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// Whether the artifact passed every check. Default: true.
    #[serde(default)]
    #[schemars(with = "bool")]
    valid: Option<bool>,
    /// Attempts that solved the bug. Give this or `solve_rate` for a valid artifact.
    #[serde(default)]
    #[schemars(with = "usize")]
    solved: Option<usize>,
    /// Solved attempts / attempts. Give this or solved for a valid artifact.
    #[serde(default)]
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    solve_rate: Option<f64>,
    /// Attempts per bug (G), from 1. Default: 8.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1))]
    attempts: Option<usize>,
    /// How much a valid bug costs that all or none of the attempts solve. Default: 0.8.
    #[serde(default)]
    #[schemars(with = "f64")]
    alpha: Option<f64>,
    /// Reward of an invalid artifact. Default: -1.
    #[serde(default)]
    #[schemars(with = "f64")]
    invalid_reward: Option<f64>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "score_reward",
        title: "Self-play: score both roles",
        description: "Computes the rewards of injector and solver. Injector: -1 for an invalid \
                      artifact, -alpha where all or none of the attempts solved the bug, else \
                      1 - (1 + alpha) * solve rate. Solver: +1 for a repair, else -1. Runs nothing.",
        effect: Effect::Reads,
    };
    Entry::new(&notice, run)
}

fn run(_session: &Session, arguments: Arguments, _job: &Job) -> Result<ScoreAnswer, Error> {
    let Arguments { valid, solved, solve_rate, attempts, alpha, invalid_reward } = arguments;
    let outcome = match (valid, solved, solve_rate) {
        (Some(false), None, None) => Outcome::Invalid,
        (Some(false), _, _) => {
            return Err(Error::Usage(
                "an invalid artifact has no solve rate; leave solved and solve_rate out".to_owned(),
            ));
        }
        (_, Some(solved), None) => Outcome::Solved(solved),
        (_, None, Some(rate)) => Outcome::SolveRate(rate),
        (_, _, _) => {
            return Err(Error::Usage(
                "give exactly one of solved and solve_rate, or valid: false".to_owned(),
            ));
        }
    };
    score(&ScoreRequest { outcome, attempts, alpha, invalid: invalid_reward })
}
