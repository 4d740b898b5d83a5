//! Small pieces of text that several commands show.

use crate::consistency::Audited;
use crate::injector::Undone;
use crate::session::{self, AttemptLine, CheckLine};

/// Lines of columns padded to their widest cell; the last one is not padded.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            line.push_str(cell);
            if at + 1 < row.len() {
                let padding = width(at).unwrap_or(0).saturating_sub(cell.chars().count()) + 2;
                line.push_str(&" ".repeat(padding));
            }
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

pub(super) fn mark(good: bool) -> &'static str {
    if good { "✓" } else { "✗" }
}

/// One line a check.
pub(super) fn checks(checks: &[CheckLine]) -> Vec<String> {
    let row = |line: &CheckLine| {
        vec![
            format!("  {}", mark(line.passed)),
            session::name(line.check),
            format!("{} ms", line.millis),
            line.detail.clone(),
        ]
    };
    columns(&checks.iter().map(row).collect::<Vec<_>>())
}

/// What an audit came to, where there was one.
pub(super) fn audited(audited: Audited) -> Option<String> {
    match audited {
        Audited::No => None,
        Audited::Agrees => Some("  audited   plain runs of the whole suite agree".to_owned()),
        Audited::Differs => Some("  audited   plain runs of the whole suite differ".to_owned()),
    }
}

/// `✓✗✗✓ (2 of 4)`.
pub(super) fn attempts(rewards: &[f64]) -> String {
    let solved = rewards.iter().filter(|reward| **reward > 0.0).count();
    let row: String = rewards.iter().map(|reward| mark(*reward > 0.0)).collect();
    format!("{row} ({solved} of {})", rewards.len())
}

pub(super) fn rewards_of(attempts: &[AttemptLine]) -> Vec<f64> {
    attempts.iter().map(|attempt| attempt.reward).collect()
}

/// The first few of many names, one a line.
pub(super) fn some(names: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> =
        names.iter().take(most).map(|name| format!("            {name}")).collect();
    if names.len() > most {
        lines.push(format!("            … and {} more", names.len() - most));
    }
    lines
}

/// At most three digits after the point, no needless zeros.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// `  undoes    1a2b3c4d9e0f  Round halves to even`, one line a commit, and how closely.
pub(super) fn undone(origin: &Undone) -> Vec<String> {
    let line = |(at, commit): (usize, &crate::injector::UndoneCommit)| {
        let head = if at == 0 { "  undoes    " } else { "            " };
        format!("{head}{}  {}", short(&commit.id), commit.summary)
    };
    let mut lines: Vec<String> = origin.commits.iter().enumerate().map(line).collect();
    lines.push(format!("            similarity {}", number(origin.similarity)));
    lines
}

pub(super) fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
