//! A long game through the real binary: does its memory stay flat, does it leave anything behind, does
//! the same seed give the same rounds?
//!
//! `cargo bench --bench soak -- [ROUNDS] [EXAMPLE ...]`; 1,000 rounds, half of them on each example,
//! where nothing is said. Every 100 rounds a line; exit status 1 where a criterion is not met:
//! - *memory*: what no file backs in `play`'s own process, on the average of the last third of the
//!   samples, is at most a tenth and 4 MiB above that of the third before;
//! - *leftovers*: no process, and no file in `TMPDIR`, in the home or in the sandbox's scratch;
//! - *repeat*: the CSV lines of the first tenth of the rounds, played again from nothing, are the same
//!   bytes, but for seconds and the run's name.

#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures, reads its environment and starts what it measures"
)]

mod played;
#[path = "../../tests/it/processes.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod processes;

use played::{Played, Sample};
use std::path::Path;
use std::process::ExitCode;

const EXAMPLES: [&str; 2] = ["ledger", "intervals"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let rounds: u32 = match arguments.first().map_or(Ok(1000), |rounds| rounds.parse()) {
        Ok(rounds) if rounds >= 20 => rounds,
        _ => {
            println!("usage: cargo bench --bench soak -- [ROUNDS, 20 or more] [EXAMPLE ...]");
            return ExitCode::from(2);
        }
    };
    let chosen: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let chosen = if chosen.is_empty() { EXAMPLES.to_vec() } else { chosen };
    let each = rounds / u32::try_from(chosen.len()).unwrap_or(1);
    let mut met = true;
    for example in chosen {
        match soak(example, each) {
            Ok(good) => met &= good,
            Err(problem) => {
                println!("{example}: {problem}");
                met = false;
            }
        }
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn soak(example: &str, rounds: u32) -> Result<bool, String> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let play = |rounds: u32, every: u32, each: &mut dyn FnMut(&Sample)| {
        let place = tempfile::TempDir::with_prefix("ssr-mcp-soak-").map_err(|e| e.to_string())?;
        let real = place.path().canonicalize().map_err(|error| error.to_string())?;
        let binary = Path::new(env!("CARGO_BIN_EXE_ssr-mcp"));
        let played = played::play(binary, &examples.join(example), &real, rounds, every, each);
        if played.is_err() {
            println!("what there was is kept in {}", place.keep().display());
        }
        played
    };
    println!("{example}: {rounds} rounds");
    println!(
        "{:>7} {:>9} {:>9} {:>10} {:>9} {:>8} {:>10} {:>8} {:>9}",
        "rounds",
        "RSS KiB",
        "own KiB",
        "below KiB",
        "processes",
        "handles",
        "state KiB",
        "entries",
        "s/round"
    );
    let whole =
        play(rounds, (rounds / 10).clamp(1, 100), &mut |sample| println!("{}", row(sample)))?;
    let part = rounds / 10;
    let again = play(part, part, &mut |_| {})?;
    Ok(judged(example, rounds, part, &whole, &again))
}

fn row(sample: &Sample) -> String {
    format!(
        "{:>7} {:>9} {:>9} {:>10} {:>9} {:>8} {:>10} {:>8} {:>9.2}",
        sample.rounds,
        sample.resident,
        sample.own,
        sample.started,
        sample.processes,
        sample.handles,
        sample.state >> 10,
        sample.entries,
        sample.seconds / f64::from(sample.rounds)
    )
}

fn judged(example: &str, rounds: u32, part: u32, whole: &Played, again: &Played) -> bool {
    let third = whole.samples.len() / 3;
    let mean = |samples: &[Sample]| {
        samples.iter().map(|sample| sample.own as f64).sum::<f64>() / samples.len().max(1) as f64
    };
    let (rest, last) = whole.samples.split_at(whole.samples.len() - third);
    let (before, now) = (mean(&rest[rest.len() - third..]), mean(last));
    let flat = now <= before * 1.1 + 4096.0;
    println!("{example}: memory {before:.0} KiB, then {now:.0} KiB: {}", said(flat));
    let left: Vec<&String> = whole.left.iter().chain(&again.left).collect();
    println!("{example}: leftovers {left:?}: {}", said(left.is_empty()));
    // The rounds of a run are in order; those from the wrong-book are lines of their own.
    let begins = whole.csv.starts_with(&again.csv);
    println!("{example}: the first {part} rounds again: {}", said(begins));
    if !begins {
        let differs = whole.csv.lines().zip(again.csv.lines()).find(|(one, two)| one != two);
        println!("  {differs:?}");
    }
    if let [first, .., end] = whole.samples.as_slice() {
        let between = f64::from(end.rounds - first.rounds);
        println!(
            "{example}: {} of {rounds} valid; {:.1} KiB and {:.1} entries of state a round",
            whole.valid,
            (end.state as f64 - first.state as f64) / 1024.0 / between,
            (end.entries as f64 - first.entries as f64) / between
        );
    }
    flat && left.is_empty() && begins
}

fn said(good: bool) -> &'static str {
    if good { "met" } else { "NOT MET" }
}
