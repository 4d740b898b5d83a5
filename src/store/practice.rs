//! Practice: rounds of a person at one bug, signs of life in them, games with their ratings, and the
//! families that come back.

use super::{Artifact, Error, Store, artifacts};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

/// One round of practice.
#[derive(Clone, Debug, PartialEq)]
pub struct Practice {
    pub id: String,
    /// Content id of the bug.
    pub artifact: String,
    /// Id of the base that it was begun on.
    pub base: String,
    /// JSON: what it was begun with.
    pub settings: String,
    /// JSON: what is shown of the bug.
    pub shown: String,
    /// JSON: what hints and the end tell of it.
    pub clues: String,
    /// JSON: the bug's families.
    pub families: String,
    /// Seconds since 1970.
    pub begun: i64,
    pub ended: Option<i64>,
    pub state: PracticeState,
    /// Hints that were used, and repairs that were handed in.
    pub hints: u32,
    pub checks: u32,
    pub score: Option<f64>,
    /// Whether it counted for the ratings.
    pub rated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PracticeState {
    Open,
    Solved,
    GivenUp,
}

impl PracticeState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Solved => "solved",
            Self::GivenUp => "given_up",
        }
    }
}

/// Something that somebody did in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    /// Seconds since 1970.
    pub at: i64,
    pub kind: String,
}

/// A player's or a bug's rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredRating {
    pub rating: f64,
    pub deviation: f64,
    pub volatility: f64,
    pub games: u32,
    /// When it was last played, seconds since 1970.
    pub at: i64,
}

/// One end of a game of a player against a bug.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredGame {
    /// The person's round; `None` for a game of somebody else.
    pub practice: Option<String>,
    pub player: String,
    pub artifact: String,
    /// JSON.
    pub families: String,
    pub at: i64,
    pub solved: bool,
    pub score: f64,
    pub hints: u32,
    /// Time that it took, pauses left out.
    pub seconds: i64,
    /// Whether the ratings count it; they are those after it.
    pub rated: bool,
    pub rating: f64,
    pub deviation: f64,
    pub bug_rating: f64,
    pub bug_deviation: f64,
}

/// A family that comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCard {
    pub family: String,
    pub level: u32,
    /// Seconds since 1970.
    pub due: i64,
}

/// What a game is concluded from.
#[derive(Clone, Debug)]
pub struct Standing {
    pub player: Option<StoredRating>,
    pub bug: Option<StoredRating>,
    /// Of all families.
    pub cards: Vec<StoredCard>,
    /// Whether this player played this bug to an end before.
    pub again: bool,
}

/// What a game comes to.
#[derive(Clone, Debug)]
pub struct Conclusion {
    pub game: StoredGame,
    /// `None`: as they were.
    pub ratings: Option<[StoredRating; 2]>,
    /// Families with their cards; `None`: it needs not come back.
    pub cards: Vec<(String, Option<StoredCard>)>,
}

/// A play of a calling agent at a bug, once it is over.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverPlay {
    pub player: Option<String>,
    pub reward: Option<f64>,
    pub turns: u32,
    /// What its calls took.
    pub millis: u64,
}

const COLUMNS: &str = "id, artifact, base, settings, shown, clues, families, begun, ended, state, \
    hints, checks, score, rated";
const GAME: &str = "practice, player, artifact, families, at, solved, score, hints, seconds, rated, \
    rating, deviation, bug_rating, bug_deviation";

impl Store {
    /// `alone`: only while no other round is open; false where one is.
    pub fn begin_practice(&self, practice: &Practice, alone: bool) -> Result<bool, Error> {
        let sql = format!(
            "INSERT INTO practices ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        self.write(|transaction| {
            let open = "SELECT 1 FROM practices WHERE state = 'open'";
            if alone && transaction.prepare_cached(open)?.exists([])? {
                return Ok(false);
            }
            transaction.prepare_cached(&sql)?.execute(params![
                practice.id,
                practice.artifact,
                practice.base,
                practice.settings,
                practice.shown,
                practice.clues,
                practice.families,
                practice.begun,
                practice.ended,
                practice.state.name(),
                practice.hints,
                practice.checks,
                practice.score,
                practice.rated,
            ])?;
            sign(transaction, &practice.id, practice.begun, "begin")?;
            Ok(true)
        })
    }

    /// Every round, newest first.
    pub fn practices(&self) -> Result<Vec<Practice>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM practices ORDER BY number DESC");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([], practice)?.collect())
    }

    /// In their order in time.
    pub fn signs_of_practice(&self, id: &str) -> Result<Vec<Sign>, Error> {
        let sql = "SELECT at, kind FROM practice_signs WHERE practice = ? ORDER BY at, number";
        let sign = |row: &Row<'_>| Ok(Sign { at: row.get(0)?, kind: row.get(1)? });
        self.read(|connection| connection.prepare_cached(sql)?.query_map([id], sign)?.collect())
    }

    /// Keeps signs of life of an open round.
    pub fn record_signs(&self, id: &str, signs: &[Sign]) -> Result<(), Error> {
        self.write(|transaction| {
            if is_open(transaction, id)? {
                for Sign { at, kind } in signs {
                    self::sign(transaction, id, *at, kind)?;
                }
            }
            Ok(())
        })
    }

    /// Keeps that a repair was handed in to an open round.
    pub fn record_check(&self, id: &str, at: i64) -> Result<(), Error> {
        self.write(|transaction| {
            let sql = "UPDATE practices SET checks = checks + 1 WHERE id = ? AND state = 'open'";
            transaction.prepare_cached(sql)?.execute([id])?;
            sign(transaction, id, at, "check")
        })
    }

    /// Uses the hint after so many, unless another process did or the round is over.
    pub fn use_hint(&self, id: &str, used: u32, at: i64) -> Result<bool, Error> {
        self.write(|transaction| {
            let sql = "UPDATE practices SET hints = hints + 1 \
                WHERE id = ? AND hints = ? AND state = 'open'";
            let done = transaction.prepare_cached(sql)?.execute(params![id, used])? == 1;
            if done {
                sign(transaction, id, at, "hint")?;
            }
            Ok(done)
        })
    }

    /// Ends an open round with its game. `conclude` is given what is known at that moment, and nobody
    /// writes meanwhile; `None` where the round is over already.
    pub fn finish_practice(
        &self,
        id: &str,
        state: PracticeState,
        (player, artifact): (&str, &str),
        conclude: impl FnOnce(&Standing) -> Conclusion,
    ) -> Result<Option<Conclusion>, Error> {
        self.write(|transaction| {
            if !is_open(transaction, id)? {
                return Ok(None);
            }
            let conclusion = concluded(transaction, player, artifact, conclude)?;
            let game = &conclusion.game;
            let sql =
                "UPDATE practices SET state = ?, ended = ?, score = ?, rated = ? WHERE id = ?";
            transaction.prepare_cached(sql)?.execute(params![
                state.name(),
                game.at,
                game.score,
                game.rated,
                id
            ])?;
            sign(transaction, id, game.at, "end")?;
            Ok(Some(conclusion))
        })
    }

    /// Keeps a game of somebody who has no round.
    pub fn record_game(
        &self,
        (player, artifact): (&str, &str),
        conclude: impl FnOnce(&Standing) -> Conclusion,
    ) -> Result<Conclusion, Error> {
        self.write(|transaction| concluded(transaction, player, artifact, conclude))
    }

    /// Every game, oldest first.
    pub fn games(&self) -> Result<Vec<StoredGame>, Error> {
        let sql = format!("SELECT {GAME} FROM practice_games ORDER BY number");
        self.read(|connection| connection.prepare_cached(&sql)?.query_map([], game)?.collect())
    }

    /// A player's rating, or a bug's by its content id.
    pub fn rating(&self, name: &str) -> Result<Option<StoredRating>, Error> {
        self.read(|connection| rating(connection, name))
    }

    /// The longest due first.
    pub fn cards(&self) -> Result<Vec<StoredCard>, Error> {
        self.read(cards)
    }

    /// The embedded solver's attempts at a bug: all, and those that repaired it.
    pub fn embedded_attempts(&self, artifact: &str) -> Result<(u32, u32), Error> {
        let sql = "SELECT count(*), coalesce(sum(solved), 0) FROM attempts \
            WHERE artifact = ? AND player IS NULL";
        self.read(|connection| {
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            connection.prepare_cached(sql)?.query_row([artifact], row)
        })
    }

    /// The latest valid artifacts of a base that have their parts, newest first.
    pub fn valid_artifacts(&self, base: &str, limit: u32) -> Result<Vec<Artifact>, Error> {
        let sql = format!(
            "SELECT {} FROM artifacts WHERE valid AND base = ? AND length(bug_inject) > 0 \
                ORDER BY created DESC, rowid DESC LIMIT ?",
            artifacts::COLUMNS
        );
        self.read(|connection| {
            let rows = params![base, limit];
            connection.prepare_cached(&sql)?.query_map(rows, artifacts::from_row)?.collect()
        })
    }

    /// What calling agents came to as solvers of a bug, oldest first.
    pub fn solver_plays(&self, artifact: &str) -> Result<Vec<SolverPlay>, Error> {
        let sql = "SELECT player, reward, turns, (SELECT coalesce(sum(millis), 0) FROM play_turns \
                WHERE play = plays.id) FROM plays \
            WHERE artifact = ? AND role = 'solver' AND state = 'finished' ORDER BY number";
        let play = |row: &Row<'_>| {
            Ok(SolverPlay {
                player: row.get(0)?,
                reward: row.get(1)?,
                turns: row.get(2)?,
                millis: row.get::<_, i64>(3)?.cast_unsigned(),
            })
        };
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([artifact], play)?.collect()
        })
    }
}

fn is_open(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM practices WHERE id = ? AND state = 'open'";
    connection.prepare_cached(sql)?.exists([id])
}

fn sign(transaction: &Transaction<'_>, id: &str, at: i64, kind: &str) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO practice_signs (practice, at, kind) VALUES (?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(params![id, at, kind]).map(|_| ())
}

fn concluded(
    transaction: &Transaction<'_>,
    player: &str,
    artifact: &str,
    conclude: impl FnOnce(&Standing) -> Conclusion,
) -> rusqlite::Result<Conclusion> {
    let before = "SELECT 1 FROM practice_games WHERE player = ? AND artifact = ?";
    let standing = Standing {
        player: rating(transaction, player)?,
        bug: rating(transaction, artifact)?,
        cards: cards(transaction)?,
        again: transaction.prepare_cached(before)?.exists([player, artifact])?,
    };
    let conclusion = conclude(&standing);
    let game = &conclusion.game;
    let sql = format!(
        "INSERT INTO practice_games ({GAME}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    transaction.prepare_cached(&sql)?.execute(params![
        game.practice,
        game.player,
        game.artifact,
        game.families,
        game.at,
        game.solved,
        game.score,
        game.hints,
        game.seconds,
        game.rated,
        game.rating,
        game.deviation,
        game.bug_rating,
        game.bug_deviation,
    ])?;
    for (name, rating) in [player, artifact].iter().zip(conclusion.ratings.iter().flatten()) {
        let sql = "INSERT OR REPLACE INTO practice_ratings \
            (name, rating, deviation, volatility, games, at) VALUES (?, ?, ?, ?, ?, ?)";
        let StoredRating { rating, deviation, volatility, games, at } = rating;
        transaction
            .prepare_cached(sql)?
            .execute(params![name, rating, deviation, volatility, games, at])?;
    }
    for (family, card) in &conclusion.cards {
        transaction
            .prepare_cached("DELETE FROM practice_cards WHERE family = ?")?
            .execute([family])?;
        if let Some(StoredCard { family, level, due }) = card {
            let sql = "INSERT INTO practice_cards (family, level, due) VALUES (?, ?, ?)";
            transaction.prepare_cached(sql)?.execute(params![family, level, due])?;
        }
    }
    Ok(conclusion)
}

fn rating(connection: &Connection, name: &str) -> rusqlite::Result<Option<StoredRating>> {
    let sql =
        "SELECT rating, deviation, volatility, games, at FROM practice_ratings WHERE name = ?";
    let row = |row: &Row<'_>| {
        Ok(StoredRating {
            rating: row.get(0)?,
            deviation: row.get(1)?,
            volatility: row.get(2)?,
            games: row.get(3)?,
            at: row.get(4)?,
        })
    };
    connection.prepare_cached(sql)?.query_row([name], row).optional()
}

fn cards(connection: &Connection) -> rusqlite::Result<Vec<StoredCard>> {
    let sql = "SELECT family, level, due FROM practice_cards ORDER BY due, family";
    let card = |row: &Row<'_>| {
        Ok(StoredCard { family: row.get(0)?, level: row.get(1)?, due: row.get(2)? })
    };
    connection.prepare_cached(sql)?.query_map([], card)?.collect()
}

fn practice(row: &Row<'_>) -> rusqlite::Result<Practice> {
    let state: String = row.get(9)?;
    Ok(Practice {
        id: row.get(0)?,
        artifact: row.get(1)?,
        base: row.get(2)?,
        settings: row.get(3)?,
        shown: row.get(4)?,
        clues: row.get(5)?,
        families: row.get(6)?,
        begun: row.get(7)?,
        ended: row.get(8)?,
        state: match state.as_str() {
            "open" => PracticeState::Open,
            "solved" => PracticeState::Solved,
            _ => PracticeState::GivenUp,
        },
        hints: row.get(10)?,
        checks: row.get(11)?,
        score: row.get(12)?,
        rated: row.get(13)?,
    })
}

fn game(row: &Row<'_>) -> rusqlite::Result<StoredGame> {
    Ok(StoredGame {
        practice: row.get(0)?,
        player: row.get(1)?,
        artifact: row.get(2)?,
        families: row.get(3)?,
        at: row.get(4)?,
        solved: row.get(5)?,
        score: row.get(6)?,
        hints: row.get(7)?,
        seconds: row.get(8)?,
        rated: row.get(9)?,
        rating: row.get(10)?,
        deviation: row.get(11)?,
        bug_rating: row.get(12)?,
        bug_deviation: row.get(13)?,
    })
}
