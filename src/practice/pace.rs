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

/// `45 s`, `4 min`, `1 h 30 min`, `3 days`.
#[must_use]
pub fn spell(seconds: i64) -> String {
    const HOUR: i64 = 3600;
    match seconds {
        ..90 => format!("{} s", seconds.max(0)),
        90..5400 => format!("{} min", (seconds + 30) / 60),
        5400..129_600 => format!("{} h {} min", seconds / HOUR, seconds % HOUR / 60),
        _ => format!("{} days", (seconds + 12 * HOUR) / (24 * HOUR)),
    }
}
