//! Rounds and the attempts in them.

use super::{
    Artifact, Difference, Error, Group, KindCount, Store, artifacts, differences, kinds, wrong_book,
};
use rusqlite::types::Type;
use rusqlite::{Row, Transaction, params};

/// One bug of a round as it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The run it belongs to; `None` for those from before there were runs.
    pub run: Option<String>,
    /// Which round of its run this was, from 1.
    pub step: u32,
    /// Which bug of its round, from 0.
    pub item: u32,
    /// What was played: a new bug, or an entry of the wrong-book.
    pub kind: String,
    pub bug_order: u32,
    /// Content id of the artifact; `None` if the injector made none.
    pub artifact: Option<String>,
    pub strategy: String,
    pub seed: u64,
    /// `None` where nobody injected the bug.
    pub inject_reward: Option<f64>,
    /// `None` if nothing was attempted.
    pub solve_rate: Option<f64>,
    /// One an attempt, finite.
    pub solver_rewards: Vec<f64>,
    pub seconds: f64,
    /// JSON.
    pub detail: String,
}

/// A bug that was played, and all that is kept of it.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    pub round: &'a Round,
    /// An artifact that is new, or has a new verdict.
    pub artifact: Option<&'a Artifact>,
    pub group: Option<&'a Group>,
    /// Entries of the wrong-book that were made bugs of their own, or were found to be none.
    pub fed: &'a [String],
    /// What its audit found the fast ways to say wrongly.
    pub difference: Option<&'a Difference>,
    /// What the injector's kinds of edits came to.
    pub kinds: &'a [KindCount],
}

/// A bug of a round as the store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// In this store.
    pub number: i64,
    pub round: Round,
    /// Entries of the wrong-book that were not solved after it.
    pub wrong_book_size: u64,
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
    /// Who made it; `None`: the embedded solver.
    pub player: Option<String>,
    /// A model's: id of its session.
    pub sitting: Option<String>,
    /// The hash of the policy, where one played.
    pub policy: Option<String>,
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
    /// Keeps a whole round and moves its run on, all or nothing. `cursor`: the run, and the round to
    /// be played next.
    pub fn commit_round(
        &self,
        cursor: Option<(&str, u32)>,
        played: &[Played<'_>],
    ) -> Result<Vec<Kept>, Error> {
        self.write(|transaction| {
            let kept = played.iter().map(|played| keep(transaction, *played)).collect();
            if let Some((run, next)) = cursor {
                let sql = "UPDATE runs SET next = ? WHERE id = ?";
                transaction.prepare_cached(sql)?.execute(params![next, run])?;
            }
            kept
        })
    }

    /// The latest rounds, newest first.
    pub fn rounds(&self, limit: u32) -> Result<Vec<Kept>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM rounds ORDER BY id DESC LIMIT ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([limit], kept)?.collect())
    }

    /// All of a run so far, in order.
    pub fn rounds_of(&self, run: &str) -> Result<Vec<Kept>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM rounds WHERE run = ? ORDER BY step, item");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([run], kept)?.collect())
    }

    /// Every attempt on an artifact, oldest first.
    pub fn attempts(&self, artifact: &str) -> Result<Vec<Attempt>, Error> {
        let sql = "SELECT number, solved, reason, patch, runs, flags, player, sitting, policy FROM \
            attempts WHERE artifact = ? ORDER BY id";
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([artifact], attempt)?.collect()
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

/// In the order of the table.
const COLUMNS: &str = "id, run, step, item, kind, bug_order, artifact, strategy, seed, \
    inject_reward, solve_rate, solver_rewards, seconds, wrong_book_size, detail";

fn keep(transaction: &Transaction<'_>, played: Played<'_>) -> rusqlite::Result<Kept> {
    let Played { round, artifact, group, fed, difference, kinds } = played;
    kinds::add(transaction, kinds)?;
    if let Some(difference) = difference {
        differences::insert(transaction, difference)?;
    }
    if let Some(artifact) = artifact {
        artifacts::save(transaction, artifact)?;
    }
    if let Some(group) = group {
        wrong_book::note(transaction, group)?;
    }
    for entry in fed {
        wrong_book::mark_fed(transaction, entry)?;
    }
    let wrong_book_size = wrong_book::size(transaction)?;
    let sql = format!(
        "INSERT INTO rounds ({COLUMNS}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    transaction.prepare_cached(&sql)?.execute(params![
        round.run,
        round.step,
        round.item,
        round.kind,
        round.bug_order,
        round.artifact,
        round.strategy,
        round.seed.cast_signed(),
        round.inject_reward,
        round.solve_rate,
        serde_json::json!(round.solver_rewards).to_string(),
        round.seconds,
        wrong_book_size.cast_signed(),
        round.detail,
    ])?;
    let number = transaction.last_insert_rowid();
    if let Some(group) = group {
        insert_attempts(transaction, &group.artifact, Some(number), &group.attempts)?;
    }
    Ok(Kept { number, round: round.clone(), wrong_book_size })
}

pub(super) fn insert_attempts(
    transaction: &Transaction<'_>,
    artifact: &str,
    round: Option<i64>,
    attempts: &[Attempt],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO attempts (artifact, round, number, solved, reason, patch, runs, flags, \
        player, sitting, policy) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
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
            attempt.player,
            attempt.sitting,
            attempt.policy,
        ])?;
    }
    Ok(())
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let rewards: String = row.get(11)?;
    let solver_rewards = serde_json::from_str(&rewards).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(11, Type::Text, Box::new(error))
    })?;
    let round = Round {
        run: row.get(1)?,
        step: row.get(2)?,
        item: row.get(3)?,
        kind: row.get(4)?,
        bug_order: row.get(5)?,
        artifact: row.get(6)?,
        strategy: row.get(7)?,
        seed: row.get::<_, i64>(8)?.cast_unsigned(),
        inject_reward: row.get(9)?,
        solve_rate: row.get(10)?,
        solver_rewards,
        seconds: row.get(12)?,
        detail: row.get(14)?,
    };
    let wrong_book_size = row.get::<_, i64>(13)?.cast_unsigned();
    Ok(Kept { number: row.get(0)?, round, wrong_book_size })
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        number: row.get(0)?,
        solved: row.get(1)?,
        reason: row.get(2)?,
        patch: row.get(3)?,
        runs: row.get(4)?,
        flags: row.get(5)?,
        player: row.get(6)?,
        sitting: row.get(7)?,
        policy: row.get(8)?,
    })
}
