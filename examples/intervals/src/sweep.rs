//! How many of many intervals overlap, and where.

use crate::Interval;

/// An interval and how many of the given ones cover all of it.
pub type Level = (Interval, usize);

/// Every stretch that is covered at all, left to right, with how many cover it. Neighbours differ.
pub fn levels(intervals: &[Interval]) -> Vec<Level> {
    let mut events: Vec<(i64, i32)> = Vec::with_capacity(intervals.len() * 2);
    for interval in intervals {
        events.push((interval.start(), 1));
        events.push((interval.end(), -1));
    }
    events.sort_unstable();
    let mut levels: Vec<Level> = Vec::new();
    let mut open = 0usize;
    let mut place = 0;
    while place < events.len() {
        let at = events[place].0;
        while place < events.len() && events[place].0 == at {
            if events[place].1 > 0 {
                open += 1;
            } else {
                open -= 1;
            }
            place += 1;
        }
        let Some(next) = events.get(place) else { break };
        let Some(stretch) = Interval::new(at, next.0) else { continue };
        match levels.last_mut() {
            Some((before, count)) if *count == open && before.end() == at => {
                *before = before.hull(&stretch);
            }
            _ if open > 0 => levels.push((stretch, open)),
            _ => {}
        }
    }
    levels
}

/// The most intervals that share a number; zero where there are none.
pub fn depth(intervals: &[Interval]) -> usize {
    levels(intervals).iter().map(|(_, count)| *count).max().unwrap_or(0)
}

/// The largest number of intervals that do not overlap each other, chosen by earliest end.
pub fn schedule(intervals: &[Interval]) -> Vec<Interval> {
    let mut sorted = intervals.to_vec();
    sorted.sort_by_key(|interval| (interval.end(), interval.start()));
    let mut chosen: Vec<Interval> = Vec::new();
    for interval in sorted {
        if chosen.last().is_none_or(|last| last.end() <= interval.start()) {
            chosen.push(interval);
        }
    }
    chosen
}
