//! Artifacts: their five parts, where they came from, and what the checks said.

use super::{Error, Store};
use rusqlite::{OptionalExtension, Row, Transaction, params};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Content id.
    pub id: String,
    pub bug_inject: Vec<u8>,
    pub test_weaken: Vec<u8>,
    pub test_script: Vec<u8>,
    pub test_parser: Vec<u8>,
    pub test_files: Vec<u8>,
    pub strategy: String,
    pub seed: u64,
    /// Id of the base it was made on.
    pub base: String,
    /// Digest of the tree with the bug: equal trees are duplicates, whatever their patches say.
    pub tree_digest: String,
    /// Seconds since 1970.
    pub created: i64,
    pub valid: bool,
    pub failed_check: Option<String>,
    /// JSON.
    pub report: String,
    /// 1, or 2 for a failed repair on top of another bug.
    pub bug_order: u32,
    /// Content id of that other bug's artifact.
    pub parent: Option<String>,
}

pub(super) const COLUMNS: &str = "id, bug_inject, test_weaken, test_script, test_parser, test_files, \
    strategy, seed, base, tree_digest, created, valid, failed_check, report, bug_order, parent";

impl Store {
    /// Keeps an artifact. One that is there already gets the new verdict and keeps its first
    /// `created`.
    pub fn save_artifact(&self, artifact: &Artifact) -> Result<(), Error> {
        self.write(|transaction| save(transaction, artifact))
    }

    pub fn artifact(&self, id: &str) -> Result<Option<Artifact>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM artifacts WHERE id = ?");
        self.read(|connection| {
            connection.prepare_cached(&sql)?.query_row([id], from_row).optional()
        })
    }

    /// Id, strategy and validity of the latest artifacts that have their parts, newest first.
    pub fn latest_artifacts(&self, limit: u32) -> Result<Vec<(String, String, bool)>, Error> {
        let sql = "SELECT id, strategy, valid FROM artifacts WHERE length(bug_inject) > 0 \
            ORDER BY created DESC, rowid DESC LIMIT ?";
        self.read(|connection| {
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            connection.prepare_cached(sql)?.query_map([limit], row)?.collect()
        })
    }

    /// Ids of the bugs of a base that passed every check and have their parts, oldest first.
    pub fn valid_ids(&self, base: &str) -> Result<Vec<String>, Error> {
        let sql = "SELECT id FROM artifacts WHERE base = ? AND valid AND length(bug_inject) > 0 \
            ORDER BY rowid";
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([base], |row| row.get(0))?.collect()
        })
    }

    /// Ids, with `created`, of the artifacts that have their parts and that no entry of the wrong-book
    /// needs, the oldest first.
    pub fn spare_artifacts(&self) -> Result<Vec<(String, i64)>, Error> {
        let sql = "SELECT id, created FROM artifacts WHERE length(bug_inject) > 0 \
            AND id NOT IN (SELECT artifact FROM wrong_book) ORDER BY created, id";
        self.read(|connection| {
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            connection.prepare_cached(sql)?.query_map([], row)?.collect()
        })
    }

    /// Empties an artifact's parts, its report and the patches of its attempts. That it was made, and
    /// which tree it leads to, is still known.
    pub fn forget_artifact(&self, id: &str) -> Result<(), Error> {
        self.write(|transaction| {
            let sql = "UPDATE artifacts SET bug_inject = x'', test_weaken = x'', test_script = x'', \
                test_parser = x'', test_files = x'', report = '{}' WHERE id = ?";
            transaction.execute(sql, [id])?;
            let sql = "UPDATE attempts SET patch = x'' WHERE artifact = ?";
            transaction.execute(sql, [id]).map(|_| ())
        })
    }

    /// Gives the space of what was emptied back to the disk, unless another process is reading.
    pub fn shrink(&self) -> Result<(), Error> {
        let shrunk = self
            .read(|connection| connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"));
        match shrunk {
            Err(Error::Busy { .. }) => Ok(()),
            other => other,
        }
    }

    /// Whether an artifact, valid or not, already makes this tree.
    pub fn has_tree(&self, tree_digest: &str) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM artifacts WHERE tree_digest = ?";
        self.read(|connection| connection.prepare_cached(sql)?.exists([tree_digest]))
    }
}

pub(super) fn save(transaction: &Transaction<'_>, artifact: &Artifact) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO artifacts ({COLUMNS})
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET strategy = excluded.strategy, seed = excluded.seed,
            base = excluded.base, tree_digest = excluded.tree_digest, valid = excluded.valid,
            failed_check = excluded.failed_check, report = excluded.report"
    );
    transaction.prepare_cached(&sql)?.execute(params![
        artifact.id,
        artifact.bug_inject,
        artifact.test_weaken,
        artifact.test_script,
        artifact.test_parser,
        artifact.test_files,
        artifact.strategy,
        artifact.seed.cast_signed(),
        artifact.base,
        artifact.tree_digest,
        artifact.created,
        artifact.valid,
        artifact.failed_check,
        artifact.report,
        artifact.bug_order,
        artifact.parent,
    ])?;
    Ok(())
}

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Artifact> {
    Ok(Artifact {
        id: row.get(0)?,
        bug_inject: row.get(1)?,
        test_weaken: row.get(2)?,
        test_script: row.get(3)?,
        test_parser: row.get(4)?,
        test_files: row.get(5)?,
        strategy: row.get(6)?,
        seed: row.get::<_, i64>(7)?.cast_unsigned(),
        base: row.get(8)?,
        tree_digest: row.get(9)?,
        created: row.get(10)?,
        valid: row.get(11)?,
        failed_check: row.get(12)?,
        report: row.get(13)?,
        bug_order: row.get(14)?,
        parent: row.get(15)?,
    })
}
