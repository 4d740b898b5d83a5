//! Runs of rounds: what was planned, and how far each is.

use super::{Error, Store};
use rusqlite::{OptionalExtension, Row, params};

/// One run of `play`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: String,
    /// Id of the base it is played on.
    pub base: String,
    /// JSON of the settings; runs with equal ones are one and the same command.
    pub settings: String,
    /// The first round's.
    pub seed: u64,
    /// `None`: as many as fit before the deadline.
    pub planned: Option<u32>,
    /// Seconds since 1970: no round begins later.
    pub deadline: Option<i64>,
    /// The round to be played next, from 1: all before it are in the store.
    pub next: u32,
    pub state: RunState,
    /// Seconds since 1970.
    pub begun: i64,
    /// What a person has to put right before it can go on.
    pub waits: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Being played, or interrupted.
    Open,
    Finished,
    /// Given up for another run.
    Left,
}

const COLUMNS: &str = "id, base, settings, seed, planned, deadline, next, state, begun, waits";

impl RunState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Finished => "finished",
            Self::Left => "left",
        }
    }
}

impl Store {
    pub fn begin_run(&self, run: &Run) -> Result<(), Error> {
        let sql = format!("INSERT INTO runs ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        self.write(|transaction| {
            transaction.prepare_cached(&sql)?.execute(params![
                run.id,
                run.base,
                run.settings,
                run.seed.cast_signed(),
                run.planned,
                run.deadline,
                run.next,
                run.state.name(),
                run.begun,
                run.waits,
            ])?;
            Ok(())
        })
    }

    pub fn run(&self, id: &str) -> Result<Option<Run>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], run).optional())
    }

    /// The latest runs, newest first.
    pub fn runs(&self, limit: u32) -> Result<Vec<Run>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM runs ORDER BY number DESC LIMIT ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([limit], run)?.collect())
    }

    /// Every open run, newest first.
    pub fn open_runs(&self) -> Result<Vec<Run>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE state = 'open' ORDER BY number DESC");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([], run)?.collect())
    }

    /// Has it wait for a person, or go on.
    pub fn set_waits(&self, id: &str, waits: Option<&str>) -> Result<(), Error> {
        let sql = "UPDATE runs SET waits = ? WHERE id = ?";
        self.write(|transaction| {
            transaction.prepare_cached(sql)?.execute(params![waits, id]).map(|_| ())
        })
    }

    pub fn end_run(&self, id: &str, state: RunState) -> Result<(), Error> {
        let sql = "UPDATE runs SET state = ? WHERE id = ?";
        self.write(|transaction| {
            transaction.prepare_cached(sql)?.execute(params![state.name(), id]).map(|_| ())
        })
    }
}

fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    let state: String = row.get(7)?;
    Ok(Run {
        id: row.get(0)?,
        base: row.get(1)?,
        settings: row.get(2)?,
        seed: row.get::<_, i64>(3)?.cast_unsigned(),
        planned: row.get(4)?,
        deadline: row.get(5)?,
        next: row.get(6)?,
        state: match state.as_str() {
            "open" => RunState::Open,
            "finished" => RunState::Finished,
            _ => RunState::Left,
        },
        begun: row.get(8)?,
        waits: row.get(9)?,
    })
}
