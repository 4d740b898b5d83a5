//! One step: groups of rollouts to one update of both roles, and a report.

use super::adam::Adam;
use super::advantage::{Algorithm, Baselines};
use super::group::{Counts, Group, Rollout, Sorted, sort};
use super::loss::{Loss, k1};
use super::reduction::Reduction;
use super::report::{Report, RoleReport, Skip, Update, target};
use super::tally::Tally;
use super::{Datum, Stepped, Trainer};
use crate::policy::Role;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    pub algorithm: Algorithm,
    pub reduction: Reduction,
    pub loss: Loss,
    pub adam: Adam,
    /// How many updates behind the weights a rollout may be. Default 4.
    pub staleness: u64,
    /// Updates of one batch. Default 1.
    pub passes: usize,
    /// The weight of [`k1`] to the start policy, taken from a rollout's reward. Default 0.
    pub kl_in_reward: f64,
    /// What each role's loss counts in the sum. Default 1; 0: the role is not trained.
    pub injector: f64,
    pub solver: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::default(),
            reduction: Reduction::default(),
            loss: Loss::default(),
            adam: Adam::default(),
            staleness: 4,
            passes: 1,
            kl_in_reward: 0.0,
            injector: 1.0,
            solver: 1.0,
        }
    }
}

impl Rules {
    fn weight(&self, role: Role) -> f64 {
        match role {
            Role::Injector => self.injector,
            Role::Solver => self.solver,
        }
    }
}

/// What became of a step.
struct Outcome {
    update: Update,
    norm: Option<f64>,
    tallies: BTreeMap<Role, Tally>,
}

impl Outcome {
    fn skipped(skip: Skip) -> Self {
        Self { update: Update::Skipped(skip), norm: None, tallies: BTreeMap::new() }
    }
}

/// Learns from the groups. An error is the trainer's; what there is nothing to learn from is a report.
///
/// Whether a group is flat is judged by its rewards as they came: a divergence taken from them is no signal.
pub fn step<T: Trainer>(
    trainer: &mut T,
    groups: Vec<Group<T::Input>>,
    rules: &Rules,
    baselines: &mut Baselines,
) -> Result<(Report, BTreeMap<Role, Counts>), T::Error> {
    let Sorted { mut kept, counts } =
        sort(groups, rules.algorithm, trainer.version(), rules.staleness);
    kept.retain(|(role, _), _| rules.weight(*role) > 0.0);
    let has_rollouts =
        |(role, counts): (&Role, &Counts)| counts.rollouts > 0 && rules.weight(*role) > 0.0;
    let outcome = if kept.values().flatten().any(|rollout| !rollout.taken.is_empty()) {
        update(trainer, &kept, rules, baselines)?
    } else if counts.iter().any(has_rollouts) {
        Outcome::skipped(Skip::AllFlat)
    } else {
        Outcome::skipped(Skip::NoRollouts)
    };
    let of = |role| {
        let tally = outcome.tallies.get(&role).copied().unwrap_or_default();
        RoleReport::of(&counts.get(&role).copied().unwrap_or_default(), &tally)
    };
    let report = Report {
        update: outcome.update,
        version: trainer.version(),
        gradient_norm: outcome.norm,
        injector: of(Role::Injector),
        solver: of(Role::Solver),
        target_solve_rate: target(counts.get(&Role::Solver)),
        seconds: BTreeMap::new(),
    };
    Ok((report, counts))
}

type Kept<I> = BTreeMap<(Role, String), Vec<Rollout<I>>>;

fn update<T: Trainer>(
    trainer: &mut T,
    kept: &Kept<T::Input>,
    rules: &Rules,
    baselines: &mut Baselines,
) -> Result<Outcome, T::Error> {
    let mut data = data(kept, rules.reduction, &|role| rules.weight(role));
    let rollouts: Vec<&Rollout<T::Input>> = kept.values().flatten().collect();
    let version = trainer.version();
    let stale = rollouts.iter().any(|rollout| rollout.version != version);
    let mut rewards: Vec<f64> = rollouts.iter().map(|rollout| rollout.reward).collect();
    let taxed = rules.kl_in_reward != 0.0;
    let logs =
        if stale || taxed || rules.passes > 1 { trainer.forward(&data)? } else { Vec::new() };
    if taxed {
        for ((reward, rollout), logs) in rewards.iter_mut().zip(&rollouts).zip(&logs) {
            let off: f64 =
                rollout.logs.iter().zip(&logs.start).map(|(log, at)| k1(*log, *at)).sum();
            *reward -= rules.kl_in_reward * off;
        }
    }
    let mut rest = rewards.as_slice();
    let mut at = 0;
    let mut noted: BTreeMap<Role, Vec<f64>> = BTreeMap::new();
    for ((role, _), group) in kept {
        let (own, others) = rest.split_at(group.len());
        rest = others;
        for advantage in rules.algorithm.advantages(own, *role, baselines) {
            data[at].advantages = vec![advantage; data[at].taken.len()];
            at += 1;
        }
        noted.entry(*role).or_default().extend(own);
    }
    // Sampler and trainer are weighed against each other only where they may differ.
    if stale || rules.passes > 1 {
        for (datum, logs) in data.iter_mut().zip(&logs) {
            datum.old = Some(&logs.live);
        }
    }
    let mut outcome = Outcome { update: Update::Done, norm: None, tallies: BTreeMap::new() };
    for pass in 0..rules.passes.max(1) {
        let tallies = trainer.forward_backward(&data, &rules.loss)?;
        let stepped = trainer.optim_step(&rules.adam)?;
        let Stepped::Done { norm } = stepped else {
            // An earlier pass's update stands.
            if pass == 0 {
                return Ok(Outcome { tallies, ..Outcome::skipped(Skip::NotFinite) });
            }
            break;
        };
        (outcome.norm, outcome.tallies) = (Some(norm), tallies);
    }
    for (role, rewards) in noted {
        baselines.note(role, &rewards);
    }
    Ok(outcome)
}

/// The rollouts of all groups in their order, without advantages yet.
fn data<'a, I>(
    kept: &'a Kept<I>,
    reduction: Reduction,
    weight: &dyn Fn(Role) -> f64,
) -> Vec<Datum<'a, I>> {
    let mut data: Vec<Datum<'a, I>> = Vec::new();
    for role in Role::ALL {
        let of_role = || kept.iter().filter(|((of, _), _)| *of == role).flat_map(|(_, it)| it);
        let lengths: Vec<usize> = of_role().map(|rollout| rollout.taken.len()).collect();
        for (rollout, factor) in of_role().zip(reduction.factors(&lengths)) {
            data.push(Datum {
                role,
                input: &rollout.input,
                taken: &rollout.taken,
                sampled: &rollout.logs,
                old: None,
                advantages: Vec::new(),
                factor: factor * weight(role),
                temperature: rollout.temperature,
            });
        }
    }
    data
}
