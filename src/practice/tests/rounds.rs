//! Scores, spacing, time and choice.

use crate::practice::{
    Candidate, Card, DAYS, End, PAUSE, Rating, Rung, Seen, Unfit, Why, active, next, score, spell,
};

const DAY: i64 = 24 * 3600;

#[test]
fn a_score_falls_with_every_rung_of_the_ladder_to_nothing() {
    let scores: Vec<f64> = (0..=4).map(|hints| score(End::Solved { hints })).collect();
    assert_eq!(scores, [1.0, 0.8, 0.6, 0.4, 0.25]);
    assert!(score(End::GivenUp).abs() < f64::EPSILON);
}

#[test]
fn the_ladder_has_four_rungs_and_ends() {
    let rungs: Vec<_> = (0..5).map(Rung::after).collect();
    assert_eq!(
        rungs,
        [Some(Rung::File), Some(Rung::Function), Some(Rung::Line), Some(Rung::Family), None]
    );
}

/// The days until a family comes back after these rounds, each at its due time.
#[track_caller]
fn check(rounds: &[End], expect: Option<i64>) {
    let (mut card, mut now) = (None, 1_000_000);
    let mut last = now;
    for end in rounds {
        last = now;
        card = Card::after(card, Seen::of(*end), now);
        now = card.map_or(now + DAY, |card| card.due);
    }
    assert_eq!(card.map(|card| (card.due - last) / DAY), expect);
}

#[test]
fn missed_families_come_back_after_1_3_7_and_16_days_and_then_no_more() {
    let known = End::Solved { hints: 0 };
    check(&[End::GivenUp], Some(DAYS[0]));
    check(&[End::GivenUp, known], Some(DAYS[1]));
    check(&[End::GivenUp, known, known], Some(DAYS[2]));
    check(&[End::GivenUp, known, known, known], Some(DAYS[3]));
    check(&[End::GivenUp, known, known, known, known], None);
}

#[test]
fn help_holds_a_family_back_and_missing_it_again_begins_anew() {
    let (known, helped) = (End::Solved { hints: 0 }, End::Solved { hints: 2 });
    check(&[known], None);
    check(&[helped], None);
    check(&[End::Solved { hints: 3 }], Some(1));
    check(&[End::GivenUp, known, helped], Some(3));
    check(&[End::GivenUp, known, known, End::GivenUp], Some(1));
}

#[test]
fn a_family_that_is_known_before_it_is_due_stays_where_it_is() {
    let card = Card { level: 2, due: 10 * DAY };
    assert_eq!(Card::after(Some(card), Seen::Known, 9 * DAY), Some(card));
}

#[test]
fn pauses_do_not_count_and_signs_may_come_in_any_order() {
    assert_eq!(active(&[]), 0);
    assert_eq!(active(&[5]), 0);
    assert_eq!(active(&[0, 60, PAUSE + 60]), PAUSE + 60);
    assert_eq!(active(&[0, 60, PAUSE + 61]), 60);
    assert_eq!(active(&[7000, 0, 7060, 30]), 90);
}

fn candidate(id: &str, rating: f64, family: &str) -> Candidate {
    let rating = Rating { rating, ..Rating::default() };
    Candidate { id: id.to_owned(), rating, families: vec![family.to_owned()] }
}

#[test]
fn what_is_due_comes_before_what_is_near_and_near_before_far() {
    let all =
        [candidate("a", 1900.0, "x"), candidate("b", 1520.0, "y"), candidate("c", 1700.0, "x")];
    let pick = |due: &[&str]| {
        let due: Vec<String> = due.iter().map(|family| (*family).to_owned()).collect();
        next(&all, &due, Rating::default()).map(|(found, why)| (found.id.clone(), why))
    };
    assert_eq!(pick(&[]), Some(("b".to_owned(), Why::Near)));
    assert_eq!(pick(&["x"]), Some(("c".to_owned(), Why::Due("x".to_owned()))));
    assert_eq!(pick(&["z", "y"]), Some(("b".to_owned(), Why::Due("y".to_owned()))));
    assert!(next(&[], &[], Rating::default()).is_none());
}

#[test]
fn a_bug_that_fails_other_tests_than_the_checks_found_is_unstable() {
    let tests = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(Unfit::by_run(&tests(&["a", "b"]), &tests(&["a", "b"])), None);
    let told = Unfit::by_run(&tests(&["a", "b"]), &tests(&["a"])).map(|unfit| unfit.to_string());
    let expect = "unstable: the bug made 2 tests, first a fail, and the checks had found a";
    assert_eq!(told.as_deref(), Some(expect));
    assert!(Unfit::by_run(&[], &tests(&["a"])).is_some());
}

#[test]
fn a_time_is_told_in_the_unit_that_fits() {
    let told = [-5, 89, 90, 240, 5399, 5400, 3 * DAY].map(spell);
    assert_eq!(told, ["0 s", "89 s", "2 min", "4 min", "90 min", "1 h 30 min", "3 days"]);
}
