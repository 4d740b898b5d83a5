//! What goes wrong in a run so far, told with the knob to turn.

use super::played::Detail;
use super::score::ratio;
use crate::store::{Difference, Kept};

/// Solve rates in a row that are all 0 or all 1 before somebody is told.
const STUCK: usize = 5;
/// Injected bugs that are compared with as many before them.
const WINDOW: usize = 10;
/// By how much a share must have moved.
const MOVED: f64 = 0.25;

/// Something that a person may want to change.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Warning {
    /// `solve_rate_stuck`, `valid_rate_falls`, `duplicate_rate_rises` or `fast_ways_differ`.
    pub kind: &'static str,
    /// The solve rate, or the share now; of `fast_ways_differ`, how many valid bugs are kept so far.
    pub value: f64,
    /// One sentence with the knob to turn.
    pub text: String,
}

/// What an audit found, and what follows from it. `valid`: bugs that are kept as valid so far.
pub(super) fn differs(difference: &Difference, valid: u64) -> Warning {
    let text = format!(
        "{}, and it was judged by what the plain runs said; the {valid} valid bugs that are kept so far were \
         judged the fast way, but for the one in twenty that was audited: `ssr-mcp check` judges one plainly",
        stopped(difference)
    );
    #[expect(clippy::cast_precision_loss, reason = "a number of bugs")]
    Warning { kind: "fast_ways_differ", value: valid as f64, text }
}

/// That the fast ways are not taken any more, and why.
pub(super) fn stopped(difference: &Difference) -> String {
    let Difference { framework, artifact, found, .. } = difference;
    format!(
        "the fast ways of checking are not taken in this repository with {framework}, every bug is checked by \
         plain runs of the whole suite, since they said something else of the bug {}: {found}",
        artifact.get(..12).unwrap_or(artifact)
    )
}

/// What the last of a run's bugs shows. Each trouble is told when it begins and then once a window,
/// not with every round.
pub(super) fn warnings(kept: &[Kept]) -> Vec<Warning> {
    stuck(kept).into_iter().chain(shares(kept)).collect()
}

/// Solve rates of second-order bugs and of bugs attempted again say nothing of the injector.
fn stuck(kept: &[Kept]) -> Option<Warning> {
    kept.last().filter(|last| is_injected(last))?.round.solve_rate?;
    let rates: Vec<f64> =
        kept.iter().filter(|k| is_injected(k)).filter_map(|k| k.round.solve_rate).collect();
    let last = *rates.last()?;
    let text = match last {
        0.0 => {
            "give the attempts more --runs, aim at smaller bugs with --strategy direct, narrow --target, or take \
             another model as --solver"
        }
        1.0 => {
            "ask for harder bugs with --strategy removal or --min-changed-files 2, give the attempts fewer --runs, or \
             take another model as --injector"
        }
        _ => return None,
    };
    let same = rates.iter().rev().take_while(|rate| rate.total_cmp(&last).is_eq()).count();
    same.is_multiple_of(STUCK).then(|| Warning {
        kind: "solve_rate_stuck",
        value: last,
        text: format!("the last {same} valid bugs have a solve rate of {last}: {text}"),
    })
}

fn shares(kept: &[Kept]) -> Vec<Warning> {
    let injected: Vec<Detail> =
        kept.iter().filter(|kept| is_injected(kept)).map(|kept| Detail::of(&kept.round)).collect();
    let due = kept.last().is_some_and(is_injected) && injected.len().is_multiple_of(WINDOW);
    if !due || injected.len() < 2 * WINDOW {
        return Vec::new();
    }
    let (rest, now) = injected.split_at(injected.len() - WINDOW);
    let before = &rest[rest.len() - WINDOW..];
    let mut found = Vec::new();
    let valid = |rows: &[Detail]| ratio(rows.iter().filter(|row| row.valid).count(), rows.len());
    let (was, is) = (valid(before), valid(now));
    if was - is >= MOVED {
        found.push(Warning {
            kind: "valid_rate_falls",
            value: is,
            text: format!(
                "{is} of the last {WINDOW} bugs are valid, {was} of the {WINDOW} before: lower \
                 --min-failing-tests or --min-passing-tests, widen --target, or change --strategy"
            ),
        });
    }
    let doubled = |rows: &[Detail]| {
        let proposed: usize = rows.iter().map(|row| row.proposed).sum();
        ratio(rows.iter().map(|row| row.duplicates).sum(), proposed.max(1))
    };
    let (was, is) = (doubled(before), doubled(now));
    if is - was >= MOVED {
        found.push(Warning {
            kind: "duplicate_rate_rises",
            value: is,
            text: format!(
                "{is:.2} of the candidates in the last {WINDOW} rounds were known already, {was:.2} in the \
                 {WINDOW} before: widen --target, change --strategy, or ask for --min-changed-files 2"
            ),
        });
    }
    found
}

fn is_injected(kept: &Kept) -> bool {
    kept.round.kind == "bug"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Round;

    fn kept(kind: &str, solve_rate: Option<f64>, valid: bool, duplicates: usize) -> Kept {
        let detail = Detail { valid, proposed: 10, duplicates, ..Detail::default() };
        let round = Round {
            run: Some("run".to_owned()),
            step: 1,
            item: 0,
            kind: kind.to_owned(),
            bug_order: 1,
            artifact: None,
            strategy: "direct".to_owned(),
            seed: 0,
            inject_reward: None,
            solve_rate,
            solver_rewards: Vec::new(),
            seconds: 0.0,
            detail: serde_json::to_string(&detail).unwrap(),
        };
        Kept { number: 1, round, wrong_book_size: 0 }
    }

    #[track_caller]
    fn check(rows: &[Kept], expect: &[&str]) {
        let kinds: Vec<_> = warnings(rows).iter().map(|warning| warning.kind).collect();
        assert_eq!(kinds, expect);
    }

    fn rated(kind: &str, rate: f64, times: usize) -> Vec<Kept> {
        vec![kept(kind, Some(rate), true, 0); times]
    }

    #[test]
    fn a_solve_rate_that_does_not_move_is_told_once_a_window() {
        check(&rated("bug", 0.0, 4), &[]);
        check(&rated("bug", 0.0, 5), &["solve_rate_stuck"]);
        check(&rated("bug", 1.0, 5), &["solve_rate_stuck"]);
        check(&rated("bug", 0.0, 6), &[]);
        check(&rated("bug", 0.0, 10), &["solve_rate_stuck"]);
        check(&rated("bug", 0.5, 5), &[]);
        check(&[rated("bug", 1.0, 1), rated("bug", 0.0, 4)].concat(), &[]);
    }

    #[test]
    fn an_invalid_bug_and_one_of_the_wrong_book_say_nothing_of_the_solve_rate() {
        let invalid = vec![kept("bug", None, false, 0)];
        check(
            &[rated("bug", 0.0, 3), invalid.clone(), rated("bug", 0.0, 2)].concat(),
            &["solve_rate_stuck"],
        );
        check(&[rated("bug", 0.0, 5), invalid].concat(), &[]);
        check(&[rated("bug", 0.0, 4), rated("second_order", 0.0, 3)].concat(), &[]);
        check(&rated("again", 0.0, 5), &[]);
    }

    #[test]
    fn a_falling_valid_rate_is_told() {
        let good = vec![kept("bug", Some(0.5), true, 0); 10];
        let bad = vec![kept("bug", None, false, 0); 4];
        check(&[good.clone(), good[..6].to_vec(), bad.clone()].concat(), &["valid_rate_falls"]);
        check(&[good.clone(), good[..8].to_vec(), bad[..2].to_vec()].concat(), &[]);
        check(&[bad, good.clone(), good[..6].to_vec()].concat(), &[]);
    }

    #[test]
    fn a_rising_share_of_duplicates_is_told() {
        let few = vec![kept("bug", Some(0.5), true, 1); 10];
        let many = vec![kept("bug", Some(0.5), true, 4); 10];
        check(&[few.clone(), many.clone()].concat(), &["duplicate_rate_rises"]);
        check(&[many, few].concat(), &[]);
    }
}
