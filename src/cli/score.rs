//! `ssr-mcp score`.

use super::{Context, Ended, Exit, table};
use crate::session::{Outcome, ScoreAnswer, ScoreRequest, score};

/// Compute both roles' rewards from a solve rate
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("outcome").required(true),
    after_help = "The injector earns -1 for an invalid artifact, -α for a bug that all or none of the \
attempts solve, else 1 - (1 + α) × solve rate. An attempt earns +1 for a repair, else -1.\n\n\
Examples:\n  ssr-mcp score --solved 2 --attempts 8\n  ssr-mcp score --solve-rate 0.25 --alpha 0.5\n  \
ssr-mcp score --invalid"
)]
pub struct Score {
    /// Solved attempts / attempts, between 0 and 1
    #[arg(long, value_name = "F", group = "outcome", allow_negative_numbers = true)]
    solve_rate: Option<f64>,
    /// So many of the attempts solved the bug
    #[arg(long, value_name = "K", group = "outcome")]
    solved: Option<usize>,
    /// The artifact failed a check
    #[arg(long, group = "outcome")]
    invalid: bool,
    /// Attempts per bug [default: 8]
    #[arg(long, value_name = "G")]
    attempts: Option<usize>,
    /// α [default: 0.8]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Reward of an invalid artifact [default: -1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    invalid_reward: Option<f64>,
}

pub(super) fn run(command: &Score, context: &mut Context<'_>) -> Ended {
    let outcome = match (command.solve_rate, command.solved) {
        (Some(rate), _) => Outcome::SolveRate(rate),
        (None, Some(solved)) => Outcome::Solved(solved),
        (None, None) => Outcome::Invalid,
    };
    let answer = score(&ScoreRequest {
        outcome,
        attempts: command.attempts,
        alpha: command.alpha,
        invalid: command.invalid_reward,
    })?;
    context.out.answer(&answer, show)?;
    Ok(Exit::Done)
}

fn show(answer: &ScoreAnswer) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![row("injector", table::number(answer.inject_reward))];
    let Some(rate) = answer.solve_rate else { return table::columns(&rows).join("\n") };
    if let Some(rewards) = &answer.solve_rewards {
        let rewards: Vec<_> = rewards.iter().map(|reward| table::number(*reward)).collect();
        rows.push(row("solver", rewards.join(" ")));
    }
    let (best, attempts) = (table::number(answer.best_solve_rate), answer.attempts);
    let rate = table::number(rate);
    rows.push(row(
        "solve rate",
        format!("{rate} (the injector earns most at {best}, G = {attempts})"),
    ));
    table::columns(&rows).join("\n")
}
