//! A run's rounds as a chart: both rewards, the solve rate and the share of valid bugs, from the same rows
//! as the CSV.

use super::played::{Detail, mean};
use crate::chart::{Chart, Panel, Series};
use crate::store::Kept;
use std::collections::BTreeMap;

/// A line joins means over so many rounds at most, of a tenth of them.
const WIDEST: usize = 50;
/// More dots than this would be a cloud.
const DOTTED: usize = 400;

/// A round's value of something; none where it has none.
type Value = fn(&Kept) -> Option<f64>;

/// `run` is shown in the title; `bugs` are all of its rows.
pub(super) fn chart(run: &str, bugs: &[Kept]) -> Chart {
    let mut rounds: BTreeMap<u32, Vec<&Kept>> = BTreeMap::new();
    for bug in bugs {
        rounds.entry(bug.round.step).or_default().push(bug);
    }
    let wide = (rounds.len() / 10).clamp(1, WIDEST);
    let series = |name: &str, value: Value| series(name, &rounds, wide, value);
    let rewards = vec![
        series("injector", |kept| kept.round.inject_reward),
        series("solver", |kept| mean(&kept.round.solver_rewards)),
    ];
    let rates = vec![
        series("solved attempts", |kept| kept.round.solve_rate),
        series("valid bugs", |kept| Some(f64::from(Detail::of(&kept.round).valid))),
    ];
    let lines = if wide == 1 {
        "each round".to_owned()
    } else {
        format!("dots: each round; lines: mean of the last {wide} rounds")
    };
    let short: String = run.chars().take(12).collect();
    Chart {
        title: format!("Run {short}, {}", counted(rounds.len(), "round")),
        subtitle: lines,
        across: "round".to_owned(),
        panels: vec![
            Panel { title: "Reward".to_owned(), range: (-1.0, 1.0), series: rewards },
            Panel { title: "Rate".to_owned(), range: (0.0, 1.0), series: rates },
        ],
        marks: Vec::new(),
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A round with several bugs counts as their mean.
fn series(name: &str, rounds: &BTreeMap<u32, Vec<&Kept>>, wide: usize, value: Value) -> Series {
    let of = |(step, bugs): (&u32, &Vec<&Kept>)| {
        let values: Vec<f64> = bugs.iter().filter_map(|bug| value(bug)).collect();
        Some((f64::from(*step), average(&values)?))
    };
    let dots: Vec<(f64, f64)> = rounds.iter().filter_map(of).collect();
    let line = (1..=dots.len()).filter_map(|end| {
        let last: Vec<f64> =
            dots[end.saturating_sub(wide)..end].iter().map(|(_, value)| *value).collect();
        Some((dots[end - 1].0, average(&last)?))
    });
    let line = line.collect();
    let dots = if wide > 1 && dots.len() > DOTTED { Vec::new() } else { dots };
    Series { name: name.to_owned(), line, dots }
}

fn average(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().sum::<f64>() / f64::from(count))
}
