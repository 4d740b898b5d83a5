//! Groups of rollouts: what is compared with what, and what is left out before anything is averaged.

use super::advantage::{Algorithm, is_flat};
use crate::policy::Role;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One rollout with its reward.
#[derive(Clone, Debug)]
pub struct Rollout<I> {
    pub input: Arc<I>,
    pub taken: Vec<usize>,
    /// What the sampler said of each choice.
    pub logs: Vec<f64>,
    pub temperature: f64,
    /// The version of the weights that made it.
    pub version: u64,
    pub reward: f64,
    /// The bug was repaired; of an injector: the bug is valid.
    pub success: bool,
    /// Why it does not count, where it does not.
    pub left_out: Option<LeftOut>,
}

/// Neither says anything of what was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// A crash of ours, a lost sandbox.
    Infrastructure,
    /// Cheating was caught: it earns nothing, and nothing is compared with it.
    Cheating,
}

/// Rollouts that are compared with each other: a solver's at one bug, an injector's from one source.
#[derive(Clone, Debug)]
pub struct Group<I> {
    pub role: Role,
    /// The bug's id, or what the injector started from. Groups of one role and subject are one group.
    pub subject: String,
    pub rollouts: Vec<Rollout<I>>,
}

/// What became of the rollouts of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Groups that came.
    pub groups: usize,
    /// Of these: all rewards are equal, so that nothing can be learned from comparing them.
    pub flat: usize,
    /// Of these: too few rollouts are left to compare.
    pub small: usize,
    /// Groups that carry signal.
    pub kept: usize,
    /// Rollouts that count, those of flat and small groups too.
    pub rollouts: usize,
    pub successes: usize,
    /// The sum of their rewards.
    pub rewards: f64,
    /// The largest number of them in one group: G.
    pub largest: usize,
    /// Groups in which some succeed and some do not.
    pub mixed: usize,
    /// Rollouts that do not count.
    pub stale: usize,
    pub infrastructure: usize,
    pub cheating: usize,
    /// The reward or a probability is no finite number.
    pub unreadable: usize,
}

/// How many groups of each role a step should learn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub injector: usize,
    pub solver: usize,
}

/// How many more groups are to be played, since others carried no signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Refill {
    pub injector: usize,
    pub solver: usize,
}

impl Wanted {
    /// What is missing; `None` where nothing is, or it was asked for `bound` times already.
    #[must_use]
    pub fn refill(
        self,
        counts: &BTreeMap<Role, Counts>,
        asked: usize,
        bound: usize,
    ) -> Option<Refill> {
        let kept = |role| counts.get(&role).map_or(0, |counts: &Counts| counts.kept);
        let refill = Refill {
            injector: self.injector.saturating_sub(kept(Role::Injector)),
            solver: self.solver.saturating_sub(kept(Role::Solver)),
        };
        let missing = refill.injector + refill.solver;
        (missing > 0 && asked < bound).then_some(refill)
    }
}

/// Groups that carry signal, by role and subject, and what became of the others.
#[derive(Clone, Debug)]
pub(super) struct Sorted<I> {
    pub(super) kept: BTreeMap<(Role, String), Vec<Rollout<I>>>,
    pub(super) counts: BTreeMap<Role, Counts>,
}

/// `version`: of the weights that learn. `staleness`: how many updates behind it a rollout may be.
pub(super) fn sort<I>(
    groups: Vec<Group<I>>,
    algorithm: Algorithm,
    version: u64,
    staleness: u64,
) -> Sorted<I> {
    let mut merged: BTreeMap<(Role, String), Vec<Rollout<I>>> = BTreeMap::new();
    for group in groups {
        merged.entry((group.role, group.subject)).or_default().extend(group.rollouts);
    }
    let mut sorted = Sorted { kept: BTreeMap::new(), counts: BTreeMap::new() };
    for ((role, subject), mut rollouts) in merged {
        let counts: &mut Counts = sorted.counts.entry(role).or_default();
        counts.groups += 1;
        rollouts.retain(|rollout| counts.admits(rollout, version, staleness));
        counts.note(&rollouts);
        let rewards: Vec<f64> = rollouts.iter().map(|rollout| rollout.reward).collect();
        if rollouts.is_empty() || (algorithm.is_relative() && rollouts.len() < 2) {
            counts.small += 1;
        } else if algorithm.is_relative() && is_flat(&rewards) {
            counts.flat += 1;
        } else {
            counts.kept += 1;
            sorted.kept.insert((role, subject), rollouts);
        }
    }
    sorted
}

impl Counts {
    fn admits<I>(&mut self, rollout: &Rollout<I>, version: u64, staleness: u64) -> bool {
        let count = match rollout.left_out {
            Some(LeftOut::Infrastructure) => &mut self.infrastructure,
            Some(LeftOut::Cheating) => &mut self.cheating,
            None if !rollout.reward.is_finite()
                || rollout.logs.iter().any(|log| !log.is_finite()) =>
            {
                &mut self.unreadable
            }
            None if version.saturating_sub(rollout.version) > staleness => &mut self.stale,
            None => return true,
        };
        *count += 1;
        false
    }

    fn note<I>(&mut self, rollouts: &[Rollout<I>]) {
        let successes = rollouts.iter().filter(|rollout| rollout.success).count();
        self.rollouts += rollouts.len();
        self.successes += successes;
        self.rewards += rollouts.iter().map(|rollout| rollout.reward).sum::<f64>();
        self.largest = self.largest.max(rollouts.len());
        self.mixed += usize::from(0 < successes && successes < rollouts.len());
    }
}
