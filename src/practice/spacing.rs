//! Families that were missed come back later, spaced (after S. Leitner's boxes).

use super::score::{End, score};

/// Days until a card comes back, by its box.
pub const DAYS: [i64; 4] = [1, 3, 7, 16];
const DAY: i64 = 24 * 3600;

/// A family that was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// From 0; the place in [`DAYS`].
    pub level: u32,
    /// Seconds since 1970.
    pub due: i64,
}

/// What a round says of its families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Given up, or solved for less than half.
    Missed,
    /// Solved with one or two hints.
    Helped,
    /// Solved without hints.
    Known,
}

impl Seen {
    #[must_use]
    pub fn of(end: End) -> Self {
        match score(end) {
            score if score < 0.5 => Self::Missed,
            score if score < 1.0 => Self::Helped,
            _ => Self::Known,
        }
    }
}

impl Card {
    /// The card of a family after a round at `now`; `None`: it needs not come back. One that was missed
    /// begins in the first box; one that was known when it was due moves on, and out after the last box;
    /// one that was known before it was due stays; one that was known with help comes back after the
    /// same time.
    #[must_use]
    pub fn after(card: Option<Self>, seen: Seen, now: i64) -> Option<Self> {
        match (card, seen) {
            (_, Seen::Missed) => Self::at(0, now),
            (Some(card), Seen::Helped) => Self::at(card.level, now),
            (Some(card), Seen::Known) if card.due > now => Some(card),
            (Some(card), Seen::Known) => Self::at(card.level + 1, now),
            (None, _) => None,
        }
    }

    fn at(level: u32, now: i64) -> Option<Self> {
        let days = DAYS.get(usize::try_from(level).ok()?)?;
        Some(Self { level, due: now.saturating_add(days * DAY) })
    }
}
