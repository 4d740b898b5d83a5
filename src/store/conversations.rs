//! What models said, as sittings and as rollouts, where space is wanted: which of it may go.

use super::{Error, Store};
use rusqlite::{Row, params};

/// A sitting, a rollout, or both: they share an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub id: String,
    /// Seconds since 1970.
    pub begun: i64,
    /// About what goes with it.
    pub bytes: u64,
}

/// All tables that have rows of a conversation, and by which column.
const ROWS: [(&str, &str); 5] = [
    ("sitting_messages", "sitting"),
    ("sitting_files", "sitting"),
    ("sittings", "id"),
    ("rollout_turns", "rollout"),
    ("rollouts", "id"),
];

impl Store {
    /// Those that may go, the oldest first: of runs that are over, and of no run where they began before `before`.
    /// A call's, or another program's, that began later may go on.
    pub fn spare_conversations(&self, before: i64) -> Result<Vec<Conversation>, Error> {
        let sql = "WITH all_of_them AS (
                SELECT id, begun, run FROM sittings
                UNION ALL
                SELECT id, begun, '' FROM rollouts WHERE id NOT IN (SELECT id FROM sittings)
            )
            SELECT id, begun,
                (SELECT ifnull(sum(length(message) + ifnull(length(tokens), 0)), 0)
                    FROM sitting_messages WHERE sitting = all_of_them.id)
                + (SELECT ifnull(sum(length(messages) + length(request) + length(reply)
                    + ifnull(length(prompt_ids), 0) + ifnull(length(completion_ids), 0)
                    + ifnull(length(logprobs), 0)), 0) FROM rollout_turns WHERE rollout = all_of_them.id)
            FROM all_of_them
            LEFT JOIN (SELECT id AS run_id, state FROM runs) ON run_id = run
            WHERE CASE WHEN run_id IS NULL THEN begun < ? ELSE state <> 'open' END
            ORDER BY begun, id";
        let conversation = |row: &Row<'_>| {
            Ok(Conversation {
                id: row.get(0)?,
                begun: row.get(1)?,
                bytes: row.get::<_, i64>(2)?.unsigned_abs(),
            })
        };
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([before], conversation)?.collect()
        })
    }

    /// Nothing of it is left. What its rewards were stays with the rounds and attempts.
    pub fn forget_conversation(&self, id: &str) -> Result<(), Error> {
        self.write(|transaction| {
            for (table, column) in ROWS {
                let sql = format!("DELETE FROM {table} WHERE {column} = ?");
                transaction.prepare_cached(&sql)?.execute(params![id])?;
            }
            Ok(())
        })
    }
}
