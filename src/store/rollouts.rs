//! What a policy can be trained on: rollouts of models, turn by turn, as their servers told them.

use super::{Error, Store};
use rusqlite::{OptionalExtension, Row, params};

/// One player's way through one task.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    pub id: String,
    /// Which bug, or whatever else was worked on; empty where nobody said.
    pub task: String,
    /// injector or solver; empty where nobody said.
    pub role: String,
    /// Rollouts that are compared with each other; empty where nobody said.
    pub group: String,
    pub model: String,
    /// Of the policy, where it is known.
    pub weights_version: String,
    /// The URL that was asked.
    pub server: String,
    /// JSON: temperature and what else tokens were drawn by.
    pub sampler: String,
    /// Seconds since 1970.
    pub begun: i64,
    pub reward: Option<f64>,
    /// JSON.
    pub reward_parts: String,
    /// It ended for another reason than its player's.
    pub truncated: bool,
}

/// One request and its reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RolloutTurn {
    /// Messages that were sent and are those of the turn before, its reply included.
    pub kept_messages: u32,
    /// JSON: the others.
    pub messages: String,
    /// JSON: tools and what else was asked, without the messages.
    pub request: String,
    /// JSON: the reply's message.
    pub reply: String,
    pub finish: String,
    /// Ids of the prompt that are those of the turn before, its completion included.
    pub kept_ids: u32,
    /// The others; `None` where the server gave none.
    pub prompt_ids: Option<Vec<u32>>,
    pub completion_ids: Option<Vec<u32>>,
    pub logprobs: Option<Vec<f64>>,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub millis: u64,
    /// Why no policy can be trained on it as its own; empty where one can.
    pub untrainable: String,
}

const COLUMNS: &str = "id, task, role, group_id, model, weights_version, server, sampler, begun, reward, \
    reward_parts, truncated";
const TURN: &str = "kept_messages, messages, request, reply, finish, kept_ids, prompt_ids, completion_ids, \
    logprobs, prompt_tokens, completion_tokens, millis, untrainable";

impl Store {
    /// Adds a turn, and its rollout where it is the first.
    pub fn add_rollout_turn(&self, rollout: &Rollout, turn: &RolloutTurn) -> Result<(), Error> {
        let begin = format!(
            "INSERT OR IGNORE INTO rollouts ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        let add = format!(
            "INSERT INTO rollout_turns (rollout, {TURN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        self.write(|transaction| {
            transaction.prepare_cached(&begin)?.execute(params![
                rollout.id,
                rollout.task,
                rollout.role,
                rollout.group,
                rollout.model,
                rollout.weights_version,
                rollout.server,
                rollout.sampler,
                rollout.begun,
                rollout.reward,
                rollout.reward_parts,
                rollout.truncated,
            ])?;
            transaction.prepare_cached(&add)?.execute(params![
                rollout.id,
                turn.kept_messages,
                turn.messages,
                turn.request,
                turn.reply,
                turn.finish,
                turn.kept_ids,
                turn.prompt_ids.as_deref().map(of_ids),
                turn.completion_ids.as_deref().map(of_ids),
                turn.logprobs.as_deref().map(of_numbers),
                turn.prompt_tokens.map(u64::cast_signed),
                turn.completion_tokens.map(u64::cast_signed),
                turn.millis.cast_signed(),
                turn.untrainable,
            ])?;
            Ok(())
        })
    }

    /// What a rollout came to. `parts`: JSON.
    pub fn end_rollout(
        &self,
        id: &str,
        reward: Option<f64>,
        parts: &str,
        truncated: bool,
    ) -> Result<(), Error> {
        let sql =
            "UPDATE rollouts SET reward = ?2, reward_parts = ?3, truncated = ?4 WHERE id = ?1";
        self.write(|transaction| {
            transaction.prepare_cached(sql)?.execute(params![id, reward, parts, truncated])?;
            Ok(())
        })
    }

    pub fn rollout(&self, id: &str) -> Result<Option<Rollout>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM rollouts WHERE id = ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], rollout).optional())
    }

    /// The newest first.
    pub fn rollouts(&self, most: usize) -> Result<Vec<Rollout>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM rollouts ORDER BY number DESC LIMIT ?");
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read(|connection| {
            connection.prepare_cached(&sql)?.query_map([most], rollout)?.collect()
        })
    }

    /// In their order, as they were added.
    pub fn rollout_turns(&self, id: &str) -> Result<Vec<RolloutTurn>, Error> {
        let sql = format!("SELECT {TURN} FROM rollout_turns WHERE rollout = ? ORDER BY number");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([id], turn)?.collect())
    }
}

fn rollout(row: &Row<'_>) -> rusqlite::Result<Rollout> {
    Ok(Rollout {
        id: row.get(0)?,
        task: row.get(1)?,
        role: row.get(2)?,
        group: row.get(3)?,
        model: row.get(4)?,
        weights_version: row.get(5)?,
        server: row.get(6)?,
        sampler: row.get(7)?,
        begun: row.get(8)?,
        reward: row.get(9)?,
        reward_parts: row.get(10)?,
        truncated: row.get(11)?,
    })
}

fn turn(row: &Row<'_>) -> rusqlite::Result<RolloutTurn> {
    let bytes = |at| row.get::<_, Option<Vec<u8>>>(at);
    let count = |at| row.get::<_, Option<i64>>(at).map(|count| count.map(i64::cast_unsigned));
    Ok(RolloutTurn {
        kept_messages: row.get(0)?,
        messages: row.get(1)?,
        request: row.get(2)?,
        reply: row.get(3)?,
        finish: row.get(4)?,
        kept_ids: row.get(5)?,
        prompt_ids: bytes(6)?.as_deref().map(ids),
        completion_ids: bytes(7)?.as_deref().map(ids),
        logprobs: bytes(8)?.as_deref().map(numbers),
        prompt_tokens: count(9)?,
        completion_tokens: count(10)?,
        millis: row.get::<_, i64>(11)?.cast_unsigned(),
        untrainable: row.get(12)?,
    })
}

fn of_ids(ids: &[u32]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.to_le_bytes()).collect()
}

fn ids(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn of_numbers(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}
