//! Runs of our own script on trusted states in a process that has the test framework loaded already:
//! the same log for a fraction of the time.
//!
//! A warm verdict is one among several: a bug is accepted only where plain runs of the script in fresh
//! sandboxes agree with it, and whatever keeps a warm run from being made leads to a plain one.

use super::script::{LOG, Raw};
use super::{Error, Harness, How, NoVerdict, Program, ScriptRun};
use crate::runner::Chosen;
use crate::sandbox::{Cancel, Conversation, Reply, Sandbox, Step, View};
use crate::tree::Changes;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Processes at once; a run that finds all of them busy is made plainly.
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
    /// Idle or in use.
    alive: usize,
    failures: u32,
    soiled: u32,
}

/// A live server in a sandbox of its own.
struct Process {
    conversation: Conversation,
    born: Instant,
    runs: u32,
    /// What its replies told; the first part of it nobody has been charged for yet.
    told: Duration,
    uncharged: Duration,
}

/// Why a process could not be used; what it took goes with it.
struct Failure {
    reason: String,
    cpu: Duration,
}

impl Harness {
    /// A warm run, or `None` where it must be made plainly: the program is not our own, the changes
    /// touch what the process may have read, or no process can be had.
    pub(super) fn run_in_server(
        &self,
        changes: &Changes,
        program: Program<'_>,
        limit: Duration,
    ) -> Result<Option<ScriptRun>, Error> {
        let Some(chosen) = self.chosen(changes, program) else { return Ok(None) };
        let Some(mut process) = self.process()? else { return Ok(None) };
        let request = self.runner.server_request(changes, &chosen, limit);
        let slot = self.slots.take();
        let started = Instant::now();
        let answer = process.ask(&request, limit + SLACK, &self.cancel);
        drop(slot);
        if self.cancel.is_cancelled() {
            self.warm.gone(|_| ());
            return Err(Error::Cancelled);
        }
        let served = answer.and_then(|line| {
            self.runner.read_served(&line).ok_or_else(|| Failure {
                reason: "its reply makes no sense".to_owned(),
                cpu: Duration::ZERO,
            })
        });
        let wall = started.elapsed();
        let mut served = match served {
            Ok(served) => served,
            Err(Failure { reason, cpu }) => {
                tracing::debug!(reason, "a warm run failed");
                self.note_spent(|spent| spent.cpu += cpu);
                self.warm.gone(|state| state.failures += 1);
                return Ok(None);
            }
        };
        let Some(log) = served.log.take() else {
            let reason = served.unfit.unwrap_or_default();
            tracing::debug!(reason, "changes are not for a warm run");
            self.note_spent(|spent| spent.cpu += served.cpu);
            self.warm.gone(|_| ());
            return Ok(None);
        };
        self.note_spent(|spent| {
            spent.cpu += served.cpu;
            spent.runs += 1;
            spent.warm += 1;
        });
        let cpu = served.cpu + std::mem::take(&mut process.uncharged);
        process.told += served.cpu;
        process.runs += 1;
        self.warm.back(process, &served.dirty);
        let problem = if served.timed_out {
            Some(NoVerdict::TimedOut(limit.as_secs()))
        } else {
            (log.len() > LOG).then_some(NoVerdict::LogTooLong(LOG as u64))
        };
        self.judge(Raw { log, problem, wall, cpu }, program.parser).map(Some)
    }

    /// What the program runs, if a warm run of it is one and the same.
    fn chosen(&self, changes: &Changes, program: Program<'_>) -> Option<Chosen> {
        let plain = changes.paths().any(|path| self.runner.sets_up(path));
        if plain || program.parser != self.runner.parser() {
            return None;
        }
        self.runner.own_script(program.script)
    }

    /// A process that is free, or a new one. `None`: none is to be had now.
    fn process(&self) -> Result<Option<Process>, Error> {
        {
            let mut state = self.warm.state();
            if state.failures >= TRIES || state.soiled >= TRIES {
                return Ok(None);
            }
            if let Some(process) = state.idle.pop() {
                return Ok(Some(process));
            }
            if state.alive >= SERVERS {
                return Ok(None);
            }
            state.alive += 1;
        }
        match self.start() {
            Ok(Some(process)) => Ok(Some(process)),
            Ok(None) => {
                // There is no server for this framework.
                self.warm.gone(|state| state.failures = TRIES);
                Ok(None)
            }
            Err(_) if self.cancel.is_cancelled() => {
                self.warm.gone(|_| ());
                Err(Error::Cancelled)
            }
            Err(Failure { reason, cpu }) => {
                tracing::debug!(reason, "no process for warm runs");
                self.note_spent(|spent| spent.cpu += cpu);
                self.warm.gone(|state| state.failures += 1);
                Ok(None)
            }
        }
    }

    fn start(&self) -> Result<Option<Process>, Failure> {
        let Some(program) = self.runner.server() else { return Ok(None) };
        let failure = |error: &dyn std::error::Error| Failure {
            reason: error.to_string(),
            cpu: Duration::ZERO,
        };
        let mounts = self.caches.for_checks().map_err(|error| failure(&error))?;
        let view = self.view(Changes::new(), mounts);
        let mut step = self.script_step(&[], How::CHECK, AGE * 2);
        step.argv = program.argv;
        step.env.extend(program.env);
        step.files = program.files;
        let conversation =
            converse(&self.sandbox, &view, &step).map_err(|error| failure(&error))?;
        self.spend(Duration::ZERO);
        let mut process = Process {
            conversation,
            born: Instant::now(),
            runs: 0,
            told: Duration::ZERO,
            uncharged: Duration::ZERO,
        };
        let hello = process.ask(b"", SLACK, &self.cancel)?;
        let ready = self.runner.read_served(&hello).ok_or_else(|| Failure {
            reason: String::from_utf8_lossy(&hello).into_owned(),
            cpu: Duration::ZERO,
        })?;
        self.note_spent(|spent| spent.cpu += ready.cpu);
        process.told = ready.cpu;
        process.uncharged = ready.cpu;
        Ok(Some(process))
    }
}

fn converse(
    sandbox: &Sandbox,
    view: &View,
    step: &Step,
) -> Result<Conversation, crate::sandbox::Error> {
    sandbox.open(view)?.converse(step)
}

impl Process {
    fn ask(&mut self, line: &[u8], limit: Duration, cancel: &Cancel) -> Result<Vec<u8>, Failure> {
        match self.conversation.ask(line, limit, cancel) {
            Ok(Reply::Line(line)) => Ok(line),
            Ok(Reply::Over { end, cpu }) => Err(Failure {
                reason: super::parsing::end_in_words(end),
                cpu: cpu.saturating_sub(self.told),
            }),
            Err(error) => Err(Failure { reason: error.to_string(), cpu: Duration::ZERO }),
        }
    }
}

impl Warm {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process is no more.
    fn gone(&self, note: impl FnOnce(&mut State)) {
        let mut state = self.state();
        state.alive -= 1;
        note(&mut state);
    }

    /// A run was made: the process serves again unless something of the run is still there.
    fn back(&self, process: Process, dirty: &[String]) {
        let old = process.runs >= RUNS || process.born.elapsed() >= AGE;
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
            state.alive -= 1;
            drop(state);
            drop(process);
        }
    }
}
