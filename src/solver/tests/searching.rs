//! The search with a scripted screen.

use super::{outcomes, surveyed};
use crate::solver::ranking::{Ranked, Taste};
use crate::solver::search::{Answer, Confirmed, Limits, Outcome, Space, Stages, search};
use crate::verdict::TestId;
use std::collections::BTreeSet;
use std::convert::Infallible;

/// Proposals are numbers, tried in their order; a candidate is the set of them.
struct Numbers(usize);

impl Space for Numbers {
    type Candidate = Vec<usize>;
    fn ranked(&self, accepted: &[usize], _open: &BTreeSet<TestId>) -> Vec<usize> {
        (0..self.0).filter(|number| !accepted.contains(number)).collect()
    }
    fn candidate(&self, proposals: &[usize]) -> Option<Vec<usize>> {
        let mut sorted = proposals.to_vec();
        sorted.sort_unstable();
        Some(sorted)
    }
    fn digest(&self, candidate: &Vec<usize>) -> String {
        format!("{candidate:?}")
    }
}

fn tests(ids: &str) -> BTreeSet<TestId> {
    ids.chars().map(String::from).collect()
}

/// Runs a search in which `passes` says which tests a candidate passes and `right` which candidates
/// are confirmed. Also gives what was screened.
fn run(
    size: usize,
    failing: &str,
    runs: usize,
    passes: &dyn Fn(&[usize]) -> &'static str,
    right: &dyn Fn(&[usize]) -> bool,
) -> (Outcome<Vec<usize>, bool>, Vec<Vec<usize>>) {
    staged(size, failing, runs, passes, right, &|_| Stages::new())
}

/// The same, with where the tests stop.
fn staged(
    size: usize,
    failing: &str,
    runs: usize,
    passes: &dyn Fn(&[usize]) -> &'static str,
    right: &dyn Fn(&[usize]) -> bool,
    stages: &dyn Fn(&[usize]) -> Stages,
) -> (Outcome<Vec<usize>, bool>, Vec<Vec<usize>>) {
    let failing = tests(failing);
    let mut screened = Vec::new();
    let outcome = search(
        &Numbers(size),
        (&failing, &stages(&[])),
        Limits { runs, batch: 4 },
        &mut |candidates| {
            let mut answers = Vec::new();
            for candidate in candidates {
                screened.push(candidate.clone());
                let answer = Answer { passed: tests(passes(candidate)), stages: stages(candidate) };
                let all = answer.passed == failing;
                answers.push(Some(answer));
                if all {
                    break;
                }
            }
            Ok::<_, Infallible>(answers)
        },
        &mut |candidate| {
            let solved = right(candidate);
            Ok(if solved { Confirmed::Solved(true) } else { Confirmed::Refused(false) })
        },
        &|| false,
    );
    (outcome.unwrap(), screened)
}

#[test]
fn the_first_candidate_that_passes_and_is_confirmed_ends_the_search() {
    let passes = |c: &[usize]| if c == [5] { "ab" } else { "" };
    let (outcome, screened) = run(20, "ab", 100, &passes, &|_| true);
    assert_eq!(outcome.judged, Some(true));
    assert_eq!(outcome.candidate, Some(vec![5]));
    assert_eq!((outcome.runs, screened.len()), (6, 6));
}

#[test]
fn the_budget_is_never_exceeded_and_every_screened_candidate_counts() {
    for runs in [0, 1, 3, 4, 7, 10] {
        let (outcome, screened) = run(50, "a", runs, &|_| "", &|_| true);
        assert_ne!(outcome.judged, Some(true));
        assert_eq!((outcome.runs, screened.len()), (runs, runs));
        assert_eq!(outcome.candidate, None);
    }
}

#[test]
fn what_a_screen_does_not_answer_comes_again() {
    let failing = tests("a");
    let mut asked = Vec::new();
    let outcome = search(
        &Numbers(6),
        (&failing, &Stages::new()),
        Limits { runs: 100, batch: 4 },
        &mut |candidates: &[Vec<usize>]| {
            // One answer a batch: the last one's.
            asked.push(candidates.to_vec());
            let mut answers = vec![None; candidates.len()];
            answers[candidates.len() - 1] = Some(Answer::default());
            Ok::<_, Infallible>(answers)
        },
        &mut |_| Ok(Confirmed::<()>::Refused(())),
        &|| false,
    );
    assert_eq!(outcome.unwrap().runs, 6);
    let last: Vec<_> = asked.iter().map(|batch| batch[batch.len() - 1].clone()).collect();
    let all: BTreeSet<_> = last.iter().cloned().collect();
    assert_eq!((last.len(), all.len()), (6, 6), "{asked:?}");
}

#[test]
fn a_screen_that_answers_nothing_ends_the_search() {
    let failing = tests("a");
    let outcome = search(
        &Numbers(6),
        (&failing, &Stages::new()),
        Limits { runs: 100, batch: 4 },
        &mut |candidates: &[Vec<usize>]| Ok::<_, Infallible>(vec![None; candidates.len()]),
        &mut |_| Ok(Confirmed::<()>::Refused(())),
        &|| false,
    );
    assert_eq!(outcome.unwrap().runs, 0);
}

#[test]
fn the_search_ends_when_nothing_is_left() {
    let (outcome, screened) = run(3, "a", 100, &|_| "", &|_| true);
    assert_eq!((outcome.judged, outcome.runs, screened.len()), (None, 3, 3));
}

#[test]
fn a_candidate_that_passes_and_is_refused_does_not_end_the_search() {
    let passes = |c: &[usize]| if c == [1] || c == [6] { "a" } else { "" };
    let (outcome, screened) = run(20, "a", 100, &passes, &|c| c == [6]);
    assert_eq!(outcome.candidate, Some(vec![6]));
    let distinct: BTreeSet<_> = screened.iter().collect();
    assert_eq!(distinct.len(), screened.len(), "nothing is screened twice");
}

#[test]
fn a_refused_candidate_is_what_an_unsolved_attempt_hands_in() {
    let passes = |c: &[usize]| if c == [2] { "a" } else { "" };
    let (outcome, _) = run(6, "a", 100, &passes, &|_| false);
    assert_eq!((outcome.candidate, outcome.judged), (Some(vec![2]), Some(false)));
}

#[test]
fn two_faults_in_one_batch_are_repaired_by_joining_their_repairs() {
    let passes = |c: &[usize]| match (c.contains(&1), c.contains(&2)) {
        (true, true) => "ab",
        (true, false) => "a",
        (false, true) => "b",
        _ => "",
    };
    let (outcome, _) = run(40, "ab", 100, &passes, &|_| true);
    assert_eq!(outcome.candidate, Some(vec![1, 2]));
    assert_eq!(outcome.runs, 5, "the join is tried before anything else");
}

#[test]
fn a_fault_that_shows_only_when_another_is_repaired_is_found_by_climbing() {
    let passes = |c: &[usize]| match (c.contains(&3), c.contains(&9)) {
        (true, true) => "abc",
        (true, false) => "a",
        _ => "",
    };
    let (outcome, screened) = run(40, "abc", 100, &passes, &|_| true);
    assert_eq!(outcome.candidate, Some(vec![3, 9]));
    assert_eq!(outcome.runs, screened.len());
}

#[test]
fn two_faults_that_one_test_shows_are_found_by_getting_further() {
    let passes = |c: &[usize]| if c == [7, 12] { "a" } else { "" };
    let stages = |c: &[usize]| {
        // 3 goes back, 5 changes nothing, 7 goes on; without 7 the rest is not seen.
        let line = if c.contains(&3) {
            2
        } else if c.contains(&7) {
            9
        } else {
            4
        };
        Stages::from([("a".to_owned(), (line, false))])
    };
    let (outcome, _) = staged(40, "a", 100, &passes, &|_| true, &stages);
    assert_eq!(outcome.candidate, Some(vec![7, 12]));
    let nowhere = |_: &[usize]| Stages::from([("a".to_owned(), (4, false))]);
    let (outcome, _) = staged(40, "a", 100, &passes, &|_| true, &nowhere);
    assert_eq!(outcome.candidate, None, "without the stages nothing leads there");
}

#[test]
fn an_unsolved_attempt_hands_in_what_repaired_most() {
    let passes = |c: &[usize]| {
        if c.contains(&4) {
            "ab"
        } else if c.contains(&1) {
            "a"
        } else {
            ""
        }
    };
    let (outcome, _) = run(10, "abc", 60, &passes, &|_| true);
    assert_ne!(outcome.judged, Some(true));
    assert!(outcome.candidate.is_some_and(|candidate| candidate.contains(&4)));
}

#[test]
fn a_wrong_partial_repair_does_not_hide_the_right_one() {
    let passes = |c: &[usize]| match c {
        [0, ..] => "a",
        [30] => "ab",
        _ => "",
    };
    let (outcome, _) = run(40, "ab", 100, &passes, &|_| true);
    assert_eq!(outcome.candidate, Some(vec![30]));
}

#[test]
fn equal_seeds_give_equal_orders_and_attempts_differ() {
    let code = "def f(a, b):\n    if a < b:\n        return a + 1\n    return b - 2\n";
    let test = "from f import f\n\ndef test_f():\n    assert f(1, 2) == 2\n";
    let outcomes = outcomes(&["test_f.py::test_f"], &[]);
    let files = [("f.py", code), ("test_f.py", test)];
    let failing = outcomes.keys().cloned().collect();
    let order = |seed: u64, attempt: usize| {
        let proposals = surveyed(&files, &["test_f.py"], &outcomes, None);
        let ranked = Ranked { proposals: &proposals, taste: Taste::of(seed, attempt) };
        ranked.ranked(&[], &failing)
    };
    assert_eq!(order(1, 0), order(1, 0));
    assert_eq!(order(1, 3), order(1, 3));
    assert_eq!(order(1, 0), order(2, 0), "attempt 0 takes the plain order");
    assert_ne!(order(1, 3), order(2, 3));
    assert_ne!(order(1, 0), order(1, 1));
    assert_ne!(order(1, 1), order(1, 2));
}

#[test]
fn the_parts_never_name_an_artifact() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solver");
    let mut seen = 0;
    for dir in [root.clone(), root.join("templates")] {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            // The benches' own files run what the parts propose, have the judge look at it, or keep what runs
            // said; a model is told nothing but its task.
            let benches =
                ["tests.rs", "together.rs", "by_model.rs", "prepared.rs", "remembered.rs"];
            if !path.is_file() || benches.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for word in ["crate::artifact", "bug_inject", "crate::harness", "crate::workspace"] {
                assert!(!text.contains(word), "{} in {}", word, path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen}");
}
