//! Who plays in an evaluation: a trained policy, or an order that it has to beat.

use crate::harness::Error as Harness;
use crate::policy::{Checkpoint, Past, Player, Role, Sampling, Scope, Weights};
use crate::session::Error;
use crate::solver::{self, Attempt, Prepared};
use std::path::Path;

/// Suspicion counts so much more than the template that the template decides between equals only.
const LEADS: f64 = 1e5;

pub(super) enum Policy {
    /// Today's order.
    Start,
    /// Any candidate, by the seed.
    Uniform,
    /// By the template that made it.
    Fixed(Weights),
    /// By suspicion, equals by template.
    Ochiai(Weights),
    /// The bug's inverse where it is a candidate, else today's order.
    Oracle,
    Trained {
        weights: Weights,
        hash: String,
    },
}

/// What is wanted of each case.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) budget: usize,
    pub(super) sampled: Option<usize>,
    pub(super) seed: u64,
    /// Attempts at once.
    pub(super) parallel: usize,
}

impl Policy {
    pub(super) fn named(name: &str, cwd: &Path) -> Result<Self, Error> {
        let by = |suspicion: f64| {
            let mut weights = Weights::new();
            if suspicion > 0.0 {
                weights.set(Scope::Own(Role::Solver), solver::SUSPICION, suspicion);
            }
            weights.set(Scope::Own(Role::Solver), solver::SHARE, 1.0);
            weights
        };
        Ok(match name {
            "start" => Self::Start,
            "uniform" => Self::Uniform,
            "fixed" => Self::Fixed(by(0.0)),
            "ochiai" => Self::Ochiai(by(LEADS)),
            "oracle" => Self::Oracle,
            file => {
                let path = cwd.join(file);
                let told = |why: &dyn std::fmt::Display| {
                    Error::usage(format!(
                        "the policy {} cannot be used: {why}; give a checkpoint of `train`, or one of start, \
                         uniform, fixed, ochiai and oracle",
                        path.display()
                    ))
                };
                let bytes = std::fs::read(&path).map_err(|error| told(&error))?;
                let checkpoint = Checkpoint::parse(&bytes).map_err(|refusal| told(&refusal))?;
                let weights = checkpoint.policy().map_err(|refusal| told(&refusal))?.clone();
                Self::Trained { weights, hash: checkpoint.hash() }
            }
        })
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::Start => "start",
            Self::Uniform => "uniform",
            Self::Fixed(_) => "fixed",
            Self::Ochiai(_) => "ochiai",
            Self::Oracle => "oracle",
            Self::Trained { hash, .. } => hash,
        }
    }

    pub(super) fn attempts(
        &self,
        prepared: &Prepared<'_>,
        wanted: Wanted,
    ) -> Result<Vec<Attempt>, Harness> {
        let attempts = wanted.sampled.unwrap_or(1);
        if matches!(self, Self::Oracle)
            && let Some(attempt) = prepared.inverse()?
        {
            return Ok(vec![attempt; attempts]);
        }
        let none = Weights::new();
        let past = Past::default();
        let weights = match self {
            Self::Start | Self::Oracle => None,
            Self::Uniform => Some(&none),
            Self::Fixed(weights) | Self::Ochiai(weights) | Self::Trained { weights, .. } => {
                Some(weights)
            }
        };
        let chance = wanted.sampled.is_some() || matches!(self, Self::Uniform);
        let sampling = if chance { Sampling::All } else { Sampling::Greedy };
        let player =
            weights.map(|weights| Player { weights, past: &past, hash: self.id(), sampling });
        // Without weights the first attempt takes the plain order, and every other one tastes differently.
        let plain = usize::from(weights.is_none() && chance);
        let request = solver::Request {
            attempts: attempts + plain,
            seed: wanted.seed,
            runs: Some(wanted.budget),
            parallel: wanted.parallel,
        };
        let mut made = prepared.attempts(&request, player)?;
        made.drain(..plain.min(made.len()));
        Ok(made)
    }
}
