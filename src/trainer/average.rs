//! The mean of the weights over the last steps: steadier than the last ones, and what is played with.

use crate::policy::{Scope, Weights};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An exponential mean, corrected for its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// How much of the mean a step leaves, in 0..1. Default 0.995; 0: the last weights.
    pub decay: f64,
    pub(super) mean: Weights,
    /// How much of a whole mean was seen.
    pub(super) weight: f64,
}

impl Default for Average {
    fn default() -> Self {
        Self::new(0.995)
    }
}

impl Average {
    /// A decay outside of 0..1 is taken for its nearer end.
    #[must_use]
    pub fn new(decay: f64) -> Self {
        let decay = if decay.is_nan() { 0.0 } else { decay.clamp(0.0, 1.0 - 1e-9) };
        Self { decay, mean: Weights::new(), weight: 0.0 }
    }

    pub fn note(&mut self, weights: &Weights) {
        self.weight = self.decay * self.weight + (1.0 - self.decay);
        let rate = (1.0 - self.decay) / self.weight;
        let all: BTreeSet<(Scope, Arc<str>)> = self
            .mean
            .iter()
            .chain(weights.iter())
            .map(|(scope, name, _)| (scope, Arc::clone(name)))
            .collect();
        for (scope, name) in all {
            let off = weights.get(scope, &name) - self.mean.get(scope, &name);
            self.mean.add(scope, &name, off * rate);
        }
    }

    /// `None` before the first step.
    pub fn weights(&self) -> Option<&Weights> {
        (self.weight > 0.0).then_some(&self.mean)
    }
}
