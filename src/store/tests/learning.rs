//! What training keeps.

use super::artifact;
use crate::store::{Artifact, Store, TrainedStep};

#[test]
fn outcomes_of_a_bug_are_kept_over_each_other_and_forgotten_together() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let row = |candidate: &str, content: &str| (candidate.to_owned(), content.to_owned());
    store.keep_outcomes("a", &[row("1", "x"), row("2", "y")]).unwrap();
    store.keep_outcomes("b", &[row("1", "z")]).unwrap();
    store.keep_outcomes("a", &[row("1", "w")]).unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.outcomes("a").unwrap(), [row("2", "y"), row("1", "w")]);
    store.forget_outcomes("a").unwrap();
    assert_eq!(store.outcomes("a").unwrap(), []);
    assert_eq!(store.outcomes("b").unwrap(), [row("1", "z")]);
}

#[test]
fn the_last_training_steps_come_back_oldest_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let step = |at: i64| TrainedStep {
        at,
        before: format!("{at}"),
        after: format!("{}", at + 1),
        report: "{}".to_owned(),
    };
    (1..=3).for_each(|at| store.keep_step(&step(at)).unwrap());
    assert_eq!(store.steps(2).unwrap(), [step(2), step(3)]);
}

#[test]
fn bugs_that_can_be_learned_from_are_the_valid_ones_of_a_base_that_have_their_parts() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let base = artifact("a").base;
    for (id, valid, of, parts) in [
        ("a", true, &*base, true),
        ("b", false, &*base, true),
        ("c", true, "another", true),
        ("d", true, &*base, false),
        ("e", true, &*base, true),
    ] {
        let bug_inject = if parts { artifact(id).bug_inject } else { Vec::new() };
        let row = Artifact { valid, base: of.to_owned(), bug_inject, ..artifact(id) };
        store.save_artifact(&row).unwrap();
    }
    assert_eq!(store.valid_ids(&base).unwrap(), ["a", "e"]);
}
