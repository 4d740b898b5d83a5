//! Jobs: work that was asked for by a call and outlives it.

use super::{Error, Store};
use rusqlite::{OptionalExtension, Row, params};

/// Ended jobs that are kept; older ones are forgotten.
const KEPT: u32 = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredJob {
    pub id: String,
    /// Equal for equal calls.
    pub key: String,
    pub tool: String,
    /// JSON; with everything that repeats the work.
    pub arguments: String,
    pub state: JobState,
    /// What was told last.
    pub progress: String,
    /// Seconds since 1970.
    pub begun: i64,
    pub ended: Option<i64>,
    /// JSON of the answer, or the error's text.
    pub outcome: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Being worked on, or interrupted.
    Open,
    Done,
    Failed,
    Cancelled,
}

const COLUMNS: &str = "id, key, tool, arguments, state, progress, begun, ended, outcome";

impl JobState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Store {
    /// Begins a job, unless one of the same key is open: then that one is the answer.
    pub fn begin_job(&self, job: &StoredJob) -> Result<Option<StoredJob>, Error> {
        self.write(|transaction| {
            let sql = format!("SELECT {COLUMNS} FROM jobs WHERE key = ? AND state = 'open'");
            let open = transaction.prepare_cached(&sql)?.query_row([&job.key], read).optional()?;
            if open.is_some() {
                return Ok(open);
            }
            let sql = format!("INSERT INTO jobs ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
            transaction.prepare_cached(&sql)?.execute(params![
                job.id,
                job.key,
                job.tool,
                job.arguments,
                job.state.name(),
                job.progress,
                job.begun,
                job.ended,
                job.outcome,
            ])?;
            let sql = "DELETE FROM jobs WHERE state <> 'open' AND number NOT IN \
                       (SELECT number FROM jobs WHERE state <> 'open' ORDER BY number DESC LIMIT ?)";
            transaction.prepare_cached(sql)?.execute([KEPT])?;
            Ok(None)
        })
    }

    pub fn job(&self, id: &str) -> Result<Option<StoredJob>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM jobs WHERE id = ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], read).optional())
    }

    /// The latest jobs, newest first.
    pub fn jobs(&self, limit: u32) -> Result<Vec<StoredJob>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM jobs ORDER BY number DESC LIMIT ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([limit], read)?.collect())
    }

    /// Whether the job is still open.
    pub fn note_job(&self, id: &str, progress: &str) -> Result<bool, Error> {
        let sql = "UPDATE jobs SET progress = ? WHERE id = ? AND state = 'open'";
        self.write(|transaction| {
            Ok(transaction.prepare_cached(sql)?.execute(params![progress, id])? > 0)
        })
    }

    /// The first end of a job counts.
    pub fn end_job(
        &self,
        id: &str,
        state: JobState,
        ended: i64,
        outcome: &str,
    ) -> Result<(), Error> {
        let sql =
            "UPDATE jobs SET state = ?, ended = ?, outcome = ? WHERE id = ? AND state = 'open'";
        self.write(|transaction| {
            let values = params![state.name(), ended, outcome, id];
            transaction.prepare_cached(sql)?.execute(values).map(|_| ())
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredJob> {
    let state: String = row.get(4)?;
    Ok(StoredJob {
        id: row.get(0)?,
        key: row.get(1)?,
        tool: row.get(2)?,
        arguments: row.get(3)?,
        state: match state.as_str() {
            "open" => JobState::Open,
            "done" => JobState::Done,
            "cancelled" => JobState::Cancelled,
            _ => JobState::Failed,
        },
        progress: row.get(5)?,
        begun: row.get(6)?,
        ended: row.get(7)?,
        outcome: row.get(8)?,
    })
}
