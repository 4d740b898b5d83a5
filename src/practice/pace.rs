//! How long somebody was at it.

/// The longest time, seconds, between two signs of life that still counts as work.
pub const PAUSE: i64 = 15 * 60;

/// Seconds between signs of life (commands, and times at which files of the tree were saved), pauses left
/// out. What happened in a gap longer than [`PAUSE`] nobody knows: none of it counts.
#[must_use]
pub fn active(signs: &[i64]) -> i64 {
    let mut signs = signs.to_vec();
    signs.sort_unstable();
    let gaps = signs.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.filter(|gap| *gap <= PAUSE).sum()
}
