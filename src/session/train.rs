//! `train`: bugs are played by the policy that learns from them, step by step.

mod before;
mod bugs;
mod checkpoint;
mod rollouts;
mod steps;

use super::cases::{Cases, Found, NotReady};
use super::open::Opened;
use super::policy::own;
use super::{Error, Job, Repository, START, Session, folder};
use crate::artifact::Artifact;
use crate::consistency::Minima;
use crate::injector::Strategy;
use crate::reward::{Rule, Signals};
use crate::solver::Remembered;
use crate::trainer::{Algorithm, Report, RoleReport, Skip, Update};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Candidate repairs of an attempt that is learned from: few, so that an early repair is worth more.
pub const TRAINING_RUNS: usize = 20;
/// Bugs that a step should learn from.
pub const TRAINING_BUGS: usize = 4;

/// Who learns: both, from new bugs each step; the injector, from the same, whose attempts count for the bug alone;
/// the solver, from bugs that are kept.
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
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TrainedRole {
    #[default]
    Both,
    Injector,
    Solver,
}

impl TrainedRole {
    pub const NAMES: [&'static str; 3] = ["both", "injector", "solver"];

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "both" => Self::Both,
            "injector" => Self::Injector,
            "solver" => Self::Solver,
            _ => return None,
        })
    }

    fn injects(self) -> bool {
        self != Self::Solver
    }
}

#[derive(Clone, Debug)]
pub struct TrainRequest {
    /// Bugs are taken from each in turn. None where `cases` are given, which name theirs.
    pub repositories: Vec<Repository>,
    /// The bugs that the solver learns from, in place of those that the repositories keep, and where their trees
    /// are.
    pub cases: Option<PathBuf>,
    pub trees: Option<PathBuf>,
    pub steps: u32,
    /// The configuration's where `None`.
    pub seed: Option<u64>,
    pub role: TrainedRole,
    pub algorithm: Algorithm,
    /// What pays the injector.
    pub scheme: Rule,
    /// G.
    pub attempts: usize,
    /// Candidate repairs that one attempt may run.
    pub runs: usize,
    /// Bugs a step.
    pub bugs: usize,
    pub strategy: Strategy,
    pub minima: Minima,
    /// How far a step moves each weight, about. The optimiser's default where `None`.
    pub rate: Option<f64>,
    /// A checkpoint to begin with, or `start`; where nothing is said the one that is written, if it is there.
    pub from: Option<String>,
    /// Where the checkpoint is written; `None`: in the workspace, whose players then go by it.
    pub out: Option<PathBuf>,
}

impl Default for TrainRequest {
    fn default() -> Self {
        Self {
            repositories: Vec::new(),
            cases: None,
            trees: None,
            steps: 1,
            seed: None,
            role: TrainedRole::default(),
            algorithm: Algorithm::default(),
            scheme: Rule::default(),
            attempts: super::DEFAULT_ATTEMPTS,
            runs: TRAINING_RUNS,
            bugs: TRAINING_BUGS,
            strategy: Strategy::Mixed,
            minima: Minima::default(),
            rate: None,
            from: None,
            out: None,
        }
    }
}

/// What one step came to.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct TrainStep {
    /// From 1.
    pub step: u32,
    pub of: u32,
    /// Whether any weights were changed.
    pub trained: bool,
    /// What was trained, or why nothing was.
    pub reason: String,
    pub role: TrainedRole,
    pub algorithm: Algorithm,
    /// The first step's: with it the same bugs are played again.
    pub seed: u64,
    /// Bugs that were injected, those of them that passed every check, and bugs of before that were attempted.
    pub injected: usize,
    pub valid: usize,
    pub again: usize,
    /// Times that more bugs of before were asked for, since others carried no signal.
    pub refills: usize,
    /// Repairs that attempts could choose from, and those beyond the first thousands of a bug, which were not
    /// described; over all bugs of before.
    pub options: usize,
    pub options_cut: usize,
    /// How candidate repairs of the bugs of before were answered.
    pub candidates: Remembered,
    #[serde(flatten)]
    pub report: Report,
    /// Of the step's wall time: while tests ran, and of the update alone.
    pub share_in_tests: f64,
    pub share_of_update: f64,
    pub signals: Signals,
    /// What goes wrong, and what to do about it.
    pub warnings: Vec<String>,
    /// Hashes of the checkpoint before and after; the first is empty where there was none.
    pub policy_before: String,
    pub policy: String,
    /// The file.
    pub checkpoint: String,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct TrainAnswer {
    /// Whether any weights were changed.
    pub trained: bool,
    /// What was trained, or why nothing was.
    pub reason: String,
    /// Bugs that are kept of this state of the repository, and attempts at all bugs.
    pub bugs: u64,
    pub attempts: u64,
    /// What the step showed, as a line of `train --json`; null where none could be taken.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub step: Option<TrainStep>,
}

/// What training came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trained {
    pub steps: u32,
    /// Of them: steps that changed the policy.
    pub updates: u32,
}

impl Session {
    /// Takes the steps one after another; each is kept, with its checkpoint, before it is told.
    pub fn train(
        &self,
        request: &TrainRequest,
        job: &Job,
        tell: &mut dyn FnMut(TrainStep) -> Result<(), Error>,
    ) -> Result<Trained, Error> {
        check(request)?;
        let trees: Vec<Tree> = match &request.cases {
            Some(cases) => self.given(cases, request.trees.as_deref(), job)?,
            None => request.repositories.iter().map(|one| (one.clone(), None)).collect(),
        };
        let mut workspaces = Vec::new();
        for (repository, _) in &trees {
            workspaces.push(self.workspace(repository)?);
        }
        let path = match (&request.out, workspaces.as_slice()) {
            (Some(out), _) => self.config().cwd.join(out),
            (None, [one]) => own(&one.state),
            (None, _) => {
                return Err(Error::usage(
                    "several repositories, or cases, are trained on together: say with --out where the checkpoint \
                     goes",
                ));
            }
        };
        if request.out.is_some() {
            for workspace in &workspaces {
                folder::refuse_inside(&path, &workspace.root)?;
            }
            checkpoint::refuse_early(&path)?;
        }
        // In one order whoever asks, so that two trainers never wait for each other.
        let mut states: Vec<_> = workspaces.iter().map(|workspace| &workspace.state).collect();
        states.sort();
        states.dedup();
        if states.len() < workspaces.len() {
            return Err(Error::usage("a repository is named twice; name each once"));
        }
        let mut held = Vec::new();
        for state in states {
            held.push(checkpoint::hold(state, &job.cancel, &|text| job.step(text))?);
        }
        checkpoint::sweep(&path);
        let mut learner = steps::Learner::begin(self, request, &path)?;
        let mut opened = Vec::new();
        for (repository, _) in &trees {
            opened.push(self.open(repository, job)?);
        }
        let mut places = Vec::new();
        for (opened, (_, given)) in opened.iter().zip(trees) {
            let bugs = given.map(|given| artifacts(given, opened, job)).transpose()?;
            places.push(bugs::Place::new(opened, bugs, learner.seed)?);
        }
        let mut trained = Trained::default();
        for number in 1..=request.steps {
            job.step(&format!("training step {number} of {}", request.steps));
            let step = learner.step(number, &mut places, job)?;
            trained.steps += 1;
            trained.updates += u32::from(step.trained);
            tell(step)?;
        }
        drop(held);
        Ok(trained)
    }

    /// The trees of cases, and the bugs on each. What names none is told, and left out.
    fn given(&self, cases: &Path, trees: Option<&Path>, job: &Job) -> Result<Vec<Tree>, Error> {
        let cwd = &self.config().cwd;
        let cases = Cases::read(&cwd.join(cases))?;
        let trees = trees.map(|trees| cwd.join(trees));
        let mut places: BTreeMap<PathBuf, (Repository, Vec<Given>)> = BTreeMap::new();
        for case in &cases.cases {
            match self.found(case, trees.as_deref()) {
                Ok(found) => {
                    let place = places.entry(found.dir.clone());
                    let (_, given) = place.or_insert_with(|| (found.repository(), Vec::new()));
                    given.push((case.id.clone(), found));
                }
                Err(NotReady::Error(error)) => return Err(error),
                Err(NotReady::Outcome(_, why)) => job.step(&left_out(&case.id, &why)),
            }
        }
        if places.is_empty() {
            let all = cases.cases.len();
            return Err(Error::usage(format!(
                "none of the {all} cases can be learned from; --repos says where their trees are"
            )));
        }
        Ok(places.into_values().map(|(repository, given)| (repository, Some(given))).collect())
    }

    /// One step on a repository.
    pub fn train_step(&self, request: &TrainRequest, job: &Job) -> Result<TrainAnswer, Error> {
        let mut last = None;
        let request = TrainRequest { steps: 1, ..request.clone() };
        self.train(&request, job, &mut |step| {
            last = Some(step);
            Ok(())
        })?;
        let repository = request.repositories.first().cloned().unwrap_or_default();
        let record = super::record::Record::open(&self.workspace(&repository)?)?;
        let counts = record.counts()?;
        let (trained, reason) = match &last {
            Some(step) => (step.trained, step.reason.clone()),
            None => (false, "no step was taken".to_owned()),
        };
        Ok(TrainAnswer {
            trained,
            reason,
            bugs: counts.valid,
            attempts: counts.attempts,
            step: last,
        })
    }
}

/// A case's name, and what it names.
type Given = (String, Found);
/// What is trained on, and the bugs in place of those that are kept of it.
type Tree = (Repository, Option<Vec<Given>>);

/// Bugs on their open tree. What cannot be put on it is told, and left out.
fn artifacts(given: Vec<Given>, opened: &Opened, job: &Job) -> Result<Vec<Artifact>, Error> {
    let mut artifacts = Vec::new();
    for (case, found) in given {
        match found.on(opened, job) {
            Ok(ready) => artifacts.push(ready.artifact),
            Err(NotReady::Error(error)) => return Err(error),
            Err(NotReady::Outcome(_, why)) => job.step(&left_out(&case, &why)),
        }
    }
    Ok(artifacts)
}

fn left_out(case: &str, why: &str) -> String {
    format!("the case {case} is left out: {why}")
}

/// Refuses what makes no sense before anything runs.
fn check(request: &TrainRequest) -> Result<(), Error> {
    if request.cases.is_some() && request.role != TrainedRole::Solver {
        return Err(Error::usage(
            "cases are bugs that are there already, and from them the solver learns alone: give --role solver",
        ));
    }
    if (request.repositories.is_empty() && request.cases.is_none())
        || request.steps == 0
        || request.bugs == 0
        || request.runs == 0
    {
        return Err(Error::usage(
            "there is nothing to train on with 0 repositories, steps, bugs or runs; give at least 1",
        ));
    }
    if request.attempts == 0 || (request.attempts < 2 && request.algorithm.is_relative()) {
        return Err(Error::usage(format!(
            "{} compares the attempts at one bug with each other; give at least 2 attempts",
            request.algorithm.name()
        )));
    }
    if request.rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
        return Err(Error::usage("the rate of learning is a number above 0"));
    }
    if !request.strategy.is_embedded() {
        return Err(Error::usage(format!(
            "the strategy {} is for models, and the embedded injector is what is trained; use another strategy",
            request.strategy.name()
        )));
    }
    if request.from.as_deref() == Some("") {
        return Err(Error::usage(format!("--from names a checkpoint, or `{START}`")));
    }
    Ok(())
}

/// What became of the weights, for people.
fn reason(report: &Report, has_bugs: bool) -> String {
    match report.update {
        Update::Done => {
            let learned = |role: &RoleReport| role.choices > 0;
            let who = match (learned(&report.injector), learned(&report.solver)) {
                (true, false) => "the injector",
                (false, true) => "the solver",
                _ => "injector and solver",
            };
            format!(
                "the embedded policy of {who} was trained: update {} of it, on {} choices of bugs and {} of repairs",
                report.version, report.injector.choices, report.solver.choices
            )
        }
        Update::Skipped(Skip::NoRollouts) if !has_bugs => {
            "nothing was trained: no valid bug of this state of the repository is kept; play some rounds first, \
             or train both roles"
                .to_owned()
        }
        Update::Skipped(skip) => format!("nothing was trained: {}", skip.reason()),
    }
}
