//! The step against golden numbers, finite differences, and what must never happen.

mod golden;
mod gradients;
mod learning;
mod properties;
mod saving;
mod stepping;

use super::*;
use crate::policy::{Options, OptionsBuilder, Scope, Weights};
use std::sync::Arc;

#[track_caller]
fn near(found: f64, expect: f64, tolerance: f64) {
    let far = (found - expect).abs();
    assert!(far <= tolerance * expect.abs().max(1.0), "{found} is not {expect}");
}

/// Options that have one feature each.
fn options(names: &[&str]) -> Options {
    let mut builder = OptionsBuilder::new();
    for name in names {
        builder.option();
        builder.flag(&[name]);
    }
    builder.finish()
}

fn created(weights: &[(&str, f64)]) -> Embedded {
    let mut all = Weights::new();
    for (name, weight) in weights {
        all.set(Scope::Shared, name, *weight);
    }
    Embedded::create(Base { weights: all, average: Average::default() }).expect("weights")
}

/// A group with one choice a rollout, as the trainer's weights would have sampled it.
fn group(
    trainer: &Embedded,
    (role, subject): (Role, &str),
    input: &Options,
    rollouts: &[(usize, f64)],
) -> Group<Options> {
    let input = Arc::new(input.clone());
    let rollout = |(taken, reward): &(usize, f64)| {
        let logits = trainer.weights().logits(role, &input);
        let taken = vec![*taken];
        let logs = crate::policy::Draws::new(&logits, &taken).unwrap().log_probabilities();
        Rollout {
            input: Arc::clone(&input),
            taken,
            logs,
            temperature: 1.0,
            version: trainer.version(),
            reward: *reward,
            success: *reward > 0.5,
            left_out: None,
        }
    };
    Group { role, subject: subject.to_owned(), rollouts: rollouts.iter().map(rollout).collect() }
}
