//! Seeded choices: one small generator whose stream is part of our own contract, so that the same
//! seed gives the same bytes in every version.

#[cfg(test)]
pub(crate) mod mangled;
#[cfg(test)]
mod tests;

/// `SplitMix64` (Steele, Lea and Flood 2014): a 64-bit state, one output a step.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Independent dice for one purpose: the stream depends on the seed and the label only, so that
    /// adding a consumer does not disturb the others.
    #[must_use]
    pub fn fork(&self, label: &str) -> Self {
        let mixed = label.bytes().fold(self.0 ^ 0x9e37_79b9_7f4a_7c15, |state, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut dice = Self(mixed);
        dice.roll();
        dice
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound` (by multiplication; the bias is below 2^-32 for any bound we use).
    /// `bound` of zero gives zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.roll()) * bound as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// Uniform in `[0, 1)`.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }

    /// Fisher-Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
