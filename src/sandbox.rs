//! Runs commands on a copy under limits: the only place that starts processes.
//!
//! A command sees a tree that is an overlay on frozen layers, the machine's programs read-only, a
//! loopback interface, and nothing else; it has no rights and cannot get any. Weaker tiers, for machines
//! that do not allow that, say what they lack ([`Tier::lacks`]). The work is done by
//! helpers: this program started once more with an empty environment, and forked for each sandbox. A
//! helper enters new namespaces and starts the first process of a new process list, which builds the
//! view and runs the steps. A socket joins it to the supervisor; when that closes, for whatever
//! reason, everything inside ends.
//!
//! What is not bounded: memory that belongs to no process (a `memfd` that nobody maps, System V shared
//! memory), and flaws of the kernel itself.

#[cfg_attr(not(target_os = "linux"), path = "sandbox/elsewhere.rs")]
mod native;
pub mod surroundings;

use crate::tree::{Changes, RelPath};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How strongly a run was isolated, strongest first; written in every result.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Tier {
    /// Native namespaces, overlay, Landlock, seccomp.
    A,
    /// The same view made by bubblewrap, with copies in memory for the overlay; Landlock, seccomp.
    B,
    /// Landlock, seccomp and resource limits alone: no network, no view of the tree's own.
    C,
}

impl Tier {
    /// What it cannot do that the strongest does, one sentence each.
    pub fn lacks(self) -> &'static [&'static str] {
        match self {
            Self::A => &[],
            Self::B => &[
                "what is written over is copied into memory before every run, which large trees and caches feel",
                "a command that fills its disk, or makes too many files, is ended and not told that it is full",
                "files of other owners can be written over in the copy",
            ],
            Self::C => &[
                "there is no network, not even a loopback interface: a suite that needs one is refused",
                "the tree is at another path than the original, so that editable installs and whatever names \
                 its own path do not find it",
                "the process list, names and times of the machine's files, and the user's name can be learnt as \
                 far as paths are known; contents, environments and listings cannot",
                "there are no terminals, no shared memory of POSIX or System V, no /proc of a process, no named \
                 Unix sockets: Python's multiprocessing pools and queues do not work",
                "installed copies of the repository's own packages cannot be hidden: a repository that has some \
                 is refused",
                "the limit on processes counts all of the user's",
                "the limit on what is written is looked after a few times a second, on a disk of others too",
                "should helper and first process of a run both be killed from outside at once, its commands live \
                 on",
                "every tree and cache is copied to disk before every run",
            ],
        }
    }
}

/// Strongest first.
pub const TIERS: [Tier; 3] = [Tier::A, Tier::B, Tier::C];

/// What a sandbox is chosen from.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// This tier or none.
    pub only: Option<Tier>,
    /// Directories where bubblewrap is looked for.
    pub path: Vec<PathBuf>,
}

/// A sandbox that the functional probe found to work on this machine. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox {
    machine: Arc<native::Machine>,
    /// Why no better tier was taken.
    better: Arc<[(Tier, Unavailable)]>,
}

/// Why a tier, or any, does not work here, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}. {fix}")]
pub struct Unavailable {
    pub reason: String,
    pub fix: String,
}

/// The sandbox itself could not do its work: never evidence about the code under test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The view or the step is not one that can be run.
    #[error("the sandbox was asked for something impossible: {0}")]
    View(String),
    #[error("the sandbox could not be set up: {0}; `doctor` says what this machine lacks")]
    Setup(String),
    /// The helper died, or was killed from outside or for want of memory.
    #[error("the sandbox broke down: {0}; try again, and with less in parallel if memory is short")]
    Lost(String),
    /// A program that is not there or not executable.
    #[error("`{program}` could not be started in the sandbox: {reason}")]
    NotStarted { program: String, reason: String },
    /// A file of a step or of changes: a directory or a symbolic link is in its way, or the disk limit is reached.
    #[error("`{path}` could not be written in the sandbox: {reason}")]
    NotWritten { path: String, reason: String },
    #[error("cannot {what}: {source}")]
    Io { what: &'static str, source: std::io::Error },
}

/// A directory of the machine shown inside at its own or another absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub source: PathBuf,
    pub target: PathBuf,
    pub access: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    /// Writes go to the run's own scratch and vanish with it (an overlay on the source). Files of
    /// another owner than the source's own cannot be written over.
    Scratch,
    /// The source itself is written: only for directories of ours (cache layers being filled), which
    /// must belong to [`Sandbox::owner`] when that is `Some`.
    Persistent,
}

#[derive(Clone, Debug)]
pub struct Limits {
    /// Resident memory of the whole run, bytes.
    pub memory: u64,
    pub processes: u64,
    /// Everything written: overlay upper, /tmp, home, shm; bytes.
    pub disk: u64,
    /// Bytes of output kept per stream: head and tail. More is counted and dropped.
    pub keep_head: usize,
    pub keep_tail: usize,
    /// A run that prints more than this is ended.
    pub output: u64,
}

/// The world a run sees.
#[derive(Clone, Debug)]
pub struct View {
    /// Read-only lower directories of the tree, topmost first. Owned by us.
    pub layers: Vec<PathBuf>,
    /// Where the tree appears: the original absolute path of the repository.
    pub root: PathBuf,
    /// Laid over the layers before the first step.
    pub changes: Changes,
    /// Toolchains and caches.
    pub mounts: Vec<Mount>,
    pub limits: Limits,
}

/// One command in a session.
#[derive(Clone, Debug)]
pub struct Step {
    /// Absolute program path inside, or a name found on the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The whole environment, less what the sandbox sets itself where this does not (`HOME`,
    /// `LANG`, `LC_ALL`, `LOGNAME`, `PATH`, `PWD`, `SHELL`, `TMPDIR`, `TZ`, `USER`).
    pub env: BTreeMap<OsString, OsString>,
    /// Relative to the tree's root; empty for the root.
    pub cwd: PathBuf,
    pub stdin: Vec<u8>,
    /// Standard error goes into the same stream as standard output.
    pub merge_stderr: bool,
    pub deadline: Duration,
    /// Files written before the command starts: absolute paths inside (below `/tmp`), content, mode.
    pub files: Vec<(PathBuf, Vec<u8>, u32)>,
    /// Laid over the tree before the command starts.
    pub changes: Changes,
    /// Absolute paths inside, read back after the command and all its children are gone.
    pub collect: Vec<PathBuf>,
    /// Largest file read back, bytes.
    pub collect_limit: u64,
}

/// How a command ended. Data, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum End {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    OutOfMemory,
    /// More was written than allowed. Where one file system holds all that is written, the command is
    /// told instead that this is full.
    OutOfDisk,
    OutputLimit,
    Cancelled,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    /// Bytes between head and tail that were not kept.
    pub dropped: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    File(Vec<u8>),
    Missing,
    /// A symbolic link, FIFO, directory, or larger than the limit.
    Refused(String),
}

#[derive(Clone, Debug)]
pub struct Finished {
    pub end: End,
    pub stdout: Captured,
    pub stderr: Captured,
    pub wall: Duration,
    /// User and system time of the command and all its children.
    pub cpu: Duration,
    pub collected: BTreeMap<PathBuf, Collected>,
    /// An internet socket was asked for where there are none.
    pub wanted_network: bool,
}

/// One live sandbox: the view, kept between steps. Dropping it kills everything inside.
#[derive(Debug)]
pub struct Session {
    live: native::Live,
    root: PathBuf,
}

/// A command that is asked line by line. Dropping it ends everything inside.
#[derive(Debug)]
pub struct Conversation(native::Talk);

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A line of the command's standard output, less its end.
    Line(Vec<u8>),
    /// The conversation is over, and everything inside is gone: how the command ended, and the user
    /// and system time of all of it.
    Over { end: End, cpu: Duration },
}

/// What changed in the tree during a session: the upper directory read by the init process.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    /// Regular files with UTF-8, policy-clean paths, written or deleted.
    pub changes: Changes,
    /// What could not be expressed as changes of regular files: path (lossy) and kind.
    pub others: Vec<(String, String)>,
}

/// A flag that many runs share. Setting it ends them promptly.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Whether a process with this id is there: what one that is gone left half made may be removed.
pub fn is_running(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// A name for a directory that this process begins to make, and that nobody else makes: `<prefix><process
/// id>-<number>`. [`sweep_begun`] removes it once the process is gone.
pub fn begun(prefix: &str) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("{prefix}{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Removes the directories in `dir` that processes which are gone had begun. One that cannot be removed
/// costs its space and nothing else.
pub fn sweep_begun(dir: &Path, prefix: &str) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let process = rest.and_then(|rest| rest.split('-').next()?.parse().ok());
        if process.is_some_and(|process| !is_running(process)) {
            std::fs::remove_dir_all(entry.path()).unwrap_or_default();
        }
    }
}

impl Sandbox {
    /// Chooses the tier by doing: a run that writes, deletes and re-makes a directory, uses its own
    /// loopback and is refused a forbidden read. `scratch` is a directory of ours for the probe.
    ///
    /// The running program serves as the helper, so its `main` must begin with [`helper_main`].
    pub fn probe(scratch: &Path) -> Result<Self, Unavailable> {
        // By its real path: the link leads to a mount of the outer namespace, from which an ordinary
        // user cannot mount.
        let link = Path::new("/proc/self/exe");
        let program = std::fs::canonicalize(link).unwrap_or_else(|_| link.to_owned());
        Self::probe_with(&program, scratch)
    }

    /// [`probe`](Self::probe) with another program as the helper: one whose `main` begins with [`helper_main`].
    pub fn probe_with(helper: &Path, scratch: &Path) -> Result<Self, Unavailable> {
        Self::choose(helper, scratch, &Choice::default())
    }

    /// [`probe_with`](Self::probe_with) some choice: the best tier that works, or the one that is asked
    /// for.
    pub fn choose(helper: &Path, scratch: &Path, choice: &Choice) -> Result<Self, Unavailable> {
        let mut refused = Vec::new();
        for tier in TIERS.into_iter().filter(|tier| choice.only.is_none_or(|only| only == *tier)) {
            match native::Machine::probe(tier, helper, scratch, &choice.path) {
                Ok(machine) => return Ok(Self { machine, better: refused.into() }),
                Err(refusal) => refused.push((tier, refusal)),
            }
        }
        Err(none_of(refused))
    }

    pub fn tier(&self) -> Tier {
        self.machine.tier
    }

    /// The better tiers, and why each does not work here. Empty where one was asked for.
    pub fn better(&self) -> &[(Tier, Unavailable)] {
        &self.better
    }

    /// Which uid and gid files of a base must have: `Some` when started as root.
    pub fn owner(&self) -> Option<(u32, u32)> {
        self.machine.owner
    }

    /// Builds the view. The first step starts at once.
    pub fn open(&self, view: &View) -> Result<Session, Error> {
        let mut live = native::Live::start(&self.machine, view)?;
        live.wait_ready()?;
        let root = live.root().unwrap_or(&view.root).to_owned();
        Ok(Session { live, root })
    }

    /// `open`, one step, close.
    pub fn run(&self, view: &View, step: &Step, cancel: &Cancel) -> Result<Finished, Error> {
        native::Live::start(&self.machine, view)?.run(step, cancel)
    }
}

/// One refusal of all tiers: each reason, and each fix once.
fn none_of(mut refused: Vec<(Tier, Unavailable)>) -> Unavailable {
    if refused.len() == 1 {
        return refused.remove(0).1;
    }
    let reasons: Vec<String> =
        refused.iter().map(|(tier, why)| format!("tier {tier:?}: {}", why.reason)).collect();
    let mut fixes: Vec<String> = Vec::new();
    for (tier, why) in &refused {
        if !fixes.iter().any(|fix| fix.ends_with(&why.fix)) {
            fixes.push(format!("for tier {tier:?}: {}", why.fix));
        }
    }
    Unavailable {
        reason: format!("No sandbox works here. {}", reasons.join(". ")),
        fix: format!("To do, best first: {}", fixes.join("; ")),
    }
}

impl Session {
    /// Runs one command; when this returns, it and everything it started is gone.
    pub fn run(&mut self, step: &Step, cancel: &Cancel) -> Result<Finished, Error> {
        self.live.run(step, cancel)
    }

    /// What the steps so far, and the view's own changes, made of the layers.
    pub fn changes(&mut self) -> Result<ChangeSet, Error> {
        self.live.changes()
    }

    /// Starts a command whose standard input is ours to write; the step's own must be empty and its
    /// standard error merged. Its deadline bounds the whole conversation.
    pub fn converse(self, step: &Step) -> Result<Conversation, Error> {
        native::Talk::begin(self.live, step).map(Conversation)
    }

    /// Where the tree is inside.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path of the tree is inside.
    pub fn path_of(&self, path: &RelPath) -> PathBuf {
        self.root.join(path.as_str())
    }
}

impl Conversation {
    /// Writes a line, which must not hold an end of line, and waits for the next line of the command's
    /// output; of the first one where `line` is empty, which writes nothing. A command that does not
    /// answer within `limit`, answers with more than the view's limit on output, or is cancelled, is
    /// ended.
    pub fn ask(&mut self, line: &[u8], limit: Duration, cancel: &Cancel) -> Result<Reply, Error> {
        self.0.ask(line, limit, cancel)
    }
}

/// The helper's early exit: `main` calls this before anything else; it returns at once unless the
/// process was started as the sandbox's own helper.
pub fn helper_main() {
    native::helper_main();
}
