//! What runs of candidate repairs said, so that they need not be made twice: a cache.

use super::{Error, Store};
use rusqlite::params;

/// How many are kept, the latest saved: some hundred bytes each.
const KEPT: i64 = 500_000;

impl Store {
    /// All that is known under a key (a bug and its environment): candidate and content.
    pub fn outcomes(&self, key: &str) -> Result<Vec<(String, String)>, Error> {
        let sql = "SELECT candidate, content FROM outcomes WHERE key = ? ORDER BY number";
        self.read(|connection| {
            let mut query = connection.prepare_cached(sql)?;
            query.query_map([key], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Keeps them, over what was there.
    pub fn keep_outcomes(&self, key: &str, outcomes: &[(String, String)]) -> Result<(), Error> {
        let sql = "INSERT OR REPLACE INTO outcomes (key, candidate, content) VALUES (?, ?, ?)";
        self.write(|transaction| {
            let mut insert = transaction.prepare_cached(sql)?;
            for (candidate, content) in outcomes {
                insert.execute(params![key, candidate, content])?;
            }
            let beyond = "DELETE FROM outcomes WHERE number <= \
                (SELECT coalesce(max(number), 0) FROM outcomes) - ?";
            transaction.prepare_cached(beyond)?.execute([KEPT])?;
            Ok(())
        })
    }

    pub fn forget_outcomes(&self, key: &str) -> Result<(), Error> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM outcomes WHERE key = ?", [key])?;
            Ok(())
        })
    }
}
