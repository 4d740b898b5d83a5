//! What a role's choices showed on their way through the loss.

use super::loss::{Rated, k3, ratio_of};

/// Sums over the choices of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub choices: usize,
    /// With the factors that the choices have in the step.
    pub loss: f64,
    pub entropy: f64,
    pub clipped: usize,
    pub dual_clipped: usize,
    /// Choices whose importance weight was cut.
    pub truncated: usize,
    /// Between sampler and trainer: of the logarithms' distances the sum and the largest, the sampler's
    /// divergence ([`k3`]), and sums of weights and of their squares.
    pub distance: f64,
    pub farthest: f64,
    pub off_sampler: f64,
    pub weights: f64,
    pub squares: f64,
    /// [`k3`] from the live weights to those of the start.
    pub off_start: f64,
}

impl Tally {
    /// `against`: the logarithm by the trainer that sampler and trainer are compared by.
    pub(super) fn note(
        &mut self,
        rated: &Rated,
        (sampled, against): (f64, f64),
        (log, start): (f64, f64),
        truncate: f64,
    ) {
        let distance = (against - sampled).abs();
        let weight = ratio_of(against, sampled);
        self.choices += 1;
        self.clipped += usize::from(rated.clipped);
        self.dual_clipped += usize::from(rated.dual_clipped);
        self.truncated += usize::from(rated.weight > truncate);
        self.distance += distance;
        self.farthest = self.farthest.max(distance);
        self.off_sampler += k3(sampled, against);
        self.weights += weight;
        self.squares += weight * weight;
        self.off_start += k3(log, start);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.choices += other.choices;
        self.loss += other.loss;
        self.entropy += other.entropy;
        self.clipped += other.clipped;
        self.dual_clipped += other.dual_clipped;
        self.truncated += other.truncated;
        self.distance += other.distance;
        self.farthest = self.farthest.max(other.farthest);
        self.off_sampler += other.off_sampler;
        self.weights += other.weights;
        self.squares += other.squares;
        self.off_start += other.off_start;
    }

    /// A sum as the mean over all choices; 0 where there are none.
    #[allow(clippy::cast_precision_loss, reason = "nobody makes 2^52 choices")]
    pub fn mean(&self, sum: f64) -> f64 {
        if self.choices == 0 { 0.0 } else { sum / self.choices as f64 }
    }

    #[allow(clippy::cast_precision_loss, reason = "nobody makes 2^52 choices")]
    pub fn share(&self, count: usize) -> f64 {
        self.mean(count as f64)
    }

    /// The effective sample size of the importance weights as a share of their number: 1 where sampler and
    /// trainer agree.
    pub fn effective(&self) -> f64 {
        if self.squares > 0.0 { self.mean(self.weights * self.weights / self.squares) } else { 0.0 }
    }
}
