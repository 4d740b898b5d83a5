//! Practice for people: rounds, verdicts, hints, and a small chart.

use crate::cli::table;
use crate::practice::spell;
use crate::session::{
    PlayerLine, PracticeAnswer, PracticeCheckAnswer, PracticeHintAnswer, PracticeListAnswer,
    PracticeRaceAnswer, PracticeRevealAnswer, PracticeRunAnswer, PracticeStatsAnswer, RatingPoint,
};

/// Verdicts that are listed one by one.
const VERDICTS: usize = 40;
/// Rows and columns of the chart.
const CHART: (usize, usize) = (8, 60);

pub(super) fn round(answer: &PracticeAnswer) -> String {
    let row = |name: &str, value: &str| vec![name.to_owned(), value.to_owned()];
    let (id, bug) = (short(&answer.practice), table::short(&answer.artifact));
    let mut lines = table::columns(&[
        row("round", &format!("{id} ({})", state(&answer.state))),
        row("bug", &format!("{bug}, rated {}: {}", answer.bug_rating.text, answer.why)),
        row("tree", &answer.tree),
        row("tests", &format!("{} ({})", answer.command, answer.framework)),
        row("time", &time(answer.seconds, answer.active_seconds)),
        row("rating", &answer.rating.text),
    ]);
    lines.push(String::new());
    for broken in &answer.broken {
        lines.push(format!("{} (line {})", broken.text, broken.line));
        lines.extend(broken.missing.iter().map(|line| format!("    + {line}")));
        lines.extend(broken.instead.iter().map(|line| format!("    - {line}")));
    }
    lines.push(String::new());
    if !answer.changed.is_empty() {
        lines.push(format!("you changed: {}", answer.changed.join(", ")));
    }
    lines.extend(answer.left_out.iter().map(|what| format!("no part of a repair: {what}")));
    lines.extend(answer.problem.clone());
    lines.extend(answer.hints.iter().map(|hint| format!("hint: {}", hint.text)));
    lines.extend(players(&answer.players));
    lines.push(match answer.state.as_str() {
        "open" => "edit the tree, then: ssr-mcp practice run, check, hint or give-up".to_owned(),
        _ => "ssr-mcp practice reveal explains the bug".to_owned(),
    });
    lines.join("\n")
}

fn state(state: &str) -> String {
    state.replace('_', " ")
}

pub(super) fn run(answer: &PracticeRunAnswer) -> String {
    let mut lines = Vec::new();
    let (bad, good): (Vec<_>, Vec<_>) =
        answer.verdicts.iter().partition(|line| line.outcome != "passed");
    let shown = bad.iter().chain(&good).take(VERDICTS);
    lines.extend(shown.map(|line| {
        format!("  {} {}  {}", table::mark(line.outcome == "passed"), line.outcome, line.test)
    }));
    let more = answer.verdicts.len().saturating_sub(VERDICTS);
    if more > 0 {
        lines.push(format!("  … and {more} more"));
    }
    if !answer.green {
        lines.push(format!("the end of the log:\n{}", answer.log.trim_end()));
    }
    lines.push(match &answer.problem {
        Some(problem) => format!("no verdict: {problem}"),
        None => format!(
            "{} passed, {} failed in {} s",
            answer.passed,
            answer.failing.len(),
            table::number(answer.run_seconds)
        ),
    });
    lines.push(answer.tests.clone());
    lines.join("\n")
}

pub(super) fn check(answer: &PracticeCheckAnswer) -> String {
    let verdict = if answer.solved { "solved" } else { "not solved" };
    let mut lines = vec![format!("{verdict}: {}", answer.reason)];
    lines.extend(answer.restored.iter().map(|what| format!("  set back before grading: {what}")));
    lines.extend(answer.left_out.iter().map(|what| format!("  no part of the repair: {what}")));
    lines.extend(answer.flags.iter().map(|flag| format!("  note: {flag}")));
    if let Some(score) = answer.score {
        let (score, rated) = (table::number(score), rated(answer.rated));
        lines.push(format!("score {score} in {}", time(answer.seconds, answer.active_seconds)));
        let (before, after) = (&answer.rating_before.text, &answer.rating.text);
        lines.push(format!("rating {before} → {after}{rated}"));
    }
    lines.push(answer.next.clone());
    lines.join("\n")
}

fn rated(rated: bool) -> &'static str {
    if rated { "" } else { " (you played this bug before: not rated)" }
}

pub(super) fn hint(answer: &PracticeHintAnswer) -> String {
    let (left, score) = (answer.hints_left, table::number(answer.best_score));
    format!("{}\n{left} hints left; a repair now scores {score}", answer.hint.text)
}

pub(super) fn reveal(answer: &PracticeRevealAnswer) -> String {
    let (id, state) = (short(&answer.practice), state(&answer.state));
    let score = table::number(answer.score);
    let mut lines = vec![
        format!("{id} {state}, score {score}, {}", time(answer.seconds, answer.active_seconds)),
        answer.explanation.clone(),
        format!("practised: {}", answer.families.join(", ")),
        format!(
            "rating {}, the bug's {}{}",
            answer.rating.text,
            answer.bug_rating.text,
            rated(answer.rated)
        ),
    ];
    lines.extend(players(&answer.players));
    lines.push(format!("\nthe bug:\n{}", answer.diff.trim_end()));
    lines.join("\n")
}

fn players(players: &[PlayerLine]) -> Option<String> {
    let told: Vec<&str> = players.iter().map(|player| player.text.as_str()).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

pub(super) fn race(answer: &PracticeRaceAnswer) -> String {
    let rewards = table::rewards_of(&answer.attempts);
    let mut lines = vec![format!("attempts {} (seed {})", table::attempts(&rewards), answer.seed)];
    lines.extend(players(&answer.players));
    lines.join("\n")
}

pub(super) fn list(answer: &PracticeListAnswer) -> String {
    if answer.practices.is_empty() {
        return "no round of practice was begun here; ssr-mcp practice start begins one".to_owned();
    }
    let head = ["round", "state", "bug", "score", "hints", "checks", "time"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(answer.practices.iter().map(|line| {
        vec![
            short(&line.practice).to_owned(),
            state(&line.state),
            table::short(&line.artifact).to_owned(),
            line.score.map_or_else(|| "-".to_owned(), table::number),
            line.hints.to_string(),
            line.checks.to_string(),
            time(line.seconds, line.active_seconds),
        ]
    }));
    let mut lines = table::columns(&rows);
    lines.extend(answer.due.iter().map(|due| {
        let when = match due.due_in {
            0 => "due".to_owned(),
            later => format!("comes back in {}", spell(later)),
        };
        format!("{}: {when} (step {} of 4)", due.family, due.step)
    }));
    lines.join("\n")
}

pub(super) fn stats(answer: &PracticeStatsAnswer) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let median = answer.median_seconds.map_or_else(|| "-".to_owned(), spell);
    let mut lines = table::columns(&[
        row("solved", answer.solved.to_string()),
        row("given up", answer.given_up.to_string()),
        row("open", answer.open.to_string()),
        row("median time", median),
        row("hints", answer.hints.to_string()),
        row("rating", format!("{} after {} games", answer.rating.text, answer.rating.games)),
    ]);
    if !answer.families.is_empty() {
        let head = ["family", "solved", "given up", "hints", "median", "comes back"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(answer.families.iter().map(|line| {
            vec![
                line.family.clone(),
                line.solved.to_string(),
                line.given_up.to_string(),
                line.hints.to_string(),
                line.median_seconds.map_or_else(|| "-".to_owned(), spell),
                line.due_in.map_or_else(
                    || "-".to_owned(),
                    |later| match later {
                        0 => "due".to_owned(),
                        later => format!("in {}", spell(later)),
                    },
                ),
            ]
        }));
        lines.push(String::new());
        lines.extend(table::columns(&rows));
    }
    if !answer.players.is_empty() {
        let head = ["player", "rating", "bugs", "solved"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(answer.players.iter().map(|line| {
            let (tried, solved) = (line.tried.to_string(), line.solved.to_string());
            vec![line.player.clone(), line.rating.text.clone(), tried, solved]
        }));
        lines.push(String::new());
        lines.extend(table::columns(&rows));
    }
    if !answer.series.is_empty() {
        lines.push(String::new());
        lines.extend(chart(&answer.series));
    }
    lines.join("\n")
}

/// The rating after each round as a point, its deviation as a bar around it.
fn chart(series: &[RatingPoint]) -> Vec<String> {
    let (rows, columns) = CHART;
    let series = &series[series.len().saturating_sub(columns)..];
    let low = series.iter().map(|point| point.rating - point.deviation).fold(f64::MAX, f64::min);
    let high = series.iter().map(|point| point.rating + point.deviation).fold(f64::MIN, f64::max);
    let step = ((high - low) / count(rows)).max(1.0);
    let line = |row: usize| {
        let top = high - count(row) * step;
        let cell = |point: &RatingPoint| {
            if top - step < point.rating && point.rating <= top {
                '●'
            } else if point.rating - point.deviation <= top
                && top - step <= point.rating + point.deviation
            {
                '│'
            } else {
                ' '
            }
        };
        let cells: String = series.iter().map(cell).collect();
        format!("{:>5.0} {}", top - step / 2.0, cells).trim_end().to_owned()
    };
    let mut lines: Vec<String> = (0..rows).map(line).collect();
    lines.push(format!("      the last {} rated rounds, ● rating, │ its deviation", series.len()));
    lines
}

fn count(many: usize) -> f64 {
    f64::from(u32::try_from(many).unwrap_or(u32::MAX))
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// `12 min (9 min without pauses)`.
fn time(seconds: i64, active: i64) -> String {
    if seconds == active {
        spell(seconds)
    } else {
        format!("{} ({} without pauses)", spell(seconds), spell(active))
    }
}
