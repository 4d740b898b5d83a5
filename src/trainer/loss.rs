//! The loss of one choice, and its derivative by the logarithm of the choice's live probability.

/// How choices are rated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    pub surrogate: Surrogate,
    /// The weight of [`k2`] to the start policy. Default 0.
    pub kl: f64,
    /// The weight of the entropy of what was chosen from, which is to stay large. Default 0.
    pub entropy: f64,
}

/// PPO's clipped objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surrogate {
    /// A ratio is cut to `1 - low ..= 1 + high`. Default 0.2 and 0.28 (DAPO's clip higher).
    pub low: f64,
    pub high: f64,
    /// The largest ratio that counts where the advantage is negative, or one stale choice could outweigh
    /// all others. Default 3.
    pub dual: Option<f64>,
    /// The largest importance weight between sampler and trainer. Default 2.
    pub truncate: f64,
}

impl Default for Surrogate {
    fn default() -> Self {
        Self { low: 0.2, high: 0.28, dual: Some(3.0), truncate: 2.0 }
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self { surrogate: Surrogate::default(), kl: 0.0, entropy: 0.0 }
    }
}

/// One choice, rated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    pub loss: f64,
    /// Its derivative by the logarithm of the live probability.
    pub slope: f64,
    /// The live probability over the old one; where there is none, over the sampler's.
    pub ratio: f64,
    /// The importance weight between sampler and trainer, before it is truncated; 1 where there is no
    /// old one.
    pub weight: f64,
    /// The ratio was cut, and the choice teaches nothing.
    pub clipped: bool,
    pub dual_clipped: bool,
}

impl Surrogate {
    /// `log`, `old`, `sampled`: logarithms of the choice's probability under the live weights, under the
    /// trainer's when the batch began, and as the sampler said.
    ///
    /// The weight is a constant to the derivative.
    pub fn rate(&self, log: f64, old: Option<f64>, sampled: f64, advantage: f64) -> Rated {
        let ratio = ratio_of(log, old.unwrap_or(sampled));
        let weight = old.map_or(1.0, |old| ratio_of(old, sampled));
        let (free, cut) =
            (ratio * advantage, ratio.clamp(1.0 - self.low, 1.0 + self.high) * advantage);
        let mut gain = free.min(cut);
        let clipped = advantage != 0.0 && cut < free;
        let floor = self.dual.filter(|_| advantage < 0.0).map(|dual| dual * advantage);
        let dual_clipped = floor.is_some_and(|floor| gain < floor);
        if let Some(floor) = floor.filter(|_| dual_clipped) {
            gain = floor;
        }
        let slope = if clipped || dual_clipped { 0.0 } else { free };
        let truncated = weight.min(self.truncate);
        Rated {
            loss: -truncated * gain,
            slope: -truncated * slope,
            ratio,
            weight,
            clipped,
            dual_clipped,
        }
    }
}

/// Estimates of the divergence from the policy that a choice was drawn from to a reference, by the
/// logarithms of its probability under both.
///
/// Unbiased, of either sign: for a reward. As a loss it would be useless: its gradient is 0 on average.
#[must_use]
pub fn k1(log: f64, reference: f64) -> f64 {
    log - reference
}

/// Biased, with the right gradient where the choice was drawn from the live policy: for a loss. The
/// derivative by `log` is [`k1`].
#[must_use]
pub fn k2(log: f64, reference: f64) -> f64 {
    0.5 * (reference - log).powi(2)
}

/// Unbiased, never negative, of low variance: for a metric. As a loss its gradient is another divergence's.
#[must_use]
pub fn k3(log: f64, reference: f64) -> f64 {
    let x = (reference - log).clamp(-FARTHEST, FARTHEST);
    x.exp_m1() - x
}

/// Logarithms that are further apart are told from each other no more: what is multiplied by their ratio
/// stays finite.
const FARTHEST: f64 = 100.0;

/// One probability over another.
pub(super) fn ratio_of(log: f64, other: f64) -> f64 {
    (log - other).clamp(-FARTHEST, FARTHEST).exp()
}
