//! One round: inject, check, attempts, rewards.

use crate::artifact::Artifact;
use crate::consistency::{Minima, Report};
use crate::harness::{Error, Harness};
use crate::injector::{Counts, Strategy};
use crate::reward::Scheme;
use crate::solver::Attempt;
use crate::syntax::Languages;

#[derive(Clone, Debug)]
pub struct Rules {
    pub injector: crate::injector::Request,
    pub solver: crate::solver::Request,
    pub minima: Minima,
    pub scheme: Scheme,
}

#[derive(Clone, Debug)]
pub struct Round {
    /// `None`: the injector found no bug.
    pub artifact: Option<Artifact>,
    pub strategy: Strategy,
    pub summary: String,
    pub tree_digest: String,
    pub counts: Counts,
    pub report: Option<Report>,
    pub attempts: Vec<Attempt>,
    pub inject_reward: f64,
    /// `None` for an invalid artifact.
    pub solve_rate: Option<f64>,
    pub seconds: f64,
}

/// Plays one round. `progress` is told what happens, for people.
pub fn play(
    _harness: &Harness,
    _languages: &Languages,
    _rules: &Rules,
    _known: &dyn Fn(&str) -> bool,
    _progress: &dyn Fn(Progress),
) -> Result<Round, Error> {
    todo!()
}

#[derive(Clone, Debug)]
pub enum Progress {
    Injecting,
    Injected(String),
    Checking,
    Checked { valid: bool },
    Attempted { index: usize, solved: bool },
}
