//! Drafts by seed, targets and their refusals.

use super::super::choice::weighted;
use super::super::code::Reached;
use super::super::draft::draw_file;
use super::super::names::{near_files, near_functions};
use super::super::{Strategy, Target};
use super::{MONEY, Repository, path, python, text};
use crate::dice::Dice;
use std::collections::{BTreeMap, BTreeSet};

fn target(file: &str, symbol: Option<&str>) -> Target {
    Target { file: path(file), symbol: symbol.map(str::to_owned) }
}

/// Lines of the original that a draft of `money.py` changes.
fn changed_lines(draft: &str) -> Vec<usize> {
    let head = MONEY.lines().zip(draft.lines()).take_while(|(old, new)| old == new).count();
    let tail =
        MONEY.lines().rev().zip(draft.lines().rev()).take_while(|(old, new)| old == new).count();
    (head..MONEY.lines().count().saturating_sub(tail)).collect()
}

#[test]
fn the_same_seed_gives_the_same_drafts() {
    for strategy in [Strategy::Direct, Strategy::Removal] {
        let drafts = || Repository::money().drafts(strategy, None, 7, 12);
        assert_eq!(drafts(), drafts());
        assert_ne!(drafts(), Repository::money().drafts(strategy, None, 8, 12));
    }
}

#[test]
fn every_draft_changes_the_file_and_parses() {
    for strategy in [Strategy::Direct, Strategy::Removal] {
        let drafts = Repository::money().drafts(strategy, None, 1, 40);
        assert!(drafts.len() >= 8, "{strategy:?} gave {}", drafts.len());
        for draft in drafts {
            assert_ne!(text(&draft.file), MONEY);
            assert_eq!(python().syntax_errors(&draft.file.bytes), 0, "{}", text(&draft.file));
            assert!(draft.summary.iter().all(|line| line.contains(" in money.py: ")));
        }
    }
}

#[test]
fn direct_mixes_one_to_three_sites() {
    // Three sites are drawn one time in seven: several seeds, since one runs out of sites.
    let drafts =
        (1..=4).flat_map(|seed| Repository::money().drafts(Strategy::Direct, None, seed, 12));
    let sizes: BTreeSet<usize> = drafts.map(|draft| draft.summary.len()).collect();
    assert_eq!(sizes, BTreeSet::from([1, 2, 3]));
}

#[test]
fn no_two_drafts_do_the_same_to_one_function() {
    let drafts = Repository::money().drafts(Strategy::Removal, None, 5, 100);
    let all: Vec<&String> = drafts.iter().flat_map(|draft| &draft.summary).collect();
    let without_line = |line: &&String| line.split(" (line").next().unwrap_or("").to_owned();
    let removals: Vec<String> =
        all.iter().map(without_line).filter(|line| !line.starts_with('`')).collect();
    assert_eq!(removals.len(), removals.iter().collect::<BTreeSet<_>>().len(), "{removals:#?}");
}

#[test]
fn drafts_come_to_an_end() {
    let all = Repository::money().drafts(Strategy::Direct, None, 5, 100_000);
    assert!(all.len() < 100_000);
    assert!(all.len() > 20);
}

#[test]
fn a_target_symbol_confines_the_edits() {
    let target = target("money.py", Some("Account.pay"));
    let first = MONEY.lines().position(|line| line.contains("def pay")).expect("there");
    for strategy in [Strategy::Direct, Strategy::Removal] {
        let drafts = Repository::money().drafts(strategy, Some(&target), 2, 10);
        assert!(!drafts.is_empty());
        for draft in drafts {
            let lines = changed_lines(&text(&draft.file));
            assert!(lines.iter().all(|line| *line >= first), "{}", text(&draft.file));
        }
    }
}

#[track_caller]
fn check_refused(file: &str, symbol: Option<&str>, expect: &str) {
    let target = target(file, symbol);
    let code = [("money.py", MONEY), ("empty.py", "X = None\n"), ("unreached.py", "a = 1 + 2\n")];
    let tests = [("test_money.py", "def test_x():\n    assert True\n"), ("conftest.py", "")];
    let mut repository = Repository::new("python", &code, &tests);
    repository.reach.remove(&path("unreached.py"));
    let refused = repository.survey(Strategy::Direct, Some(&target)).err();
    assert_eq!(refused.as_deref(), Some(expect));
}

#[test]
fn a_target_that_is_not_there_is_refused_with_near_names() {
    check_refused("mony.py", None, "the repository has no file mony.py; near it: money.py");
    check_refused(
        "money.py",
        Some("Acount.pay"),
        "money.py has no function `Acount.pay`; near it: Account.pay",
    );
    check_refused("money.py", Some("zzz"), "money.py has no function `zzz`");
}

#[test]
fn a_target_where_no_bug_belongs_is_refused() {
    check_refused(
        "test_money.py",
        None,
        "test_money.py belongs to the tests, and a bug may change code files only; name a code file",
    );
    check_refused(
        "conftest.py",
        None,
        "conftest.py belongs to the tests, and a bug may change code files only; name a code file",
    );
    check_refused(
        "unreached.py",
        None,
        "no passing test reaches unreached.py, so no bug in it would be noticed; name another file",
    );
}

#[test]
fn a_weighted_choice_follows_the_weights() {
    let mut dice = Dice::new(1);
    let mut counts = [0usize; 3];
    for _ in 0..4000 {
        counts[weighted(&mut dice, &[1.0, 0.0, 3.0]).expect("weights")] += 1;
    }
    assert_eq!(counts[1], 0);
    assert!((800..1200).contains(&counts[0]), "{counts:?}");
    assert_eq!(weighted(&mut dice, &[0.0]), None);
    assert_eq!(weighted(&mut dice, &[]), None);
}

#[test]
fn a_large_file_is_drawn_more_often_but_not_in_proportion() {
    let file = |name: &str, size| Reached { path: path(name), size, tests: Vec::new() };
    let files = [file("large.py", 10_000), file("small.py", 100)];
    let mut dice = Dice::new(2);
    let drawn =
        (0..2000).filter(|_| draw_file(&mut dice, &files, &BTreeSet::new()) == Some(1)).count();
    // 10 of 110 by the root; 1 of 101 in proportion.
    assert!((120..260).contains(&drawn), "{drawn}");
    assert_eq!(draw_file(&mut dice, &files, &BTreeSet::from([0, 1])), None);
}

#[test]
fn near_names_are_near() {
    assert_eq!(near_functions("clmp", ["clamp", "total", "Account.pay"]), ["clamp"]);
    assert_eq!(near_functions("pay", ["clamp", "Account.pay"]), ["Account.pay"]);
    assert_eq!(near_files("src/mony.py", ["src/money.py", "src/other.py"]), ["src/money.py"]);
    assert!(near_functions("qqqq", ["clamp"]).is_empty());
}

#[test]
fn mixed_is_either_by_seed() {
    let sampled = |has_history: bool| -> BTreeSet<&str> {
        (0..20).map(|seed| Strategy::Mixed.sampled(seed, has_history).name()).collect()
    };
    assert_eq!(sampled(false), BTreeSet::from(["direct", "removal"]));
    assert_eq!(sampled(true), BTreeSet::from(["history", "removal"]));
    assert_eq!(Strategy::Direct.sampled(1, true), Strategy::Direct);
    // Without reading it, it is known whether the history matters.
    for seed in 0..20 {
        let same = Strategy::Mixed.sampled(seed, true) == Strategy::Mixed.sampled(seed, false);
        assert_eq!(Strategy::Mixed.may_undo(seed), !same);
    }
}

#[test]
fn a_draft_is_run_by_the_test_files_that_enter_its_functions_and_none_is_made_where_none_does() {
    let code = "const LIMIT: u32 = 3;\nfn used(a: u32) -> u32 {\n    a + 1\n}\n\
                fn unused(a: u32) -> u32 {\n    a + 2\n}\nfn other(a: u32) -> u32 {\n    a + 3\n}\n";
    let tests = [("tests/a.rs", "fn a() {}"), ("tests/b.rs", "fn b() {}")];
    let mut repository = Repository::new("rust", &[("src/lib.rs", code)], &tests);
    let only_a = BTreeSet::from([path("tests/a.rs")]);
    let bodies = BTreeMap::from([(2, only_a), (5, BTreeSet::new())]);
    repository.entered.insert(path("src/lib.rs"), bodies);
    let drafts = repository.drafts(Strategy::Direct, None, 4, 60);
    let both = [path("tests/a.rs"), path("tests/b.rs")];
    let mut seen = BTreeSet::new();
    for draft in &drafts {
        let summary = draft.summary.join("; ");
        assert!(!summary.contains("unused"), "{summary}");
        let elsewhere = summary.contains("other") || summary.contains("top level");
        let expected = if elsewhere { &both[..] } else { &both[..1] };
        assert_eq!(draft.tests, expected, "{summary}");
        seen.insert(elsewhere);
    }
    assert_eq!(seen.len(), 2, "{drafts:?}");
}
