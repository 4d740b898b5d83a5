//! From rewards to a better policy: advantages, one update for both roles, and what the step showed.
//!
//! [`Trainer`] is the seam behind which weights live: the embedded policy's now ([`Embedded`]), a language
//! model's or a cluster's later. It knows choices, advantages and an optimiser, and nothing of bugs. All
//! credit assignment stays on this side of it ([`step()`]): groups are keyed by role and bug and never
//! mixed, what carries no signal is left out before anything is averaged, and a step with nothing to learn
//! from is a value, not an error.
//!
//! Pure: rollouts, weights, versions and seconds come as values, weights leave as bytes.

mod adam;
mod advantage;
mod average;
mod embedded;
mod group;
mod loss;
mod reduction;
mod report;
mod step;
mod tally;

#[cfg(test)]
mod tests;

pub use adam::Adam;
pub use advantage::{Algorithm, Baselines};
pub use average::Average;
pub use embedded::{Base, Embedded, Refusal};
pub use group::{Counts, Group, LeftOut, Refill, Rollout, Wanted};
pub use loss::{Loss, Rated, Surrogate, k1, k2, k3};
pub use reduction::Reduction;
pub use report::{Report, RoleReport, Skip, Update};
pub use step::{Rules, step};
pub use tally::Tally;

use crate::dice::Dice;
use crate::policy::Role;
use std::collections::BTreeMap;

/// Whose weights are trained, and how they are reached.
///
/// One update is: any number of `forward_backward`, which add up a gradient, then `optim_step`.
pub trait Trainer {
    /// What weights begin as: those of a file here, the name of a base model elsewhere.
    type Base;
    /// What a choice is made from: options here, a prompt's tokens elsewhere.
    type Input;
    type Error: std::error::Error + Send + Sync + 'static;

    fn create(base: Self::Base) -> Result<Self, Self::Error>
    where
        Self: Sized;

    /// How many updates made these weights.
    fn version(&self) -> u64;

    /// Independent rollouts of one input under the live weights.
    fn sample(
        &self,
        order: &Order<'_, Self::Input>,
        dice: &mut Dice,
    ) -> Result<Vec<Sampled>, Self::Error>;

    /// How likely what was taken is, without a gradient.
    fn forward(&self, data: &[Datum<'_, Self::Input>]) -> Result<Vec<Logs>, Self::Error>;

    /// Adds the gradient of the data's loss to what was gathered. Where it fails nothing is added.
    fn forward_backward(
        &mut self,
        data: &[Datum<'_, Self::Input>],
        loss: &Loss,
    ) -> Result<BTreeMap<Role, Tally>, Self::Error>;

    /// Moves the weights by what was gathered, and forgets it.
    fn optim_step(&mut self, adam: &Adam) -> Result<Stepped, Self::Error>;

    /// All that training goes on from, with notes of the caller's.
    fn save(&self, notes: &BTreeMap<String, String>) -> Result<Vec<u8>, Self::Error>;

    /// What `save` gave; answers the notes. Where it fails nothing has changed.
    fn load(&mut self, bytes: &[u8]) -> Result<BTreeMap<String, String>, Self::Error>;
}

/// A wish for rollouts.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a, I> {
    pub role: Role,
    pub input: &'a I,
    pub rollouts: usize,
    /// Choices of one rollout, at most.
    pub choices: usize,
    /// 0: the likeliest ones, which cannot be trained on. 1: as the policy says.
    pub temperature: f64,
}

/// One rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    pub taken: Vec<usize>,
    /// The logarithm of each choice's probability, given those before it, at the temperature of the order.
    pub logs: Vec<f64>,
    /// The version of the weights.
    pub version: u64,
}

/// One rollout to learn from.
#[derive(Clone, Debug)]
pub struct Datum<'a, I> {
    pub role: Role,
    pub input: &'a I,
    pub taken: &'a [usize],
    /// What the sampler said of each choice.
    pub sampled: &'a [f64],
    /// What the trainer's weights said of each when the batch began. `None`: the ratio is to the sampler.
    pub old: Option<&'a [f64]>,
    /// Of each choice.
    pub advantages: Vec<f64>,
    /// How much each choice counts in the step's loss.
    pub factor: f64,
    /// What it was sampled at; above 0.
    pub temperature: f64,
}

/// The logarithms of the probabilities of what was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Logs {
    pub live: Vec<f64>,
    /// Under the weights that training began with.
    pub start: Vec<f64>,
}

/// What became of a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stepped {
    /// `norm`: before it was clipped.
    Done { norm: f64 },
    /// The gradient was not finite: the weights are as they were.
    NotFinite,
    /// Nothing was gathered.
    NoGradient,
}
