//! Rewards against the numbers of the paper and its closed form.

use crate::reward::*;
use proptest::prelude::*;

#[track_caller]
fn check(scheme: Scheme, rate: Option<f64>, expect: f64) {
    let reward = scheme.injector(rate).expect("a valid scheme and rate");
    assert!((reward - expect).abs() < 1e-12, "{rate:?} gives {reward}, not {expect}");
}

#[track_caller]
fn near(value: Result<f64, Refusal>, expect: f64, tolerance: f64) {
    let value = value.expect("accepted");
    assert!((value - expect).abs() <= tolerance, "{value} is not {expect}");
}

#[test]
fn the_injector_is_paid_by_equation_one() {
    let scheme = Scheme::default();
    check(scheme, None, -1.0);
    check(scheme, Some(0.0), -0.8);
    check(scheme, Some(1.0), -0.8);
    check(scheme, Some(0.125), 0.775);
    check(scheme, Some(0.25), 0.55);
    check(scheme, Some(0.5), 0.1);
    check(scheme, Some(0.875), -0.575);
}

#[test]
fn alpha_and_the_invalid_reward_are_the_callers() {
    let scheme = Scheme { alpha: 0.3, invalid: -2.5 };
    check(scheme, None, -2.5);
    check(scheme, Some(0.0), -0.3);
    check(scheme, Some(1.0), -0.3);
    check(scheme, Some(0.5), 0.35);
    check(Scheme { alpha: 0.0, ..scheme }, Some(0.25), 0.75);
    check(Scheme { alpha: 0.0, ..scheme }, Some(0.0), 0.0);
    check(Scheme { alpha: 1.0, ..scheme }, Some(0.25), 0.5);
}

#[test]
fn all_and_none_cost_alpha_to_the_last_bit() {
    let scheme = Scheme { alpha: 0.3, ..Scheme::default() };
    assert_eq!(scheme.injector(Some(1.0)), Ok(-0.3));
    assert_eq!(scheme.injector(Some(0.0)), Ok(-0.3));
}

#[test]
fn the_solver_gets_one_or_minus_one() {
    assert!((solver(true) - 1.0).abs() < f64::EPSILON);
    assert!((solver(false) + 1.0).abs() < f64::EPSILON);
}

/// Attempts, best rate, expected reward there at α 0.8 and at α 0.3, chance that none solves.
const TABLE: [(usize, f64, f64, f64, f64); 7] = [
    (2, 0.500, -0.35, 0.03, 0.25),
    (3, 0.423, -0.11, 0.20, 0.19),
    (4, 0.370, 0.05, 0.31, 0.16),
    (6, 0.301, 0.25, 0.46, 0.12),
    (8, 0.257, 0.37, 0.55, 0.09),
    (12, 0.202, 0.52, 0.65, 0.07),
    (16, 0.169, 0.60, 0.71, 0.05),
];

#[test]
fn the_best_solve_rate_and_its_reward_match_the_closed_form() {
    for (attempts, best, at_eight, at_three, none) in TABLE {
        near(best_solve_rate(attempts), best, 0.000_51);
        let best = best_solve_rate(attempts).unwrap();
        near(expected(best, attempts, 0.8), at_eight, 0.005_01);
        near(expected(best, attempts, 0.3), at_three, 0.005_01);
        let failures = (1.0 - best).powi(i32::try_from(attempts).unwrap());
        near(Ok(failures), none, 0.005_01);
    }
}

#[test]
fn with_one_attempt_every_rate_costs_alpha_and_the_best_is_a_limit() {
    near(best_solve_rate(1), 0.632_120_558_828_557_7, 1e-12);
    for p in [0.0, 0.25, 0.632, 1.0] {
        near(expected(p, 1, 0.8), -0.8, 1e-12);
    }
}

#[test]
fn eight_attempts_pay_between_nine_and_fifty_five_percent() {
    for (p, positive) in [(0.091, false), (0.093, true), (0.553, true), (0.555, false)] {
        assert_eq!(expected(p, 8, 0.8).unwrap() > 0.0, positive, "{p}");
    }
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    let scheme = Scheme::default();
    for rate in [-0.001, 1.001, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(scheme.injector(Some(rate)), Err(Refusal::SolveRate(rate)));
        assert_eq!(expected(rate, 8, 0.8), Err(Refusal::SolveRate(rate)));
    }
    assert!(matches!(scheme.injector(Some(f64::NAN)), Err(Refusal::SolveRate(_))));
    for alpha in [-0.001, 1.001, f64::INFINITY] {
        let scheme = Scheme { alpha, ..scheme };
        assert_eq!(scheme.injector(Some(0.5)), Err(Refusal::Alpha(alpha)));
        assert_eq!(scheme.injector(None), Err(Refusal::Alpha(alpha)));
    }
    let nan = Scheme { alpha: f64::NAN, ..scheme };
    assert!(matches!(nan.injector(Some(0.5)), Err(Refusal::Alpha(_))));
    for invalid in [f64::NAN, f64::INFINITY] {
        let scheme = Scheme { invalid, ..scheme };
        assert!(matches!(scheme.injector(Some(0.5)), Err(Refusal::Invalid(_))));
    }
    assert_eq!(best_solve_rate(0), Err(Refusal::NoAttempts));
    assert_eq!(expected(0.5, 0, 0.8), Err(Refusal::NoAttempts));
}

proptest! {
    #[test]
    fn a_valid_bug_is_paid_between_minus_alpha_and_one(alpha in 0.0..=1.0, rate in 0.0..=1.0) {
        let reward = Scheme { alpha, invalid: -1.0 }.injector(Some(rate)).unwrap();
        prop_assert!((-alpha..=1.0).contains(&reward), "{reward}");
    }

    #[test]
    fn no_rate_pays_more_than_the_best(attempts in 2usize..64, alpha in 0.0..=1.0, rate in 0.0..=1.0) {
        let best = expected(best_solve_rate(attempts).unwrap(), attempts, alpha).unwrap();
        prop_assert!(expected(rate, attempts, alpha).unwrap() <= best + 1e-12);
    }

    #[test]
    fn the_expected_reward_is_the_mean_over_the_attempts(p in 0.0..=1.0_f64, attempts in 1usize..12) {
        let n = i32::try_from(attempts).unwrap();
        let mut chance = (1.0 - p).powi(n);
        let mut mean = 0.0;
        for solved in 0..=n {
            let rate = f64::from(solved) / f64::from(n);
            mean += chance * Scheme::default().injector(Some(rate)).unwrap();
            // The next binomial term, from its own definition where p is 1.
            let terms = (0..=solved).map(|k| f64::from(n - k) / f64::from(k + 1)).product::<f64>();
            chance = terms * p.powi(solved + 1) * (1.0 - p).powi(n - solved - 1);
        }
        let closed = expected(p, attempts, 0.8).unwrap();
        prop_assert!((mean - closed).abs() < 1e-9, "{mean} {closed}");
    }
}
