//! Pure tests of undoing: texts in, texts out.

mod drafting;
mod mapping;

use super::rank::weight;
use super::renames::{applied, between};
use super::similarity::{Changed, similarity};
use crate::workspace::Commit;

fn commit(message: &str, touched: usize) -> Commit {
    Commit {
        id: "1".repeat(40),
        summary: message.lines().next().unwrap_or_default().to_owned(),
        message: message.to_owned(),
        touched,
        added_tests: false,
        wrote: false,
        files: Vec::new(),
        gone: Vec::new(),
    }
}

#[track_caller]
fn heavier(one: (&str, usize, bool, usize), other: (&str, usize, bool, usize)) {
    let of = |(message, lines, tests, age): (&str, usize, bool, usize)| {
        weight(&commit(message, 2), lines, tests, age, 10)
    };
    assert!(of(one) > of(other), "{one:?} {} against {other:?} {}", of(one), of(other));
    assert!(of(other) > 0.0);
}

#[test]
fn fixes_small_tested_and_recent_commits_are_drawn_sooner() {
    heavier(("Fix the sum", 5, false, 0), ("Add a sum", 5, false, 0));
    heavier(("an off by one in pages", 5, false, 0), ("handle pages", 5, false, 0));
    heavier(("handle pages", 5, false, 0), ("pages", 5, false, 0));
    heavier(("pages\n\nCloses issue 12.", 5, false, 0), ("pages", 5, false, 0));
    heavier(("sum", 5, true, 0), ("sum", 5, false, 0));
    heavier(("sum", 5, false, 0), ("sum", 50, false, 0));
    heavier(("sum", 50, false, 0), ("sum", 500, false, 0));
    heavier(("sum", 5, false, 0), ("sum", 5, false, 9));
    heavier(("sum", 5, false, 0), ("bump the version", 5, false, 0));
    // A word counts from its start.
    heavier(("fixed", 5, false, 0), ("prefix", 5, false, 0));
}

#[test]
fn what_wrote_lines_of_the_target_is_drawn_sooner() {
    let plain = commit("sum", 2);
    let wrote = Commit { wrote: true, ..plain.clone() };
    assert!(weight(&wrote, 5, false, 9, 10) > weight(&plain, 5, true, 9, 10));
}

#[test]
fn names_that_gave_way_to_one_name_are_renamed() {
    let from = b"def fmt(a):\n    return fmt(a) + b\nx = 1\n";
    let to = b"def show(a):\n    return show(a) + c\nx = 1\n";
    let renames = between(from, to);
    let expect = [(b"b".to_vec(), b"c".to_vec()), (b"fmt".to_vec(), b"show".to_vec())];
    assert_eq!(renames, expect.into());
    assert_eq!(applied(b"fmt(fmt2, b.fmt)", &renames), b"show(fmt2, c.show)");
}

#[test]
fn a_name_that_stays_or_was_there_before_is_no_rename() {
    // `a` is still there; `b` gave way to two names; `d` was there before; the last lines differ in
    // more than names.
    let from = b"a = 1\nprint(a)\nb = 2\nb = 3\nc = d\nend(e)\n";
    let to = b"z = 1\nprint(a)\ny = 2\nw = 3\nd = d\nend[f]\n";
    assert!(between(from, to).is_empty(), "{:?}", between(from, to));
}

#[track_caller]
fn check_similarity(bug: (&str, &str), commit: (&str, &str), expect: f64) {
    let changed = |from: &str, to: &str| {
        let mut changed = Changed::default();
        changed.add(from.as_bytes(), to.as_bytes());
        changed
    };
    // The commit's reversal leads from its new side to its old one.
    let found = similarity(&changed(bug.0, bug.1), &changed(commit.1, commit.0));
    assert!((found - expect).abs() < 1e-9, "{found} instead of {expect}");
}

#[test]
fn similarity_is_one_for_the_exact_reversal_and_zero_for_another_change() {
    let (old, new) = ("a\nb\nc\n", "a\nB\nc\n");
    check_similarity((new, old), (old, new), 1.0);
    // Elsewhere in the file, at another depth, with another end of line.
    check_similarity(("x\n  B\r\ny\n", "x\n  b\r\ny\n"), (old, new), 1.0);
    check_similarity((old, new), (old, new), 0.0);
    check_similarity(("x\n", "y\n"), (old, new), 0.0);
    // One of two lines taken back: 2 of 2 lines of the bug, 2 of 4 of the reversal.
    check_similarity(("A\nB\n", "A\nb\n"), ("a\nb\n", "A\nB\n"), 2.0 * 2.0 / 6.0);
    // Counted as often as they stand.
    check_similarity(("x\nx\nx\n", "x\n"), ("x\n", "x\nx\n"), 2.0 / 3.0);
}
