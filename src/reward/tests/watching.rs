//! Novelty and the four signals.

use crate::diff::Patch;
use crate::reward::*;

fn diff(path: &str, removed: &str, added: &str) -> Shingles {
    let text = format!("--- a/{path}\n+++ b/{path}\n@@ -3 +3 @@\n-{removed}\n+{added}\n");
    Shingles::of(&Patch::parse(text.as_bytes()).expect("a patch"))
}

#[test]
fn the_same_edit_elsewhere_is_the_same_idea() {
    let one = diff("a.py", "    if low <= high:", "    if low < high:");
    let other = diff("b/c.py", "if low<=high:", "if low < high:");
    assert!((one.similarity(&other) - 1.0).abs() < f64::EPSILON);
}

#[test]
fn undoing_an_edit_is_another_edit() {
    let one = diff("a.py", "if low <= high:", "if low < high:");
    let back = diff("a.py", "if low < high:", "if low <= high:");
    assert!(one.similarity(&back) < 0.2, "{}", one.similarity(&back));
}

#[test]
fn similarity_is_shared_runs_of_words_over_all() {
    // `return a + b` has the runs `return a +` and `a + b`; the removed sides are equal.
    let one = diff("a.py", "return 0", "return a + b");
    let other = diff("a.py", "return 0", "return a + c");
    assert!((one.similarity(&other) - 2.0 / 4.0).abs() < 1e-12, "{}", one.similarity(&other));
    let nothing = Shingles::default();
    assert!((nothing.similarity(&nothing) - 1.0).abs() < f64::EPSILON);
    assert!(nothing.similarity(&one).abs() < f64::EPSILON);
}

#[test]
fn novelty_is_against_the_newest_that_there_is_room_for() {
    let bugs: Vec<Shingles> =
        ["w x y", "p q r", "k l m"].map(|text| diff("a.py", "0", text)).into();
    let mut buffer = Buffer::new(2);
    assert!((buffer.novelty(&bugs[0]) - 1.0).abs() < f64::EPSILON);
    for bug in &bugs {
        buffer.push(bug.clone());
        assert!(buffer.novelty(bug).abs() < f64::EPSILON);
    }
    assert_eq!(buffer.len(), 2);
    assert!(buffer.novelty(&bugs[0]) > 0.6, "the oldest is forgotten");
    let mut none = Buffer::new(0);
    none.push(bugs[0].clone());
    assert!(none.is_empty());
}

#[test]
fn shingles_keep_their_hashes_for_ever() {
    let text = serde_json::to_string(&diff("a.py", "x", "y")).unwrap();
    assert_eq!(text, "[1280389090121147819,16073016219604040160]");
    assert_eq!(serde_json::from_str::<Shingles>(&text).unwrap(), diff("b.py", "x", "y"));
}

fn healthy() -> Cycle {
    Cycle {
        proposed: 40,
        valid: 30,
        solve_rates: [0.0, 0.125, 0.25, 0.375, 0.5].repeat(6),
        novelties: vec![0.5; 30],
        novelty_before: Some(0.6),
        attempts: 240,
        intercepted: 2,
    }
}

#[test]
fn a_healthy_cycle_warns_of_nothing() {
    let signals = Signals::of(&healthy(), &Thresholds::default());
    assert_eq!(signals.warnings(), Vec::<&str>::new());
    let levels =
        [&signals.validity, &signals.difficulty.signal, &signals.novelty, &signals.interceptions]
            .map(|signal| signal.level);
    assert_eq!(levels, [Level::Ok; 4]);
    assert_eq!(signals.validity.value, Some(0.75));
    assert_eq!(signals.difficulty.mixed, Some(0.8));
    assert_eq!(signals.difficulty.histogram, [6, 0, 6, 6, 6, 6, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn each_signal_warns_of_its_own() {
    #[track_caller]
    fn check(change: impl Fn(&mut Cycle, &mut Thresholds), expect: &str) {
        let (mut cycle, mut thresholds) = (healthy(), Thresholds::default());
        change(&mut cycle, &mut thresholds);
        let signals = Signals::of(&cycle, &thresholds);
        let warnings = signals.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains(expect), "{warnings:?}");
    }
    check(|cycle, _| cycle.valid = 3, "lost the way");
    check(|cycle, _| cycle.valid = 40, "dares nothing");
    check(|cycle, _| cycle.solve_rates = [0.0, 0.0, 1.0].repeat(10), "the rest teaches nothing");
    check(|cycle, _| cycle.solve_rates = vec![0.875; 10], "far from 0.26");
    check(|cycle, _| cycle.novelties = vec![0.1; 10], "repeat");
    check(|cycle, _| cycle.novelties = vec![0.4; 10], "fell from 0.60 to 0.40");
    check(|cycle, _| cycle.intercepted = 24, "0.10 of the attempts");
    check(
        |cycle, thresholds| {
            cycle.intercepted = 0;
            thresholds.blind_after = Some(240);
        },
        "may be blind",
    );
}

#[test]
fn players_that_cannot_cheat_are_not_suspected_for_it() {
    let cycle = Cycle { intercepted: 0, ..healthy() };
    assert_eq!(Signals::of(&cycle, &Thresholds::default()).interceptions.level, Level::Ok);
}

#[test]
fn too_little_says_nothing() {
    let signals = Signals::of(&Cycle::default(), &Thresholds::default());
    assert_eq!(signals.validity.level, Level::Unknown);
    assert_eq!((signals.validity.value, signals.difficulty.mixed), (None, None));
    let few = Cycle { proposed: 9, valid: 0, ..Cycle::default() };
    let few = Signals::of(&few, &Thresholds::default());
    assert_eq!((few.validity.level, few.validity.value), (Level::Unknown, Some(0.0)));
}

#[test]
fn a_rate_counts_in_the_step_that_ends_with_it() {
    let rates = vec![0.0, 0.1, 0.100_1, 3.0 / 10.0, 0.1 + 0.2, 0.999, 1.0];
    let signals =
        Signals::of(&Cycle { solve_rates: rates, ..Cycle::default() }, &Thresholds::default());
    assert_eq!(signals.difficulty.histogram, [1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 1, 1]);
}
