//! One repository while it is trained on: bugs that are kept of it, taken up in an order that the seed says.

use super::super::open::Opened;
use super::super::{Error, past};
use crate::artifact::Artifact;
use crate::dice::Dice;
use crate::policy::Past;
use crate::solver::Prepared;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Bugs that stay surveyed: each holds its proposals, some ten megabytes for a large file.
const PREPARED: usize = 24;
/// Most rounds through all bugs that one sits out which never told anything.
const LONGEST_REST: u32 = 4;

pub(super) struct Place<'a> {
    pub(super) opened: &'a Opened,
    pub(super) turns: Turns,
    /// As it was when training began: choices that are compared, and surveys that are kept, must not differ in it.
    pub(super) past: Arc<Past>,
    /// The bugs, where they were brought along and are not the workspace's.
    given: Option<BTreeMap<String, Artifact>>,
    prepared: BTreeMap<String, Prepared<'a>>,
    oldest: VecDeque<String>,
}

impl<'a> Place<'a> {
    /// With these bugs, or those that are kept of the tree as it is.
    pub(super) fn new(
        opened: &'a Opened,
        given: Option<Vec<Artifact>>,
        seed: u64,
    ) -> Result<Self, Error> {
        let base = &opened.harness.base().id;
        let named = |bug: Artifact| (bug.id(), bug);
        let given = given.map(|given| given.into_iter().map(named).collect::<BTreeMap<_, _>>());
        let ids = match &given {
            Some(given) => given.keys().cloned().collect(),
            None => opened.record.store.valid_ids(base).map_err(Error::harness)?,
        };
        let turns = Turns::new(ids, seed);
        let past = Arc::new(past::of(&opened.record.store)?);
        let (prepared, oldest) = (BTreeMap::new(), VecDeque::new());
        Ok(Self { opened, turns, past, given, prepared, oldest })
    }

    /// Whether what is played is written down in the workspace.
    pub(super) fn records(&self) -> bool {
        self.given.is_none()
    }

    /// The bug as it was surveyed before; it is given back with [`Place::put_back`].
    pub(super) fn take(&mut self, id: &str) -> Option<Prepared<'a>> {
        self.prepared.remove(id)
    }

    /// The bug, surveyed now.
    pub(super) fn survey(&self, id: &str, seed: u64) -> Result<Prepared<'a>, Error> {
        let opened = self.opened;
        let given = self.given.as_ref().and_then(|given| given.get(id));
        let artifact = match given {
            Some(artifact) => artifact.clone(),
            None => opened.record.artifact(id)?,
        };
        let bug = Prepared::of(&opened.harness, &opened.languages, &artifact)
            .and_then(|bug| bug.remembering(seed))
            .map_err(Error::harness)?;
        Ok(if self.records() { bug } else { bug.grading_repairs_alone() })
    }

    pub(super) fn put_back(&mut self, id: &str, bug: Prepared<'a>) {
        self.prepared.insert(id.to_owned(), bug);
        self.oldest.retain(|other| other != id);
        self.oldest.push_back(id.to_owned());
        if self.oldest.len() > PREPARED
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.prepared.remove(&oldest);
        }
    }
}

/// Whose turn it is.
#[derive(Default)]
pub(super) struct Turns {
    /// Ids, in the order in which they are taken up.
    order: Vec<String>,
    next: usize,
    flat: BTreeMap<String, Flat>,
}

/// How often in a row a bug told nothing, and how often it still sits out.
#[derive(Clone, Copy, Debug, Default)]
struct Flat {
    times: u32,
    rests: u32,
}

impl Turns {
    /// The order depends on the ids and the seed alone.
    fn new(mut order: Vec<String>, seed: u64) -> Self {
        order.sort();
        Dice::new(seed).fork("bugs").shuffle(&mut order);
        Self { order, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// A new bug, to be taken up again once all others were.
    pub(super) fn add(&mut self, id: String) {
        if !self.order.contains(&id) {
            self.order.push(id);
        }
    }

    /// The next bug that is not among `taken`; one that told nothing sits out for a while.
    pub(super) fn next(&mut self, taken: &[String]) -> Option<String> {
        for _ in 0..self.order.len() * (LONGEST_REST as usize + 1) {
            let id = self.order.get(self.next % self.order.len())?.clone();
            self.next += 1;
            if taken.contains(&id) {
                continue;
            }
            match self.flat.get_mut(&id).filter(|flat| flat.rests > 0) {
                Some(flat) => flat.rests -= 1,
                None => return Some(id),
            }
        }
        None
    }

    /// Whether the attempts at a bug told one from another.
    pub(super) fn told(&mut self, id: &str, signal: bool) {
        let flat = self.flat.entry(id.to_owned()).or_default();
        flat.times = if signal { 0 } else { flat.times + 1 };
        flat.rests = flat.times.saturating_sub(1).min(LONGEST_REST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(seed: u64) -> Turns {
        Turns::new(["a", "b", "c"].map(str::to_owned).into(), seed)
    }

    #[test]
    fn bugs_take_turns_in_an_order_that_the_seed_says() {
        let all = |seed| {
            let mut turns = turns(seed);
            (0..6).map_while(|_| turns.next(&[])).collect::<Vec<String>>()
        };
        let first = all(1);
        assert_eq!(first, all(1));
        assert!((2..20).any(|seed| all(seed) != first), "every seed gives one order");
        assert_eq!(first[..3], first[3..]);
        let mut sorted = first[..3].to_vec();
        sorted.sort();
        assert_eq!(sorted, ["a", "b", "c"]);
    }

    #[test]
    fn a_bug_that_tells_nothing_sits_out_and_comes_back() {
        let mut turns = turns(1);
        let flat = turns.next(&[]).unwrap();
        // Once is chance.
        turns.told(&flat, false);
        turns.told(&flat, false);
        let next: Vec<String> = (0..5).map_while(|_| turns.next(&[])).collect();
        assert_eq!(next.iter().filter(|id| **id == flat).count(), 1, "{next:?} with {flat}");
        turns.told(&flat, true);
        let next: Vec<String> = (0..3).map_while(|_| turns.next(&[])).collect();
        assert!(next.contains(&flat));
    }

    #[test]
    fn nobody_is_taken_twice_in_a_step_and_the_last_one_is_always_found() {
        let mut turns = turns(1);
        let taken = ["a".to_owned(), "b".to_owned()];
        for _ in 0..9 {
            turns.told("c", false);
        }
        assert_eq!(turns.next(&taken).as_deref(), Some("c"));
        let all = [&taken[..], &["c".to_owned()]].concat();
        assert_eq!(turns.next(&all), None);
        assert_eq!(Turns::default().next(&[]), None);
    }
}
