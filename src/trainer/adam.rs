//! The optimiser: Adam with its bias corrections, on a gradient that is cut to a norm.

use crate::policy::{LARGEST_WEIGHT, Scope, Weights};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The step of each weight, about. Default 0.03: for a linear policy, not for a language model.
    pub rate: f64,
    /// Default 0.9 and 0.95.
    pub first: f64,
    pub second: f64,
    /// Default 1e-8.
    pub epsilon: f64,
    /// The largest norm of the gradient. Default 1. `None`: any.
    pub clip: Option<f64>,
}

impl Default for Adam {
    fn default() -> Self {
        Self { rate: 0.03, first: 0.9, second: 0.95, epsilon: 1e-8, clip: Some(1.0) }
    }
}

/// What is remembered from step to step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) first: Weights,
    pub(super) second: Weights,
    /// Steps so far.
    pub(super) steps: u64,
}

impl Adam {
    /// Moves `weights` against a finite gradient. Weights that were never met stay 0; those that were move on
    /// by what is remembered of them.
    pub(super) fn step(&self, weights: &mut Weights, moments: &mut Moments, mut gradient: Weights) {
        let norm = gradient.norm();
        if let Some(clip) = self.clip.filter(|clip| norm > *clip) {
            gradient.scale(clip / norm);
        }
        moments.steps += 1;
        moments.first.scale(self.first);
        moments.second.scale(self.second);
        for (scope, name, slope) in gradient.iter() {
            moments.first.add(scope, name, (1.0 - self.first) * slope);
            moments.second.add(scope, name, (1.0 - self.second) * slope * slope);
        }
        let corrections = [self.first, self.second].map(|decay| 1.0 - power(decay, moments.steps));
        let known: Vec<(Scope, _, f64)> =
            moments.first.iter().map(|(scope, name, first)| (scope, name.clone(), first)).collect();
        for (scope, name, first) in known {
            let second = moments.second.get(scope, &name) / corrections[1];
            let by = self.rate * (first / corrections[0]) / (second.sqrt() + self.epsilon);
            let moved = weights.get(scope, &name) - by;
            weights.set(scope, &name, moved.clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT));
        }
    }
}

fn power(base: f64, steps: u64) -> f64 {
    // From so many steps on it is 0 to the last digit.
    base.powi(i32::try_from(steps).unwrap_or(i32::MAX))
}
