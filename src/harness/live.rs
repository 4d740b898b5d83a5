//! Screens in processes that have a bug's tests loaded: a candidate costs a fork and the tests themselves.
//!
//! A filter like every screen. A process counts only if it says of the tree as it is what a screen from the
//! beginning said; whatever keeps one from answering leads to such a screen.

use super::instruments::Screened;
use super::{Error, Harness, How};
use crate::runner::{Asked, LiveReply, Trial};
use crate::sandbox::{Conversation, Reply};
use crate::tree::{Changes, RelPath};
use crate::verdict::TestId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Candidates that one process tries: what its forks share must not be shared for ever.
const RUNS: usize = 400;
/// Age at which a process gives way to another.
const AGE: Duration = Duration::from_mins(10);
/// How long a process may take beyond the time limits of its candidates.
const SLACK: Duration = Duration::from_secs(20);
/// After so many failures no more is started.
const TRIES: u32 = 2;

/// The processes of one bug.
#[derive(Default)]
pub struct Live(Mutex<State>);

#[derive(Default)]
struct State {
    idle: Vec<Process>,
    failures: u32,
}

struct Process {
    conversation: Conversation,
    born: Instant,
    runs: usize,
    told: Duration,
}

/// What a bug's candidates are tried on.
#[derive(Clone, Copy)]
pub struct Loaded<'a> {
    /// Base + these.
    pub changes: &'a Changes,
    /// All of them in the files.
    pub tests: &'a [TestId],
    pub test_files: &'a [RelPath],
    /// How long a run of the artifact's script takes there.
    pub usual: Duration,
    /// Where the tests stop there, as a screen from the beginning said.
    pub start: &'a BTreeMap<TestId, (u32, bool)>,
}

impl Live {
    /// Ends the processes; where another one is wanted it is started.
    pub fn leave(&self) {
        let idle = std::mem::take(&mut self.state().idle);
        drop(idle);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Harness {
    /// Screens candidates in order, up to the first that passes all tests; the result is as long as what was
    /// looked at. `None` for a candidate that must be screened from the beginning.
    pub fn screen_live(
        &self,
        live: &Live,
        loaded: &Loaded<'_>,
        candidates: &[Changes],
        asked: &Asked<'_>,
    ) -> Result<Vec<Option<Screened>>, Error> {
        let slot = self.slots.take();
        let answered = self.ask_live(live, loaded, candidates, asked);
        drop(slot);
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let screened = |Trial { passed, stages, .. }| Screened { passed, stages };
        match answered {
            Ok(tried) => {
                let unfit = tried.trials.iter().filter(|trial| trial.is_none()).count();
                tracing::debug!(all = tried.trials.len(), unfit, cpu = ?tried.cpu, "tried in a live process");
                Ok(tried.trials.into_iter().map(|trial| trial.map(screened)).collect())
            }
            Err(reason) => {
                if !reason.is_empty() {
                    tracing::debug!(reason, "not screened in a live process");
                    live.state().failures += 1;
                }
                Ok(vec![None; candidates.len()])
            }
        }
    }

    /// An error without words: no process is to be had.
    fn ask_live(
        &self,
        live: &Live,
        loaded: &Loaded<'_>,
        candidates: &[Changes],
        asked: &Asked<'_>,
    ) -> Result<LiveReply, String> {
        let each = self.screening_limit(loaded.tests, loaded.usual);
        let idle = {
            let mut state = live.state();
            if state.failures >= TRIES {
                return Err(String::new());
            }
            state.idle.retain(|process| process.runs < RUNS && process.born.elapsed() < AGE);
            state.idle.pop()
        };
        let mut process = match idle {
            Some(process) => process,
            None => self.start_live(loaded, each)?,
        };
        let count = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
        let request = self.runner.live_request(candidates, asked);
        let mut tried = self.answer(&mut process, &request, each.saturating_mul(count) + SLACK)?;
        // A candidate may write where its process does: what it says is a filter, and no more than was asked.
        tried.trials.truncate(candidates.len());
        process.runs += tried.trials.len();
        // What is not said of the last ones is said of none.
        let whole = tried.trials.len() == candidates.len();
        let passes = |trial: &Trial| loaded.tests.iter().all(|test| trial.passed.contains(test));
        let done = tried.trials.last().and_then(Option::as_ref).is_some_and(passes);
        if !tried.dirty {
            live.state().idle.push(process);
        }
        if !whole && !done {
            tried.trials.resize(candidates.len(), None);
        }
        Ok(tried)
    }

    fn start_live(&self, loaded: &Loaded<'_>, each: Duration) -> Result<Process, String> {
        let started = Instant::now();
        let program = self.runner.live_program(loaded.tests, loaded.test_files, each);
        let Some(program) = program else { return Err(String::new()) };
        let words = |error: &dyn ToString| error.to_string();
        let mounts = self.caches.for_solvers(loaded.changes).map_err(|error| words(&error))?;
        let view = self.view(loaded.changes.clone(), mounts);
        let mut step = self.script_step(&[], How { hash_seed: 0, ..How::CHECK }, AGE * 2);
        step.argv = program.argv;
        step.env.extend(program.env);
        step.files = program.files;
        let session = self.sandbox.open(&view).map_err(|error| words(&error))?;
        self.spend(Duration::ZERO);
        let conversation = session.converse(&step).map_err(|error| words(&error))?;
        let mut process =
            Process { conversation, born: Instant::now(), runs: 0, told: Duration::ZERO };
        let tried = self.answer(&mut process, b"", loaded.usual * 4 + each + SLACK)?;
        let as_it_is = |trial: &Trial| trial.passed.is_empty() && trial.stages == *loaded.start;
        let first = tried.trials.first().and_then(Option::as_ref);
        if !tried.ready || tried.dirty || !first.is_some_and(as_it_is) {
            return Err("it does not say of the tree as it is what a screen said".to_owned());
        }
        tracing::debug!(wall = ?started.elapsed(), "a live process");
        Ok(process)
    }

    fn answer(
        &self,
        process: &mut Process,
        line: &[u8],
        limit: Duration,
    ) -> Result<LiveReply, String> {
        match process.conversation.ask(line, limit, &self.cancel) {
            Ok(Reply::Line(line)) => {
                let tried = self.runner.read_live(&line);
                let tried =
                    tried.ok_or_else(|| "it said something else than a reply".to_owned())?;
                process.told += tried.cpu;
                self.note_spent(|spent| spent.cpu += tried.cpu);
                Ok(tried)
            }
            Ok(Reply::Over { end, cpu }) => {
                self.note_spent(|spent| spent.cpu += cpu.saturating_sub(process.told));
                Err(super::parsing::end_in_words(end))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
