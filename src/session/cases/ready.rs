//! From a case as it is written to an artifact on an open tree. Trees that a case does not bring are made
//! below the state root; nothing is written anywhere else.

use super::case::{Bug, Case, Original, Place, Tests};
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::harness::{How, Program};
use crate::runner::Overrides;
use crate::session::open::{Opened, create_private};
use crate::session::{EVALS, Error, Job, Repository, Session};
use crate::tree::{Changes, Overlaid, RelPath, Tree};
use crate::verdict::Outcome;
use crate::workspace;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub(in crate::session) struct Ready {
    pub(in crate::session) artifact: Artifact,
    /// Whether the open tree is one without the bug.
    pub(in crate::session) has_original: bool,
}

pub(in crate::session) enum NotReady {
    Error(Error),
    /// What counts as not repaired, in a word, and why.
    Outcome(&'static str, String),
}

impl From<Error> for NotReady {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

const MALFORMED: &str = "malformed";
const NO_TREE: &str = "no_tree";
const DOES_NOT_APPLY: &str = "does_not_apply";
const CANNOT_BE_RUN: &str = "cannot_be_run";
const NOT_REPRODUCED: &str = "not_reproduced";

/// A tree to open, and the bug on it.
pub(in crate::session) struct Found {
    pub(in crate::session) dir: PathBuf,
    tests: Tests,
    bug: Bytes,
    has_original: bool,
}

enum Bytes {
    Whole(Box<Artifact>),
    /// Bug and weakening.
    Diffs(Vec<u8>, Vec<u8>),
}

impl Found {
    /// The tree, and how the case has its tests run.
    pub(in crate::session) fn repository(&self) -> Repository {
        let tests = Overrides {
            test_command: self.tests.command.clone(),
            report: self.tests.report.clone(),
            framework: self.tests.framework.clone(),
            near: None,
        };
        Repository { dir: Some(self.dir.clone()), tests, ..Repository::default() }
    }

    /// The bug, on its open tree.
    pub(in crate::session) fn on(self, opened: &Opened, job: &Job) -> Result<Ready, NotReady> {
        let Self { tests, bug, has_original, .. } = self;
        let artifact = match bug {
            Bytes::Whole(artifact) => *artifact,
            Bytes::Diffs(bug, weakening) => {
                let artifact = artifact_of(opened, &tests, bug, weakening)?;
                reproduced(opened, &artifact, &tests, has_original, job)?;
                artifact
            }
        };
        Ok(Ready { artifact, has_original })
    }
}

impl Session {
    /// Opens the tree, unless it is the one that is open.
    pub(in crate::session) fn open_found(
        &self,
        found: &Found,
        open: &mut Option<(PathBuf, Opened)>,
        job: &Job,
    ) -> Result<(), NotReady> {
        if open.as_ref().is_some_and(|(dir, _)| *dir == found.dir) {
            return Ok(());
        }
        *open = None;
        match self.open(&found.repository(), job) {
            Ok(opened) => *open = Some((found.dir.clone(), opened)),
            Err(Error::Cancelled) => return Err(Error::Cancelled.into()),
            Err(error) => return Err(NotReady::Outcome(CANNOT_BE_RUN, error.to_string())),
        }
        Ok(())
    }

    /// Where a case's tree is; it is made where the case says how.
    pub(in crate::session) fn found(
        &self,
        case: &Case,
        repositories: Option<&Path>,
    ) -> Result<Found, NotReady> {
        let bug = case.bug.as_ref().map_err(|why| NotReady::Outcome(MALFORMED, why.clone()))?;
        let named = |name: &str| match repositories {
            Some(repositories) => Ok(repositories.join(name)),
            None => Err(NotReady::Outcome(
                NO_TREE,
                format!("it is on {name:?}: say with --repos where that is"),
            )),
        };
        let there = |dir: PathBuf| {
            if dir.is_dir() {
                Ok(dir)
            } else {
                Err(NotReady::Outcome(NO_TREE, format!("there is no directory {}", dir.display())))
            }
        };
        match bug {
            Bug::Artifact { base, parts } => {
                let artifact = Artifact::from_json(parts)
                    .map_err(|malformed| NotReady::Outcome(MALFORMED, malformed.to_string()))?;
                let dir = match base {
                    Place::Named(name) => named(name)?,
                    Place::Beside(dir) => dir.clone(),
                };
                let (tests, bug) = (Tests::default(), Bytes::Whole(Box::new(artifact)));
                Ok(Found { dir: there(dir)?, tests, bug, has_original: true })
            }
            Bug::Broken { tree, original, tests } => {
                let dir = there(match tree {
                    Place::Named(name) => named(name)?,
                    Place::Beside(dir) => dir.clone(),
                })?;
                self.broken(dir, original.as_ref(), tests)
            }
            Bug::Commit { repository, commit, patch, test_patch, tests } => {
                // As SWE-bench's own tools name checkouts.
                let flat = named(&repository.replace('/', "__"))?;
                let dir = if flat.is_dir() { flat } else { there(named(repository)?)? };
                let files = workspace::files_at(&dir, commit).map_err(Error::harness)?;
                let files = files.ok_or_else(|| {
                    let dir = dir.display();
                    NotReady::Outcome(NO_TREE, format!("{dir} has no commit {commit:?}"))
                })?;
                let fixed = applied(&files, patch, "patch")?;
                let tested = applied(&fixed, test_patch, "test_patch")?;
                let (fix, harder) = (parsed(patch, "patch")?, parsed(test_patch, "test_patch")?);
                let mut tests = tests.clone();
                tests.files = harder.paths().iter().map(ToString::to_string).collect();
                let bug = Bytes::Diffs(fix.reversed().to_bytes(), harder.reversed().to_bytes());
                Ok(Found { dir: self.written(&tested)?, tests, bug, has_original: true })
            }
        }
    }

    fn broken(
        &self,
        dir: PathBuf,
        original: Option<&Original>,
        tests: &Tests,
    ) -> Result<Found, NotReady> {
        let weakening = tests.weakening.clone().into_bytes();
        let tests_of = || tests.clone();
        let Some(original) = original else {
            // The tree as it is stands for the original: what passes in it must go on passing.
            let bug = Bytes::Diffs(Vec::new(), weakening);
            return Ok(Found { dir, tests: tests_of(), bug, has_original: false });
        };
        let broken = self.files_of(&dir)?;
        let (whole, dir) = match original {
            Original::Tree(dir) if dir.is_dir() => (self.files_of(dir)?, dir.clone()),
            Original::Tree(dir) => {
                let why = format!("there is no directory {}", dir.display());
                return Err(NotReady::Outcome(NO_TREE, why));
            }
            Original::Fix(fix) => {
                let whole = applied(&broken, fix, "fix")?;
                let dir = self.written(&whole)?;
                (whole, dir)
            }
        };
        let mut changes = Changes::new();
        let given: Vec<&str> = tests.files.iter().map(String::as_str).collect();
        let (of_whole, of_broken) = (Tree::paths(&whole), Tree::paths(&broken));
        for path in of_whole.into_iter().chain(of_broken) {
            if given.contains(&path.as_str()) || whole.read(&path) == broken.read(&path) {
                continue;
            }
            match broken.read(&path) {
                Some(file) => changes.write(path, file),
                None => changes.delete(path),
            }
        }
        let bug = Patch::between(&whole, &changes).to_bytes();
        let bug = Bytes::Diffs(bug, weakening);
        Ok(Found { dir, tests: tests_of(), bug, has_original: true })
    }

    /// The files of a directory as they would be played on.
    fn files_of(&self, dir: &Path) -> Result<Changes, Error> {
        let repository = Repository { dir: Some(dir.to_path_buf()), ..Repository::default() };
        let owner = self.sandbox()?.owner();
        let base = self.workspace(&repository)?.freeze(owner).map_err(Error::harness)?;
        Ok(base.paths().into_iter().map(|path| (path.clone(), base.read(&path))).collect())
    }

    /// A directory with these files and no others, made once.
    fn written(&self, files: &Changes) -> Result<PathBuf, Error> {
        let trees = self.config().state_root()?.join(EVALS).join("trees");
        create_private(&trees)?;
        let dir = trees.join(&files.digest()[..32]);
        if dir.is_dir() {
            return Ok(dir);
        }
        let scratch = trees.join(format!(".{}.tmp", std::process::id()));
        let write = || -> std::io::Result<()> {
            if scratch.exists() {
                fs::remove_dir_all(&scratch)?;
            }
            fs::create_dir(&scratch)?;
            for (path, file) in files.iter() {
                let Some(file) = file else { continue };
                let place = scratch.join(path.as_str());
                fs::create_dir_all(place.parent().unwrap_or(&scratch))?;
                fs::write(&place, &file.bytes)?;
                let mode = if file.executable { 0o755 } else { 0o644 };
                fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
            }
            fs::rename(&scratch, &dir)
        };
        write().map_err(|error| {
            Error::harness(anyhow::anyhow!(
                "the tree of a case cannot be written to {} ({error}); make room there",
                dir.display()
            ))
        })?;
        Ok(dir)
    }
}

fn parsed(patch: &str, name: &str) -> Result<Patch, NotReady> {
    Patch::parse(patch.as_bytes())
        .map_err(|refusal| NotReady::Outcome(MALFORMED, format!("{name} is refused: {refusal}")))
}

fn applied(files: &Changes, patch: &str, name: &str) -> Result<Changes, NotReady> {
    let changes = parsed(patch, name)?.apply(files).map_err(|failure| {
        NotReady::Outcome(DOES_NOT_APPLY, format!("{name} does not apply: {failure}"))
    })?;
    let later = files.then(&changes);
    Ok(later.iter().filter_map(|(path, file)| Some((path.clone(), Some(file?.clone())))).collect())
}

/// With our own script for the test files, or all where none are named.
fn artifact_of(
    opened: &Opened,
    tests: &Tests,
    bug_inject: Vec<u8>,
    test_weaken: Vec<u8>,
) -> Result<Artifact, NotReady> {
    let harness = &opened.harness;
    let all = harness.runner().test_files(harness.base());
    let mut files = Vec::new();
    for name in &tests.files {
        let path = RelPath::parse(name.as_bytes())
            .map_err(|refusal| NotReady::Outcome(MALFORMED, format!("{name:?}: {refusal}")))?;
        files.push(path);
    }
    let run: Vec<RelPath> = all.iter().filter(|file| files.contains(file)).cloned().collect();
    let run = if run.is_empty() { all } else { run };
    if files.is_empty() {
        files.clone_from(&run);
    }
    let excluded = excluded(opened, tests, bug_inject.is_empty())?;
    Ok(Artifact {
        bug_inject,
        test_weaken,
        test_script: harness.runner().script(&run, &excluded),
        test_parser: harness.runner().parser(),
        test_files: files,
    })
}

/// What the baseline leaves out, but for the tests that the case is about: those it names; in a broken tree
/// without an original all, where it names none.
fn excluded(opened: &Opened, tests: &Tests, alone: bool) -> Result<Vec<String>, NotReady> {
    if alone && tests.fail_to_pass.is_empty() {
        return Ok(Vec::new());
    }
    let baseline = opened.harness.baseline().map_err(Error::harness)?;
    let named = |id: &&String| !tests.fail_to_pass.contains(id);
    Ok(baseline.excluded.keys().filter(named).cloned().collect())
}

/// The tests that are said to fail do, and pass without the bug.
fn reproduced(
    opened: &Opened,
    artifact: &Artifact,
    tests: &Tests,
    has_original: bool,
    job: &Job,
) -> Result<(), NotReady> {
    let harness = &opened.harness;
    let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
    let verdicts = |changes: &Changes| {
        let run = harness.run(changes, program, How::CHECK, false);
        let run = run.map_err(|error| NotReady::Error(job.failed(error)))?;
        run.verdicts.map_err(|none| NotReady::Outcome(CANNOT_BE_RUN, none.to_string()))
    };
    let nothing = Changes::new();
    let tree = Overlaid { base: harness.base(), changes: &nothing };
    let bug = Patch::parse(&artifact.bug_inject).ok().and_then(|patch| patch.apply(&tree).ok());
    let bug = bug.ok_or_else(|| {
        NotReady::Outcome(DOES_NOT_APPLY, "the bug does not apply to its tree".to_owned())
    })?;
    let with = verdicts(&bug)?;
    let without = verdicts(&nothing)?;
    let first =
        |ids: &[String], holds: &dyn Fn(&str) -> bool| ids.iter().find(|id| !holds(id)).cloned();
    let complain = |id: String, what: &str| {
        Err(NotReady::Outcome(NOT_REPRODUCED, format!("the test {id} {what}")))
    };
    if let Some(id) = first(&tests.fail_to_pass, &|id| with.of(id).is_failing()) {
        return complain(id, "does not fail with the bug");
    }
    if has_original
        && let Some(id) = first(&tests.fail_to_pass, &|id| without.of(id) == Outcome::Passed)
    {
        return complain(id, "does not pass without the bug");
    }
    if let Some(id) = first(&tests.pass_to_pass, &|id| with.of(id) == Outcome::Passed) {
        return complain(id, "does not pass with the bug");
    }
    if with.failing().is_empty() {
        return Err(NotReady::Outcome(NOT_REPRODUCED, "no test fails with the bug".to_owned()));
    }
    Ok(())
}
