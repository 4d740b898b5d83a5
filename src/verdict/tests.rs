//! Outcomes, duplicates and comparisons.

use super::*;
use Outcome::{Error, Failed, Missing, Passed, Skipped};

fn run(reports: &[(&str, Outcome)]) -> Verdicts {
    reports.iter().map(|(id, outcome)| ((*id).to_owned(), *outcome)).collect()
}

#[track_caller]
fn check(before: Outcome, after: Outcome, expect: &str) {
    let changed = compare(&run(&[("t", before)]), &run(&[("t", after)]));
    let lists = [
        ("fail_to_pass", changed.fail_to_pass),
        ("pass_to_pass", changed.pass_to_pass),
        ("pass_to_fail", changed.pass_to_fail),
        ("went_missing", changed.went_missing),
    ];
    let holding: Vec<_> =
        lists.iter().filter(|(_, ids)| *ids == ["t"]).map(|(name, _)| *name).collect();
    assert_eq!(holding.join(" "), expect, "{before:?} to {after:?}");
    let others = lists.iter().filter(|(_, ids)| !ids.is_empty()).count();
    assert_eq!(others, holding.len(), "{before:?} to {after:?}");
}

#[test]
fn every_pair_of_outcomes_has_its_list() {
    check(Passed, Passed, "pass_to_pass");
    check(Passed, Failed, "pass_to_fail");
    check(Passed, Error, "pass_to_fail");
    check(Passed, Skipped, "");
    check(Passed, Missing, "went_missing");
    for failing in [Failed, Error] {
        check(failing, Passed, "fail_to_pass");
        check(failing, Failed, "");
        check(failing, Error, "");
        check(failing, Skipped, "");
        check(failing, Missing, "went_missing");
    }
    check(Skipped, Passed, "");
    check(Skipped, Failed, "");
    check(Skipped, Error, "");
    check(Skipped, Skipped, "");
    check(Skipped, Missing, "went_missing");
}

#[test]
fn a_test_that_only_the_second_run_reports_is_in_no_list() {
    for outcome in [Passed, Failed, Error, Skipped] {
        check(Missing, outcome, "");
    }
}

#[test]
fn comparisons_are_sorted() {
    let before = run(&[("c", Failed), ("a", Error), ("b", Failed)]);
    let after = run(&[("b", Passed), ("c", Passed), ("a", Passed)]);
    assert_eq!(compare(&before, &after).fail_to_pass, ["a", "b", "c"]);
}

#[test]
fn an_unreported_test_is_missing_and_not_failing() {
    let verdicts = run(&[("a", Passed), ("gone", Missing)]);
    assert_eq!(verdicts.of("gone"), Missing);
    assert_eq!(verdicts.of("never"), Missing);
    assert_eq!(verdicts.len(), 1);
    assert!(!Missing.is_failing());
    assert!(verdicts.failing().is_empty() && verdicts.with(Missing).is_empty());
}

#[test]
fn failing_is_failed_and_error() {
    let verdicts = run(&[("s", Skipped), ("f", Failed), ("e", Error), ("p", Passed)]);
    assert_eq!(verdicts.failing(), ["e", "f"]);
    assert_eq!(verdicts.with(Failed), ["f"]);
    assert_eq!(verdicts.with(Skipped), ["s"]);
    assert_eq!(verdicts.len(), 4);
    assert!(!verdicts.is_empty() && Verdicts::default().is_empty());
}

#[test]
fn duplicates_are_kept_apart_and_listed_once() {
    let verdicts =
        run(&[("t", Passed), ("t", Failed), ("s", Passed), ("t", Error), ("s", Skipped)]);
    let all: Vec<_> = verdicts.iter().map(|(id, outcome)| (id.as_str(), outcome)).collect();
    assert_eq!(
        all,
        [("s", Passed), ("s#2", Skipped), ("t", Passed), ("t#2", Failed), ("t#3", Error)]
    );
    assert_eq!(verdicts.duplicates(), ["s", "t"]);
}

#[test]
fn a_framework_that_numbers_ids_itself_loses_no_report() {
    let verdicts = run(&[("t#2", Failed), ("t", Passed), ("t", Error), ("t#3", Skipped)]);
    assert_eq!(verdicts.len(), 4);
    assert_eq!((verdicts.of("t#2"), verdicts.of("t"), verdicts.of("t#3")), (Failed, Passed, Error));
    assert_eq!(verdicts.of("t#3#2"), Skipped);
    assert_eq!(verdicts.duplicates(), ["t", "t#3"]);
}

#[test]
fn many_reports_of_one_id_are_numbered_without_a_gap() {
    let verdicts: Verdicts = (0..3000).map(|_| ("t".to_owned(), Passed)).collect();
    assert_eq!(verdicts.len(), 3000);
    assert!((2..=3000).all(|n| verdicts.of(&format!("t#{n}")) == Passed));
}

#[test]
fn status_words_are_read_in_any_case() {
    let words = [
        ("passed", Some(Passed)),
        (" PASS ", Some(Passed)),
        ("ok", Some(Passed)),
        ("XPASS", Some(Passed)),
        ("Failed", Some(Failed)),
        ("fail", Some(Failed)),
        ("not ok", Some(Failed)),
        ("ERROR", Some(Error)),
        ("skipped", Some(Skipped)),
        ("ignored", Some(Skipped)),
        ("xfail", Some(Skipped)),
        ("missing", None),
        ("", None),
        ("passed!", None),
    ];
    for (word, expect) in words {
        assert_eq!(Outcome::from_status(word), expect, "{word:?}");
    }
}

#[test]
fn the_word_of_an_outcome_is_the_one_in_json() {
    for outcome in [Passed, Failed, Error, Skipped, Missing] {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        let read = Outcome::from_status(outcome.as_str());
        assert_eq!(read, (outcome != Missing).then_some(outcome));
    }
}
