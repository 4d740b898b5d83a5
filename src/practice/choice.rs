//! Which bug comes next.

use super::rating::Rating;

/// A bug that could be practised on.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub id: String,
    pub rating: Rating,
    pub families: Vec<String>,
}

/// Why a bug is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has an edit of this family, which was missed before and is due.
    Due(String),
    /// No other is nearer to the player's rating.
    Near,
}

/// The first due family that a candidate has, and of its candidates the one nearest to the player's
/// rating; else the nearest of all. `due`: the longest due first.
pub fn next<'c>(
    candidates: &'c [Candidate],
    due: &[String],
    player: Rating,
) -> Option<(&'c Candidate, Why)> {
    for family in due {
        let of_it = candidates.iter().filter(|candidate| candidate.families.contains(family));
        if let Some(found) = nearest(of_it, player) {
            return Some((found, Why::Due(family.clone())));
        }
    }
    nearest(candidates.iter(), player).map(|found| (found, Why::Near))
}

fn nearest<'c>(
    candidates: impl Iterator<Item = &'c Candidate>,
    player: Rating,
) -> Option<&'c Candidate> {
    let distance = |candidate: &Candidate| (candidate.rating.rating - player.rating).abs();
    candidates.min_by(|one, other| {
        distance(one).total_cmp(&distance(other)).then_with(|| one.id.cmp(&other.id))
    })
}
