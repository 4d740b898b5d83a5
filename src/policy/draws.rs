//! Ordered draws without replacement (Plackett-Luce): how they are made, how likely they are, and the
//! gradient of that.

use crate::dice::Dice;

/// Draws that these options cannot have given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misdrawn {
    #[error("option {option} of {options} was drawn: options are counted from 0")]
    Unknown { option: usize, options: usize },
    #[error("option {0} was drawn twice: draws are without replacement")]
    Twice(usize),
}

/// All options from the likeliest to the least likely; among equals the earlier one first.
#[must_use]
pub fn greedy(logits: &[f64]) -> Vec<usize> {
    first_by(logits, logits.len())
}

/// The first `count` of ordered draws without replacement, each in proportion to `exp(logit / temperature)`
/// among what is left. At temperature 0 or below: the greedy order.
///
/// One roll for each option, in their order: the largest of `logit / temperature` plus Gumbel noise is such
/// a draw, the next largest the draw after it (Yellott 1977).
#[must_use]
pub fn draw(logits: &[f64], temperature: f64, count: usize, dice: &mut Dice) -> Vec<usize> {
    if temperature <= 0.0 {
        return first_by(logits, count);
    }
    let noisy: Vec<f64> =
        logits.iter().map(|logit| logit / temperature + gumbel(dice.unit())).collect();
    first_by(&noisy, count)
}

fn gumbel(unit: f64) -> f64 {
    -(-unit.max(f64::MIN_POSITIVE).ln()).max(f64::MIN_POSITIVE).ln()
}

fn first_by(keys: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let before = |a: &usize, b: &usize| keys[*b].total_cmp(&keys[*a]).then(a.cmp(b));
    if count < order.len() {
        if count > 0 {
            order.select_nth_unstable_by(count - 1, before);
        }
        order.truncate(count);
    }
    order.sort_unstable_by(before);
    order
}

/// Draws that were made, under logits that may be others than those that made them.
///
/// All is worked out from the last draw to the first, by adding: taking the drawn ones away from the whole
/// would lose all digits where they are nearly certain.
#[derive(Clone, Debug)]
pub struct Draws<'a> {
    logits: &'a [f64],
    drawn: &'a [usize],
    /// Which draw an option was; `usize::MAX` for one that was not drawn.
    turns: Vec<usize>,
    /// Of what each draw was made from: the logarithm of the sum of `exp(logit)`, and the mean logit.
    sums: Vec<f64>,
    means: Vec<f64>,
}

impl<'a> Draws<'a> {
    pub fn new(logits: &'a [f64], drawn: &'a [usize]) -> Result<Self, Misdrawn> {
        let mut turns = vec![usize::MAX; logits.len()];
        for (turn, option) in drawn.iter().enumerate() {
            match turns.get_mut(*option) {
                None => return Err(Misdrawn::Unknown { option: *option, options: logits.len() }),
                Some(known) if *known != usize::MAX => return Err(Misdrawn::Twice(*option)),
                Some(known) => *known = turn,
            }
        }
        let (mut sum, mut mean) = undrawn(logits, &turns);
        let (mut sums, mut means) = (vec![0.0; drawn.len()], vec![0.0; drawn.len()]);
        for (turn, option) in drawn.iter().enumerate().rev() {
            let logit = logits[*option];
            let with = log_add(sum, logit);
            let share = (logit - with).exp();
            mean = if sum == f64::NEG_INFINITY {
                logit
            } else {
                share * logit + (sum - with).exp() * mean
            };
            sum = with;
            (sums[turn], means[turn]) = (sum, mean);
        }
        Ok(Self { logits, drawn, turns, sums, means })
    }

    /// Of each draw, given those before it.
    pub fn log_probabilities(&self) -> Vec<f64> {
        let of = |(option, sum): (&usize, &f64)| (self.logits[*option] - sum).min(0.0);
        self.drawn.iter().zip(&self.sums).map(of).collect()
    }

    /// The entropy of what each draw was made from, in nats.
    pub fn entropies(&self) -> Vec<f64> {
        self.sums.iter().zip(&self.means).map(|(sum, mean)| (sum - mean).max(0.0)).collect()
    }

    /// The gradient, by logits, of the sum over all draws of `by_log` times the logarithm of its
    /// probability plus `by_entropy` times the entropy. Factors that are missing are 0.
    pub fn gradient(&self, by_log: &[f64], by_entropy: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; self.logits.len()];
        let Some(least) = self.sums.last().copied() else { return gradient };
        let factor = |factors: &[f64], turn: usize| factors.get(turn).copied().unwrap_or(0.0);
        // What was never drawn was there at every draw: three sums say all. The last draw's sum is the
        // smallest one, and no logit that is left lies above it, so that nothing overflows.
        let (mut logs, mut entropies, mut means) = (0.0, 0.0, 0.0);
        for (turn, (sum, mean)) in self.sums.iter().zip(&self.means).enumerate() {
            let scale = (least - sum).exp();
            logs += factor(by_log, turn) * scale;
            entropies += factor(by_entropy, turn) * scale;
            means += factor(by_entropy, turn) * scale * mean;
        }
        for (option, turn) in self.turns.iter().enumerate() {
            let logit = self.logits[option];
            if *turn == usize::MAX {
                gradient[option] = (logit - least).exp() * (means - logs - logit * entropies);
                continue;
            }
            for there in 0..=*turn {
                let probability = (logit - self.sums[there]).exp();
                let taken = f64::from(u8::from(there == *turn));
                gradient[option] += factor(by_log, there) * (taken - probability)
                    - factor(by_entropy, there) * probability * (logit - self.means[there]);
            }
        }
        gradient
    }
}

/// The logarithm of the sum of `exp(logit)`, and the mean logit, of what was not drawn.
fn undrawn(logits: &[f64], turns: &[usize]) -> (f64, f64) {
    let left = || logits.iter().zip(turns).filter(|(_, turn)| **turn == usize::MAX);
    let most = left().map(|(logit, _)| *logit).fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return (most, 0.0);
    }
    let (mut sum, mut mean) = (0.0, 0.0);
    for (logit, _) in left() {
        let share = (logit - most).exp();
        sum += share;
        mean += share * (logit - most);
    }
    (most + sum.ln(), most + mean / sum)
}

fn log_add(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    large + (small - large).exp().ln_1p()
}
