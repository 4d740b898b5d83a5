//! Runs of our own script on trusted states in a process that has the test framework loaded already:
//! the same log for a fraction of the time.
//!
//! One warm verdict alone accepts no bug: those of other processes, which were started with other hash seeds,
//! must agree with it, and one bug in so many is audited by plain runs. Where a run only finds built what it
//! would build itself, the first verdict must be of the first bug in its place, as a plain run's is, or of a build
//! that was vouched for (`together`). Whatever keeps a warm run from being made leads to a plain one.

use super::script::{LOG, Raw};
use super::together::Laid;
use super::{Error, Harness, How, NoVerdict, Program, ScriptRun};
use crate::runner::{Chosen, Served, Server};
use crate::sandbox::{Cancel, Conversation, Reply};
use crate::tree::Changes;
use crate::verdict::{Outcome, Verdicts};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Processes of one hash seed at once; a run that finds all of them busy is made plainly.
const SERVERS: usize = 2;
/// Runs of one process: what its forks share (addresses, for one) must not be shared for ever.
const RUNS: u32 = 200;
/// Age at which a process gives way to another.
const AGE: Duration = Duration::from_mins(10);
/// How long a process may take to start, and to answer beyond the time limit of a run.
const SLACK: Duration = Duration::from_secs(20);
/// After so many failures in a row, or processes that could be used only once, no more is started.
const TRIES: u32 = 2;

#[derive(Default)]
pub(super) struct Warm(Mutex<State>);

#[derive(Default)]
struct State {
    idle: Vec<Process>,
    /// Idle or in use, by hash seed.
    alive: BTreeMap<u32, usize>,
    failures: u32,
    soiled: u32,
}

/// A live server in a sandbox of its own.
struct Process {
    conversation: Conversation,
    hash_seed: u32,
    born: Instant,
    runs: u32,
    /// Digests of what was laid out in its place, the original's left out.
    trees: BTreeSet<String>,
    /// What its replies told; the first part of it nobody has been charged for yet.
    told: Duration,
    uncharged: Duration,
}

/// Why a process could not be used.
struct Failure {
    reason: String,
    /// What it took, beyond what is known.
    cpu: Duration,
    /// Whether others may be expected to fail, too.
    counts: bool,
}

const NO_REPLY: &str = "it said something else than a reply";

impl Harness {
    /// A warm run, or `None` where it must be made plainly: the program is not our own, the changes
    /// touch what the process may have read, or no process can be had.
    pub(super) fn run_in_server(
        &self,
        changes: &Changes,
        program: Program<'_>,
        hash_seed: u32,
        limit: Duration,
    ) -> Result<Option<ScriptRun>, Error> {
        let Some(chosen) = self.runner.own_script(program.script) else { return Ok(None) };
        let laid = self.together.laid(changes, &chosen.files);
        self.run_laid(&laid, program, hash_seed, limit)
    }

    /// The same of one state of what is laid out.
    pub(super) fn run_laid(
        &self,
        laid: &Laid,
        program: Program<'_>,
        hash_seed: u32,
        limit: Duration,
    ) -> Result<Option<ScriptRun>, Error> {
        if self.is_plain() {
            return Ok(None);
        }
        let Some(chosen) = self.chosen(&laid.changes, program) else { return Ok(None) };
        // The caches hold the original built: a place where a bug was built would build it again, and
        // the bug once more after that.
        let clean = laid.changes.is_empty() && self.runner.builds();
        let Some(mut process) = self.process(hash_seed, clean)? else { return Ok(None) };
        let slot = self.slots.take();
        let started = Instant::now();
        let served = self.serve(&mut process, laid, &chosen, limit);
        let wall = started.elapsed();
        drop(slot);
        if self.cancel.is_cancelled() {
            self.warm.gone(hash_seed, |_| ());
            return Err(Error::Cancelled);
        }
        let (log, served) = match served {
            Ok(served) => served,
            Err(failure) => {
                self.lament(hash_seed, failure);
                return Ok(None);
            }
        };
        self.note_spent(|spent| {
            spent.cpu += served.cpu;
            spent.runs += 1;
            spent.warm += 1;
            spent.testing += wall;
        });
        let cpu = served.cpu + std::mem::take(&mut process.uncharged);
        let first = process.is_of_one_tree();
        self.warm.back(process, &served.dirty);
        let problem = if served.timed_out {
            Some(NoVerdict::TimedOut(limit.as_secs()))
        } else {
            (log.len() > LOG).then_some(NoVerdict::LogTooLong(LOG as u64))
        };
        match problem.is_none().then(|| self.read(&log)).flatten() {
            Some(verdicts) => {
                Ok(Some(ScriptRun { verdicts: Ok(verdicts), log: log.into(), wall, cpu, first }))
            }
            None => self.judge(Raw { log, problem, wall, cpu, first }, program.parser).map(Some),
        }
    }

    /// What the runner's own parser says of a log, read without starting it. `None` where that one is to
    /// say why there are no verdicts, or what became of an id that was reported twice.
    fn read(&self, log: &[u8]) -> Option<Verdicts> {
        let read = self.runner.read_log(log).ok().filter(|read| read.duplicates().is_empty())?;
        let mut verdicts = Verdicts::default();
        for (id, outcome) in read.iter() {
            match outcome {
                Outcome::Passed => verdicts.add(id.clone(), Outcome::Passed),
                Outcome::Failed | Outcome::Error => verdicts.add(id.clone(), Outcome::Failed),
                Outcome::Skipped | Outcome::Missing => {}
            }
        }
        (!verdicts.is_empty()).then_some(verdicts)
    }

    /// Lets the places go that keep what was built, so that the next run is the first in its place.
    pub fn leave_places(&self) {
        if self.runner.builds() {
            self.warm.leave();
        }
    }

    /// One request and its reply: the log, and the rest.
    fn serve(
        &self,
        process: &mut Process,
        Laid { changes, state }: &Laid,
        chosen: &Chosen,
        limit: Duration,
    ) -> Result<(Vec<u8>, Served), Failure> {
        if !changes.is_empty() {
            process.trees.insert(changes.digest());
        }
        let request = self.runner.server_request(changes, chosen, *state, limit);
        let reply = process.ask(&request, limit + SLACK, &self.cancel)?;
        let mut served = self.runner.read_served(&reply).ok_or_else(|| Failure::of(&NO_REPLY))?;
        process.told += served.cpu;
        process.runs += 1;
        match served.log.take() {
            Some(log) => Ok((log, served)),
            None => Err(Failure {
                reason: served.unfit.unwrap_or_default(),
                cpu: served.cpu,
                counts: false,
            }),
        }
    }

    /// A process is no more, or never was.
    fn lament(&self, hash_seed: u32, Failure { reason, cpu, counts }: Failure) {
        tracing::debug!(reason, "no warm run");
        self.note_spent(|spent| spent.cpu += cpu);
        self.warm.gone(hash_seed, |state| state.failures += u32::from(counts));
    }

    /// What the program runs, if a warm run of it is one and the same.
    fn chosen(&self, changes: &Changes, program: Program<'_>) -> Option<Chosen> {
        let plain = changes.paths().any(|path| self.runner.sets_up(path));
        if plain || program.parser != self.runner.parser() {
            return None;
        }
        self.runner.own_script(program.script)
    }

    /// A process that is free, or a new one; `clean`: in which the original alone was run. `None`: none is to be
    /// had now.
    fn process(&self, hash_seed: u32, clean: bool) -> Result<Option<Process>, Error> {
        let Some(program) = self.runner.server() else { return Ok(None) };
        match self.warm.take(hash_seed, clean) {
            Place::None => Ok(None),
            Place::Process(process) => Ok(Some(*process)),
            Place::Free => match self.start(program, hash_seed) {
                Ok(process) => Ok(Some(process)),
                Err(failure) => {
                    self.lament(hash_seed, failure);
                    if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(None) }
                }
            },
        }
    }

    fn start(&self, program: Server, hash_seed: u32) -> Result<Process, Failure> {
        let mounts = self.caches.for_checks().map_err(|error| Failure::of(&error))?;
        let view = self.view(Changes::new(), mounts);
        let mut step = self.script_step(&[], How { hash_seed, ..How::CHECK }, AGE * 2);
        step.argv = program.argv;
        step.env.extend(program.env);
        step.files = program.files;
        let session = self.sandbox.open(&view).map_err(|error| Failure::of(&error))?;
        self.spend(Duration::ZERO);
        let mut process = Process {
            conversation: session.converse(&step).map_err(|error| Failure::of(&error))?,
            hash_seed,
            born: Instant::now(),
            runs: 0,
            trees: BTreeSet::new(),
            told: Duration::ZERO,
            uncharged: Duration::ZERO,
        };
        let hello = process.ask(b"", SLACK, &self.cancel)?;
        let ready = self.runner.read_served(&hello).ok_or_else(|| Failure::of(&NO_REPLY))?;
        self.note_spent(|spent| spent.cpu += ready.cpu);
        process.told = ready.cpu;
        process.uncharged = ready.cpu;
        Ok(process)
    }
}

/// What there is for a run.
enum Place {
    Process(Box<Process>),
    /// Room for a new process, which counts as alive from now on.
    Free,
    None,
}

impl Failure {
    fn of(reason: &dyn ToString) -> Self {
        Self { reason: reason.to_string(), cpu: Duration::ZERO, counts: true }
    }
}

impl Process {
    fn is_of_one_tree(&self) -> bool {
        self.trees.len() <= 1
    }

    fn is_old(&self) -> bool {
        self.runs >= RUNS || self.born.elapsed() >= AGE
    }

    fn ask(&mut self, line: &[u8], limit: Duration, cancel: &Cancel) -> Result<Vec<u8>, Failure> {
        match self.conversation.ask(line, limit, cancel) {
            Ok(Reply::Line(line)) => Ok(line),
            Ok(Reply::Over { end, cpu }) => Err(Failure {
                reason: super::parsing::end_in_words(end),
                cpu: cpu.saturating_sub(self.told),
                counts: true,
            }),
            Err(error) => Err(Failure::of(&error)),
        }
    }
}

impl State {
    /// A process of this hash seed is no more.
    fn ended(&mut self, hash_seed: u32) {
        if let Some(alive) = self.alive.get_mut(&hash_seed) {
            *alive -= 1;
        }
    }
}

impl Warm {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, hash_seed: u32, clean: bool) -> Place {
        let mut state = self.state();
        if state.failures >= TRIES || state.soiled >= TRIES {
            return Place::None;
        }
        let old: Vec<_> = state.idle.extract_if(.., |process| process.is_old()).collect();
        for process in &old {
            state.ended(process.hash_seed);
        }
        let fits = |process: &Process| {
            process.hash_seed == hash_seed && (!clean || process.trees.is_empty())
        };
        let idle = state.idle.iter().rposition(fits);
        let alive = state.alive.entry(hash_seed).or_default();
        let place = if let Some(at) = idle {
            Place::Process(Box::new(state.idle.remove(at)))
        } else if *alive < SERVERS {
            *alive += 1;
            Place::Free
        } else {
            Place::None
        };
        // Ending them takes a moment.
        drop(state);
        drop(old);
        place
    }

    /// Ends the idle processes.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        let idle = std::mem::take(&mut state.idle);
        for process in &idle {
            state.ended(process.hash_seed);
        }
        drop(state);
        drop(idle);
    }

    /// A process is no more.
    fn gone(&self, hash_seed: u32, note: impl FnOnce(&mut State)) {
        let mut state = self.state();
        state.ended(hash_seed);
        note(&mut state);
    }

    /// A run was made: the process serves again unless something of the run is still there.
    fn back(&self, process: Process, dirty: &[String]) {
        let old = process.is_old();
        let mut state = self.state();
        state.failures = 0;
        if let Some(first) = dirty.first() {
            tracing::debug!(path = first, "a run left something behind");
            state.soiled = if process.runs == 1 { state.soiled + 1 } else { 0 };
        }
        if dirty.is_empty() && !old {
            state.soiled = 0;
            state.idle.push(process);
        } else {
            state.ended(process.hash_seed);
            drop(state);
            drop(process);
        }
    }
}
