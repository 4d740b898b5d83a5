//! `ssr-mcp report`.

use super::{Context, Ended, Exit};
use crate::session::{ReportAnswer, ReportRequest, Repository, RunReport};
use std::path::PathBuf;

/// Show what self-play on a repository came to: one HTML page with charts, CSV, or numbers
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The page stands alone: no network, no script; light or dark as your browser is. It shows solve \
rate against p*(G), both rewards, valid bugs, wrong-book, novelty, difficulty and role swaps of a run, and what \
`eval` measured.\n\nExamples:\n  ssr-mcp report . --out report.html\n  \
ssr-mcp report . --run 3f2a --compare 91bc --out runs.html --csv runs.csv\n  ssr-mcp report . --json"
)]
pub struct Report {
    /// The repository
    #[arg(default_value = ".")]
    repo: PathBuf,
    /// Write the page to this file
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Write one line a round to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// The run, by the beginning of its id [default: the latest]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Draw these runs beside it
    #[arg(long, value_name = "RUN", num_args = 1..)]
    compare: Vec<String>,
}

pub(super) fn run(command: &Report, context: &mut Context<'_>) -> Ended {
    let request = ReportRequest {
        repository: Repository { dir: Some(command.repo.clone()), ..Repository::default() },
        run: command.run.clone(),
        compare: command.compare.clone(),
        out: command.out.clone(),
        csv: command.csv.clone(),
    };
    let answer = context.session.report(&request)?;
    context.progress.clear();
    context.out.answer(&answer, show)?;
    Ok(Exit::Done)
}

fn show(answer: &ReportAnswer) -> String {
    let mut lines: Vec<String> = answer.runs.iter().map(of_run).collect();
    if lines.is_empty() {
        lines.push("nothing was played here yet".to_owned());
    }
    for eval in &answer.evals {
        let policy: String = eval.policy.chars().take(12).collect();
        let (rate, cases) = (percent(eval.rate), eval.cases);
        lines.push(format!("eval {policy:<12} {rate} of {cases} cases, {} runs", eval.budget));
    }
    lines.extend(answer.written.iter().map(|file| format!("written to {file}")));
    lines.join("\n")
}

fn of_run(run: &RunReport) -> String {
    let name = match &run.run {
        Some(id) => format!("run {}", id.chars().take(12).collect::<String>()),
        None => "outside of runs".to_owned(),
    };
    format!(
        "{name}: {} rounds, valid {}, solve rate {} (best {}), wrong-book {}",
        run.rounds,
        percent(run.valid_rate),
        percent(run.solve_rate),
        percent(run.best_solve_rate),
        run.wrong_book_size
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
