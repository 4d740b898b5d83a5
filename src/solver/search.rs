//! The search of one attempt: takes proposals in order, has them screened in batches, keeps what
//! repairs a part, joins parts, and confirms what repairs all.
//!
//! Knows neither sandbox nor artifact: screening and confirming are given to it.

use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};

/// Where the search takes its candidates from. A candidate is a set of proposals (by number).
pub(crate) trait Space {
    /// What is screened.
    type Candidate: Clone;
    /// Proposals from most to least promising, given that `repaired` are accepted and that `open`
    /// tests still fail.
    fn ranked(&self, accepted: &[usize], open: &BTreeSet<TestId>) -> Vec<usize>;
    /// The proposals put together; `None` where they do not fit together or do not parse.
    fn candidate(&self, proposals: &[usize]) -> Option<Self::Candidate>;
    /// Equal for equal candidates.
    fn digest(&self, candidate: &Self::Candidate) -> String;
}

/// What a screen says of one candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) passed: BTreeSet<TestId>,
    pub(crate) stages: Stages,
}

/// Where failing tests stop; what is greater is further. A test that is not there did not start.
pub(crate) type Stages = BTreeMap<TestId, (u32, bool)>;

/// What a confirmation says.
pub(crate) enum Confirmed<J> {
    Solved(J),
    /// Passes the failing tests and is no repair.
    Refused(J),
}

/// Limits of one attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Candidates that may be screened.
    pub(crate) runs: usize,
    /// Candidates screened at once.
    pub(crate) batch: usize,
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub(crate) struct Outcome<C, J> {
    /// The repair; else the refused one, else what repaired most.
    pub(crate) candidate: Option<C>,
    /// What the confirmation said, where there was one.
    pub(crate) judged: Option<J>,
    /// Candidates that were screened.
    pub(crate) runs: usize,
    /// Those among them that are one proposal on the task itself, in their order.
    pub(crate) tried: Vec<usize>,
    /// The proposals that make up the repair; empty where there is none.
    pub(crate) repair: Vec<usize>,
}

/// A set of accepted proposals, and how far its ranking was followed.
struct State {
    accepted: Vec<usize>,
    passed: BTreeSet<TestId>,
    stages: Stages,
    ranking: Option<std::vec::IntoIter<usize>>,
}

/// At most so many partial repairs with the same effect are followed.
const TWINS: usize = 2;

/// Which partial repair the slots for them go to, by rank: the best one gets every other slot.
const SHARES: [usize; 8] = [0, 1, 0, 2, 0, 3, 0, 4];

/// Searches until a candidate is confirmed, the budget is spent, nothing is left, or `stop` says so.
///
/// `start`: where the failing tests stop on the task itself. `screen` gets candidates and answers what
/// each does to the failing tests; what it does not answer comes again, but for an answer to none.
#[allow(clippy::type_complexity, reason = "two closures, said once")]
pub(crate) fn search<S: Space + ?Sized, J, E>(
    space: &S,
    (failing, start): (&BTreeSet<TestId>, &Stages),
    limits: Limits,
    screen: &mut dyn FnMut(&[S::Candidate]) -> Result<Vec<Option<Answer>>, E>,
    confirm: &mut dyn FnMut(&S::Candidate) -> Result<Confirmed<J>, E>,
    stop: &dyn Fn() -> bool,
) -> Result<Outcome<S::Candidate, J>, E> {
    let mut search = Search::new(space, failing, start);
    let mut refused = None;
    while search.runs < limits.runs && !stop() {
        let batch = search.next_batch(limits.batch.clamp(1, limits.runs - search.runs));
        if batch.is_empty() {
            break;
        }
        let candidates: Vec<_> = batch.iter().map(|(_, candidate)| candidate.clone()).collect();
        let answers = screen(&candidates)?;
        if answers.iter().flatten().next().is_none() {
            break;
        }
        for ((proposals, candidate), answer) in batch.into_iter().zip(answers) {
            let Some(answer) = answer else { continue };
            search.runs += 1;
            if let [one] = proposals[..] {
                search.tried.push(one);
            }
            search.pending.retain(|pending| *pending != proposals);
            if answer.passed != *failing {
                search.learn(proposals, answer);
                continue;
            }
            match confirm(&candidate)? {
                Confirmed::Solved(judged) => {
                    let ended = search.ended(Some(candidate), Some(judged));
                    return Ok(Outcome { repair: proposals, ..ended });
                }
                Confirmed::Refused(judged) => {
                    refused.get_or_insert((candidate, judged));
                }
            }
            // What stands behind a pass in the batch was not run: it comes again.
            break;
        }
        search.return_unanswered();
    }
    let (candidate, judged) = match refused {
        Some((candidate, judged)) => (Some(candidate), Some(judged)),
        None => (search.best_partial(), None),
    };
    Ok(search.ended(candidate, judged))
}

struct Search<'a, S: Space + ?Sized> {
    space: &'a S,
    failing: &'a BTreeSet<TestId>,
    /// The first is the task itself: nothing accepted, nothing passed.
    states: Vec<State>,
    /// Joined partial repairs, to be tried before anything else.
    joined: Vec<Vec<usize>>,
    seen: BTreeSet<String>,
    /// Given out in the last batch and not answered.
    pending: Vec<Vec<usize>>,
    twins: BTreeMap<(BTreeSet<TestId>, Stages), usize>,
    turn: usize,
    runs: usize,
    tried: Vec<usize>,
}

impl<'a, S: Space + ?Sized> Search<'a, S> {
    fn new(space: &'a S, failing: &'a BTreeSet<TestId>, start: &Stages) -> Self {
        let task = State {
            accepted: Vec::new(),
            passed: BTreeSet::new(),
            stages: start.clone(),
            ranking: None,
        };
        Self {
            space,
            failing,
            states: vec![task],
            joined: Vec::new(),
            seen: BTreeSet::new(),
            pending: Vec::new(),
            twins: BTreeMap::new(),
            turn: 0,
            runs: 0,
            tried: Vec::new(),
        }
    }

    fn ended<J>(
        self,
        candidate: Option<S::Candidate>,
        judged: Option<J>,
    ) -> Outcome<S::Candidate, J> {
        Outcome { candidate, judged, runs: self.runs, tried: self.tried, repair: Vec::new() }
    }

    /// Joined repairs first; then, by turns, proposals on top of the task itself and on top of partial
    /// repairs. A partial repair may be a wrong one, and repairs of independent faults are found on the
    /// task itself as well, and then joined: it keeps half of the slots.
    fn next_batch(&mut self, size: usize) -> Vec<(Vec<usize>, S::Candidate)> {
        let mut batch = Vec::new();
        while batch.len() < size
            && let Some(proposals) = self.joined.pop()
        {
            self.offer(proposals, &mut batch);
        }
        let partial = self.partial_repairs();
        while batch.len() < size {
            let wanted = match partial.len() {
                0 => 0,
                _ if self.turn.is_multiple_of(2) => 0,
                known => partial[SHARES[self.turn / 2 % SHARES.len()].min(known - 1)],
            };
            self.turn += 1;
            let states = std::iter::once(wanted).chain([0]).chain(partial.iter().copied());
            let next = states.into_iter().find_map(|state| Some((state, self.advance(state)?)));
            let Some((state, next)) = next else { break };
            let mut proposals = self.states[state].accepted.clone();
            proposals.push(next);
            self.offer(proposals, &mut batch);
        }
        self.pending = batch.iter().map(|(proposals, _)| proposals.clone()).collect();
        batch
    }

    /// The states but the task itself, those first that repair most.
    fn partial_repairs(&self) -> Vec<usize> {
        let mut partial: Vec<usize> = (1..self.states.len()).collect();
        partial.sort_by_key(|state| {
            let of = &self.states[*state];
            (std::cmp::Reverse((of.passed.len(), of.accepted.len())), *state)
        });
        partial
    }

    fn advance(&mut self, state: usize) -> Option<usize> {
        let state = &mut self.states[state];
        let ranking = state.ranking.get_or_insert_with(|| {
            let open = self.failing.difference(&state.passed).cloned().collect();
            self.space.ranked(&state.accepted, &open).into_iter()
        });
        ranking.next()
    }

    fn offer(&mut self, proposals: Vec<usize>, batch: &mut Vec<(Vec<usize>, S::Candidate)>) {
        if let Some(candidate) = self.space.candidate(&proposals)
            && self.seen.insert(self.space.digest(&candidate))
        {
            batch.push((proposals, candidate));
        }
    }

    fn learn(&mut self, proposals: Vec<usize>, answer: Answer) {
        let Answer { passed, stages } = answer;
        let mut parts = self
            .states
            .iter()
            .filter(|state| state.accepted.iter().all(|part| proposals.contains(part)));
        if !parts.all(|part| self.is_better(&passed, &stages, part)) {
            return;
        }
        let twins = self.twins.entry((passed.clone(), stages.clone())).or_insert(0);
        *twins += 1;
        if *twins > TWINS {
            return;
        }
        for other in &self.states[1..] {
            let union = passed.union(&other.passed).count();
            let apart = proposals.iter().all(|one| !other.accepted.contains(one));
            if apart && union > passed.len().max(other.passed.len()) {
                let mut joined = other.accepted.clone();
                joined.extend(&proposals);
                self.joined.push(joined);
            }
        }
        self.states.push(State { accepted: proposals, passed, stages, ranking: None });
    }

    /// More tests pass; or as many, and of the rest some get further and none stops earlier.
    fn is_better(&self, passed: &BTreeSet<TestId>, stages: &Stages, than: &State) -> bool {
        if passed.len() != than.passed.len() {
            return passed.len() > than.passed.len();
        }
        let moved = |id: &&TestId| stages.get(*id).cmp(&than.stages.get(*id));
        let mut open = self.failing.iter().filter(|id| !passed.contains(*id)).map(|id| moved(&id));
        let mut further = false;
        let none_back = open.all(|order| {
            further |= order.is_gt();
            order.is_ge()
        });
        *passed == than.passed && none_back && further
    }

    /// What was given out and not run is to be run later.
    fn return_unanswered(&mut self) {
        for proposals in std::mem::take(&mut self.pending).into_iter().rev() {
            if let Some(candidate) = self.space.candidate(&proposals) {
                self.seen.remove(&self.space.digest(&candidate));
            }
            self.joined.push(proposals);
        }
    }

    fn best_partial(&self) -> Option<S::Candidate> {
        let some = self.states[1..].iter().rev().filter(|state| !state.passed.is_empty());
        let partial = some.max_by_key(|state| state.passed.len())?;
        self.space.candidate(&partial.accepted)
    }
}
