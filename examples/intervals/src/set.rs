//! A set of numbers as sorted, disjoint intervals.

use crate::interval::Interval;
use std::fmt;

/// The intervals are sorted and no two of them touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntervalSet {
    intervals: Vec<Interval>,
}

impl IntervalSet {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// How many numbers are in the set.
    pub fn size(&self) -> u64 {
        self.intervals.iter().map(Interval::size).sum()
    }

    pub fn contains(&self, number: i64) -> bool {
        let after = self.intervals.partition_point(|interval| interval.start() <= number);
        after > 0 && self.intervals[after - 1].contains(number)
    }

    /// Adds an interval; all that touch it become one with it.
    pub fn insert(&mut self, interval: Interval) {
        let first = self.intervals.partition_point(|known| known.end() < interval.start());
        let after = self.intervals.partition_point(|known| known.start() <= interval.end());
        let merged =
            self.intervals[first..after].iter().fold(interval, |hull, known| hull.hull(known));
        self.intervals.splice(first..after, [merged]);
    }

    pub fn remove(&mut self, interval: Interval) {
        let mut kept = Vec::with_capacity(self.intervals.len() + 1);
        for known in &self.intervals {
            let (left, right) = known.without(&interval);
            kept.extend(left);
            kept.extend(right);
        }
        self.intervals = kept;
    }

    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for interval in &other.intervals {
            all.insert(*interval);
        }
        all
    }

    /// The numbers that are in both: one walk over the two lists.
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut mine, mut theirs) = (0, 0);
        let mut found = Vec::new();
        while mine < self.intervals.len() && theirs < other.intervals.len() {
            let (left, right) = (&self.intervals[mine], &other.intervals[theirs]);
            found.extend(left.overlap(right));
            if left.end() < right.end() {
                mine += 1;
            } else {
                theirs += 1;
            }
        }
        Self { intervals: found }
    }

    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        for interval in &other.intervals {
            rest.remove(*interval);
        }
        rest
    }

    /// What lies between the first and the last number and is not in the set.
    pub fn gaps(&self) -> Self {
        let between = |pair: &[Interval]| Interval::new(pair[0].end(), pair[1].start());
        Self { intervals: self.intervals.windows(2).filter_map(between).collect() }
    }

    /// The first number from `from` on where `length` numbers in a row are not in the set.
    pub fn first_gap(&self, from: i64, length: u64) -> Option<i64> {
        let mut candidate = from;
        for interval in &self.intervals {
            if interval.end() <= candidate {
                continue;
            }
            if interval.start() > candidate && interval.start().abs_diff(candidate) >= length {
                return Some(candidate);
            }
            candidate = interval.end();
        }
        candidate.checked_add(i64::try_from(length).ok()?).map(|_| candidate)
    }
}

impl FromIterator<Interval> for IntervalSet {
    fn from_iter<I: IntoIterator<Item = Interval>>(intervals: I) -> Self {
        let mut set = Self::new();
        for interval in intervals {
            set.insert(interval);
        }
        set
    }
}

impl fmt::Display for IntervalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, interval) in self.intervals.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{interval}")?;
        }
        Ok(())
    }
}
