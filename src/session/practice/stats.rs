//! `practice list` and `practice stats`: rounds, families, and ratings over time.

use super::PERSON;
use super::round::{Round, player_rating};
use super::show::RatingLine;
use crate::session::record::{Record, now};
use crate::session::{Error, Repository, Session};
use crate::store::StoredGame;
use std::collections::BTreeMap;

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeListAnswer {
    /// Newest first.
    pub practices: Vec<PracticeLine>,
    /// Families that come back, the longest due first.
    pub due: Vec<DueLine>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeLine {
    pub practice: String,
    /// open, solved or `given_up`.
    pub state: String,
    /// The bug's content id.
    pub artifact: String,
    pub tree: String,
    /// Seconds since 1970.
    pub begun: i64,
    pub ended: Option<i64>,
    pub hints: u32,
    /// Repairs that were handed in.
    pub checks: u32,
    /// From 0 to 1; null while it is open.
    pub score: Option<f64>,
    /// From its beginning to its end, or to now; and without pauses.
    pub seconds: i64,
    pub active_seconds: i64,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct DueLine {
    pub family: String,
    /// From 1 to 4: it comes back after 1, 3, 7 and 16 days.
    pub step: u32,
    /// Seconds since 1970.
    pub due: i64,
    /// Seconds from now; 0 where it is due.
    pub due_in: i64,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeStatsAnswer {
    /// Rounds of the person.
    pub solved: usize,
    pub given_up: usize,
    pub open: usize,
    /// Of solved rounds, pauses left out; null where there is none.
    pub median_seconds: Option<i64>,
    /// Hints that were used in rounds that are over.
    pub hints: u32,
    /// The person's.
    pub rating: RatingLine,
    /// The most missed first.
    pub families: Vec<FamilyLine>,
    /// Everybody who has a rating.
    pub players: Vec<PlayerStats>,
    /// The person's rating after each rated round, oldest first.
    pub series: Vec<RatingPoint>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct FamilyLine {
    pub family: String,
    pub solved: usize,
    pub given_up: usize,
    pub hints: u32,
    pub median_seconds: Option<i64>,
    /// When it comes back, seconds since 1970, and from now; null where it needs not.
    pub due: Option<i64>,
    pub due_in: Option<i64>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PlayerStats {
    pub player: String,
    pub rating: RatingLine,
    /// Bugs that were tried, and those among them that were repaired.
    pub tried: usize,
    pub solved: usize,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct RatingPoint {
    /// Seconds since 1970.
    pub at: i64,
    pub rating: f64,
    pub deviation: f64,
    pub score: f64,
    pub bug_rating: f64,
    pub artifact: String,
}

impl Session {
    pub fn practice_list(&self, repository: &Repository) -> Result<PracticeListAnswer, Error> {
        let workspace = self.workspace(repository)?;
        let record = Record::open(&workspace)?;
        let now = now();
        let mut practices = Vec::new();
        for row in record.store.practices().map_err(Error::harness)? {
            let round = Round::of(workspace.clone(), record.clone(), row)?;
            let (seconds, active_seconds) = round.time()?;
            practices.push(PracticeLine {
                tree: round.tree().display().to_string(),
                seconds,
                active_seconds,
                state: round.row.state.name().to_owned(),
                begun: round.row.begun,
                ended: round.row.ended,
                hints: round.row.hints,
                checks: round.row.checks,
                score: round.row.score,
                artifact: round.row.artifact,
                practice: round.row.id,
            });
        }
        let cards = record.store.cards().map_err(Error::harness)?;
        let due = cards.into_iter().map(|card| DueLine {
            family: card.family,
            step: card.level + 1,
            due: card.due,
            due_in: (card.due - now).max(0),
        });
        Ok(PracticeListAnswer { practices, due: due.collect() })
    }

    pub fn practice_stats(&self, repository: &Repository) -> Result<PracticeStatsAnswer, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let games = record.store.games().map_err(Error::harness)?;
        let mine: Vec<&StoredGame> = games.iter().filter(|game| game.player == PERSON).collect();
        let rounds = record.store.practices().map_err(Error::harness)?;
        let solved = mine.iter().filter(|game| game.solved).count();
        Ok(PracticeStatsAnswer {
            solved,
            given_up: mine.len() - solved,
            open: rounds.iter().filter(|row| row.ended.is_none()).count(),
            median_seconds: median(&mine),
            hints: mine.iter().map(|game| game.hints).sum(),
            rating: RatingLine::from(&player_rating(&record, PERSON)?),
            families: families(&record, &mine)?,
            players: players(&record, &games)?,
            series: mine.iter().filter(|game| game.rated).map(|game| point(game)).collect(),
        })
    }
}

fn point(game: &StoredGame) -> RatingPoint {
    RatingPoint {
        at: game.at,
        rating: game.rating,
        deviation: game.deviation,
        score: game.score,
        bug_rating: game.bug_rating,
        artifact: game.artifact.clone(),
    }
}

/// Of the solved ones; of an even number the lower middle.
fn median(games: &[&StoredGame]) -> Option<i64> {
    let mut times: Vec<i64> =
        games.iter().filter(|game| game.solved).map(|game| game.seconds).collect();
    times.sort_unstable();
    times.get(times.len().checked_sub(1)? / 2).copied()
}

fn families(record: &Record, games: &[&StoredGame]) -> Result<Vec<FamilyLine>, Error> {
    let mut by_family: BTreeMap<String, Vec<&StoredGame>> = BTreeMap::new();
    for game in games {
        let families: Vec<String> = serde_json::from_str(&game.families).map_err(Error::harness)?;
        for family in families {
            by_family.entry(family).or_default().push(game);
        }
    }
    let (cards, now) = (record.store.cards().map_err(Error::harness)?, now());
    let line = |(family, games): (String, Vec<&StoredGame>)| {
        let solved = games.iter().filter(|game| game.solved).count();
        let due = cards.iter().find(|card| card.family == family).map(|card| card.due);
        FamilyLine {
            due,
            due_in: due.map(|due| (due - now).max(0)),
            family,
            solved,
            given_up: games.len() - solved,
            hints: games.iter().map(|game| game.hints).sum(),
            median_seconds: median(&games),
        }
    };
    let mut lines: Vec<FamilyLine> = by_family.into_iter().map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse((line.given_up, line.hints)));
    Ok(lines)
}

fn players(record: &Record, games: &[StoredGame]) -> Result<Vec<PlayerStats>, Error> {
    let mut by_player: BTreeMap<&str, BTreeMap<&str, bool>> = BTreeMap::new();
    for game in games {
        let bugs = by_player.entry(&game.player).or_default();
        *bugs.entry(&game.artifact).or_default() |= game.solved;
    }
    let mut lines = Vec::new();
    for (player, bugs) in by_player {
        lines.push(PlayerStats {
            player: player.to_owned(),
            rating: RatingLine::from(&player_rating(record, player)?),
            tried: bugs.len(),
            solved: bugs.values().filter(|solved| **solved).count(),
        });
    }
    Ok(lines)
}
