//! Rounds and the attempts in them.

use super::{Error, Store};
use rusqlite::types::Type;
use rusqlite::{Row, Transaction, params};

/// One round as it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Content id of the artifact; `None` if the injector made none.
    pub artifact: Option<String>,
    /// Which round of its run this was, from 1.
    pub step: u32,
    pub strategy: String,
    pub seed: u64,
    pub inject_reward: f64,
    /// `None` if nothing was attempted.
    pub solve_rate: Option<f64>,
    /// One an attempt, finite.
    pub solver_rewards: Vec<f64>,
    pub seconds: f64,
    /// JSON.
    pub detail: String,
}

/// One attempt to repair an artifact's bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Which attempt of its group this was, from 0.
    pub number: u32,
    pub solved: bool,
    /// Why it counts as solved or not.
    pub reason: String,
    pub patch: Vec<u8>,
    /// Test runs spent.
    pub runs: u32,
    /// JSON.
    pub flags: String,
}

/// How much is in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub artifacts: u64,
    pub valid: u64,
    pub rounds: u64,
    pub attempts: u64,
    pub solved: u64,
}

impl Store {
    /// Keeps a round and its attempts, all or nothing. Returns the round's number in this store.
    /// Attempts without an artifact are not kept.
    pub fn record_round(&self, round: &Round, attempts: &[Attempt]) -> Result<i64, Error> {
        let rewards = serde_json::json!(round.solver_rewards).to_string();
        self.write(|transaction| {
            let sql = "INSERT INTO rounds (artifact, step, strategy, seed, inject_reward, \
                solve_rate, solver_rewards, seconds, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
            transaction.prepare_cached(sql)?.execute(params![
                round.artifact,
                round.step,
                round.strategy,
                round.seed.cast_signed(),
                round.inject_reward,
                round.solve_rate,
                rewards,
                round.seconds,
                round.detail,
            ])?;
            let id = transaction.last_insert_rowid();
            if let Some(artifact) = &round.artifact {
                insert_attempts(transaction, artifact, Some(id), attempts)?;
            }
            Ok(id)
        })
    }

    /// Keeps attempts that belong to no round.
    pub fn record_attempts(&self, artifact: &str, attempts: &[Attempt]) -> Result<(), Error> {
        self.write(|transaction| insert_attempts(transaction, artifact, None, attempts))
    }

    /// The latest rounds, newest first, each with its number.
    pub fn rounds(&self, limit: u32) -> Result<Vec<(i64, Round)>, Error> {
        let sql = "SELECT id, artifact, step, strategy, seed, inject_reward, solve_rate, \
            solver_rewards, seconds, detail FROM rounds ORDER BY id DESC LIMIT ?";
        self.read(|connection| connection.prepare_cached(sql)?.query_map([limit], round)?.collect())
    }

    /// Every attempt on an artifact, oldest first.
    pub fn attempts(&self, artifact: &str) -> Result<Vec<Attempt>, Error> {
        let sql = "SELECT number, solved, reason, patch, runs, flags FROM attempts WHERE artifact \
            = ? ORDER BY id";
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([artifact], attempt)?.collect()
        })
    }

    /// Artifacts at which at least one attempt failed.
    pub fn artifacts_with_failures(&self) -> Result<u64, Error> {
        let sql = "SELECT count(DISTINCT artifact) FROM attempts WHERE NOT solved";
        self.read(|connection| {
            connection.query_row(sql, [], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
        })
    }

    pub fn counts(&self) -> Result<Counts, Error> {
        let sql = "SELECT (SELECT count(*) FROM artifacts), (SELECT count(*) FROM artifacts WHERE \
            valid), (SELECT count(*) FROM rounds), (SELECT count(*) FROM attempts), (SELECT \
            count(*) FROM attempts WHERE solved)";
        self.read(|connection| {
            connection.query_row(sql, [], |row| {
                let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
                Ok(Counts {
                    artifacts: count(0)?,
                    valid: count(1)?,
                    rounds: count(2)?,
                    attempts: count(3)?,
                    solved: count(4)?,
                })
            })
        })
    }
}

fn insert_attempts(
    transaction: &Transaction<'_>,
    artifact: &str,
    round: Option<i64>,
    attempts: &[Attempt],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO attempts (artifact, round, number, solved, reason, patch, runs, flags) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let mut insert = transaction.prepare_cached(sql)?;
    for attempt in attempts {
        insert.execute(params![
            artifact,
            round,
            attempt.number,
            attempt.solved,
            attempt.reason,
            attempt.patch,
            attempt.runs,
            attempt.flags,
        ])?;
    }
    Ok(())
}

fn round(row: &Row<'_>) -> rusqlite::Result<(i64, Round)> {
    let rewards: String = row.get(7)?;
    let solver_rewards = serde_json::from_str(&rewards).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(7, Type::Text, Box::new(error))
    })?;
    let round = Round {
        artifact: row.get(1)?,
        step: row.get(2)?,
        strategy: row.get(3)?,
        seed: row.get::<_, i64>(4)?.cast_unsigned(),
        inject_reward: row.get(5)?,
        solve_rate: row.get(6)?,
        solver_rewards,
        seconds: row.get(8)?,
        detail: row.get(9)?,
    };
    Ok((row.get(0)?, round))
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        number: row.get(0)?,
        solved: row.get(1)?,
        reason: row.get(2)?,
        patch: row.get(3)?,
        runs: row.get(4)?,
        flags: row.get(5)?,
    })
}
