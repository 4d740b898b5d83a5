//! `ssr-mcp play`.

use super::arguments::{Attempts, Injection, Least, Tests};
use super::{Context, Ended, Exit, out, table};
use crate::session::{CsvLog, PlayRequest, PlayedRound};
use std::path::PathBuf;

/// Play rounds: put in a bug, check it, have it solved, score both roles
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each round: the injector makes a bug and hides it from the tests; nine checks \
prove it real; the solver makes G attempts from the reversed weakening; both roles get their \
rewards. A round's own seed is shown: `--rounds 1 --seed` with it repeats the round.\n\n\
Examples:\n  ssr-mcp play .\n  \
ssr-mcp play . --rounds 10 --strategy removal --csv rounds.csv\n  \
ssr-mcp play . --target src/ledger.py:post --json\n\n\
Exit code 1 says that no round gave a valid bug."
)]
pub struct Play {
    /// The repository
    #[arg(default_value = ".")]
    repo: PathBuf,
    /// Rounds to play
    #[arg(long, value_name = "N", default_value_t = 1)]
    rounds: usize,
    #[command(flatten)]
    attempts: Attempts,
    #[command(flatten)]
    injection: Injection,
    /// α: how much a valid bug costs that all or none of the attempts solve
    #[arg(long, value_name = "A")]
    alpha: Option<f64>,
    /// Reward of an invalid artifact [default: -1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    invalid_reward: Option<f64>,
    /// Append a line for each round to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    least: Least,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Play, context: &mut Context<'_>) -> Ended {
    let csv = match &command.csv {
        Some(file) => Some(CsvLog::open(&context.session.config().cwd.join(file))?),
        None => None,
    };
    let request = PlayRequest {
        repository: command.tests.repository(Some(&command.repo)),
        rounds: command.rounds,
        attempts: command.attempts.attempts,
        runs: command.attempts.runs,
        strategy: command.injection.strategy,
        target: command.injection.target.clone(),
        seed: command.injection.seed,
        minima: command.least.minima(),
        alpha: command.alpha,
        invalid: command.invalid_reward,
    };
    let mut game = context.session.play(request, &context.job)?;
    if command.injection.seed.is_none() {
        context.progress.clear();
        out::note(&format!("seed {} (give --seed {} to repeat this)", game.seed(), game.seed()));
    }
    let mut rounds = Vec::new();
    while let Some(round) = game.round(&context.job)? {
        if let Some(csv) = &csv {
            csv.append(&round)?;
        }
        context.progress.clear();
        context.out.answer(&round, show)?;
        rounds.push(round);
    }
    if !context.out.wants_json() {
        out::line(&summary(&rounds))?;
    }
    Ok(Exit::done_if(rounds.iter().any(|round| round.valid)))
}

fn show(round: &PlayedRound) -> String {
    let strategy = crate::session::name(round.strategy);
    let mut lines = vec![format!("Round {} (seed {}, {strategy})", round.round, round.seed)];
    let reward = table::number(round.inject_reward);
    let Some(artifact) = &round.artifact else {
        lines.push(format!("  no bug    {}", round.summary));
        lines.push(format!("  rewards   injector {reward}\n"));
        return lines.join("\n");
    };
    lines.push(format!("  bug       {}  {}", table::short(artifact), round.summary));
    lines.extend(round.origin.iter().flat_map(table::undone));
    let passed = round.checks.iter().filter(|check| check.passed).count();
    match round.failed_check.map(crate::session::name) {
        None => lines.push(format!("  checks    {passed} passed")),
        Some(failed) => {
            let detail = round.checks.last().map_or("", |check| check.detail.as_str());
            lines.push(format!("  checks    {passed} passed, then {failed} failed: {detail}"));
        }
    }
    if round.valid {
        lines.push(format!("  breaks    {} tests", round.fail_to_pass.len()));
        lines.extend(table::some(&round.fail_to_pass, 3));
        lines.push(format!("  attempts  {}", table::attempts(&round.solve_rewards)));
    }
    let solver = round.mean_solve_reward().map(table::number);
    let solver = solver.map(|mean| format!(", solver {mean} on average")).unwrap_or_default();
    lines.push(format!("  rewards   injector {reward}{solver}"));
    lines.extend(round.folder.iter().map(|folder| format!("  kept in   {folder}")));
    lines.push(String::new());
    lines.join("\n")
}

fn summary(rounds: &[PlayedRound]) -> String {
    let head =
        ["round", "artifact", "strategy", "outcome", "solved", "injector", "solver", "seconds"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for round in rounds {
        let solved = round.solve_rewards.iter().filter(|reward| **reward > 0.0).count();
        let outcome = match (&round.artifact, round.failed_check) {
            (None, _) => "no bug".to_owned(),
            (Some(_), Some(check)) => format!("{} failed", crate::session::name(check)),
            (Some(_), None) => "valid".to_owned(),
        };
        let none = || "-".to_owned();
        rows.push(vec![
            round.round.to_string(),
            round.artifact.as_deref().map_or("-", table::short).to_owned(),
            crate::session::name(round.strategy),
            outcome,
            if round.valid { format!("{solved}/{}", round.solve_rewards.len()) } else { none() },
            table::number(round.inject_reward),
            round.mean_solve_reward().map_or_else(none, table::number),
            format!("{:.1}", round.seconds),
        ]);
    }
    table::columns(&rows).join("\n")
}
