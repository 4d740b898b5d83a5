//! Advantages: how much better a rollout was than what to compare it with.

use crate::policy::Role;
use std::collections::BTreeMap;

/// Keeps the division by a spread of nearly nothing finite (GRPO).
const EPSILON: f64 = 1e-4;
/// How much of a running baseline a new reward leaves.
const DECAY: f64 = 0.95;
/// Rewards nearer to each other are equal: a group of such has nothing to tell.
const FLAT: f64 = 1e-9;

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// The reward less the group's mean (Dr. GRPO, arXiv 2503.20783).
    #[default]
    DrGrpo,
    /// That over the group's standard deviation, of n - 1 (arXiv 2402.03300). Favours groups that are
    /// nearly all right or nearly all wrong.
    Grpo,
    /// The reward less the mean of the others (leave one out): n / (n - 1) times Dr. GRPO's.
    Rloo,
    /// The reward less the mean of all rewards of the role so far. Needs no group.
    Baseline,
}

impl Algorithm {
    pub const ALL: [Self; 4] = [Self::DrGrpo, Self::Grpo, Self::Rloo, Self::Baseline];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DrGrpo => "dr-grpo",
            Self::Grpo => "grpo",
            Self::Rloo => "rloo",
            Self::Baseline => "baseline",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Whether a group is compared within itself: it then takes two rollouts, and one whose rewards are all
    /// equal tells nothing.
    #[must_use]
    pub fn is_relative(self) -> bool {
        self != Self::Baseline
    }

    /// The advantages of one group of a role.
    pub fn advantages(self, rewards: &[f64], role: Role, baselines: &Baselines) -> Vec<f64> {
        let count = count(rewards);
        let mean = rewards.iter().sum::<f64>() / count;
        let centred = || rewards.iter().map(move |reward| reward - mean);
        match self {
            Self::DrGrpo => centred().collect(),
            Self::Grpo => {
                let squares: f64 = centred().map(|it| it * it).sum();
                let spread = (squares / (count - 1.0).max(1.0)).sqrt();
                centred().map(|it| it / (spread + EPSILON)).collect()
            }
            Self::Rloo => centred().map(|it| it * count / (count - 1.0).max(1.0)).collect(),
            Self::Baseline => {
                let known = baselines.of(role);
                rewards.iter().map(|reward| reward - known).collect()
            }
        }
    }
}

/// Whether all rewards are the same.
pub(super) fn is_flat(rewards: &[f64]) -> bool {
    let most = rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = rewards.iter().copied().fold(f64::INFINITY, f64::min);
    most - least < FLAT
}

#[allow(clippy::cast_precision_loss, reason = "groups are small")]
fn count(rewards: &[f64]) -> f64 {
    rewards.len() as f64
}

/// What each role's rewards were on average: an exponential mean, corrected for its beginning at 0.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Baselines(BTreeMap<Role, Running>);

#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Running {
    mean: f64,
    weight: f64,
}

impl Baselines {
    /// 0 where nothing was noted yet.
    pub fn of(&self, role: Role) -> f64 {
        self.0.get(&role).filter(|it| it.weight > 0.0).map_or(0.0, |it| it.mean / it.weight)
    }

    /// Rewards count in their order; what is not finite does not.
    pub fn note(&mut self, role: Role, rewards: &[f64]) {
        let running = self.0.entry(role).or_default();
        for reward in rewards.iter().filter(|reward| reward.is_finite()) {
            running.mean = DECAY * running.mean + (1.0 - DECAY) * reward;
            running.weight = DECAY * running.weight + (1.0 - DECAY);
        }
    }
}
