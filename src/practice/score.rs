//! What a round comes to, as a score between 0 and 1.

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Solved {
        /// Rungs of the hint ladder that were used.
        hints: u32,
    },
    GivenUp,
}

/// 1 for a repair without hints; 0.8, 0.6, 0.4 and 0.25 after one to four of them; 0 for giving up. A
/// repair that was handed in and found wanting costs nothing: trying is how debugging goes.
#[must_use]
pub fn score(end: End) -> f64 {
    match end {
        End::Solved { hints: 0 } => 1.0,
        End::Solved { hints: 1 } => 0.8,
        End::Solved { hints: 2 } => 0.6,
        End::Solved { hints: 3 } => 0.4,
        End::Solved { .. } => 0.25,
        End::GivenUp => 0.0,
    }
}
