//! What survives a round, in the session's terms: bugs, rounds and attempts of one workspace, in the
//! store, and each artifact as a folder beneath the state directory.

use super::{Error, folder, past};
use crate::artifact::Artifact;
use crate::consistency::{Parent, Report};
use crate::harness::Harness;
use crate::injector::Strategy;
use crate::solver;
use crate::store::{self, Counts, Entry, Group, Store};
use crate::workspace::Workspace;
use crate::wrong_book::{self, FIRST_ORDER};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone)]
pub(super) struct Record {
    pub(super) store: Arc<Store>,
    /// The workspace's state directory.
    pub(super) state: PathBuf,
    bugs: PathBuf,
}

/// Where an artifact came from, and what the checks said.
pub(super) struct Origin<'a> {
    pub(super) strategy: Strategy,
    pub(super) seed: u64,
    pub(super) base: &'a str,
    pub(super) tree_digest: &'a str,
    pub(super) report: &'a Report,
    /// Id of the artifact below a second-order bug.
    pub(super) parent: Option<&'a str>,
}

impl Record {
    pub(super) fn open(workspace: &Workspace) -> Result<Self, Error> {
        let store = Store::open(&workspace.state).map_err(Error::harness)?;
        if let Some(aside) = store.moved_aside() {
            tracing::warn!(
                "the database of {} was damaged and lies in {} now; a new one was begun",
                workspace.root.display(),
                aside.display()
            );
        }
        let bugs = workspace.state.join("bugs");
        folder::sweep(&bugs);
        Ok(Self { store: Arc::new(store), state: workspace.state.clone(), bugs })
    }

    /// Whether the bug (by the digest of its tree) was made before. A store that cannot be asked
    /// costs a repeated bug, not the round; the next write tells the trouble.
    pub(super) fn known(&self, tree_digest: &str) -> bool {
        self.store.has_tree(tree_digest).unwrap_or_else(|error| {
            tracing::warn!("duplicates are not recognised: {error}");
            false
        })
    }

    /// Writes the artifact to the store and beneath the state directory. Gives its folder.
    pub(super) fn keep(&self, artifact: &Artifact, origin: &Origin<'_>) -> Result<PathBuf, Error> {
        let (folder, row) = self.prepare(artifact, origin)?;
        self.store.save_artifact(&row).map_err(Error::harness)?;
        Ok(folder)
    }

    /// Writes the artifact beneath the state directory. Gives its folder, and what remains to be written
    /// to the store: a folder without a row is an artifact that nobody knows yet, and the next round that
    /// makes it finds it there.
    pub(super) fn prepare(
        &self,
        artifact: &Artifact,
        origin: &Origin<'_>,
    ) -> Result<(PathBuf, store::Artifact), Error> {
        let id = artifact.id();
        let own = self.bugs.join(&id);
        if own.exists() && !folder::read(&own).is_ok_and(|there| there.id() == id) {
            // Named by its id and damaged: nothing but ours is lost.
            std::fs::remove_dir_all(&own).map_err(|error| folder::unwritable(&own, &error))?;
        }
        folder::write(&own, artifact)?;
        let mut files = artifact.to_files();
        let mut part = |name: &str| files.remove(name).unwrap_or_default();
        let row = store::Artifact {
            bug_inject: part("bug_inject.diff"),
            test_weaken: part("test_weaken.diff"),
            test_script: part("test_script.sh"),
            test_parser: part("test_parser.py"),
            test_files: part("test_files.txt"),
            id,
            strategy: super::name(origin.strategy),
            seed: origin.seed,
            base: origin.base.to_owned(),
            tree_digest: origin.tree_digest.to_owned(),
            created: now(),
            valid: origin.report.valid,
            failed_check: origin.report.failed_check.map(super::name),
            report: serde_json::to_string(origin.report).map_err(Error::harness)?,
            bug_order: origin.parent.map_or(FIRST_ORDER, |_| wrong_book::SECOND_ORDER),
            parent: origin.parent.map(str::to_owned),
        };
        Ok((own, row))
    }

    /// Keeps attempts that belong to no round, and what they change in the wrong-book. `player`: who made
    /// them; the embedded solver where `None`.
    pub(super) fn keep_attempts(
        &self,
        harness: &Harness,
        artifact: &Artifact,
        attempts: &[solver::Attempt],
        player: Option<&str>,
    ) -> Result<(), Error> {
        let known = self.store.artifact(&artifact.id()).map_err(Error::harness)?;
        let bug_order = known.map_or(FIRST_ORDER, |row| row.bug_order);
        let mut group = group(harness, artifact, bug_order, attempts)?;
        if let Some(player) = player {
            for attempt in &mut group.attempts {
                attempt.player = Some(player.to_owned());
            }
        }
        self.store.record_group(&group).map_err(Error::harness)
    }

    /// By id, or by a prefix of it that fits one artifact only.
    pub(super) fn artifact(&self, id: &str) -> Result<Artifact, Error> {
        if let Some(row) = self.store.artifact(id).map_err(Error::harness)? {
            return from_row(row);
        }
        let fitting: Vec<String> =
            self.ids().into_iter().filter(|known| known.starts_with(id)).collect();
        match fitting.as_slice() {
            // The store has it whole whatever became of the folder.
            [one] => match self.store.artifact(one).map_err(Error::harness)? {
                Some(row) => from_row(row),
                None => folder::read(&self.bugs.join(one)),
            },
            [] => Err(Error::usage(format!(
                "no artifact of this repository has the id {id}; `ssr-mcp status` shows the last ones"
            ))),
            several => Err(Error::usage(format!(
                "{} artifacts of this repository have an id that begins with {id}; give more of it",
                several.len()
            ))),
        }
    }

    /// Ids of the artifacts that are kept, sorted.
    fn ids(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.bugs) else { return Vec::new() };
        let mut ids: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .collect();
        ids.sort();
        ids
    }

    pub(super) fn counts(&self) -> Result<Counts, Error> {
        self.store.counts().map_err(Error::harness)
    }

    /// The latest rounds, newest first.
    pub(super) fn rounds(&self, limit: u32) -> Result<Vec<store::Kept>, Error> {
        self.store.rounds(limit).map_err(Error::harness)
    }

    /// The latest runs, newest first.
    pub(super) fn runs(&self, limit: u32) -> Result<Vec<store::Run>, Error> {
        self.store.runs(limit).map_err(Error::harness)
    }

    /// The run with this id.
    pub(super) fn run(&self, id: &str) -> Result<store::Run, Error> {
        let run = self.store.run(id).map_err(Error::harness)?;
        run.ok_or_else(|| {
            Error::usage(format!(
                "there is no run {id:?} in this repository; `status` names the last ones"
            ))
        })
    }

    /// Entries of the wrong-book that are not solved.
    pub(super) fn wrong_book_size(&self) -> Result<usize, Error> {
        let size = self.store.wrong_book_size().map_err(Error::harness)?;
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// The most failures first.
    pub(super) fn wrong_book(&self) -> Result<Vec<Entry>, Error> {
        self.store.wrong_book().map_err(Error::harness)
    }

    /// The artifact that an entry was attempted at, as it was made.
    pub(super) fn bug_of(&self, entry: &Entry) -> Result<Kept, Error> {
        let row = self.store.artifact(&entry.artifact).map_err(Error::harness)?;
        let row = row.ok_or_else(|| {
            Error::harness(anyhow::anyhow!(
                "the artifact {} of the wrong-book's entry {} is gone from the store; remove its \
                 state directory and start again",
                entry.artifact,
                entry.id
            ))
        })?;
        Ok(Kept {
            strategy: serde_json::from_value(row.strategy.clone().into())
                .unwrap_or(Strategy::Direct),
            tree_digest: row.tree_digest.clone(),
            parent: row.parent.clone(),
            lists: serde_json::from_str::<Lists>(&row.report).unwrap_or_default().into(),
            artifact: from_row(row)?,
        })
    }
}

/// An artifact as it is in the store.
pub(super) struct Kept {
    pub(super) artifact: Artifact,
    pub(super) strategy: Strategy,
    pub(super) tree_digest: String,
    pub(super) parent: Option<String>,
    /// What the checks said of its tests.
    pub(super) lists: Parent,
}

/// The part of a kept report that is read again.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Lists {
    fail_to_pass: Vec<String>,
    pass_to_pass: Vec<String>,
}

impl From<Lists> for Parent {
    fn from(Lists { fail_to_pass, pass_to_pass }: Lists) -> Self {
        Self { fail_to_pass, pass_to_pass }
    }
}

/// What an audit found the fast ways to say wrongly, for the store.
pub(super) fn difference(
    harness: &Harness,
    artifact: &str,
    report: &Report,
) -> Option<store::Difference> {
    let found = report.difference.clone()?;
    Some(store::Difference {
        framework: harness.runner().framework().to_owned(),
        base: harness.base().id.clone(),
        artifact: artifact.to_owned(),
        found,
    })
}

/// Attempts made together at one bug, for the store.
pub(super) fn group(
    harness: &Harness,
    artifact: &Artifact,
    bug_order: u32,
    attempts: &[solver::Attempt],
) -> Result<Group, Error> {
    Ok(Group {
        artifact: artifact.id(),
        base: harness.base().id.clone(),
        bug_order,
        attempts: rows(attempts)?,
        failures: wrong_book::failures(harness, artifact, attempts),
        kinds: past::of_solver(attempts),
    })
}

/// Writes an artifact where the user wants it, too.
pub(super) fn copy_out(artifact: &Artifact, out: &Path) -> Result<(), Error> {
    folder::write(out, artifact)
}

fn rows(attempts: &[solver::Attempt]) -> Result<Vec<store::Attempt>, Error> {
    let row = |(number, attempt): (usize, &solver::Attempt)| {
        Ok(store::Attempt {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            solved: attempt.solved,
            reason: attempt.reason.to_string(),
            patch: attempt.patch.clone().into_bytes(),
            runs: u32::try_from(attempt.runs).unwrap_or(u32::MAX),
            flags: serde_json::to_string(&attempt.flags).map_err(Error::harness)?,
            player: attempt.bill.as_ref().map(|bill| bill.model.clone()),
            sitting: attempt.bill.as_ref().map(|bill| bill.sitting.clone()),
            policy: attempt.policy.clone(),
        })
    };
    attempts.iter().enumerate().map(row).collect()
}

fn from_row(row: store::Artifact) -> Result<Artifact, Error> {
    if row.bug_inject.is_empty() {
        return Err(Error::usage(format!(
            "the parts of the artifact {} were removed by `ssr-mcp state prune`; name another",
            row.id
        )));
    }
    let files = [
        ("bug_inject.diff", row.bug_inject),
        ("test_weaken.diff", row.test_weaken),
        ("test_script.sh", row.test_script),
        ("test_parser.py", row.test_parser),
        ("test_files.txt", row.test_files),
    ];
    let files = files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    Artifact::from_files(&files)
        .map_err(|malformed| Error::harness(anyhow::anyhow!("the stored artifact: {malformed}")))
}

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(since).unwrap_or(i64::MAX)
}

/// Such seconds as a time.
pub(super) fn time(seconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds.try_into().unwrap_or(0))
}
