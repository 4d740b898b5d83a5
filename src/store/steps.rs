//! Steps of training, as they ended.

use super::{Error, Store};
use rusqlite::params;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainedStep {
    /// Seconds since 1970.
    pub at: i64,
    /// Hashes of the policy before and after; equal where the step was skipped.
    pub before: String,
    pub after: String,
    /// JSON: what it showed.
    pub report: String,
}

impl Store {
    pub fn keep_step(&self, step: &TrainedStep) -> Result<(), Error> {
        let sql = "INSERT INTO training_steps (at, before, after, report) VALUES (?, ?, ?, ?)";
        self.write(|transaction| {
            transaction.execute(sql, params![step.at, step.before, step.after, step.report])?;
            Ok(())
        })
    }

    /// The latest ones, oldest first.
    pub fn steps(&self, limit: u32) -> Result<Vec<TrainedStep>, Error> {
        let sql = "SELECT at, before, after, report FROM (SELECT * FROM training_steps \
            ORDER BY number DESC LIMIT ?) ORDER BY number";
        self.read(|connection| {
            let mut query = connection.prepare_cached(sql)?;
            let step = |row: &rusqlite::Row<'_>| {
                Ok(TrainedStep {
                    at: row.get(0)?,
                    before: row.get(1)?,
                    after: row.get(2)?,
                    report: row.get(3)?,
                })
            };
            query.query_map([limit], step)?.collect()
        })
    }
}
