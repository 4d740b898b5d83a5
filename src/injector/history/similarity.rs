//! How close a bug is to the commits that it undoes.

use crate::diff::line_changes;
use crate::text::lines;
use std::collections::BTreeMap;

/// Removed (false) and added (true) lines, without the white space around them, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changed(BTreeMap<(bool, Vec<u8>), usize>);

impl Changed {
    /// Counts what makes one text of another. Blank lines are left out.
    pub(super) fn add(&mut self, from: &[u8], to: &[u8]) {
        let (from, to): (Vec<&[u8]>, Vec<&[u8]>) = (lines(from).collect(), lines(to).collect());
        for change in line_changes(&from, &to) {
            let removed = from[change.old].iter().map(|line| (false, line.trim_ascii().to_vec()));
            let added = to[change.new].iter().map(|line| (true, line.trim_ascii().to_vec()));
            for line in removed.chain(added).filter(|(_, line)| !line.is_empty()) {
                *self.0.entry(line).or_default() += 1;
            }
        }
    }

    fn count(&self) -> usize {
        self.0.values().sum()
    }
}

/// Twice the lines that both have, by the lines of both (Dice's coefficient of two multisets): 1
/// where the bug is exactly the reversal of all that the commits did to code, 0 where they have no
/// line in common.
pub(super) fn similarity(bug: &Changed, reversal: &Changed) -> f64 {
    let shared =
        bug.0.iter().map(|(line, count)| reversal.0.get(line).map_or(0, |other| *count.min(other)));
    let (shared, all) = (2 * shared.sum::<usize>(), bug.count() + reversal.count());
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if all == 0 { 0.0 } else { number(shared) / number(all) }
}
