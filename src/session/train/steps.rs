//! Steps: bugs are made and attempted under the live weights, then learned from.

use super::super::inject::injection;
use super::super::played::{Cast, Origin, row};
use super::super::policy::read;
use super::super::record::{self, now};
use super::super::{EMBEDDED, Error, Job, START, Session, past};
use super::before::Wanted;
use super::bugs::Place;
use super::rollouts::{attempted, cheats, edits, tells};
use super::{TrainRequest, TrainStep, TrainedRole, checkpoint, reason};
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::episode::{self, Players, Progress, Round, Rules as RoundRules};
use crate::harness::busy;
use crate::injector;
use crate::policy::{Checkpoint, Options, Past, Player, Role, Sampling, Weights};
use crate::reward::{
    Alarm, Buffer, Cycle, Scheme, Shingles, Shown, Signals, Thresholds, ValidRate,
};
use crate::reward::{Validity, best_solve_rate};
use crate::solver::{self, Remembered};
use crate::store::{self, TrainedStep};
use crate::trainer::{
    Adam, Average, Base, Baselines, Embedded, Group, Rules, Trainer as _, Update, step,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// How often more bugs are asked for in one step where too few carry signal.
const REFILLS: usize = 2;
/// Bugs that a new one is compared with.
const NOVELTY: usize = 10_000;
/// Notes in a checkpoint.
const BASELINES: &str = "baselines";

/// All that goes on from step to step.
pub(super) struct Learner<'a> {
    pub(super) session: &'a Session,
    pub(super) request: &'a TrainRequest,
    path: PathBuf,
    pub(super) seed: u64,
    pub(super) trainer: Embedded,
    rules: Rules,
    baselines: Baselines,
    /// Of the checkpoint that is written.
    hash: String,
    valid: ValidRate,
    known: Buffer,
    novelty_before: Option<f64>,
    /// Bugs of before that were asked for: their repositories take turns, over all steps.
    asked: usize,
}

/// What one step has gathered so far.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) groups: Vec<Group<Options>>,
    /// Ids of the bugs that were attempted.
    pub(super) taken: Vec<String>,
    injected: usize,
    valid: usize,
    pub(super) again: usize,
    refills: usize,
    pub(super) options: usize,
    pub(super) options_cut: usize,
    pub(super) candidates: Remembered,
    cycle: Cycle,
    seconds: BTreeMap<&'static str, f64>,
}

impl Gathered {
    pub(super) fn timed<T>(&mut self, phase: &'static str, work: impl FnOnce(&mut Self) -> T) -> T {
        let started = Instant::now();
        let result = work(self);
        *self.seconds.entry(phase).or_default() += started.elapsed().as_secs_f64();
        result
    }

    /// Groups of the solver in which not all rewards are equal.
    fn telling(&self) -> usize {
        self.groups.iter().filter(|group| group.role == Role::Solver && tells(group)).count()
    }
}

impl<'a> Learner<'a> {
    pub(super) fn begin(
        session: &'a Session,
        request: &'a TrainRequest,
        path: &Path,
    ) -> Result<Self, Error> {
        let usual = Adam::default();
        // Weights of features that are hardly met must not move as fast as all others.
        let adam =
            Adam { rate: request.rate.unwrap_or(usual.rate), second: 0.99, epsilon: 1e-3, ..usual };
        let (injector, solver) = match request.role {
            TrainedRole::Both => (1.0, 1.0),
            TrainedRole::Injector => (1.0, 0.0),
            TrainedRole::Solver => (0.0, 1.0),
        };
        let rules =
            Rules { algorithm: request.algorithm, adam, injector, solver, ..Rules::default() };
        let mut learner = Self {
            session,
            request,
            path: path.to_owned(),
            seed: request.seed.unwrap_or(session.config().seed),
            trainer: created(start_weights())?,
            rules,
            baselines: Baselines::default(),
            hash: String::new(),
            valid: ValidRate::default(),
            known: Buffer::new(NOVELTY),
            novelty_before: None,
            asked: 0,
        };
        match request.from.as_deref() {
            Some(START) => {}
            Some(file) => {
                let file = session.config().cwd.join(file);
                let bytes = read(&file)?.ok_or_else(|| {
                    Error::usage(format!("there is no policy {} to begin with", file.display()))
                })?;
                learner.go_on(&file, &bytes)?;
            }
            None => {
                if let Some(bytes) = read(path)? {
                    learner.go_on(path, &bytes)?;
                }
            }
        }
        Ok(learner)
    }

    /// A checkpoint of a trainer, or a policy alone.
    fn go_on(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let refused = |refusal: &dyn std::fmt::Display| {
            Error::usage(format!(
                "the policy {}: {refusal}. Give --from {START} to begin anew",
                path.display()
            ))
        };
        let read = Checkpoint::parse(bytes).map_err(|refusal| refused(&refusal))?;
        self.hash = read.hash();
        if let Ok(notes) = self.trainer.load(bytes) {
            let baselines = notes.get(BASELINES).and_then(|text| serde_json::from_str(text).ok());
            self.baselines = baselines.unwrap_or_default();
        } else {
            let weights = read.policy().map_err(|refusal| refused(&refusal))?.clone();
            self.trainer = created(weights)?;
        }
        Ok(())
    }

    pub(super) fn step(
        &mut self,
        number: u32,
        places: &mut [Place<'_>],
        job: &Job,
    ) -> Result<TrainStep, Error> {
        let started = Instant::now();
        let busy_before = busy();
        let weights = self.trainer.weights().clone();
        let past = Past::default();
        let before = self.hash.clone();
        let player =
            Player { weights: &weights, past: &past, hash: &before, sampling: Sampling::All };
        let (mut gathered, all) = (Gathered::default(), places.len());
        if self.request.role.injects() {
            for at in 0..self.request.bugs {
                let turn = (number as usize - 1) * self.request.bugs + at;
                let place = &mut places[turn % all];
                self.new_bug(number, at, place, player, &mut gathered, job)?;
            }
        }
        if self.request.role != TrainedRole::Injector {
            for asked in 0..=REFILLS {
                let missing = self.request.bugs.saturating_sub(gathered.telling());
                let had = gathered.taken.len();
                if missing == 0 {
                    break;
                }
                // New bugs are what a step is about; others come where they tell too little.
                gathered.refills += usize::from(asked > 0 || self.request.role.injects());
                let mut chosen = Vec::new();
                for _ in 0..missing {
                    let at = self.asked % all;
                    self.asked += 1;
                    if let Some(id) = places[at].turns.next(&gathered.taken) {
                        gathered.taken.push(id.clone());
                        chosen.push(Wanted { at, id });
                    }
                }
                self.bugs_of_before(number, places, chosen, player, &mut gathered, job)?;
                if gathered.taken.len() == had {
                    break;
                }
            }
        }
        let groups = std::mem::take(&mut gathered.groups);
        let updating = Instant::now();
        let (report, _) = step(&mut self.trainer, groups, &self.rules, &mut self.baselines)
            .map_err(Error::harness)?;
        let updated = updating.elapsed().as_secs_f64();
        gathered.seconds.insert("update", updated);
        let trained = report.update == Update::Done;
        if trained {
            gathered.timed("keep", |_| self.write())?;
        }
        let has_bugs = places.iter().any(|place| !place.turns.is_empty());
        let wall = started.elapsed().as_secs_f64();
        let usual = Thresholds::default();
        let target = best_solve_rate(self.request.attempts).unwrap_or(usual.target);
        let signals = Signals::of(&gathered.cycle, &Thresholds { target, ..usual });
        let answer = TrainStep {
            step: number,
            of: self.request.steps,
            trained,
            reason: reason(&report, has_bugs),
            role: self.request.role,
            algorithm: self.request.algorithm,
            seed: self.seed,
            injected: gathered.injected,
            valid: gathered.valid,
            again: gathered.again,
            refills: gathered.refills,
            options: gathered.options,
            options_cut: gathered.options_cut,
            candidates: gathered.candidates,
            share_in_tests: busy().saturating_sub(busy_before).as_secs_f64() / wall,
            share_of_update: updated / wall,
            warnings: self.warnings(&signals),
            signals,
            policy_before: before,
            policy: self.hash.clone(),
            checkpoint: self.path.display().to_string(),
            report: report.timed(gathered.seconds.into_iter().chain([("whole", wall)])),
        };
        self.novelty_before = mean(&gathered.cycle.novelties);
        let kept = TrainedStep {
            at: now(),
            before: answer.policy_before.clone(),
            after: answer.policy.clone(),
            report: serde_json::to_string(&answer).map_err(Error::harness)?,
        };
        for place in places {
            place.opened.record.store.keep_step(&kept).map_err(Error::harness)?;
        }
        Ok(answer)
    }

    fn write(&mut self) -> Result<(), Error> {
        let baselines = serde_json::to_string(&self.baselines).map_err(Error::harness)?;
        let notes = BTreeMap::from([(BASELINES.to_owned(), baselines)]);
        let bytes = self.trainer.save(&notes).map_err(Error::harness)?;
        checkpoint::write(&self.path, &bytes)?;
        self.hash = Checkpoint::parse(&bytes).map_err(Error::harness)?.hash();
        Ok(())
    }

    /// Injects a bug, checks it and has it attempted; its edits are rollouts of the injector, its attempts of
    /// the solver.
    fn new_bug(
        &mut self,
        number: u32,
        at: usize,
        place: &mut Place<'_>,
        player: Player<'_>,
        gathered: &mut Gathered,
        job: &Job,
    ) -> Result<(), Error> {
        let past = Arc::clone(&place.past);
        let player = Player { past: &past, ..player };
        let request = self.request;
        let bugs = request.bugs as u64;
        let seed = self.seed.wrapping_add(u64::from(number - 1) * bugs + at as u64);
        let opened = place.opened;
        let (strategy, minima) = (request.strategy, request.minima);
        let history = opened.history(strategy, seed, None, true, job)?;
        let rules = RoundRules {
            injector: injection(strategy, seed, None, minima, history),
            solver: self.attempts(seed),
            minima,
            scheme: Scheme::default(),
        };
        let players = Players { policy: Some(player), remembers: true, ..Players::default() };
        let (harness, languages) = (&opened.harness, &opened.languages);
        let known = |digest: &str| opened.record.known(digest);
        let tell = |progress: Progress| job.tell(progress);
        let begun = gathered
            .timed("inject", |_| {
                episode::begin(harness, languages, (&rules, &players), &known, &tell)
            })
            .map_err(|error| job.stopped(error))?;
        let mut round = gathered
            .timed("rounds", |_| {
                episode::finish(harness, languages, (&rules, &players), begun, &tell)
            })
            .map_err(|error| job.stopped(error))?;
        self.judge(&mut round, gathered)?;
        let id = round.artifact.as_ref().map(Artifact::id);
        let (version, runs) = (self.trainer.version(), request.runs);
        let invalid = request.scheme.injector(&Shown::default());
        let invalid = invalid.map_err(|refusal| Error::usage(refusal.to_string()))?;
        gathered.groups.extend(edits(&round, &harness.base().id, invalid, version));
        if let (Some(id), true) = (&id, round.is_valid()) {
            let group = attempted(id, &round.attempts, runs, version);
            place.turns.add(id.clone());
            place.turns.told(id, tells(&group));
            gathered.taken.push(id.clone());
            gathered.groups.push(group);
        }
        gathered.timed("keep", |_| keep(place, &round, id, (number, at, seed)))
    }

    /// What the bug earns by the scheme that is asked for, and what it shows of the cycle.
    fn judge(&mut self, round: &mut Round, gathered: &mut Gathered) -> Result<(), Error> {
        let valid = round.artifact.is_some() && round.is_valid();
        gathered.injected += 1;
        gathered.valid += usize::from(valid);
        self.valid.note(valid);
        let patch = round.artifact.as_ref().filter(|_| valid);
        let patch = patch.and_then(|artifact| Patch::parse(&artifact.bug_inject).ok());
        let novelty = patch.map(|patch| {
            let shingles = Shingles::of(&patch);
            let novelty = self.known.novelty(&shingles);
            self.known.push(shingles);
            novelty
        });
        let validity = if valid { Validity::WHOLE } else { Validity::default() };
        let shown = Shown { validity, solve_rate: round.solve_rate, novelty };
        let reward = self.request.scheme.injector(&shown);
        round.inject_reward = Some(reward.map_err(|refusal| Error::usage(refusal.to_string()))?);
        let cycle = &mut gathered.cycle;
        cycle.proposed += 1;
        cycle.valid += usize::from(valid);
        cycle.solve_rates.extend(round.solve_rate.filter(|_| valid));
        cycle.novelties.extend(novelty);
        cycle.novelty_before = self.novelty_before;
        cycle.attempts += round.attempts.len();
        cycle.intercepted += round.attempts.iter().filter(|attempt| cheats(attempt)).count();
        Ok(())
    }

    pub(super) fn attempts(&self, seed: u64) -> solver::Request {
        self.session.solver(self.request.attempts, Some(self.request.runs), seed)
    }

    fn warnings(&self, signals: &Signals) -> Vec<String> {
        let alarm = self.valid.alarm().map(|alarm| match alarm {
            Alarm::Low { rate } => format!(
                "only {:.0} % of the last bugs were valid: a larger reward for invalid ones, or another \
                 strategy, may help",
                rate * 100.0
            ),
            Alarm::Falling { rate, before } => format!(
                "the share of valid bugs fell from {:.0} to {:.0} %: go back to an earlier checkpoint if it \
                 does not recover",
                before * 100.0,
                rate * 100.0
            ),
        });
        alarm.into_iter().chain(signals.warnings().into_iter().map(str::to_owned)).collect()
    }
}

fn created(weights: Weights) -> Result<Embedded, Error> {
    // A laptop takes some tens of steps: the mean must not be of the beginning.
    let average = Average::new(0.95);
    Embedded::create(Base { weights, average }).map_err(Error::harness)
}

/// What both roles start from: the fixed rules.
fn start_weights() -> Weights {
    let mut weights = solver::start_weights();
    weights.add_scaled(&injector::start_weights(), 1.0);
    weights
}

/// Writes down a bug with its attempts, like a round of a game that belongs to no run.
fn keep(
    place: &Place<'_>,
    round: &Round,
    id: Option<String>,
    (number, at, seed): (u32, usize, u64),
) -> Result<(), Error> {
    let opened = place.opened;
    let (harness, record) = (&opened.harness, &opened.record);
    let (mut artifact, mut group, mut difference) = (None, None, None);
    if let (Some(made), Some(report)) = (&round.artifact, &round.report) {
        let origin = record::Origin {
            strategy: round.strategy,
            seed,
            base: &harness.base().id,
            tree_digest: &round.tree_digest,
            report,
            parent: None,
        };
        artifact = Some(record.prepare(made, &origin)?.1);
        difference = record::difference(harness, &made.id(), report);
        if !round.attempts.is_empty() {
            group = Some(record::group(harness, made, round.bug_order, &round.attempts)?);
        }
    }
    let origin = Origin {
        run: String::new(),
        step: number,
        item: u32::try_from(at).unwrap_or(u32::MAX),
        seed,
        parent: None,
        entry: None,
    };
    let embedded = || EMBEDDED.to_owned();
    let cast = Cast { injector: embedded(), solver: embedded(), swapped: false };
    let row = store::Round { run: None, ..row(round, id, &origin, &cast)? };
    let played = store::Played {
        round: &row,
        artifact: artifact.as_ref(),
        group: group.as_ref(),
        fed: &[],
        difference: difference.as_ref(),
        kinds: &past::of_injector(&round.tried),
    };
    record.store.commit_round(None, &[played]).map_err(Error::harness)?;
    if difference.is_some() {
        harness.stop_fast_ways();
    }
    Ok(())
}

pub(super) fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

#[allow(clippy::cast_precision_loss, reason = "a step has few bugs")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
