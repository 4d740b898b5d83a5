//! What is saved, and what goes on from it.

use super::{created, group, options};
use crate::policy::{self, Checkpoint, Role};
use crate::trainer::*;
use std::collections::BTreeMap;

fn once(trainer: &mut Embedded, reward: f64) {
    let input = options(&["a", "b", "c"]);
    let groups =
        vec![group(trainer, (Role::Solver, "bug"), &input, &[(0, reward), (1, 0.0), (2, 0.3)])];
    step(trainer, groups, &Rules::default(), &mut Baselines::default()).unwrap();
}

#[test]
fn training_goes_on_from_a_file_as_if_it_had_not_stopped() {
    let mut whole = created(&[("a", 0.1)]);
    let mut half = whole.clone();
    (0..4).for_each(|_| once(&mut whole, 1.0));
    (0..2).for_each(|_| once(&mut half, 1.0));
    let notes: BTreeMap<String, String> = [("seed".to_owned(), "7".to_owned())].into();
    let bytes = half.save(&notes).unwrap();
    let mut again = created(&[]);
    assert_eq!(again.load(&bytes), Ok(notes));
    assert_eq!(again, half);
    (0..2).for_each(|_| once(&mut again, 1.0));
    assert_eq!(again, whole);
}

#[test]
fn players_read_the_mean_of_the_last_steps() {
    let mut trainer = created(&[("a", 0.1)]);
    let read = |trainer: &Embedded| {
        let bytes = trainer.policy(&[].into()).to_bytes();
        Checkpoint::parse(&bytes).unwrap().policy().unwrap().clone()
    };
    assert_eq!(&read(&trainer), trainer.weights(), "before the first step: what it began with");
    (0..3).for_each(|_| once(&mut trainer, 1.0));
    assert_eq!(&read(&trainer), trainer.averaged());
    assert_ne!(trainer.averaged(), trainer.weights());
    let state = Checkpoint::parse(&trainer.save(&[].into()).unwrap()).unwrap();
    assert_eq!(state.policy(), Ok(trainer.averaged()), "a trainer's file serves players, too");
}

#[test]
fn a_file_that_is_no_trainers_is_refused_and_changes_nothing() {
    let mut trainer = created(&[("a", 1.0)]);
    once(&mut trainer, 1.0);
    let before = trainer.clone();
    let whole = trainer.save(&[].into()).unwrap();
    let cut = &whole[..whole.len() - 1];
    let refused = |trainer: &mut Embedded, bytes: &[u8]| match trainer.load(bytes) {
        Err(Refusal::Checkpoint(refusal)) => refusal,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(&mut trainer, cut), policy::Refusal::Truncated { .. }));
    let players = trainer.policy(&[].into()).to_bytes();
    assert_eq!(refused(&mut trainer, &players), policy::Refusal::Missing("start"));
    assert_eq!(refused(&mut trainer, b"{}"), policy::Refusal::Foreign);
    assert_eq!(trainer, before);
    assert_eq!(Checkpoint::default().policy(), Err(policy::Refusal::Missing("weights")));
}

#[test]
fn a_gradient_that_was_gathered_is_used_once() {
    let mut trainer = created(&[]);
    assert_eq!(trainer.optim_step(&Adam::default()), Ok(Stepped::NoGradient));
    once(&mut trainer, 1.0);
    assert_eq!(trainer.optim_step(&Adam::default()), Ok(Stepped::NoGradient));
    assert_eq!(trainer.version(), 1);
}
