//! Single edits that the tests were run on, by tree: which were tried, and what is known of those that no
//! test noticed.

use super::{Error, Store};
use rusqlite::params;

/// One edit that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedEdit {
    /// Digest of the edited file.
    pub edit: String,
    pub outcome: String,
    /// JSON; what is kept of an edit that no test noticed.
    pub content: Option<String>,
}

impl Store {
    /// Keeps what came of edits of a base. What was merely tried on other bases is forgotten.
    pub fn record_edits(&self, base: &str, edits: &[TriedEdit]) -> Result<(), Error> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM edits WHERE base <> ? AND content IS NULL", [base])?;
            let sql =
                "INSERT OR IGNORE INTO edits (base, edit, outcome, content) VALUES (?, ?, ?, ?)";
            let mut insert = transaction.prepare_cached(sql)?;
            for TriedEdit { edit, outcome, content } in edits {
                insert.execute(params![base, edit, outcome, content])?;
            }
            Ok(())
        })
    }

    /// The edits of a base that were tried, sorted.
    pub fn tried_edits(&self, base: &str) -> Result<Vec<String>, Error> {
        let sql = "SELECT edit FROM edits WHERE base = ? ORDER BY edit";
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([base], |row| row.get(0))?.collect()
        })
    }

    /// What is kept of the edits of a base that no test noticed, in the order in which they were found.
    pub fn unnoticed_edits(&self, base: &str) -> Result<Vec<String>, Error> {
        let sql =
            "SELECT content FROM edits WHERE base = ? AND content IS NOT NULL ORDER BY number";
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([base], |row| row.get(0))?.collect()
        })
    }

    /// How many there are of all bases.
    pub fn count_unnoticed_edits(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) FROM edits WHERE content IS NOT NULL";
        self.read(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
        })
    }
}
