//! Sessions with models: every message with what it took, and the tree and shell as they are between two calls.

use super::plays::replace_files;
use super::{Error, PlayFile, Store};
use rusqlite::{OptionalExtension, Row, Transaction, params};

/// How a sitting's files are forgotten, and how one is added.
const FILES: [&str; 2] = [
    "DELETE FROM sitting_files WHERE sitting = ?",
    "INSERT INTO sitting_files (sitting, path, executable, content) VALUES (?, ?, ?, ?)",
];

/// One session of a model in a role.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSitting {
    pub id: String,
    /// What it is a part of: a run of `play`, or one call of another verb.
    pub run: String,
    pub step: u32,
    pub item: u32,
    pub role: String,
    pub phase: String,
    pub attempt: u32,
    pub model: String,
    /// The bug that a solver repairs.
    pub artifact: Option<String>,
    /// Hash of the prompts.
    pub prompt: String,
    /// JSON: the tools that were offered natively; empty where calls were text.
    pub tools: String,
    /// Seconds since 1970.
    pub begun: i64,
    /// How it ended; `None` while it has not.
    pub ending: Option<String>,
    /// What was submitted last.
    pub submitted: Option<String>,
    pub reward: Option<f64>,
    /// The state of its shell, while it has not ended.
    pub shell: Vec<u8>,
}

/// One message of a sitting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// What it is: opening, reply, result, correction, submitted …
    pub kind: String,
    /// JSON.
    pub message: String,
    /// A reply's: JSON.
    pub finish: Option<String>,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cached_tokens: u64,
    /// The server did not count the tokens.
    pub estimated: bool,
    pub money: Option<f64>,
    pub millis: u64,
    /// JSON: the ids and log probabilities of a reply's tokens, where the server gave them.
    pub tokens: Option<String>,
}

/// What a role and phase of a run spent.
#[derive(Clone, Debug, PartialEq)]
pub struct SpentRow {
    pub role: String,
    pub phase: String,
    pub requests: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cached_tokens: u64,
    pub estimated: u64,
    /// `None` where some of it is not known.
    pub money: Option<f64>,
    pub millis: u64,
}

/// Shell and tree after a call; `files`: where the tree changed.
#[derive(Clone, Copy, Debug)]
pub struct After<'a> {
    pub shell: &'a [u8],
    pub files: Option<&'a [PlayFile]>,
}

const COLUMNS: &str = "id, run, step, item, role, phase, attempt, model, artifact, prompt, tools, begun, \
    ending, submitted, reward, shell";

const SAID: &str = "kind, message, finish, prompt_tokens, completion_tokens, cached_tokens, estimated, money, \
    millis, tokens";

impl Store {
    pub fn begin_sitting(&self, sitting: &StoredSitting, opening: &[Said]) -> Result<(), Error> {
        let sql = format!(
            "INSERT INTO sittings ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        self.write(|transaction| {
            transaction.prepare_cached(&sql)?.execute(params![
                sitting.id,
                sitting.run,
                sitting.step,
                sitting.item,
                sitting.role,
                sitting.phase,
                sitting.attempt,
                sitting.model,
                sitting.artifact,
                sitting.prompt,
                sitting.tools,
                sitting.begun,
                sitting.ending,
                sitting.submitted,
                sitting.reward,
                sitting.shell,
            ])?;
            insert(transaction, &sitting.id, opening)
        })
    }

    pub fn sitting(&self, id: &str) -> Result<Option<StoredSitting>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM sittings WHERE id = ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], sitting).optional())
    }

    /// Those of a run, in the order in which they were begun.
    pub fn sittings_of(&self, run: &str) -> Result<Vec<StoredSitting>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM sittings WHERE run = ? ORDER BY number");
        self.read(|connection| {
            connection.prepare_cached(&sql)?.query_map([run], sitting)?.collect()
        })
    }

    /// In their order.
    pub fn said(&self, sitting: &str) -> Result<Vec<Said>, Error> {
        let sql = format!("SELECT {SAID} FROM sitting_messages WHERE sitting = ? ORDER BY number");
        self.read(|connection| {
            connection.prepare_cached(&sql)?.query_map([sitting], said)?.collect()
        })
    }

    /// The tree of one that has not ended, sorted by path.
    pub fn sitting_files(&self, id: &str) -> Result<Vec<PlayFile>, Error> {
        let sql =
            "SELECT path, executable, content FROM sitting_files WHERE sitting = ? ORDER BY path";
        let file = |row: &Row<'_>| {
            Ok(PlayFile { path: row.get(0)?, executable: row.get(1)?, content: row.get(2)? })
        };
        self.read(|connection| connection.prepare_cached(sql)?.query_map([id], file)?.collect())
    }

    /// Keeps messages, with shell and tree after them and what they submitted.
    pub fn record_said(
        &self,
        id: &str,
        messages: &[Said],
        after: Option<After<'_>>,
        submitted: Option<&str>,
    ) -> Result<(), Error> {
        self.write(|transaction| {
            insert(transaction, id, messages)?;
            if let Some(submitted) = submitted {
                let sql = "UPDATE sittings SET submitted = ? WHERE id = ?";
                transaction.prepare_cached(sql)?.execute(params![submitted, id])?;
            }
            let Some(After { shell, files }) = after else { return Ok(()) };
            let sql = "UPDATE sittings SET shell = ? WHERE id = ?";
            transaction.prepare_cached(sql)?.execute(params![shell, id])?;
            files.map_or(Ok(()), |files| replace_files(transaction, FILES, id, files))
        })
    }

    /// Its tree and shell are not kept any longer.
    pub fn end_sitting(&self, id: &str, ending: &str) -> Result<(), Error> {
        self.write(|transaction| {
            let sql = "UPDATE sittings SET ending = ?, shell = x'' WHERE id = ?";
            transaction.prepare_cached(sql)?.execute(params![ending, id])?;
            replace_files(transaction, FILES, id, &[])
        })
    }

    /// What it earned, once that is known.
    pub fn reward_sitting(&self, id: &str, reward: f64) -> Result<(), Error> {
        let sql = "UPDATE sittings SET reward = ? WHERE id = ?";
        self.write(|transaction| {
            transaction.prepare_cached(sql)?.execute(params![reward, id]).map(|_| ())
        })
    }

    /// What a run spent so far, sorted by role and phase.
    pub fn spent_of(&self, run: &str) -> Result<Vec<SpentRow>, Error> {
        let sql = "SELECT role, phase, count(*), sum(prompt_tokens), sum(completion_tokens), \
            sum(cached_tokens), sum(estimated), \
            CASE WHEN count(money) = count(*) THEN sum(money) END, sum(millis) \
            FROM sitting_messages JOIN sittings ON sittings.id = sitting \
            WHERE run = ? AND kind = 'reply' GROUP BY role, phase ORDER BY role, phase";
        let spent = |row: &Row<'_>| {
            let number = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(SpentRow {
                role: row.get(0)?,
                phase: row.get(1)?,
                requests: number(2)?,
                prompt_tokens: number(3)?,
                completion_tokens: number(4)?,
                cached_tokens: number(5)?,
                estimated: number(6)?,
                money: row.get(7)?,
                millis: number(8)?,
            })
        };
        self.read(|connection| connection.prepare_cached(sql)?.query_map([run], spent)?.collect())
    }
}

fn insert(transaction: &Transaction<'_>, id: &str, messages: &[Said]) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO sitting_messages (sitting, {SAID}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    let mut insert = transaction.prepare_cached(&sql)?;
    for said in messages {
        insert.execute(params![
            id,
            said.kind,
            said.message,
            said.finish,
            said.prompt_tokens.cast_signed(),
            said.completion_tokens.cast_signed(),
            said.cached_tokens.cast_signed(),
            said.estimated,
            said.money,
            said.millis.cast_signed(),
            said.tokens,
        ])?;
    }
    Ok(())
}

fn sitting(row: &Row<'_>) -> rusqlite::Result<StoredSitting> {
    Ok(StoredSitting {
        id: row.get(0)?,
        run: row.get(1)?,
        step: row.get(2)?,
        item: row.get(3)?,
        role: row.get(4)?,
        phase: row.get(5)?,
        attempt: row.get(6)?,
        model: row.get(7)?,
        artifact: row.get(8)?,
        prompt: row.get(9)?,
        tools: row.get(10)?,
        begun: row.get(11)?,
        ending: row.get(12)?,
        submitted: row.get(13)?,
        reward: row.get(14)?,
        shell: row.get(15)?,
    })
}

fn said(row: &Row<'_>) -> rusqlite::Result<Said> {
    let number = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    Ok(Said {
        kind: row.get(0)?,
        message: row.get(1)?,
        finish: row.get(2)?,
        prompt_tokens: number(3)?,
        completion_tokens: number(4)?,
        cached_tokens: number(5)?,
        estimated: row.get(6)?,
        money: row.get(7)?,
        millis: number(8)?,
        tokens: row.get(9)?,
    })
}
