//! Baselines: a cache of what a suite said of an untouched tree.

use super::{Error, Store};
use rusqlite::OptionalExtension;

/// How many are kept, the latest saved.
const KEPT: i64 = 64;

impl Store {
    /// The JSON saved under a key (base id and environment).
    pub fn baseline(&self, key: &str) -> Result<Option<String>, Error> {
        let sql = "SELECT content FROM baselines WHERE key = ?";
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()
        })
    }

    /// Saves JSON under a key, over what was there.
    pub fn save_baseline(&self, key: &str, json: &str) -> Result<(), Error> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM baselines WHERE key = ?", [key])?;
            transaction
                .execute("INSERT INTO baselines (key, content) VALUES (?, ?)", [key, json])?;
            let beyond = "DELETE FROM baselines WHERE number NOT IN \
                          (SELECT number FROM baselines ORDER BY number DESC LIMIT ?)";
            transaction.execute(beyond, [KEPT])?;
            Ok(())
        })
    }
}
