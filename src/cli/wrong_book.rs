//! `ssr-mcp wrong-book`.

use super::arguments::{Attempts, Tests};
use super::{Context, Ended, Exit, table};
use crate::session::{
    EntryAnswer, EntryLine, ReplayAnswer, ReplayRequest, Repository, WrongBookAnswer,
};
use std::path::PathBuf;

/// Failed attempts that are kept: list, show, attempt again, export
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An entry is a tree that failed attempts lead to. It counts them, and the rounds in a \
row that failed at its bug: those that came to the same tree, or in which nobody repaired the bug. A \
later round that repairs the bug without that mistake marks it solved.\n\n\
Examples:\n  ssr-mcp wrong-book list --repo .\n  \
ssr-mcp wrong-book show 3f2a --repo .\n  \
ssr-mcp wrong-book replay 3f2a --attempts 4\n  \
ssr-mcp wrong-book export failures.jsonl"
)]
pub struct WrongBook {
    #[command(subcommand)]
    action: Action,
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    repo: PathBuf,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// The entries, the most failures first
    List {
        /// Those that are solved, too
        #[arg(long)]
        all: bool,
    },
    /// One entry, with its patch
    Show {
        /// An entry's id, or the beginning of it
        id: String,
    },
    /// Attempt bugs again that were failed. Exit code 1 says that one of them was not repaired
    Replay(Replay),
    /// Write all entries as lines of JSON, each with its patch and its artifact's files
    Export {
        /// A file that is not there yet, or a directory for one
        to: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct Replay {
    /// An entry's id, or the beginning of it [default: the five bugs with the most failures]
    id: Option<String>,
    #[command(flatten)]
    attempts: Attempts,
    /// The same seed gives the same attempts [default: from the clock, and shown]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &WrongBook, context: &mut Context<'_>) -> Ended {
    let repository = Repository { dir: Some(command.repo.clone()), ..Repository::default() };
    match &command.action {
        Action::List { all } => {
            let answer = context.session.wrong_book(&repository, *all)?;
            context.out.answer(&answer, show_list)?;
        }
        Action::Show { id } => {
            let answer = context.session.wrong_book_entry(&repository, id)?;
            context.out.answer(&answer, show_entry)?;
        }
        Action::Replay(replay) => {
            let request = ReplayRequest {
                repository: replay.tests.repository(Some(&command.repo)),
                entry: replay.id.clone(),
                attempts: replay.attempts.attempts,
                runs: replay.attempts.runs,
                seed: replay.seed,
            };
            let answer = context.session.replay(&request, &context.job)?;
            context.progress.clear();
            context.out.answer(&answer, show_replay)?;
            return Ok(Exit::done_if(answer.all_repaired()));
        }
        Action::Export { to } => {
            let answer = context.session.export_wrong_book(&repository, to)?;
            context.out.answer(&answer, |answer| {
                format!("{} entries written to {}", answer.entries, answer.file)
            })?;
        }
    }
    Ok(Exit::Done)
}

fn show_list(answer: &WrongBookAnswer) -> String {
    if answer.entries.is_empty() {
        return "the wrong-book has no unsolved entry".to_owned();
    }
    let head = ["entry", "artifact", "order", "failures", "rounds in a row", "state", "reason"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(answer.entries.iter().map(|entry| {
        vec![
            table::short(&entry.id).to_owned(),
            table::short(&entry.artifact).to_owned(),
            entry.order.to_string(),
            entry.fail_count.to_string(),
            entry.rounds_in_a_row.to_string(),
            state(entry).to_owned(),
            entry.reason.clone(),
        ]
    }));
    table::columns(&rows).join("\n")
}

fn state(entry: &EntryLine) -> &'static str {
    match (entry.solved, entry.fed) {
        (true, _) => "solved",
        (false, true) => "unsolved, fed back",
        (false, false) => "unsolved",
    }
}

fn show_entry(answer: &EntryAnswer) -> String {
    let entry = &answer.entry;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("entry", entry.id.clone()),
        row("artifact", entry.artifact.clone()),
        row("order", entry.order.to_string()),
        row("base", answer.base.clone()),
        row("failures", entry.fail_count.to_string()),
        row("in a row", format!("{} rounds", entry.rounds_in_a_row)),
        row("state", state(entry).to_owned()),
        row("reason", entry.reason.clone()),
    ];
    rows.extend(answer.parent.iter().map(|parent| row("on top of", parent.clone())));
    let mut lines = table::columns(&rows);
    lines.push(match answer.patch.trim_end() {
        "" => "no patch".to_owned(),
        patch => format!("\n{patch}"),
    });
    lines.join("\n")
}

fn show_replay(answer: &ReplayAnswer) -> String {
    let mut lines = Vec::new();
    for bug in &answer.replayed {
        let entry = &bug.entry;
        let (id, artifact) = (table::short(&entry.id), table::short(&entry.artifact));
        let attempts = table::attempts(&table::rewards_of(&bug.attempts));
        lines.push(format!("{id}  {artifact}  attempts {attempts} (seed {})", answer.seed));
        let (failures, rounds) = (entry.fail_count, entry.rounds_in_a_row);
        lines.push(format!("  {}; {failures} failures, {rounds} rounds in a row", state(entry)));
    }
    if answer.replayed.is_empty() {
        lines.push("there is no unsolved entry to attempt again".to_owned());
    }
    if answer.of_other_trees > 0 {
        let many = answer.of_other_trees;
        lines.push(format!("{many} unsolved entries are of another state of the repository"));
    }
    lines.join("\n")
}
