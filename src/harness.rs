//! Runs an artifact's script and parser on a tree, with warm caches and a memo: the bench on which
//! the checks, the injector, the solver and the judge all work.

mod baseline;
mod caches;
mod entered;
mod instruments;
mod live;
mod memo;
mod observed;
pub mod parsing;
mod room;
mod script;
mod slots;
mod statuses;
mod together;
mod trust;
mod warm;

pub use crate::runner::Asked;
pub use baseline::Baseline;
pub use entered::Entered;
pub use instruments::{Coverage, Screened};
pub use live::{Live, Loaded};
pub use slots::busy;

use crate::runner::Runner;
use crate::sandbox::{self, Cancel, Limits, Sandbox, Tier};
use crate::store::{self, Store};
use crate::tree::Changes;
use crate::verdict::Verdicts;
use crate::workspace::Base;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The paper's limit for one run of a test script (SSR, prompt of the injector).
pub const LONGEST_RUN: Duration = Duration::from_secs(90);

/// One repository ready to be played on. Shared by threads.
pub struct Harness {
    sandbox: Sandbox,
    base: Arc<Base>,
    runner: Arc<Runner>,
    store: Arc<Store>,
    cancel: Cancel,
    limits: Limits,
    time_limit: Option<Duration>,
    caches: caches::Caches,
    memo: memo::Memo,
    warm: warm::Warm,
    together: together::Known,
    /// Repeats of warm runs, made while what they need was built, by the memo's key.
    repeats: Mutex<BTreeMap<String, [ScriptRun; 2]>>,
    slots: slots::Slots,
    /// An empty directory: the tree of runs that must see none.
    empty: PathBuf,
    baseline: OnceLock<Arc<Baseline>>,
    /// Held while the baseline is measured.
    measuring: Mutex<()>,
    spent: Mutex<Spent>,
    /// Whether a run asked for a network where there is none.
    wanted_network: AtomicBool,
    /// Whether the fast ways are not to be taken.
    plain: AtomicBool,
}

/// What all runs of a harness took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// User and system time of the commands and all their children; the sandboxes themselves, some
    /// milliseconds each, are not in it.
    pub cpu: Duration,
    pub sandboxes: u64,
    /// Runs of scripts, and those among them that were made in a process that was there already.
    pub runs: u64,
    pub warm: u64,
    /// Bugs whose states shared a build, and those of which each was built.
    pub together: u64,
    pub apart: u64,
    /// Wall time of the scripts' own processes; that of runs beside each other is added up.
    pub testing: Duration,
}

/// What a harness is made of.
pub struct Setup {
    pub sandbox: Sandbox,
    pub base: Arc<Base>,
    pub runner: Arc<Runner>,
    pub store: Arc<Store>,
    /// The workspace's state directory.
    pub state: PathBuf,
    pub cancel: Cancel,
    /// Fixed limit of one script run; otherwise it follows from the measured baseline.
    pub time_limit: Option<Duration>,
    /// Resident memory of one run, bytes.
    pub memory: u64,
    /// Runs at once, whoever asks for them.
    pub parallel: usize,
}

/// The harness could not do its work (exit code 3): never evidence about the code under test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sandbox(#[from] sandbox::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("could not {action} {}: {source}. Check space and permissions there, or choose another --state-dir", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error(
        "the disk is full at {}; free some space or choose a state directory on another disk, then try again",
        path.display()
    )]
    DiskFull { path: PathBuf },
    #[error("the tests give no verdict on the untouched repository: {0}")]
    Baseline(String),
    #[error(
        "the tests ask for a network, which tier {tier:?} does not have, not even a loopback interface, and \
         {failing} of them fail (first: {first}); use a machine where tier A or B works, for which \
         `ssr-mcp doctor` says what this one lacks, or leave these tests out with --test-command and --report"
    )]
    NeedsNetwork { tier: Tier, failing: usize, first: String },
    #[error("an instrument of ours failed in the sandbox: {0}")]
    Instrument(String),
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| {
            let path = path.to_owned();
            match source.kind() {
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                    Self::DiskFull { path }
                }
                _ => Self::Io { action, path, source },
            }
        }
    }
}

/// Who may be running in the sandbox: decides which caches are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// Runs of trusted states (checks): caches built from the original may be shown.
    Check,
    /// Runs that include a solver's code: no cache made from an original file which differs.
    Solver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct How {
    /// `PYTHONHASHSEED`.
    pub hash_seed: u32,
    pub audience: Audience,
}

impl How {
    /// A run of a trusted state with the usual hash seed.
    pub const CHECK: Self = Self { hash_seed: 0, audience: Audience::Check };
    /// A run of a solver's code with the usual hash seed.
    pub const SOLVER: Self = Self { hash_seed: 0, audience: Audience::Solver };
}

/// A script and its parser.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    pub script: &'a [u8],
    pub parser: &'a [u8],
}

/// Why a script run gave no verdicts. A value, not a harness error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
pub enum NoVerdict {
    #[error("the test script did not end within {0} s")]
    TimedOut(u64),
    #[error("the test script was ended: {0}")]
    Ended(String),
    #[error("the changes do not fit the tree: {path} could not be written: {reason}")]
    NotLaidOut { path: String, reason: String },
    #[error("the log is longer than {0} bytes")]
    LogTooLong(u64),
    #[error("the parser failed: {0}")]
    ParserFailed(String),
    #[error("the parser printed no JSON object: {0}")]
    NotJson(String),
    #[error("the parser reported no test")]
    NoTests,
    #[error("the parser reported {0:?} twice")]
    Duplicate(String),
    #[error("the parser gave {id:?} the unknown status {status:?}")]
    UnknownStatus { id: String, status: String },
    #[error("cancelled")]
    Cancelled,
}

#[derive(Clone, Debug)]
pub struct ScriptRun {
    pub verdicts: Result<Verdicts, NoVerdict>,
    /// Standard output and error of the script, in one stream.
    pub log: Arc<[u8]>,
    pub wall: Duration,
    /// User and system time of script and parser.
    pub cpu: Duration,
    /// No run of another tree than the original was made in its place before it.
    pub first: bool,
}

impl ScriptRun {
    fn without(problem: NoVerdict) -> Self {
        Self {
            verdicts: Err(problem),
            log: Arc::new([]),
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            first: true,
        }
    }
}

impl Harness {
    pub fn open(setup: Setup) -> Result<Self, Error> {
        let Setup { sandbox, base, runner, store, state, cancel, time_limit, memory, parallel } =
            setup;
        let empty = state.join("empty");
        std::fs::create_dir_all(&empty).map_err(Error::io("make", &empty))?;
        if let Some((uid, gid)) = sandbox.owner() {
            std::os::unix::fs::chown(&empty, Some(uid), Some(gid))
                .map_err(Error::io("give to the sandbox", &empty))?;
        }
        let caches = caches::Caches::open(
            state.join("caches").join(&baseline::key(&base, &runner, sandbox.tier())[..24]),
            runner.tools().caches.clone(),
            base.root.clone(),
            sandbox.owner(),
        )?;
        let plain = store.difference(runner.framework())?.is_some();
        Ok(Self {
            sandbox,
            base,
            runner,
            store,
            cancel,
            limits: script::limits(memory),
            time_limit,
            caches,
            memo: memo::Memo::default(),
            warm: warm::Warm::default(),
            together: together::Known::default(),
            repeats: Mutex::default(),
            slots: slots::Slots::new(parallel),
            empty,
            baseline: OnceLock::new(),
            measuring: Mutex::new(()),
            spent: Mutex::default(),
            wanted_network: AtomicBool::new(false),
            plain: AtomicBool::new(plain),
        })
    }

    pub fn base(&self) -> &Base {
        &self.base
    }

    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    pub fn tier(&self) -> Tier {
        self.sandbox.tier()
    }

    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The user and group to whom files that a sandbox is shown belong.
    pub fn owner(&self) -> Option<(u32, u32)> {
        self.sandbox.owner()
    }

    /// Time limit of one script run: five times the measured baseline within 10 s and the paper's
    /// 90 s, unless one was set. The floor keeps a fast suite's slow start from timing out.
    pub fn time_limit(&self) -> Duration {
        let measured = self.baseline.get().map_or(LONGEST_RUN, |baseline| {
            Duration::from_secs_f64((baseline.seconds * 5.0).clamp(10.0, LONGEST_RUN.as_secs_f64()))
        });
        self.time_limit.unwrap_or(measured)
    }

    /// Runs the script on base + `changes`, then the parser on its log in a sandbox of its own.
    /// Equal arguments are answered from the memo unless `fresh` asks for a new run.
    pub fn run(
        &self,
        changes: &Changes,
        program: Program<'_>,
        how: How,
        fresh: bool,
    ) -> Result<ScriptRun, Error> {
        let changes = changes.against(&*self.base);
        let key = memo::key(&changes, program, how);
        if !fresh && let Some(run) = self.memo.get(&key) {
            return Ok(ScriptRun { cpu: Duration::ZERO, ..run });
        }
        let run = self.run_now(&changes, program, how, self.time_limit())?;
        self.memo.put(key, &run);
        Ok(run)
    }

    /// [`run`](Self::run) with [`How::CHECK`] for runs that plain ones will vouch for: made in a process
    /// that has the framework loaded already, where the program is our own and that is possible; the log
    /// is then read by the runner's reader, which says what its parser says. Its answers are never given to `run`; those of `run` are taken. `limit`: in place of
    /// [`time_limit`](Self::time_limit), where that is not shorter; a run that was cut by it is not
    /// remembered.
    pub fn run_warm(
        &self,
        changes: &Changes,
        program: Program<'_>,
        limit: Option<Duration>,
    ) -> Result<ScriptRun, Error> {
        let changes = changes.against(&*self.base);
        let [plain, warm] = keys(&changes, program);
        if let Some(run) = self.memo.get(&plain).or_else(|| self.memo.get(&warm)) {
            return Ok(ScriptRun { cpu: Duration::ZERO, ..run });
        }
        let full = self.time_limit();
        let limit = limit.map_or(full, |limit| limit.min(full));
        let (key, run) = match self.run_in_server(&changes, program, How::CHECK.hash_seed, limit)? {
            Some(run) => (warm, run),
            None => (plain, self.run_now(&changes, program, How::CHECK, limit)?),
        };
        // What was cut by a shorter limit may yet do within the full one.
        if limit == full || !matches!(run.verdicts, Err(NoVerdict::TimedOut(_))) {
            self.memo.put(key, &run);
        }
        Ok(run)
    }

    /// Whether [`run_warm`](Self::run_warm) would answer from the memo.
    pub fn remembers(&self, changes: &Changes, program: Program<'_>) -> bool {
        let keys = keys(&changes.against(&*self.base), program);
        keys.iter().any(|key| self.memo.get(key).is_some())
    }

    /// Two runs with two hash seeds. Never answered from the memo. Each is in a sandbox and a process of its own,
    /// but where that would only build the same once more, and `kept`: then warm processes of these hash seeds
    /// may serve that agree with what [`run_warm`](Self::run_warm) said, or the place that it built in, where
    /// its run was the first there, as a plain one is.
    pub fn run_twice(
        &self,
        changes: &Changes,
        program: Program<'_>,
        hash_seeds: [u32; 2],
        kept: bool,
    ) -> Result<[ScriptRun; 2], Error> {
        let changes = changes.against(&*self.base);
        let limit = self.time_limit();
        let [one, two] = hash_seeds.map(|hash_seed| How { hash_seed, audience: Audience::Check });
        if kept {
            let key = memo::key(&changes, program, How::CHECK);
            let made = self.repeats.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            if let Some(runs) = made {
                return Ok(runs);
            }
            if let Some(runs) = self.repeat_warm(&changes, program, hash_seeds, limit)? {
                return Ok(runs);
            }
        }
        if !self.runner.builds() {
            return Ok([
                self.run_now(&changes, program, one, limit)?,
                self.run_now(&changes, program, two, limit)?,
            ]);
        }
        let [first, second] = self.run_in_one_place(&changes, program, [one, two], limit)?;
        // The second run may have met what the first left behind: that is no second opinion.
        if first.verdicts == second.verdicts {
            return Ok([first, second]);
        }
        Ok([first, self.run_now(&changes, program, two, limit)?])
    }

    /// Makes the runs that [`run_twice`](Self::run_twice) will be asked for while nothing needs to be built
    /// for them: right after [`run_warm`](Self::run_warm), where that was the first in its place.
    pub fn repeat_early(&self, changes: &Changes, program: Program<'_>) -> Result<(), Error> {
        let changes = changes.against(&*self.base);
        let key = memo::key(&changes, program, How::CHECK);
        let known =
            || self.repeats.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&key);
        if self.runner.builds()
            && !known()
            && let Some(runs) = self.repeat_warm(&changes, program, [0; 2], self.time_limit())?
        {
            self.repeats.lock().unwrap_or_else(PoisonError::into_inner).insert(key, runs);
        }
        Ok(())
    }

    /// Two more warm runs, in processes that were started with these hash seeds; where code is built, in the
    /// place that [`run_warm`](Self::run_warm) built in, if its run was the first there. `None` where they
    /// cannot be had, or say anything else than that one.
    fn repeat_warm(
        &self,
        changes: &Changes,
        program: Program<'_>,
        hash_seeds: [u32; 2],
        limit: Duration,
    ) -> Result<Option<[ScriptRun; 2]>, Error> {
        let builds = self.runner.builds();
        let made = self.memo.get(&keys(changes, program)[1]).filter(|made| made.first || !builds);
        let Some(made) = made else { return Ok(None) };
        let mut runs = Vec::new();
        for hash_seed in hash_seeds {
            let hash_seed = if builds { How::CHECK.hash_seed } else { hash_seed };
            match self.run_in_server(changes, program, hash_seed, limit)? {
                Some(run) if run.verdicts == made.verdicts => runs.push(run),
                _ => return Ok(None),
            }
        }
        Ok(runs.try_into().ok())
    }

    /// What all runs so far took.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spend(&self, cpu: Duration) {
        self.note_spent(|spent| {
            spent.cpu += cpu;
            spent.sandboxes += 1;
        });
    }

    fn note_spent(&self, note: impl FnOnce(&mut Spent)) {
        note(&mut self.spent.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What the memo calls a plain run of the checks, and a warm one.
fn keys(changes: &Changes, program: Program<'_>) -> [String; 2] {
    let plain = memo::key(changes, program, How::CHECK);
    let warm = format!("{plain} warm");
    [plain, warm]
}
