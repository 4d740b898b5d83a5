//! The report as a page.

use super::{EvalLine, Point, ReportAnswer, RunReport, StepLine, average};
use crate::chart::page::{Page, Part};
use crate::chart::{Chart, Mark, Panel, Series};

/// A line joins means over so many rounds at most, of a tenth of them.
const WIDEST: usize = 50;
/// More dots than this would be a cloud.
const DOTTED: usize = 150;
/// Evaluations in one chart: as many as there are colours.
const LINES: usize = 6;

type Value = fn(&Point) -> Option<f64>;

pub(super) fn of(report: &ReportAnswer) -> String {
    let mut parts = Vec::new();
    if let Some((run, others)) = report.runs.split_first() {
        of_run(run, others, &mut parts);
    } else {
        let nothing = "Nothing was played here yet: `ssr-mcp play` plays rounds.";
        parts.push(Part::Note(nothing.to_owned()));
    }
    of_steps(&report.steps, &mut parts);
    of_evals(&report.evals, &mut parts);
    let title = format!("Self-play: {}", name_of(&report.workspace));
    Page { title, subtitle: report.workspace.clone(), parts }.html()
}

fn name_of(workspace: &str) -> &str {
    workspace.rsplit('/').find(|name| !name.is_empty()).unwrap_or(workspace)
}

fn of_run(run: &RunReport, others: &[RunReport], parts: &mut Vec<Part>) {
    parts.push(Part::Heading(match &run.run {
        Some(id) => format!("Run {}, {}", short(id), counted(run.rounds, "round")),
        None => format!("{} of no run", counted(run.rounds, "round")),
    }));
    parts.push(Part::Facts(facts(run)));
    for warning in &run.warnings {
        parts.push(Part::Note(format!("Warning: {warning}")));
    }
    let wide = (run.rounds / 10).clamp(1, WIDEST);
    if wide > 1 {
        let dots = if run.rounds > DOTTED { "" } else { "Dots: each round. " };
        parts.push(Part::Note(format!("{dots}Lines: mean of the last {wide} rounds.")));
    }
    parts.push(Part::Charts(charts(run, others)));
    let steps = |step: usize| match step {
        0 => "0".to_owned(),
        11 => "1".to_owned(),
        step => format!("≤.{step}").replace("≤.10", "<1"),
    };
    let bars = run.histogram.iter().enumerate().map(|(step, count)| (steps(step), *count));
    let title = "Bugs by solve rate: only those between 0 and 1 carry signal".to_owned();
    parts.push(Part::Bars { title, bars: bars.collect() });
    if !others.is_empty() {
        parts.push(Part::Heading("Runs compared".to_owned()));
        parts.push(compared(run, others));
    }
}

fn facts(run: &RunReport) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    vec![
        fact("bugs, valid", format!("{} of {}", run.valid, run.bugs)),
        fact("valid rate", percent(run.valid_rate)),
        fact("solve rate", percent(run.solve_rate)),
        fact("best solve rate p*(G)", percent(run.best_solve_rate)),
        fact("sometimes solved", percent(run.mixed)),
        fact("injector's reward", number(run.inject_reward)),
        fact("solver's reward", number(run.solve_reward)),
        fact("novelty", number(run.novelty)),
        fact("wrong-book", run.wrong_book_size.to_string()),
        fact("role swaps", run.role_swaps.len().to_string()),
    ]
}

fn charts(run: &RunReport, others: &[RunReport]) -> Vec<Chart> {
    let marks: Vec<Mark> = run
        .role_swaps
        .iter()
        .map(|round| Mark { at: f64::from(*round), name: "swap".to_owned() })
        .collect();
    let plain = |name: &str, value: Value| lines((name, false), value, run, others);
    let mut solved = plain("solved attempts", |point| point.solve_rate);
    if let (Some(best), Some(first), Some(last)) =
        (run.best_solve_rate, run.points.first(), run.points.last())
    {
        let mut line = vec![(f64::from(first.round), best), (f64::from(last.round), best)];
        line.dedup();
        solved.push(Series { name: "p*(G)".to_owned(), line, dots: Vec::new() });
    }
    let mut rewards = lines(("injector", true), |point| point.inject_reward, run, others);
    rewards.extend(lines(("solver", true), |point| point.solve_reward, run, others));
    let book = plain("not solved yet", |point| Some(count(point.wrong_book_size)));
    let most = book.iter().flat_map(|series| &series.line).map(|(_, value)| *value);
    let most = most.fold(1.0, f64::max);
    let panels = [
        ("Solve rate against p*(G)", (0.0, 1.0), solved),
        ("Rewards of both roles", (-1.0, 1.0), rewards),
        ("Valid bugs, share", (0.0, 1.0), plain("valid bugs", |point| point.valid)),
        ("Wrong-book, entries", (0.0, most), book),
        ("Novelty of valid bugs", (0.0, 1.0), plain("valid bugs", |point| point.novelty)),
    ];
    panels
        .into_iter()
        .map(|(title, range, series)| Chart {
            title: String::new(),
            subtitle: String::new(),
            across: "round".to_owned(),
            panels: vec![Panel { title: title.to_owned(), range, series }],
            marks: marks.clone(),
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a count of entries")]
fn count(entries: u64) -> f64 {
    entries as f64
}

/// One line a run; `several`: the chart has others of each run. Dots only of the first one, where it stands alone.
fn lines(
    (name, several): (&str, bool),
    value: Value,
    run: &RunReport,
    others: &[RunReport],
) -> Vec<Series> {
    let one = |run: &RunReport, alone: bool| {
        let id = run.run.as_deref().map_or("no run".to_owned(), short);
        let name = match (alone, several) {
            (true, _) => name.to_owned(),
            (false, true) => format!("{name} {id}"),
            (false, false) => id,
        };
        let wide = (run.rounds / 10).clamp(1, WIDEST);
        let dots: Vec<(f64, f64)> = run
            .points
            .iter()
            .filter_map(|point| Some((f64::from(point.round), value(point)?)))
            .collect();
        let line = (1..=dots.len()).filter_map(|end| {
            let last: Vec<f64> =
                dots[end.saturating_sub(wide)..end].iter().map(|(_, value)| *value).collect();
            Some((dots[end - 1].0, average(&last)?))
        });
        let line = line.collect();
        let cloud = !alone || wide == 1 || dots.len() > DOTTED;
        Series { name, line, dots: if cloud { Vec::new() } else { dots } }
    };
    let mut series = vec![one(run, others.is_empty())];
    series.extend(others.iter().map(|other| one(other, false)));
    series
}

fn compared(run: &RunReport, others: &[RunReport]) -> Part {
    let head = ["run", "rounds", "valid rate", "solve rate", "p*(G)", "sometimes solved"];
    let more = ["injector's reward", "solver's reward", "novelty", "wrong-book"];
    let row = |run: &RunReport| {
        vec![
            run.run.as_deref().map_or("no run".to_owned(), short),
            run.rounds.to_string(),
            percent(run.valid_rate),
            percent(run.solve_rate),
            percent(run.best_solve_rate),
            percent(run.mixed),
            number(run.inject_reward),
            number(run.solve_reward),
            number(run.novelty),
            run.wrong_book_size.to_string(),
        ]
    };
    let rows = std::iter::once(run).chain(others).map(row).collect();
    Part::Table { head: head.into_iter().chain(more).map(str::to_owned).collect(), rows }
}

fn of_steps(steps: &[StepLine], parts: &mut Vec<Part>) {
    if steps.is_empty() {
        return;
    }
    parts.push(Part::Heading(format!("Training, {}", counted(steps.len(), "step"))));
    let line = |name: &str, value: fn(&StepLine) -> Option<f64>| {
        let points = steps.iter().filter_map(|step| Some((f64::from(step.step), value(step)?)));
        Series { name: name.to_owned(), line: points.collect(), dots: Vec::new() }
    };
    let most = steps.iter().filter_map(|step| step.entropy).fold(1.0, f64::max);
    let panels = [
        (
            "Rates of a step",
            (0.0, 1.0),
            vec![
                line("solved attempts", |step| step.solve_rate),
                line("valid bugs", |step| step.valid_rate),
                line("p*(G)", |step| step.best_solve_rate),
                line("flat groups", |step| step.flat_share),
            ],
        ),
        (
            "Rewards of a step",
            (-1.0, 1.0),
            vec![
                line("injector", |step| step.inject_reward),
                line("solver", |step| step.solve_reward),
            ],
        ),
        ("Solver's entropy, nats", (0.0, most), vec![line("entropy", |step| step.entropy)]),
    ];
    let charts = panels.into_iter().map(|(title, range, series)| Chart {
        title: String::new(),
        subtitle: String::new(),
        across: "step".to_owned(),
        panels: vec![Panel { title: title.to_owned(), range, series }],
        marks: Vec::new(),
    });
    parts.push(Part::Charts(charts.collect()));
}

/// Those of the latest evaluation's cases: others cannot be compared with it.
fn of_evals(evals: &[EvalLine], parts: &mut Vec<Part>) {
    let Some(latest) = evals.last() else { return };
    let same: Vec<&EvalLine> =
        evals.iter().filter(|eval| eval.case_set == latest.case_set).collect();
    let same = &same[same.len().saturating_sub(LINES)..];
    let title = format!(
        "Held-out repairs, {} (set {})",
        counted(latest.cases, "case"),
        short(&latest.case_set)
    );
    parts.push(Part::Heading(title));
    if let (Some(before), Some(after)) = (before(same), after(same)) {
        parts.push(Part::Facts(vec![
            ("before training".to_owned(), percent(before.rate)),
            ("after training".to_owned(), percent(after.rate)),
        ]));
    }
    let series = same.iter().map(|eval| Series {
        name: short(&eval.policy),
        line: eval
            .curve
            .iter()
            .map(|(runs, rate)| (u32::try_from(*runs).map_or(f64::NAN, f64::from), *rate))
            .collect(),
        dots: Vec::new(),
    });
    let panel =
        Panel { title: "Repaired, share".to_owned(), range: (0.0, 1.0), series: series.collect() };
    parts.push(Part::Charts(vec![Chart {
        title: String::new(),
        subtitle: String::new(),
        across: "test runs".to_owned(),
        panels: vec![panel],
        marks: Vec::new(),
    }]));
    let row = |eval: &&EvalLine| {
        let between = match (eval.low, eval.high) {
            (low @ Some(_), high @ Some(_)) => format!("{} to {}", percent(low), percent(high)),
            _ => "-".to_owned(),
        };
        vec![
            short(&eval.policy),
            eval.budget.to_string(),
            percent(eval.rate),
            between,
            eval.runs_per_repair.map_or("-".to_owned(), |runs| format!("{runs:.1}")),
            eval.attempts.to_string(),
        ]
    };
    let head = ["policy", "runs at most", "repaired", "95 % interval", "runs a repair", "attempts"];
    parts.push(Part::Table {
        head: head.map(str::to_owned).to_vec(),
        rows: same.iter().map(row).collect(),
    });
}

/// The hash of a checkpoint, not the name of an order.
fn is_trained(eval: &EvalLine) -> bool {
    eval.policy.len() == 64
}

fn before<'a>(evals: &[&'a EvalLine]) -> Option<&'a EvalLine> {
    evals.iter().rev().find(|eval| eval.policy == "start").copied()
}

fn after<'a>(evals: &[&'a EvalLine]) -> Option<&'a EvalLine> {
    evals.iter().rev().find(|eval| is_trained(eval)).copied()
}

fn short(id: &str) -> String {
    id.chars().take(12).collect()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}
