//! Which drafts make a bug together, and which test files its script runs.

use super::super::Strategy;
use super::super::bench::widened;
use super::super::candidate::Candidate;
use super::super::draft::Draft;
use super::super::inverse::{Noticed, combine, each_matters};
use super::path;
use crate::tree::{File, RelPath};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// `money.py a b`: a draft of that file that makes tests a and b fail.
fn parse(drafts: &[&str]) -> Vec<(RelPath, BTreeSet<String>)> {
    drafts
        .iter()
        .map(|draft| {
            let mut words = draft.split(' ');
            let file = path(words.next().expect("a file"));
            (file, words.map(str::to_owned).collect())
        })
        .collect()
}

fn noticed(drafts: &[(RelPath, BTreeSet<String>)]) -> Vec<Noticed<'_>> {
    drafts.iter().map(|(path, failing)| Noticed { path, failing }).collect()
}

#[track_caller]
fn check(drafts: &[&str], count: usize, expect: Option<&[usize]>) {
    let drafts = parse(drafts);
    assert_eq!(combine(&noticed(&drafts), count).as_deref(), expect);
}

#[test]
fn one_noticed_draft_is_a_bug_of_one_file() {
    check(&["a.py x"], 1, Some(&[0]));
    check(&["a.py x", "b.py y"], 1, Some(&[1]));
    check(&["a.py"], 1, None);
}

#[test]
fn two_drafts_combine_where_each_has_a_failing_test_of_its_own() {
    check(&["a.py x s", "b.py y s"], 2, Some(&[0, 1]));
    check(&["a.py x", "b.py x y"], 2, None);
    check(&["a.py x", "b.py x"], 2, None);
}

#[test]
fn two_drafts_of_one_file_do_not_combine() {
    check(&["a.py x", "a.py y"], 2, None);
    check(&["a.py x", "a.py y", "b.py z"], 2, Some(&[0, 2]));
}

#[test]
fn three_drafts_combine_past_one_that_does_not_fit() {
    check(&["a.py x", "b.py x", "c.py y", "d.py z"], 3, Some(&[0, 2, 3]));
    check(&["a.py x", "b.py x", "c.py x y"], 3, None);
}

#[test]
fn the_newest_draft_is_always_in() {
    check(&["a.py x", "b.py y", "c.py x"], 2, Some(&[1, 2]));
}

proptest! {
    #[test]
    fn whatever_combines_passes_the_inverse_rule(
        failing in prop::collection::vec(prop::collection::btree_set(0u8..6, 0..4), 1..7),
        count in 1usize..4,
    ) {
        let drafts: Vec<(RelPath, BTreeSet<String>)> = failing
            .iter()
            .enumerate()
            .map(|(index, tests)| {
                let file = path(&format!("f{}.py", index % 4));
                (file, tests.iter().map(ToString::to_string).collect())
            })
            .collect();
        let all = noticed(&drafts);
        if let Some(chosen) = combine(&all, count) {
            prop_assert_eq!(chosen.len(), count);
            let picked: Vec<Noticed<'_>> = chosen
                .iter()
                .map(|index| Noticed { path: all[*index].path, failing: all[*index].failing })
                .collect();
            prop_assert!(each_matters(&picked));
            // Restoring one file leaves a test that only it breaks.
            for (index, draft) in picked.iter().enumerate() {
                let others: BTreeSet<&String> = picked
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != index)
                    .flat_map(|(_, other)| other.failing)
                    .collect();
                prop_assert!(draft.failing.iter().any(|test| !others.contains(test)));
            }
        }
    }
}

#[test]
fn a_candidate_does_not_depend_on_the_order_of_its_drafts() {
    let draft = |name: &str, what: &str| Draft {
        path: path(name),
        file: File::plain(what.as_bytes().to_vec()),
        tests: vec![path("t.py")],
        summary: vec![format!("{what} in {name}: f (line 1)")],
        commits: Vec::new(),
        drawn: None,
    };
    let one = Candidate::of([draft("b.py", "x"), draft("a.py", "y")]);
    let other = Candidate::of([draft("a.py", "y"), draft("b.py", "x")]);
    assert_eq!(one.changes().digest(), other.changes().digest());
    assert_eq!(
        one.summary(Strategy::Direct),
        "direct: y in a.py: f (line 1); x in b.py: f (line 1)"
    );
}

/// Test files named for the number of their tests.
#[track_caller]
fn check_widened(files: &[&str], least: usize, expect: &[&str]) {
    let set = |names: &[&str]| names.iter().map(|name| path(name)).collect::<BTreeSet<_>>();
    let count = |files: &[RelPath]| {
        files.iter().map(|file| file.as_str().parse::<usize>().expect("a number")).sum()
    };
    let all = set(&["1", "2", "3", "9"]);
    assert_eq!(
        widened(&set(files), &all, least, &count),
        expect.iter().map(|name| path(name)).collect::<Vec<_>>()
    );
}

#[test]
fn a_script_with_too_few_tests_gets_the_smallest_file_that_is_enough() {
    check_widened(&["9"], 5, &["9"]);
    check_widened(&["3"], 5, &["2", "3"]);
    check_widened(&["1"], 5, &["1", "9"]);
    check_widened(&["3"], 14, &["2", "3", "9"]);
    check_widened(&["1"], 100, &["1", "2", "3", "9"]);
}
