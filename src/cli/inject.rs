//! `ssr-mcp inject`.

use super::arguments::{Injection, Least, Policy, Tests};
use super::models::{Bound, InjectorModel};
use super::{Context, Ended, Exit, table};
use crate::session::{InjectAnswer, InjectRequest};
use std::path::PathBuf;

/// Put one bug in (in a copy), check it, and write it down as five files
#[derive(Debug, clap::Args)]
#[command(after_help = "The folder holds bug_inject.diff, test_weaken.diff, test_script.sh, \
test_parser.py and test_files.txt. Your tree is not changed: to see the bug, apply the two diffs in a \
copy of your own.\n\nExamples:\n  ssr-mcp inject . --out /tmp/bug\n  \
ssr-mcp inject . --strategy direct --target src/ledger.py:post --seed 7\n  \
ssr-mcp inject . --strategy feature --injector configured\n\n\
Exit code 1 says that no valid bug came out.")]
pub struct Inject {
    /// The repository
    #[arg(default_value = ".")]
    repo: PathBuf,
    #[command(flatten)]
    injection: Injection,
    /// Write the artifact to this folder outside of the repository, too [default: the state directory only]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    model: InjectorModel,
    #[command(flatten)]
    bound: Bound,
    #[command(flatten)]
    least: Least,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Inject, context: &mut Context<'_>) -> Ended {
    let at = (&*command.repo, &command.bound);
    let roles = command.model.roles(context.session, at, &context.job.cancel)?;
    let request = InjectRequest {
        repository: command.tests.repository(Some(&command.repo)),
        strategy: command.injection.strategy,
        target: command.injection.target.clone(),
        seed: command.injection.seed,
        policy: command.policy.policy.clone(),
        out: command.out.clone(),
        minima: command.least.minima(),
        roles,
    };
    let answer = context.session.inject(&request, &context.job)?;
    context.progress.clear();
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.valid))
}

fn show(answer: &InjectAnswer) -> String {
    let (Some(report), Some(out)) = (&answer.report, &answer.out) else {
        return format!("no bug came out (seed {}): {}", answer.seed, answer.summary);
    };
    let strategy = crate::session::name(answer.strategy);
    let mut lines =
        vec![format!("  bug       {}  {}", table::short(&report.artifact), answer.summary)];
    lines.extend(answer.origin.iter().flat_map(table::undone));
    lines.extend(table::checks(&report.checks));
    let valid = if answer.valid { "valid" } else { "not valid" };
    lines.push(format!("{valid} (strategy {strategy}, seed {})", answer.seed));
    lines.extend(table::audited(answer.audited));
    lines.extend(answer.warnings.iter().map(|warning| format!("warning: {}", warning.text)));
    lines.push(format!("written to {out}"));
    lines.join("\n")
}
