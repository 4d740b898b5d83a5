//! Who chooses by weights, and what was drawn: enough to learn from it.

use super::{Draws, Misdrawn, Options, Past, Role, Weights};
use std::sync::Arc;

/// Weights that play.
#[derive(Clone, Copy, Debug)]
pub struct Player<'a> {
    pub weights: &'a Weights,
    pub past: &'a Past,
    /// Of the checkpoint that the weights are from.
    pub hash: &'a str,
    pub sampling: Sampling,
}

/// Which choices are left to chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// The first attempt takes the likeliest, every other one draws.
    #[default]
    FirstGreedy,
    /// All draw: what can be learned from.
    All,
    /// None: every attempt is the same.
    Greedy,
}

/// At temperature 1 a solver's draws from thousands of repairs are spread too thin to repair anything within a
/// few runs, and all attempts fail alike: there is nothing to learn from. What the fixed order's own attempts
/// leave to chance is about this much.
const SOLVING: f64 = 0.4;

impl Sampling {
    /// 0: the likeliest. 1: as the logits say; below it, surer than that.
    #[must_use]
    pub fn temperature(self, role: Role, attempt: usize) -> f64 {
        match (self, role) {
            (Self::Greedy, _) => 0.0,
            // The likeliest edit would be the same in every round.
            (_, Role::Injector) => 1.0,
            (Self::FirstGreedy, Role::Solver) if attempt == 0 => 0.0,
            (Self::FirstGreedy | Self::All, Role::Solver) => SOLVING,
        }
    }
}

/// One rollout's choices. Rollouts from the same options share them.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    pub options: Arc<Options>,
    /// In the order in which they were drawn.
    pub taken: Vec<usize>,
    /// The logarithm of each one's probability, given those before it; empty at temperature 0, where there
    /// was no chance.
    pub logs: Vec<f64>,
    pub temperature: f64,
}

impl Drawn {
    /// `logits`: as the weights say them, before the temperature.
    pub fn of(
        options: Arc<Options>,
        logits: &[f64],
        taken: Vec<usize>,
        temperature: f64,
    ) -> Result<Self, Misdrawn> {
        let logs = if temperature > 0.0 {
            let cooled: Vec<f64> = logits.iter().map(|logit| logit / temperature).collect();
            Draws::new(&cooled, &taken)?.log_probabilities()
        } else {
            Vec::new()
        };
        Ok(Self { options, taken, logs, temperature })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::policy::draw;
    use crate::policy::tests::{near, options};

    #[test]
    fn the_first_attempt_alone_is_greedy_unless_all_draw_or_none() {
        let of = |sampling: Sampling| [0, 1].map(|at| sampling.temperature(Role::Solver, at) > 0.0);
        assert_eq!(of(Sampling::FirstGreedy), [false, true]);
        assert_eq!(of(Sampling::All), [true, true]);
        assert_eq!(of(Sampling::Greedy), [false, false]);
        near(Sampling::FirstGreedy.temperature(Role::Injector, 0), 1.0, 0.0);
    }

    #[test]
    fn logarithms_are_those_of_the_temperature_that_was_drawn_at() {
        let options = Arc::new(options(&[&[("a", 1.0)], &[("b", 1.0)], &[]]));
        let mut weights = Weights::new();
        weights.set(crate::policy::Scope::Shared, "a", 0.7);
        weights.set(crate::policy::Scope::Shared, "b", -0.4);
        let logits = weights.logits(Role::Solver, &options);
        let temperature = Sampling::All.temperature(Role::Solver, 0);
        let taken = draw(&logits, temperature, 2, &mut Dice::new(5));
        let drawn = Drawn::of(Arc::clone(&options), &logits, taken.clone(), temperature).unwrap();
        let mut left: Vec<usize> = vec![0, 1, 2];
        for (option, log) in taken.iter().zip(&drawn.logs) {
            let sum: f64 = left.iter().map(|at| (logits[*at] / temperature).exp()).sum();
            near(*log, logits[*option] / temperature - sum.ln(), 1e-12);
            left.retain(|at| at != option);
        }
        let sure = Drawn::of(options, &logits, vec![0], 0.0).unwrap();
        assert!(sure.logs.is_empty(), "where there was no chance there is nothing to learn from");
    }
}
