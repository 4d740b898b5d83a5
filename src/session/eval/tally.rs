//! What an evaluation comes to: repair rates with intervals, and the curve over test runs. Pure.

use crate::dice::Dice;
use std::collections::BTreeMap;

/// Of a normal distribution: 95 % lie within so many deviations.
const Z: f64 = 1.959_963_984_540_054;
/// Draws of packages for an interval.
const RESAMPLES: usize = 10_000;
/// Seed of these draws: equal outcomes have equal intervals.
const SEED: u64 = 7;

/// A share with its 95 % interval.
#[derive(
    Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Rate {
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

/// How an interval was made.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// One package: cases count as independent.
    Wilson,
    /// Several packages: they are drawn with replacement, each with all its cases, since the bugs of one
    /// have much in common.
    BootstrapOverPackages,
}

/// One case's share of repairs (1 or 0 where it was attempted once).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) package: String,
    pub(crate) repaired: f64,
}

/// `None` where there is no case.
pub(crate) fn rate(shares: &[Share]) -> Option<(Rate, Interval)> {
    if shares.is_empty() {
        return None;
    }
    let mut packages: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for share in shares {
        let of = packages.entry(&share.package).or_default();
        *of = (of.0 + share.repaired, of.1 + 1.0);
    }
    let packages: Vec<(f64, f64)> = packages.into_values().collect();
    let (repaired, cases) = sum(packages.iter().copied());
    if packages.len() == 1 {
        let (low, high) = wilson(repaired, cases);
        return Some((Rate { rate: repaired / cases, low, high }, Interval::Wilson));
    }
    let (low, high) = bootstrap(&packages);
    let rate = Rate { rate: repaired / cases, low, high };
    Some((rate, Interval::BootstrapOverPackages))
}

/// The mean of differences, case by case, with an interval of draws of whole packages, or of cases where all
/// are of one. `None` where there is no case.
pub(crate) fn difference(apart: &[Share]) -> Option<Rate> {
    if apart.is_empty() {
        return None;
    }
    let one = apart.iter().all(|share| share.package == apart[0].package);
    let mut drawn: BTreeMap<(&str, usize), (f64, f64)> = BTreeMap::new();
    for (number, share) in apart.iter().enumerate() {
        let of = drawn.entry((&share.package, if one { number } else { 0 })).or_default();
        *of = (of.0 + share.repaired, of.1 + 1.0);
    }
    let drawn: Vec<(f64, f64)> = drawn.into_values().collect();
    let (whole, cases) = sum(drawn.iter().copied());
    let (low, high) = bootstrap(&drawn);
    Some(Rate { rate: whole / cases, low, high })
}

fn sum(packages: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    packages.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// The score interval (Wilson 1927).
fn wilson(repaired: f64, cases: f64) -> (f64, f64) {
    let rate = repaired / cases;
    let spread = Z * Z / cases;
    let middle = (rate + spread / 2.0) / (1.0 + spread);
    let half = Z * (rate * (1.0 - rate) / cases + spread / (4.0 * cases)).sqrt() / (1.0 + spread);
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// Percentiles of the rate over draws of as many packages (or cases) as there are.
fn bootstrap(packages: &[(f64, f64)]) -> (f64, f64) {
    let mut dice = Dice::new(SEED).fork("packages");
    let mut rates: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (repaired, cases) =
                sum((0..packages.len()).map(|_| packages[dice.below(packages.len())]));
            repaired / cases
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    (rates[RESAMPLES / 40], rates[RESAMPLES - 1 - RESAMPLES / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(list: &[(&str, f64)]) -> Vec<Share> {
        let share = |(package, repaired): &(&str, f64)| Share {
            package: (*package).to_owned(),
            repaired: *repaired,
        };
        list.iter().map(share).collect()
    }

    #[track_caller]
    fn check(list: &[(&str, f64)], expect: &str) {
        let got = rate(&shares(list)).map_or("none".to_owned(), |(rate, interval)| {
            format!("{:.3} [{:.3}, {:.3}] {interval:?}", rate.rate, rate.low, rate.high)
        });
        assert_eq!(got, expect);
    }

    #[test]
    fn no_case_has_no_rate() {
        check(&[], "none");
    }

    #[test]
    fn one_package_has_the_score_interval() {
        // 8 of 10, as in every table of it.
        let mut cases = vec![("a", 1.0); 8];
        cases.extend([("a", 0.0); 2]);
        check(&cases, "0.800 [0.490, 0.943] Wilson");
        check(&[("a", 0.0); 10], "0.000 [0.000, 0.278] Wilson");
    }

    #[test]
    fn packages_that_differ_make_the_interval_wide() {
        let mut apart = vec![("a", 1.0); 50];
        apart.extend([("b", 0.0); 50]);
        check(&apart, "0.500 [0.000, 1.000] BootstrapOverPackages");
        let mut alike = Vec::new();
        for package in ["a", "b", "c", "d"] {
            alike.extend([(package, 1.0), (package, 0.0)]);
        }
        check(&alike, "0.500 [0.500, 0.500] BootstrapOverPackages");
    }

    #[test]
    fn a_difference_is_paired_and_drawn_by_packages_or_else_by_cases() {
        assert_eq!(difference(&[]), None);
        // Every package has the same lead, however its cases differ.
        let mut same = Vec::new();
        for package in ["a", "b", "c"] {
            same.extend([(package, 1.0), (package, 0.0), (package, -1.0), (package, 1.0)]);
        }
        let of = difference(&shares(&same)).unwrap();
        assert_eq!(
            format!("{:.3} [{:.3}, {:.3}]", of.rate, of.low, of.high),
            "0.250 [0.250, 0.250]"
        );
        // The cases of one package stand for themselves.
        let alone = difference(&shares(&same[..4])).unwrap();
        assert!(alone.low < 0.0 && alone.high > 0.5, "{alone:?}");
    }
}
