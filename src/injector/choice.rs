//! Weighted choice.

use crate::dice::Dice;

/// An index with probability in proportion to its weight; `None` where all weights are zero.
///
/// The sum runs in the order of the list, so that equal lists give equal choices on every machine.
pub(super) fn weighted(dice: &mut Dice, weights: &[f64]) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    let mut rest = dice.unit() * total;
    let mut last = None;
    for (index, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        last = Some(index);
        if rest < *weight {
            break;
        }
        rest -= weight;
    }
    last
}

/// The square root of a count: what weighs many sites without letting them crowd out the few.
#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(super) fn root(count: usize) -> f64 {
    (count as f64).sqrt()
}
