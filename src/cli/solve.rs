//! `ssr-mcp solve`.

use super::arguments::{Attempts, Policy, Tests};
use super::models::{Bound, SolverModel};
use super::{Context, Ended, Exit, table};
use crate::session::{ArtifactRef, SolveAnswer, SolveRequest};
use std::path::PathBuf;

/// Make G attempts to repair a bug from its reversed weakened test
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The solver sees the tree with bug and weakening, and the reversed weakening; \
neither the bug's diff nor the history.\n\nA model's call that was interrupted goes on when it is given again with \
its seed; what was answered is not paid for twice.\n\nExamples:\n  ssr-mcp solve /tmp/bug --repo . --attempts 4\n  \
ssr-mcp solve /tmp/bug --solver small@ollama --budget 500k\n\n\
Exit code 1 says that no attempt repaired the bug."
)]
pub struct Solve {
    /// The artifact: a folder with its five parts, or an id
    artifact: String,
    /// The repository it was made for
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    #[command(flatten)]
    attempts: Attempts,
    /// The same seed gives the same attempts [default: from the clock, and shown]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    model: SolverModel,
    #[command(flatten)]
    bound: Bound,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Solve, context: &mut Context<'_>) -> Ended {
    let at = (&*command.repo, &command.bound);
    let roles = command.model.roles(context.session, at, &context.job.cancel)?;
    let request = SolveRequest {
        artifact: ArtifactRef::typed(&command.artifact),
        repository: command.tests.repository(Some(&command.repo)),
        attempts: command.attempts.attempts,
        runs: command.attempts.runs,
        seed: command.seed,
        policy: command.policy.policy.clone(),
        roles,
    };
    let answer = context.session.solve(&request, &context.job)?;
    context.progress.clear();
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.solved))
}

fn show(answer: &SolveAnswer) -> String {
    let rewards = table::rewards_of(&answer.attempts);
    let mut lines = vec![format!("attempts {} (seed {})", table::attempts(&rewards), answer.seed)];
    for (at, attempt) in answer.attempts.iter().enumerate() {
        let (mark, runs) = (table::mark(attempt.solved), attempt.runs);
        let took = match &attempt.spent {
            Some(spent) => format!("{spent}"),
            None => format!("{runs} runs"),
        };
        lines.push(format!("  {mark} {}  {took}: {}", at + 1, attempt.reason));
        lines.extend(attempt.flags.iter().map(|flag| format!("      note: {flag}")));
    }
    lines.extend(answer.spent.map(|spent| format!("{} took {spent}", answer.solver)));
    match answer.attempts.iter().find(|attempt| attempt.solved) {
        Some(first) => lines.push(format!("first repair:\n{}", first.patch.trim_end())),
        None => lines.push("no attempt repaired the bug".to_owned()),
    }
    lines.join("\n")
}
