//! `ssr-mcp state`.

use super::{Context, Ended, Exit};
use crate::session::PruneAnswer;

/// The state directory: keep it within a size
#[derive(Debug, clap::Args)]
pub struct State {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Remove the oldest frozen copies, caches, artifacts and conversations with models of all repositories until
    /// the rest fits. What a running process or an unfinished run uses and what the wrong-book needs stays. Exit
    /// code 1 says that the rest does not fit
    Prune {
        /// The most that may be left: 2G, 500M, 100K, or bytes
        #[arg(long, value_name = "SIZE", value_parser = size)]
        budget: u64,
    },
}

pub(super) fn run(command: &State, context: &mut Context<'_>) -> Ended {
    let Action::Prune { budget } = &command.action;
    let answer = context.session.prune(*budget)?;
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.within))
}

fn show(answer: &PruneAnswer) -> String {
    let mega = |bytes: u64| format!("{} MiB", bytes.div_ceil(1 << 20));
    let (bases, caches, artifacts) = (answer.bases, answer.caches, answer.artifacts);
    let mut text = format!(
        "{} before, {} now; removed {bases} frozen copies, {caches} caches, {artifacts} artifacts",
        mega(answer.before),
        mega(answer.after)
    );
    if answer.practice_trees > 0 {
        text = format!("{text}, {} practice trees", answer.practice_trees);
    }
    if answer.conversations > 0 {
        text = format!("{text}, {} conversations with models", answer.conversations);
    }
    if !answer.within {
        text.push_str(
            "\nthe rest is in use, or is needed by the wrong-book or an open round of practice, or is the databases",
        );
    }
    text
}

/// Reads a size: bytes, or with a unit of 1024 to some power.
fn size(text: &str) -> Result<u64, String> {
    let refusal = || "give a whole number and a unit: 2G, 500M or 100K".to_owned();
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..at].parse().map_err(|_| refusal())?;
    let unit: u64 = match &text[at..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return Err(refusal()),
    };
    number.checked_mul(unit).ok_or_else(refusal)
}
