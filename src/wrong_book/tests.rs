//! Which entry is played next, and what makes a new bug: values in, values out.

use super::{Choice, TOP, Unfit, choose, is_new, was_judged};
use crate::dice::Dice;
use crate::grading::Reason;
use crate::store::Entry;
use crate::tree::{Changes, File, RelPath};
use std::collections::BTreeSet;

fn entry(id: &str, fail_count: u64, streak: u32) -> Entry {
    Entry {
        id: id.to_owned(),
        artifact: format!("bug of {id}"),
        base: "base".to_owned(),
        bug_order: 1,
        tree: format!("tree of {id}"),
        patch: b"patch".to_vec(),
        reason: String::new(),
        feeds: true,
        fed: false,
        fail_count,
        streak,
        solved: false,
    }
}

/// `expect`: `2 id` for a second-order bug, `1 id` for the bug again.
#[track_caller]
fn check(entries: &[Entry], expect: Option<&str>) {
    let found = choose(entries, "base", &mut Dice::new(1));
    let found = found.map(|choice| match choice {
        Choice::SecondOrder(entry) => format!("2 {}", entry.id),
        Choice::Again(entry) => format!("1 {}", entry.id),
    });
    assert_eq!(found.as_deref(), expect);
}

#[test]
fn an_entry_that_failed_two_rounds_in_a_row_makes_a_bug_of_its_own() {
    check(&[entry("a", 9, 1), entry("b", 2, 2)], Some("2 b"));
    check(&[entry("a", 2, 3)], Some("2 a"));
}

#[test]
fn an_entry_that_failed_once_is_attempted_again() {
    check(&[entry("a", 9, 1)], Some("1 a"));
    check(&[], None);
}

#[test]
fn what_is_solved_deeper_suspicious_used_or_of_another_tree_is_not_fed_back() {
    check(&[Entry { solved: true, ..entry("a", 9, 2) }], None);
    check(&[Entry { bug_order: 2, ..entry("a", 9, 2) }], None);
    check(&[Entry { bug_order: 2, ..entry("a", 9, 1) }], None);
    check(&[Entry { feeds: false, ..entry("a", 9, 2) }], None);
    check(&[Entry { fed: true, ..entry("a", 9, 2) }], None);
    check(&[Entry { base: "other".to_owned(), ..entry("a", 9, 2) }], None);
}

#[test]
fn only_those_with_the_most_failures_are_drawn_and_the_same_seed_draws_the_same() {
    let entries: Vec<Entry> = (0..20).map(|n| entry(&n.to_string(), 20 - n, 2)).collect();
    let drawn = |seed| match choose(&entries, "base", &mut Dice::new(seed)) {
        Some(Choice::SecondOrder(entry)) => entry.id.clone(),
        other => panic!("{other:?}"),
    };
    let all: BTreeSet<String> = (0..200).map(drawn).collect();
    let top: BTreeSet<String> = entries[..TOP].iter().map(|entry| entry.id.clone()).collect();
    assert_eq!(all, top);
    assert_eq!(drawn(7), drawn(7));
}

#[test]
fn only_a_patch_that_tests_ran_on_is_a_mistake_worth_keeping() {
    assert!(was_judged(&Reason::TestsFailed(vec!["a".to_owned()])));
    assert!(was_judged(&Reason::OtherTests { missing: Vec::new(), unexpected: Vec::new() }));
    for reason in [
        Reason::NoPatch,
        Reason::PatchRefused(String::new()),
        Reason::DoesNotApply(String::new()),
        Reason::NoVerdict(String::new()),
        Reason::Tampered(String::new()),
        Reason::Unplayable(String::new()),
    ] {
        assert!(!was_judged(&reason), "{reason:?}");
    }
}

#[track_caller]
fn check_new(tree: &[(&str, &str)], known: bool, expect: &Result<(), Unfit>) {
    let changes = |files: &[(&str, &str)]| -> Changes {
        let file = |(name, text): &(&str, &str)| {
            (RelPath::parse(name.as_bytes()).unwrap(), Some(File::plain(text.as_bytes())))
        };
        files.iter().map(file).collect()
    };
    let parent = changes(&[("a.py", "bug")]);
    assert_eq!(&is_new(&changes(tree), &parent, &|_| known).map(drop), expect);
}

#[test]
fn a_second_order_bug_is_neither_the_original_nor_its_parent_nor_known() {
    check_new(&[("a.py", "bug"), ("b.py", "mistake")], false, &Ok(()));
    check_new(&[("a.py", "other bug")], false, &Ok(()));
    check_new(&[], false, &Err(Unfit::Original));
    check_new(&[("a.py", "bug")], false, &Err(Unfit::Parent));
    check_new(&[("a.py", "other bug")], true, &Err(Unfit::Known));
}
