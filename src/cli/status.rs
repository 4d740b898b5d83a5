//! `ssr-mcp status`.

use super::{Context, Ended, Exit, arguments::Tests, table};
use crate::session::StatusAnswer;
use std::path::PathBuf;

/// Say what is known of a repository: framework, artifacts, rounds so far
#[derive(Debug, clap::Args)]
pub struct Status {
    /// The repository
    #[arg(default_value = ".")]
    repo: PathBuf,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Status, context: &mut Context<'_>) -> Ended {
    let answer = context.session.status(&command.tests.repository(Some(&command.repo)))?;
    context.out.answer(&answer, show)?;
    Ok(Exit::Done)
}

fn show(answer: &StatusAnswer) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let tests = match (&answer.framework, &answer.language, &answer.problem) {
        (Some(framework), Some(language), _) => format!("{framework} ({language})"),
        (_, _, problem) => problem.clone().unwrap_or_default(),
    };
    let mut rows = vec![
        row("repository", answer.workspace.clone()),
        row("state", answer.state_directory.clone()),
        row("base", table::short(&answer.base).to_owned()),
        row("tests", tests),
        row("artifacts", format!("{}, {} of them valid", answer.artifacts, answer.valid)),
        row("rounds", answer.rounds.to_string()),
        row("attempts", format!("{}, {} of them solved", answer.attempts, answer.solved)),
        row("wrong book", format!("{} unsolved", answer.wrong_book_size)),
        row("unnoticed", format!("{} edits", answer.unnoticed)),
    ];
    if let Some(policy) = &answer.policy {
        let text = match (&policy.hash, policy.updates, &policy.problem) {
            (Some(hash), Some(updates), _) => format!("{}, {updates} updates", table::short(hash)),
            (Some(hash), None, _) => table::short(hash).to_owned(),
            (_, _, problem) => problem.clone().unwrap_or_default(),
        };
        rows.push(row("policy", text));
    }
    if let Some(stopped) = &answer.fast_ways_stopped {
        rows.push(row("warning", stopped.clone()));
    }
    for left in &answer.left_out {
        rows.push(row("left out", format!("{} ({})", left.path, left.reason)));
    }
    for run in &answer.runs {
        let planned = run.planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
        let (state, played) = (&run.state, run.played);
        let text = format!("{state}, {played}{planned} rounds, seed {}", run.seed);
        rows.push(row(&format!("run {}", run.run), text));
        rows.extend(run.waits.iter().map(|waits| row("  waits for you", waits.clone())));
    }
    for round in &answer.last_rounds {
        let id = round.artifact.as_deref().map_or("-", table::short);
        let reward = round.inject_reward.map_or_else(|| "-".to_owned(), table::number);
        rows.push(row(id, format!("injector {reward}  {}", round.summary)));
    }
    table::columns(&rows).join("\n")
}
