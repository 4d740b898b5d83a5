//! What one step showed, in numbers that a face prints as they are.

use super::group::Counts;
use super::tally::Tally;
use crate::policy::Role;
use crate::reward;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Report {
    pub update: Update,
    /// Updates that the weights have behind them.
    pub version: u64,
    /// Of the gradient, before it was cut.
    pub gradient_norm: Option<f64>,
    pub injector: RoleReport,
    pub solver: RoleReport,
    /// The share of solved attempts that pays an injector best, for as many attempts as a bug had.
    pub target_solve_rate: Option<f64>,
    /// Seconds by phase, as the caller measured them.
    pub seconds: BTreeMap<String, f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    Done,
    Skipped(Skip),
}

/// Why the weights were left as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// There were no rollouts of a role that is trained.
    NoRollouts,
    /// No group carries signal: in each all rewards are equal, or too few rollouts are left.
    AllFlat,
    /// The gradient was not finite.
    NotFinite,
}

impl Skip {
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoRollouts => {
                "there is nothing to learn from: no rollout of a role that is trained"
            }
            Self::AllFlat => {
                "there is nothing to learn from: in every group all rewards are equal, so that no choice was \
                 better than another"
            }
            Self::NotFinite => "the gradient was not finite, and the policy is as it was",
        }
    }
}

/// One role's part. What has no value for want of rollouts or choices is `None`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct RoleReport {
    pub groups: usize,
    pub flat_groups: usize,
    pub small_groups: usize,
    pub rollouts: usize,
    /// Rollouts that were too old, lost, caught cheating, or without readable numbers.
    pub stale: usize,
    pub lost: usize,
    pub cheating: usize,
    pub unreadable: usize,
    pub mean_reward: Option<f64>,
    /// Solved attempts of all; of the injector: valid bugs of all.
    pub success_rate: Option<f64>,
    /// The share of groups whose rewards are all equal.
    pub flat_share: Option<f64>,
    /// The share of groups in which some succeed and some do not.
    pub mixed_share: Option<f64>,
    /// Choices that were learned from. All below is a mean over them, or a share of them.
    pub choices: usize,
    pub loss: Option<f64>,
    /// In nats.
    pub entropy: Option<f64>,
    pub clipped_share: Option<f64>,
    pub dual_clipped_share: Option<f64>,
    pub truncated_share: Option<f64>,
    /// Between the logarithms of sampler and trainer: mean and largest distance. A mean above 0.1 says that
    /// they do not sample and train the same policy.
    pub log_distance: Option<f64>,
    pub largest_log_distance: Option<f64>,
    /// The effective sample size over the number of choices: 1 where sampler and trainer agree.
    pub effective_share: Option<f64>,
    /// Divergence of the sampler from the trainer, and of the policy from its start.
    pub kl_sampler: Option<f64>,
    pub kl_start: Option<f64>,
}

impl Report {
    /// The step with what its phases took.
    #[must_use]
    pub fn timed<'a>(mut self, seconds: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        self.seconds.extend(seconds.into_iter().map(|(phase, time)| (phase.to_owned(), time)));
        self
    }

    pub fn role(&self, role: Role) -> &RoleReport {
        match role {
            Role::Injector => &self.injector,
            Role::Solver => &self.solver,
        }
    }
}

impl RoleReport {
    pub(super) fn of(counts: &Counts, tally: &Tally) -> Self {
        let some = |value: f64| (tally.choices > 0).then_some(value);
        Self {
            groups: counts.groups,
            flat_groups: counts.flat,
            small_groups: counts.small,
            rollouts: counts.rollouts,
            stale: counts.stale,
            lost: counts.infrastructure,
            cheating: counts.cheating,
            unreadable: counts.unreadable,
            mean_reward: per(counts.rewards, counts.rollouts),
            success_rate: share(counts.successes, counts.rollouts),
            flat_share: share(counts.flat, counts.groups),
            mixed_share: share(counts.mixed, counts.groups),
            choices: tally.choices,
            loss: some(tally.loss),
            entropy: some(tally.mean(tally.entropy)),
            clipped_share: some(tally.share(tally.clipped)),
            dual_clipped_share: some(tally.share(tally.dual_clipped)),
            truncated_share: some(tally.share(tally.truncated)),
            log_distance: some(tally.mean(tally.distance)),
            largest_log_distance: some(tally.farthest),
            effective_share: some(tally.effective()),
            kl_sampler: some(tally.mean(tally.off_sampler)),
            kl_start: some(tally.mean(tally.off_start)),
        }
    }
}

/// p*(G) for the largest group of a solver.
pub(super) fn target(counts: Option<&Counts>) -> Option<f64> {
    reward::best_solve_rate(counts?.largest).ok()
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(part: usize, whole: usize) -> Option<f64> {
    per(part as f64, whole)
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn per(sum: f64, count: usize) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}
