//! What each cut leaves of a test.

use super::super::hide::guessed;
use super::super::locate::Place;
use super::super::weaken::{Cut, Weakener};
use super::{TEST_MONEY, only, path, python, text, tree};
use crate::tree::Changes;
use std::collections::{BTreeMap, BTreeSet};

const LOG: &str = "test_money.py:5: \ntest_money.py:8: AssertionError\n";

fn ids(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// All failing tests cut alike.
fn uniform(weakener: &Weakener, cut: Cut) -> BTreeMap<Place, Cut> {
    weakener.failing().keys().map(|place| (*place, cut)).collect()
}

fn weakened(failing: &[&str], log: &str, cut: Cut) -> Option<String> {
    let (languages, tree) = (only("python"), tree(&[("test_money.py", TEST_MONEY)]));
    let files = [path("test_money.py")];
    let weakener = Weakener::new(&tree, &languages, &files, &ids(failing), log.as_bytes());
    let changes: Option<Changes> = weakener.changes(&uniform(&weakener, cut));
    changes?.get(&path("test_money.py")).flatten().map(text)
}

#[track_caller]
fn check(failing: &[&str], cut: Cut, gone: &[&str]) {
    let left = weakened(failing, LOG, cut).expect("something goes");
    let expect: Vec<&str> =
        TEST_MONEY.lines().filter(|line| !gone.contains(&line.trim())).collect();
    let squeeze = |text: &str| {
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(squeeze(&left), squeeze(&expect.join("\n")));
    assert_eq!(python().syntax_errors(left.as_bytes()), 0);
}

const CLAMP: [&str; 2] = ["test_money.py::test_clamp[1]", "test_money.py::test_clamp[2]"];

#[test]
fn the_least_cut_is_the_assertion_that_stopped_the_test_and_those_after_it() {
    check(&CLAMP, Cut::Later, &["assert clamp(-1) == 0", "assert clamp(101) == 100"]);
}

#[test]
fn all_assertions_of_a_test_can_go() {
    let left = weakened(&CLAMP, LOG, Cut::Assertions).expect("something goes");
    assert!(!left.contains("assert clamp"), "{left}");
    assert!(left.contains("assert total(amounts) == 6"), "{left}");
}

#[test]
fn an_emptied_body_still_parses() {
    let left = weakened(&CLAMP, "", Cut::Assertions).expect("something goes");
    assert!(left.contains("def test_clamp(value):\n    pass\n"), "{left}");
}

#[test]
fn a_whole_test_goes_with_its_decorators() {
    let left = weakened(&CLAMP, LOG, Cut::Test).expect("something goes");
    assert!(!left.contains("test_clamp") && !left.contains("parametrize"), "{left}");
    assert!(left.contains("def test_total():"), "{left}");
}

#[test]
fn weakenings_of_several_tests_merge() {
    let failing = ["test_money.py::test_total", "test_money.py::TestAccount::test_pay"];
    check(
        &failing,
        Cut::Assertions,
        &["assert total(amounts) == 6", "assert account.balance == 6"],
    );
    let both =
        ["test_money.py::TestAccount::test_pay", "test_money.py::TestAccount::test_too_much"];
    let left = weakened(&both, LOG, Cut::Test).expect("something goes");
    assert_eq!(python().syntax_errors(left.as_bytes()), 0);
    assert!(!left.contains("test_pay") && !left.contains("test_too_much"), "{left}");
}

#[test]
fn nothing_is_commented_out() {
    for cut in [Cut::Later, Cut::Assertions, Cut::Rest, Cut::Test] {
        let left = weakened(&CLAMP, LOG, cut).expect("something goes");
        assert!(!left.contains('#'), "{cut:?}: {left}");
        assert!(left.len() < TEST_MONEY.len(), "{cut:?}: {left}");
    }
}

#[test]
fn the_rest_of_a_test_goes_from_where_it_stopped() {
    let failing = ["test_money.py::TestAccount::test_pay"];
    let left = weakened(&failing, "test_money.py:20: in test_pay", Cut::Rest).expect("goes");
    assert!(left.contains("account = Account(10)\n"), "{left}");
    assert!(!left.contains("account.pay(4)") && !left.contains("account.balance == 6"), "{left}");
}

#[test]
fn a_test_that_is_not_found_is_left_alone() {
    assert_eq!(weakened(&["test_money.py::test_unknown"], LOG, Cut::Test), None);
}

#[test]
fn the_guess_follows_where_a_test_stopped() {
    let (languages, tree) = (only("python"), tree(&[("test_money.py", TEST_MONEY)]));
    let pay = "test_money.py::TestAccount::test_pay";
    let failing = ids(&[CLAMP[0], CLAMP[1], "test_money.py::test_total", pay]);
    let files = [path("test_money.py")];
    let log = format!("{LOG}test_money.py:20: in test_pay\nmoney.py:3: ValueError\n");
    let weakener = Weakener::new(&tree, &languages, &files, &failing, log.as_bytes());
    let cuts: Vec<Cut> = guessed(&weakener).into_values().collect();
    // Stopped in an assertion, nowhere known, before its assertion.
    assert_eq!(cuts, [Cut::Later, Cut::Assertions, Cut::Rest]);
}

#[test]
fn a_rust_test_loses_its_assertion() {
    let rust = only("rust");
    let source = "#[test]\nfn adds() {\n    let sum = 1 + 1;\n    assert_eq!(sum, 2);\n}\n";
    let tree = tree(&[("tests/it.rs", source)]);
    let files = [path("tests/it.rs")];
    let weakener =
        Weakener::new(&tree, &rust, &files, &ids(&["it::adds"]), b"panicked at tests/it.rs:4:5:");
    let changes = weakener.changes(&uniform(&weakener, Cut::Later)).expect("something goes");
    let left = changes.get(&files[0]).flatten().map(text);
    assert_eq!(left.as_deref(), Some("#[test]\nfn adds() {\n    let sum = 1 + 1;\n}\n"));
}
