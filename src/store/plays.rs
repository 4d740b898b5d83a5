//! Plays of calling agents: what was asked, every call with its result, and the tree and shell as they are.

use super::{Error, Store};
use rusqlite::{OptionalExtension, Row, Transaction, params};

/// How a play's files are forgotten, and how one is added.
const FILES: [&str; 2] = [
    "DELETE FROM play_files WHERE play = ?",
    "INSERT INTO play_files (play, path, executable, content) VALUES (?, ?, ?, ?)",
];

/// One play.
#[derive(Clone, Debug, PartialEq)]
pub struct Play {
    pub id: String,
    pub role: String,
    /// Who plays, as it named itself.
    pub player: Option<String>,
    /// Id of the base it is played on.
    pub base: String,
    /// Content id of the bug that a solver repairs, or that an injector made.
    pub artifact: Option<String>,
    /// JSON: what it was begun with.
    pub settings: String,
    /// What the player was told.
    pub task: String,
    /// Seconds since 1970.
    pub begun: i64,
    pub expires: i64,
    /// Calls that may be made, and that were.
    pub most_turns: u32,
    pub turns: u32,
    pub state: PlayState,
    pub reward: Option<f64>,
    /// One sentence, once it is over.
    pub outcome: Option<String>,
    /// The state of its shell.
    pub shell: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayState {
    Open,
    /// Submitted and judged.
    Finished,
    Expired,
}

impl PlayState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Finished => "finished",
            Self::Expired => "expired",
        }
    }
}

/// One call of a play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// From 1.
    pub number: u32,
    pub tool: String,
    /// JSON.
    pub arguments: String,
    /// What the player was told: JSON, or a sentence where it failed.
    pub result: String,
    pub failed: bool,
    pub millis: u64,
}

/// A file of a play's tree that differs from what was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayFile {
    pub path: String,
    pub executable: bool,
    /// `None`: deleted.
    pub content: Option<Vec<u8>>,
}

/// How a play ended.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayEnd {
    pub reward: Option<f64>,
    pub outcome: String,
    /// The bug that an injector made.
    pub artifact: Option<String>,
}

const COLUMNS: &str = "id, role, player, base, artifact, settings, task, begun, expires, most_turns, \
    turns, state, reward, outcome, shell";

impl Store {
    /// Whether somebody is at repairing this bug, at this time: in a play, or in a round of practice.
    pub fn is_being_solved(&self, artifact: &str, now: i64) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM plays \
            WHERE artifact = ?1 AND role = 'solver' AND state = 'open' AND expires > ?2 \
            UNION ALL SELECT 1 FROM practices WHERE artifact = ?1 AND state = 'open'";
        self.read(|connection| connection.prepare_cached(sql)?.exists(params![artifact, now]))
    }

    pub fn begin_play(&self, play: &Play) -> Result<(), Error> {
        let sql = format!(
            "INSERT INTO plays ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        self.write(|transaction| {
            transaction.prepare_cached(&sql)?.execute(params![
                play.id,
                play.role,
                play.player,
                play.base,
                play.artifact,
                play.settings,
                play.task,
                play.begun,
                play.expires,
                play.most_turns,
                play.turns,
                play.state.name(),
                play.reward,
                play.outcome,
                play.shell,
            ])?;
            Ok(())
        })
    }

    pub fn play(&self, id: &str) -> Result<Option<Play>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM plays WHERE id = ?");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], play).optional())
    }

    /// Sorted by path.
    pub fn play_files(&self, id: &str) -> Result<Vec<PlayFile>, Error> {
        let sql = "SELECT path, executable, content FROM play_files WHERE play = ? ORDER BY path";
        let file = |row: &Row<'_>| {
            Ok(PlayFile { path: row.get(0)?, executable: row.get(1)?, content: row.get(2)? })
        };
        self.read(|connection| connection.prepare_cached(sql)?.query_map([id], file)?.collect())
    }

    /// In their order.
    pub fn turns_of_play(&self, id: &str) -> Result<Vec<Turn>, Error> {
        let sql = "SELECT turn, tool, arguments, result, failed, millis FROM play_turns \
            WHERE play = ? ORDER BY number";
        let turn = |row: &Row<'_>| {
            Ok(Turn {
                number: row.get(0)?,
                tool: row.get(1)?,
                arguments: row.get(2)?,
                result: row.get(3)?,
                failed: row.get(4)?,
                millis: row.get::<_, i64>(5)?.cast_unsigned(),
            })
        };
        self.read(|connection| connection.prepare_cached(sql)?.query_map([id], turn)?.collect())
    }

    /// Keeps a call, with what the shell is after it, and the tree where that changed.
    pub fn record_turn(
        &self,
        id: &str,
        turn: &Turn,
        shell: &[u8],
        files: Option<&[PlayFile]>,
    ) -> Result<(), Error> {
        self.write(|transaction| {
            keep_turn(transaction, id, turn)?;
            let sql = "UPDATE plays SET turns = ?, shell = ? WHERE id = ?";
            transaction.prepare_cached(sql)?.execute(params![turn.number, shell, id])?;
            files.map_or(Ok(()), |files| replace_files(transaction, FILES, id, files))
        })
    }

    /// Keeps the last call and how the play ended. Its tree is not kept any longer.
    pub fn finish_play(&self, id: &str, turn: &Turn, end: &PlayEnd) -> Result<(), Error> {
        self.write(|transaction| {
            keep_turn(transaction, id, turn)?;
            let sql = "UPDATE plays SET state = ?, turns = ?, reward = ?, outcome = ?, \
                artifact = coalesce(?, artifact), shell = x'' WHERE id = ?";
            transaction.prepare_cached(sql)?.execute(params![
                PlayState::Finished.name(),
                turn.number,
                end.reward,
                end.outcome,
                end.artifact,
                id
            ])?;
            replace_files(transaction, FILES, id, &[])
        })
    }

    /// Ends the open plays whose time is over, and forgets their trees.
    pub fn expire_plays(&self, now: i64) -> Result<(), Error> {
        self.write(|transaction| {
            let sql = "DELETE FROM play_files WHERE play IN \
                (SELECT id FROM plays WHERE state = 'open' AND expires <= ?)";
            transaction.prepare_cached(sql)?.execute([now])?;
            let sql = "UPDATE plays SET state = ?, shell = x'', outcome = 'it expired before \
                anything was submitted' WHERE state = 'open' AND expires <= ?";
            transaction
                .prepare_cached(sql)?
                .execute(params![PlayState::Expired.name(), now])
                .map(|_| ())
        })
    }
}

fn keep_turn(transaction: &Transaction<'_>, id: &str, turn: &Turn) -> rusqlite::Result<()> {
    let sql = "INSERT INTO play_turns (play, turn, tool, arguments, result, failed, millis) \
        VALUES (?, ?, ?, ?, ?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(params![
        id,
        turn.number,
        turn.tool,
        turn.arguments,
        turn.result,
        turn.failed,
        turn.millis.cast_signed(),
    ])?;
    Ok(())
}

/// `of`: statements as in [`FILES`].
pub(super) fn replace_files(
    transaction: &Transaction<'_>,
    of: [&str; 2],
    id: &str,
    files: &[PlayFile],
) -> rusqlite::Result<()> {
    transaction.prepare_cached(of[0])?.execute([id])?;
    let mut insert = transaction.prepare_cached(of[1])?;
    for file in files {
        insert.execute(params![id, file.path, file.executable, file.content])?;
    }
    Ok(())
}

fn play(row: &Row<'_>) -> rusqlite::Result<Play> {
    let state: String = row.get(11)?;
    Ok(Play {
        id: row.get(0)?,
        role: row.get(1)?,
        player: row.get(2)?,
        base: row.get(3)?,
        artifact: row.get(4)?,
        settings: row.get(5)?,
        task: row.get(6)?,
        begun: row.get(7)?,
        expires: row.get(8)?,
        most_turns: row.get(9)?,
        turns: row.get(10)?,
        state: match state.as_str() {
            "open" => PlayState::Open,
            "finished" => PlayState::Finished,
            _ => PlayState::Expired,
        },
        reward: row.get(12)?,
        outcome: row.get(13)?,
        shell: row.get(14)?,
    })
}
