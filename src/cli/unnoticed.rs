//! `ssr-mcp unnoticed`.

use super::arguments::Tests;
use super::{Context, Ended, Exit};
use crate::session::{
    DEFAULT_EDITS, DEFAULT_UNNOTICED, UnnoticedAnswer, UnnoticedLine, UnnoticedRequest,
};
use crate::unnoticed::Counts;
use std::path::PathBuf;

/// Find edits of your code that your tests execute and do not notice
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Small edits are tried one by one, in a sandbox. One is listed where no test fails \
although a call that the tests make does something else: each comes with its diff, the tests that ran \
through it, and one such call. Edits that change nothing that was seen are counted and not listed. What \
was tried on the same tree is not tried again: give the command once more to go on.\n\n\
Examples:\n  ssr-mcp unnoticed .\n  \
ssr-mcp unnoticed . --target src/ledger.py:post --limit 3 --seed 7\n  \
ssr-mcp unnoticed . --list\n\n\
Exit code 1 says that there are such edits."
)]
pub struct Unnoticed {
    /// The repository
    #[arg(default_value = ".")]
    repo: PathBuf,
    /// Only in this file, or in this function of it; relative to the repository's root
    #[arg(long, value_name = "FILE[:SYMBOL]")]
    target: Option<String>,
    /// Stop after so many new ones
    #[arg(long, value_name = "N", default_value_t = DEFAULT_UNNOTICED)]
    limit: usize,
    /// Edits that the tests are run on, at most
    #[arg(long, value_name = "N", default_value_t = DEFAULT_EDITS)]
    runs: usize,
    /// The same seed on the same tree tries the same edits [default: from the clock, and shown]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Show those that are known, and run nothing
    #[arg(long, conflicts_with_all = ["target", "seed"])]
    list: bool,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Unnoticed, context: &mut Context<'_>) -> Ended {
    let repository = command.tests.repository(Some(&command.repo));
    let answer = if command.list {
        context.session.known_unnoticed(&repository)?
    } else {
        let request = UnnoticedRequest {
            repository,
            target: command.target.clone(),
            seed: command.seed,
            limit: command.limit,
            runs: command.runs,
        };
        context.session.unnoticed(&request, &context.job)?
    };
    context.progress.clear();
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.edits.is_empty()))
}

fn show(answer: &UnnoticedAnswer) -> String {
    let mut lines: Vec<String> = answer.edits.iter().flat_map(show_edit).collect();
    if let Some(problem) = &answer.problem {
        lines.push(format!("nothing was tried: {problem}"));
    }
    if let Some(seed) = answer.seed.filter(|_| answer.problem.is_none()) {
        lines.push(format!("{} (seed {seed})", in_words(&answer.counts)));
    }
    let new = answer.edits.iter().filter(|line| line.new).count();
    let known = answer.edits.len() - new;
    lines.push(match (answer.edits.len(), known) {
        (0, _) => "no unnoticed edit is known".to_owned(),
        (all, 0) => format!("{all} unnoticed edits"),
        (all, known) => format!("{all} unnoticed edits, {known} of them known before"),
    });
    if answer.of_other_trees > 0 {
        lines.push(format!("{} more of other states of the repository", answer.of_other_trees));
    }
    lines.join("\n")
}

fn show_edit(line: &UnnoticedLine) -> Vec<String> {
    let (edit, evidence) = (&line.edit, &line.edit.evidence);
    let mut lines = vec![format!("{}  {}", edit.id, edit.summary)];
    let changed = |line: &&str| {
        (line.starts_with('-') || line.starts_with('+'))
            && !line.starts_with("--- ")
            && !line.starts_with("+++ ")
    };
    lines.extend(edit.diff.lines().filter(changed).map(|line| format!("    {line}")));
    let (head, more) = (edit.tests.first().cloned().unwrap_or_default(), edit.tests.len());
    let more = if more > 1 { format!(" and {} more", more - 1) } else { String::new() };
    lines.push(format!("  run by    {head}{more}"));
    let place = if evidence.outside { "" } else { ", seen inside the file only" };
    lines.push(format!("  in        {}", evidence.test));
    lines.push(format!("  call      {}({}){place}", evidence.function, evidence.arguments));
    let what = match evidence.kind.as_str() {
        "arguments" => "leaves ",
        "private" => "privately ",
        _ => "",
    };
    lines.push(format!("  before    {what}{}", evidence.before));
    lines.push(format!("  with it   {what}{}", evidence.after));
    lines.push(String::new());
    lines
}

/// All that was drawn, by what it came to.
fn in_words(counts: &Counts) -> String {
    let rows = [
        (counts.failed, "failed a test"),
        (counts.timed_out, "did not end in time"),
        (counts.failed_plainly, "failed a test in a plain run"),
        (counts.lost, "ended the run"),
        (counts.unseen, "did what cannot be recorded"),
        (counts.no_difference, "made no difference that was seen"),
        (counts.unstable, "made one that was not always seen"),
        (counts.unnoticed, "went unnoticed"),
    ];
    let of = |rows: &[(usize, &str)]| {
        let some = rows.iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    };
    let beside = of(&[
        (counts.not_reached, "not reached by a test"),
        (counts.invalid, "invalid"),
        (counts.known, "tried before"),
    ]);
    let beside = if beside.is_empty() { beside } else { format!("; not run: {beside}") };
    let tried = of(&rows);
    let tried = if tried.is_empty() { tried } else { format!(": {tried}") };
    format!("{} edits tried{tried}{beside}", counts.tried)
}
