//! One half-open interval.

use std::fmt;

/// The numbers from `start` up to but not including `end`. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    start: i64,
    end: i64,
}

impl Interval {
    /// `None` where nothing lies between.
    pub fn new(start: i64, end: i64) -> Option<Self> {
        if start < end {
            Some(Self { start, end })
        } else {
            None
        }
    }

    pub fn start(&self) -> i64 {
        self.start
    }

    pub fn end(&self) -> i64 {
        self.end
    }

    pub fn size(&self) -> u64 {
        self.end.abs_diff(self.start)
    }

    pub fn contains(&self, number: i64) -> bool {
        self.start <= number && number < self.end
    }

    pub fn covers(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub fn overlap(&self, other: &Self) -> Option<Self> {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// Whether both together are one interval: they overlap or one begins where the other ends.
    pub fn touches(&self, other: &Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// The smallest interval that covers both.
    pub fn hull(&self, other: &Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// What is left of this one without the other: nothing, one or two pieces.
    pub fn without(&self, other: &Self) -> (Option<Self>, Option<Self>) {
        if self.overlap(other).is_none() {
            return (Some(*self), None);
        }
        (Self::new(self.start, other.start), Self::new(other.end, self.end))
    }

    /// Moves both ends; `None` where an end leaves the range of the numbers.
    pub fn shifted(&self, by: i64) -> Option<Self> {
        Some(Self { start: self.start.checked_add(by)?, end: self.end.checked_add(by)? })
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.size() == 1 {
            write!(f, "{}", self.start)
        } else {
            write!(f, "{}..{}", self.start, self.end)
        }
    }
}
