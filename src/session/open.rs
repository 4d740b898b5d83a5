//! From a directory to a harness: everything a verb needs, opened in the one order that works.

use super::record::Record;
use super::warnings::stopped;
use super::{ArtifactRef, Error, Job, Session};
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::harness::{Baseline, Harness, Setup};
use crate::injector::Target;
use crate::runner::{Near, Overrides, Runner};
use crate::sandbox::Sandbox;
use crate::syntax::Languages;
use crate::workspace::{self, Base, History, Unsaved, Workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Resident memory of one run of the tests, bytes.
const MEMORY: u64 = 4 << 30;
/// A day, seconds: longest time limit.
const LONGEST: f64 = 86_400.0;
/// How many left out files, and excluded tests, are named while a person waits.
const NAMED: usize = 5;

/// The repository a verb works on, and what the user says about its tests.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// Relative to the working directory; `None` is the working directory itself.
    pub dir: Option<PathBuf>,
    pub tests: Overrides,
    /// Longest a run of the tests may take. `None`: measured from the baseline.
    pub time_limit: Option<Duration>,
    /// What an editor has not saved.
    pub unsaved: Unsaved,
}

impl Repository {
    /// With the framework of the code that a bug changes.
    pub(super) fn near_bug(&self, artifact: &Artifact) -> Self {
        let changed = Patch::parse(&artifact.bug_inject).ok();
        let changed = changed.and_then(|patch| patch.paths().into_iter().next());
        self.near(changed.map(|file| Near { file, only: false }))
    }

    /// With the tests of a target's package.
    pub(super) fn near_target(&self, target: Option<&Target>) -> Self {
        self.near(target.map(|target| Near { file: target.file.clone(), only: true }))
    }

    fn near(&self, near: Option<Near>) -> Self {
        let tests = Overrides { near, ..self.tests.clone() };
        Self { tests, ..self.clone() }
    }
}

/// Reads a limit in seconds.
pub fn time_limit(seconds: f64) -> Result<Duration, Error> {
    if seconds > 0.0 && seconds <= LONGEST {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(Error::usage("a time limit is more than 0 and at most 86400 seconds"))
    }
}

/// A repository that is ready to be played on.
pub(super) struct Opened {
    pub languages: Languages,
    pub harness: Harness,
    pub record: Record,
    pub workspace: Workspace,
    /// Once it was read: `None` where there is none to play with.
    pub history: OnceLock<Option<Arc<History>>>,
}

impl Session {
    pub(super) fn open(&self, repository: &Repository, job: &Job) -> Result<Opened, Error> {
        let workspace = self.workspace(repository)?;
        let record = Record::open(&workspace)?;
        self.open_at(workspace, record, repository, job)
    }

    fn open_at(
        &self,
        workspace: Workspace,
        record: Record,
        repository: &Repository,
        job: &Job,
    ) -> Result<Opened, Error> {
        let sandbox = self.sandbox()?;
        name_tier(&sandbox, job);
        job.step("taking a copy of what changed since the last start");
        let base = workspace
            .freeze_unsaved(sandbox.owner(), &repository.unsaved)
            .map_err(|error| job.failed(error))?;
        name_left_out(&base, job);
        self.open_on(workspace, record, base, repository, job)
    }

    /// The same on a base that is there.
    pub(super) fn open_on(
        &self,
        workspace: Workspace,
        record: Record,
        base: Base,
        repository: &Repository,
        job: &Job,
    ) -> Result<Opened, Error> {
        let sandbox = self.sandbox()?;
        let languages = self.languages()?;
        let runner = self.runner(&base, repository)?;
        if !runner.scope().is_empty() {
            let (scope, framework) = (runner.scope(), runner.framework());
            job.step(&format!("playing with the tests of {scope} alone, by {framework}"));
        }
        if let Some(difference) =
            record.store.difference(runner.framework()).map_err(Error::harness)?
        {
            job.step(&stopped(&difference));
        }
        job.step("running the tests for the baseline, where it is not known yet");
        // The one place that knows how a harness is made.
        let setup = Setup {
            sandbox,
            base: Arc::new(base),
            runner: Arc::new(runner),
            store: record.store.clone(),
            state: workspace.state.clone(),
            cancel: job.cancel.clone(),
            time_limit: repository.time_limit,
            memory: MEMORY,
            parallel: self.config.parallel(MEMORY),
        };
        let harness = Harness::open(setup).map_err(|error| job.failed(error))?;
        let baseline = harness.baseline().map_err(|error| job.failed(error))?;
        name_excluded(&baseline, job);
        Ok(Opened { languages, harness, record, workspace, history: OnceLock::new() })
    }

    /// `open` for a target: with the tests of its package.
    pub(super) fn open_for(
        &self,
        target: Option<&Target>,
        repository: &Repository,
        job: &Job,
    ) -> Result<Opened, Error> {
        self.open(&repository.near_target(target), job)
    }

    /// `open`, and the artifact to work on.
    pub(super) fn open_with(
        &self,
        reference: &ArtifactRef,
        repository: &Repository,
        job: &Job,
    ) -> Result<(Opened, Artifact), Error> {
        // A half-written artifact is told before anything is copied or run.
        let early = match reference {
            ArtifactRef::Id(_) => None,
            given => Some(self.artifact(given, None)?),
        };
        let workspace = self.workspace(repository)?;
        let record = Record::open(&workspace)?;
        let artifact = match early {
            Some(artifact) => artifact,
            None => self.artifact(reference, Some(&record))?,
        };
        let repository = repository.near_bug(&artifact);
        Ok((self.open_at(workspace, record, &repository, job)?, artifact))
    }

    /// The workspace of a repository, with its state directory.
    pub(super) fn workspace(&self, repository: &Repository) -> Result<Workspace, Error> {
        let dir = match &repository.dir {
            Some(dir) => self.config.cwd.join(dir),
            None => self.config.cwd.clone(),
        };
        Workspace::open(&dir, self.config.state_root()?).map_err(|refusal| match refusal {
            workspace::Error::Missing { .. }
            | workspace::Error::NotADirectory { .. }
            | workspace::Error::LinkLoop { .. }
            | workspace::Error::Bare { .. }
            | workspace::Error::StateInside { .. } => Error::Usage(refusal.to_string()),
            other => Error::harness(other),
        })
    }

    pub(super) fn sandbox(&self) -> Result<Sandbox, Error> {
        let scratch = self.scratch()?;
        if let Some(known) = self.sandbox.get() {
            return Ok(known.clone());
        }
        // By its real path: an ordinary user cannot mount `/proc/self/exe`, which lies in the outer
        // mount namespace.
        let found = Sandbox::choose(&self.config.program, &scratch, &self.config.sandbox)
            .map_err(Error::harness)?;
        Ok(self.sandbox.get_or_init(|| found).clone())
    }

    /// A directory of ours for what is not tied to one workspace.
    pub(super) fn scratch(&self) -> Result<PathBuf, Error> {
        let scratch = self.config.state_root()?.join("scratch");
        create_private(&scratch)?;
        Ok(scratch)
    }

    pub fn languages(&self) -> Result<Languages, Error> {
        Languages::from_sources(&self.config.grammars).map_err(Error::harness)
    }

    pub(super) fn runner(&self, base: &Base, repository: &Repository) -> Result<Runner, Error> {
        let machine = self.config.machine()?;
        Runner::detect(base, &base.root, machine, &repository.tests).map_err(Error::harness)
    }
}

/// Makes a directory that only this user may enter, with its parents.
pub(super) fn create_private(dir: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| {
        Error::harness(anyhow::anyhow!(
            "the state directory {} cannot be made ({error}); name another with --state-dir or \
             SSR_MCP_STATE_DIR",
            dir.display()
        ))
    })
}

/// A person should know of weaker isolation than there could be.
fn name_tier(sandbox: &Sandbox, job: &Job) {
    if let Some((better, why)) = sandbox.better().first() {
        let tier = sandbox.tier();
        job.step(&format!(
            "runs are isolated by tier {tier:?} (`ssr-mcp doctor` says what it lacks), since tier {better:?} \
             does not work: {}",
            why.reason
        ));
    }
}

/// What the tests will not see is told, whatever comes of it.
fn name_left_out(base: &Base, job: &Job) {
    let line =
        |(path, reason): &(String, String)| format!("left out of the copy: {path} ({reason})");
    name_some(base.report.left_out.iter().map(line), "left out; `ssr-mcp status` names them", job);
}

fn name_excluded(baseline: &Baseline, job: &Job) {
    let line = |reason: &String| format!("not played with: {reason}");
    name_some(baseline.excluded.values().map(line), "not played with", job);
}

fn name_some(lines: impl ExactSizeIterator<Item = String>, what: &str, job: &Job) {
    let more = lines.len().saturating_sub(NAMED);
    for line in lines.take(NAMED) {
        job.step(&line);
    }
    if more > 0 {
        job.step(&format!("{more} more are {what}"));
    }
}
