//! What a round comes to, from values alone.

use super::{begun, solve_rate};
use crate::consistency::Minima;
use crate::grading::Reason;
use crate::injector::{Counts, NotInjected, Request, Strategy};
use crate::reward::Scheme;
use crate::solver::{self, Attempt};

fn attempt(solved: bool) -> Attempt {
    Attempt {
        solved,
        reward: if solved { 1.0 } else { -1.0 },
        patch: String::new(),
        runs: 0,
        reason: if solved { Reason::Solved } else { Reason::NoPatch },
        flags: Vec::new(),
        bill: None,
        drawn: None,
        policy: None,
        kinds: std::collections::BTreeMap::new(),
    }
}

#[track_caller]
fn check(solved: usize, of: usize, expect: Option<f64>) {
    let attempts: Vec<Attempt> = (0..of).map(|index| attempt(index < solved)).collect();
    assert_eq!(solve_rate(&attempts).ok(), expect);
}

#[test]
fn the_solve_rate_is_the_share_of_attempts_that_solved() {
    check(0, 8, Some(0.0));
    check(2, 8, Some(0.25));
    check(8, 8, Some(1.0));
}

#[test]
fn a_round_without_attempts_has_no_solve_rate() {
    check(0, 0, None);
}

#[test]
fn a_round_without_a_bug_is_invalid_and_says_why() {
    let rules = super::Rules {
        injector: Request {
            strategy: Strategy::Mixed,
            seed: 3,
            target: None,
            changed_files: 1,
            failing_tests: 1,
            passing_tests: 5,
            candidates: 10,
            history: None,
        },
        solver: solver::Request { attempts: 8, seed: 3, runs: Some(10), parallel: 1 },
        minima: Minima::default(),
        scheme: Scheme { alpha: 0.8, invalid: -1.0 },
    };
    let counts = Counts { proposed: 4, unnoticed: 4, ..Counts::default() };
    let round = begun(
        Err(NotInjected { reason: "no test noticed".to_owned(), counts, tried: Vec::new() }),
        &rules,
        -1.0,
    );
    assert!(!round.is_valid());
    assert_eq!(round.inject_reward, Some(-1.0));
    assert_eq!(round.summary, "no test noticed");
    assert_eq!(round.counts.unnoticed, 4);
    assert_ne!(round.strategy, Strategy::Mixed);
    assert!(round.solve_rate.is_none());
}
