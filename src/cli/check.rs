//! `ssr-mcp check`.

use super::arguments::{Least, Tests};
use super::{Context, Ended, Exit, table};
use crate::session::{ArtifactRef, CheckAnswer, CheckRequest};
use std::path::PathBuf;

/// Run the consistency checks: is an artifact's bug real, and hidden by its weakened tests?
#[derive(Debug, clap::Args)]
#[command(after_help = "Stops at the first check that fails.\n\nExample:\n  \
ssr-mcp check /tmp/bug --repo .\n\nExit code 1 says that the artifact is not valid; 2 that a part of \
it is missing or malformed.")]
pub struct Check {
    /// The artifact: a folder with its five parts, or an id
    artifact: String,
    /// The repository it was made for
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    #[command(flatten)]
    least: Least,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Check, context: &mut Context<'_>) -> Ended {
    let request = CheckRequest {
        artifact: ArtifactRef::typed(&command.artifact),
        repository: command.tests.repository(Some(&command.repo)),
        minima: command.least.minima(),
    };
    let answer = context.session.check(&request, &context.job)?;
    context.progress.clear();
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.valid))
}

fn show(answer: &CheckAnswer) -> String {
    let mut lines = vec![format!("  artifact  {}", answer.artifact)];
    lines.extend(table::checks(&answer.checks));
    if !answer.fail_to_pass.is_empty() {
        lines.push(format!("  breaks    {} tests", answer.fail_to_pass.len()));
        lines.extend(table::some(&answer.fail_to_pass, 5));
    }
    lines.extend(answer.flags.iter().map(|flag| format!("  note: {flag}")));
    lines.push(if answer.valid { "valid" } else { "not valid" }.to_owned());
    lines.join("\n")
}
