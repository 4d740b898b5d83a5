//! Features, weights and logits.

use super::{near, options};
use crate::dice::Dice;
use crate::policy::{Draws, LARGEST_VALUE, Options, OptionsBuilder, Role, Scope, Weights};
use proptest::prelude::*;

#[test]
fn a_logit_is_what_both_roles_share_plus_what_the_role_adds() {
    let mut weights = Weights::new();
    weights.set(Scope::Shared, "a", 2.0);
    weights.set(Scope::Own(Role::Solver), "a", 0.5);
    weights.set(Scope::Own(Role::Injector), "b", -1.0);
    let options = options(&[&[("a", 1.0), ("b", 3.0)], &[], &[("b", 2.0), ("unknown", 9.0)]]);
    assert_eq!(weights.logits(Role::Solver, &options), [2.5, 0.0, 0.0]);
    assert_eq!(weights.logits(Role::Injector, &options), [-1.0, 0.0, -2.0]);
}

#[test]
fn features_are_named_by_their_parts_and_count_as_often_as_given() {
    let mut builder = OptionsBuilder::new();
    builder.flag(&["lost"]);
    builder.option();
    builder.feature(&["size=", "small"], 0.5);
    builder.flag(&["size=small"]);
    builder.option();
    let options = builder.finish();
    assert_eq!(options.named(0).collect::<Vec<_>>(), [("size=small", 0.5), ("size=small", 1.0)]);
    assert_eq!((options.len(), options.named(1).count(), options.named(2).count()), (2, 0, 0));
    let mut weights = Weights::new();
    weights.set(Scope::Shared, "size=small", 2.0);
    assert_eq!(weights.logits(Role::Solver, &options), [3.0, 0.0]);
}

#[test]
fn a_value_that_is_no_measurement_is_left_out_and_counted() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, LARGEST_VALUE * 1.001];
    let mut features = bad.map(|value| ("bad", value)).to_vec();
    features.push(("good", -LARGEST_VALUE));
    let options = options(&[&features]);
    assert_eq!(options.refused(), bad.len());
    assert_eq!(options.named(0).collect::<Vec<_>>(), [("good", -LARGEST_VALUE)]);
}

#[test]
fn weights_add_scale_and_have_a_norm() {
    let mut weights = Weights::new();
    assert!(weights.is_empty());
    weights.set(Scope::Shared, "a", 3.0);
    let mut other = Weights::new();
    other.set(Scope::Own(Role::Solver), "a", 8.0);
    weights.add_scaled(&other, 0.5);
    near(weights.norm(), 5.0, 1e-15);
    weights.scale(2.0);
    let all: Vec<_> = weights.iter().map(|(scope, name, w)| (scope.name(), &**name, w)).collect();
    assert_eq!(all, [("shared", "a", 6.0), ("solver", "a", 8.0)]);
    assert!(weights.is_finite());
    weights.set(Scope::Shared, "b", f64::NAN);
    assert!(!weights.is_finite());
}

/// Options with features of both signs, some of them shared.
fn drawn_options(dice: &mut Dice, count: usize) -> Options {
    let mut builder = OptionsBuilder::new();
    for _ in 0..count {
        builder.option();
        for _ in 0..=dice.below(4) {
            let name = ["a", "b", "c", "d", "e"][dice.below(5)];
            builder.feature(&[name], 2.0 * dice.unit() - 1.0);
        }
    }
    builder.finish()
}

proptest! {
    #[test]
    fn the_gradient_by_weights_is_the_finite_difference(seed in 0u64..5000) {
        let mut dice = Dice::new(seed);
        let count = 2 + dice.below(7);
        let options = drawn_options(&mut dice, count);
        let role = Role::ALL[dice.below(2)];
        let mut weights = Weights::new();
        for name in options.names() {
            weights.set(Scope::Shared, name, 2.0 * dice.unit() - 1.0);
            weights.set(Scope::Own(role), name, 2.0 * dice.unit() - 1.0);
        }
        let mut drawn: Vec<usize> = (0..count).collect();
        dice.shuffle(&mut drawn);
        drawn.truncate(1 + dice.below(count));
        let factors: Vec<f64> = drawn.iter().map(|_| 2.0 * dice.unit() - 1.0).collect();
        let objective = |weights: &Weights| -> f64 {
            let logits = weights.logits(role, &options);
            let logs = Draws::new(&logits, &drawn).unwrap().log_probabilities();
            logs.iter().zip(&factors).map(|(log, factor)| log * factor).sum()
        };
        let logits = weights.logits(role, &options);
        let by_logit = Draws::new(&logits, &drawn).unwrap().gradient(&factors, &[]);
        let mut gradient = Weights::new();
        gradient.add_gradient(role, &options, &by_logit);
        for name in options.names() {
            for scope in [Scope::Shared, Scope::Own(role)] {
                let step = 1e-5;
                let moved = |by: f64| {
                    let mut moved = weights.clone();
                    moved.set(scope, name, weights.get(scope, name) + by);
                    objective(&moved)
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                let found = gradient.get(scope, name);
                prop_assert!((found - difference).abs() < 1e-7, "{name}: {found} {difference}");
            }
        }
    }
}
