//! The wrong-book: failed attempts, one entry a tree they lead to, and how often they came back.

use super::rounds::Attempt;
use super::{Error, KindCount, Store};
use rusqlite::{OptionalExtension, Row, Transaction, params};

/// Attempts that were made at one bug together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Content id of the bug's artifact.
    pub artifact: String,
    /// Id of the base it was made on.
    pub base: String,
    pub bug_order: u32,
    pub attempts: Vec<Attempt>,
    /// What the failed ones lead to, each tree once.
    pub failures: Vec<Failure>,
    /// What the solver's kinds of edits came to.
    pub kinds: Vec<KindCount>,
}

/// Failed attempts that lead to one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub id: String,
    /// Digest of the tree.
    pub tree: String,
    pub patch: Vec<u8>,
    /// Why it is no repair.
    pub reason: String,
    /// Whether it may become a bug of its own.
    pub feeds: bool,
    pub attempts: u32,
}

/// One tree that failed attempts lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    /// The artifact whose bug was attempted.
    pub artifact: String,
    pub base: String,
    /// The order of that bug.
    pub bug_order: u32,
    pub tree: String,
    /// Against the tree that the solver saw.
    pub patch: Vec<u8>,
    pub reason: String,
    pub feeds: bool,
    /// Whether it was made a bug of its own, or found to be none.
    pub fed: bool,
    /// Attempts that lead here, and one more for each later group that did not repair the bug either.
    pub fail_count: u64,
    /// Groups in a row that failed, the last one included.
    pub streak: u32,
    /// Whether a later group repaired the bug without coming here again.
    pub solved: bool,
}

const COLUMNS: &str = "id, artifact, base, bug_order, tree, patch, reason, feeds, fed, fail_count, \
    streak, solved";

impl Store {
    /// Every entry, the most failures first, then the oldest.
    pub fn wrong_book(&self) -> Result<Vec<Entry>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM wrong_book ORDER BY fail_count DESC, number");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([], entry)?.collect())
    }

    pub fn wrong_book_entry(&self, id: &str) -> Result<Option<Entry>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM wrong_book WHERE id = ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], entry).optional())
    }

    /// Entries that are not solved.
    pub fn wrong_book_size(&self) -> Result<u64, Error> {
        self.read(size)
    }

    /// Keeps attempts that belong to no round, with what they change in the wrong-book.
    pub fn record_group(&self, group: &Group) -> Result<(), Error> {
        self.write(|transaction| {
            super::rounds::insert_attempts(transaction, &group.artifact, None, &group.attempts)?;
            note(transaction, group)
        })
    }
}

pub(super) fn size(connection: &rusqlite::Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM wrong_book WHERE NOT solved";
    connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
}

/// What a group of attempts changes. An entry of its bug failed again if an attempt leads to it, or if
/// no attempt repaired the bug; otherwise it is solved. Attempts at artifacts that are not kept are
/// not noted: nobody could make them again.
pub(super) fn note(transaction: &Transaction<'_>, group: &Group) -> rusqlite::Result<()> {
    super::kinds::add(transaction, &group.kinds)?;
    let kept = "SELECT 1 FROM artifacts WHERE id = ? AND length(bug_inject) > 0";
    if group.attempts.is_empty() || !transaction.prepare_cached(kept)?.exists([&group.artifact])? {
        return Ok(());
    }
    adopt(transaction, group)?;
    let again = if group.attempts.iter().any(|attempt| attempt.solved) {
        "UPDATE wrong_book SET streak = 0, solved = 1 WHERE artifact = ?1"
    } else {
        "UPDATE wrong_book SET streak = streak + 1, fail_count = fail_count + 1 WHERE artifact = ?1"
    };
    let trees = serde_json::json!(group.failures.iter().map(|f| &f.tree).collect::<Vec<_>>());
    let again = format!(
        "{again} AND NOT solved AND NOT (base = ?2 AND tree IN (SELECT value FROM json_each(?3)))"
    );
    transaction.prepare_cached(&again)?.execute(params![
        group.artifact,
        group.base,
        trees.to_string()
    ])?;
    let sql = format!(
        "INSERT INTO wrong_book ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 1, 0)
         ON CONFLICT (base, tree) DO UPDATE SET fail_count = fail_count + excluded.fail_count,
            streak = streak + 1, solved = 0"
    );
    let mut insert = transaction.prepare_cached(&sql)?;
    for failure in &group.failures {
        insert.execute(params![
            failure.id,
            group.artifact,
            group.base,
            group.bug_order,
            failure.tree,
            failure.patch,
            failure.reason,
            failure.feeds,
            failure.attempts,
        ])?;
    }
    Ok(())
}

/// Gives entries from before trees were kept their tree, where the same patch failed again.
fn adopt(transaction: &Transaction<'_>, group: &Group) -> rusqlite::Result<()> {
    let sql = "UPDATE OR IGNORE wrong_book SET id = ?, tree = ?
               WHERE tree LIKE 'before:%' AND artifact = ? AND base = ? AND patch = ?";
    let mut adopt = transaction.prepare_cached(sql)?;
    for failure in &group.failures {
        adopt.execute(params![
            failure.id,
            failure.tree,
            group.artifact,
            group.base,
            failure.patch
        ])?;
    }
    Ok(())
}

pub(super) fn mark_fed(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE wrong_book SET fed = 1 WHERE id = ?";
    transaction.prepare_cached(sql)?.execute([id]).map(|_| ())
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get(0)?,
        artifact: row.get(1)?,
        base: row.get(2)?,
        bug_order: row.get(3)?,
        tree: row.get(4)?,
        patch: row.get(5)?,
        reason: row.get(6)?,
        feeds: row.get(7)?,
        fed: row.get(8)?,
        fail_count: row.get::<_, i64>(9)?.cast_unsigned(),
        streak: row.get(10)?,
        solved: row.get(11)?,
    })
}
