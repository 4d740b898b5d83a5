//! The bugs that are kept of a repository, as an editor shows them: what each changes, which tests notice, and
//! what became of it. Nothing is run, and the tree is not looked at.

use super::record::{Record, now};
use super::{Error, RatingLine, Repository, Session};
use crate::verdict::TestId;
use std::path::Path;
use std::time::SystemTime;

/// A bug that passed every check.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Bug {
    /// The artifact's content id.
    pub artifact: String,
    pub strategy: String,
    /// 1, or 2 for a failed repair on top of another bug.
    pub order: u32,
    /// Seconds since 1970.
    pub created: i64,
    /// Tests that it makes fail.
    pub failing: Vec<TestId>,
    pub attempts: usize,
    /// Attempts that repaired it.
    pub solved: usize,
    /// Failed attempts that the wrong-book keeps and that are not solved.
    pub wrong: usize,
    /// Its rating as a task for people, such as `1510 ± 180`, where it was played as one.
    pub rating: Option<String>,
    /// Somebody is at repairing it: what it is must not be shown.
    pub hidden: bool,
    /// `bug_inject.diff`
    #[serde(skip)]
    pub bug: Vec<u8>,
    /// `test_weaken.diff`
    #[serde(skip)]
    pub weakening: Vec<u8>,
    /// The shortest patch that repaired it, against the tree that its solver saw.
    #[serde(skip)]
    pub repair: Option<Vec<u8>>,
}

#[derive(serde::Deserialize)]
struct Failing {
    fail_to_pass: Vec<TestId>,
}

/// Differs whenever something was written to the store of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp(Vec<Option<(SystemTime, u64)>>);

impl Session {
    /// The latest bugs, newest first.
    pub fn bugs(&self, repository: &Repository, limit: u32) -> Result<Vec<Bug>, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let ids = record.store.latest_artifacts(limit).map_err(Error::harness)?;
        let entries = record.store.wrong_book().map_err(Error::harness)?;
        let mut bugs = Vec::new();
        for (id, strategy, _) in ids.into_iter().filter(|(_, _, valid)| *valid) {
            let Some(row) = record.store.artifact(&id).map_err(Error::harness)? else { continue };
            let attempts = record.store.attempts(&id).map_err(Error::harness)?;
            let solved = attempts.iter().filter(|attempt| attempt.solved);
            let rating = record.store.rating(&id).map_err(Error::harness)?;
            let failing: Option<Failing> = serde_json::from_str(&row.report).ok();
            let unsolved = |entry: &&crate::store::Entry| entry.artifact == id && !entry.solved;
            bugs.push(Bug {
                strategy,
                order: row.bug_order,
                created: row.created,
                failing: failing.map(|failing| failing.fail_to_pass).unwrap_or_default(),
                attempts: attempts.len(),
                solved: solved.clone().count(),
                wrong: entries.iter().filter(unsolved).count(),
                rating: rating.map(|rating| RatingLine::from(&rating).text),
                hidden: record.store.is_being_solved(&id, now()).map_err(Error::harness)?,
                bug: row.bug_inject,
                weakening: row.test_weaken,
                repair: solved.map(|attempt| attempt.patch.clone()).min_by_key(Vec::len),
                artifact: id,
            });
        }
        Ok(bugs)
    }

    /// Of the store as it is; asked often, and costs two looks at the disk.
    pub fn stamp(&self, repository: &Repository) -> Result<Stamp, Error> {
        let state = self.workspace(repository)?.state;
        let seen = |name: &str| {
            let found = Path::new(&state).join(name).metadata().ok()?;
            Some((found.modified().ok()?, found.len()))
        };
        Ok(Stamp(["state.db", "state.db-wal"].map(seen).to_vec()))
    }

    /// Where the repository is, as all answers name it.
    pub fn root(&self, repository: &Repository) -> Result<std::path::PathBuf, Error> {
        Ok(self.workspace(repository)?.root)
    }
}
