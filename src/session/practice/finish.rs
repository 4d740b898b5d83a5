//! Hints, giving up, and what is told at the end.

use super::players::{PlayerLine, players};
use super::round::{Round, player_rating, rating, rested, stored};
use super::show::{Hint, RatingLine, hint, hints};
use super::{PERSON, PracticeRef};
use crate::diff::Patch;
use crate::practice::{self, Card, Clues, End, Place, Rung, Seen, in_words};
use crate::session::record::now;
use crate::session::{Error, Session};
use crate::store::{Conclusion, PracticeState, Standing, StoredCard, StoredGame, StoredRating};

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeHintAnswer {
    pub practice: String,
    /// The new one.
    pub hint: Hint,
    /// All that were used.
    pub hints: Vec<Hint>,
    pub hints_left: usize,
    /// The score of a repair from now on.
    pub best_score: f64,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeRevealAnswer {
    pub practice: String,
    /// solved or `given_up`.
    pub state: String,
    /// The bug's content id.
    pub artifact: String,
    /// What made the bug: direct, removal or history; given where it came from elsewhere.
    pub strategy: String,
    /// The bug in words.
    pub explanation: String,
    pub places: Vec<PlaceLine>,
    /// The bug as a git diff against the original.
    pub diff: String,
    /// Its reversal: a repair.
    pub repair: String,
    /// What was practised.
    pub families: Vec<String>,
    /// From 0 to 1.
    pub score: f64,
    /// Whether the ratings count the round.
    pub rated: bool,
    /// The person's.
    pub rating: RatingLine,
    pub bug_rating: RatingLine,
    pub players: Vec<PlayerLine>,
    /// Seconds from beginning to end, and those without pauses.
    pub seconds: i64,
    pub active_seconds: i64,
}

/// One edit of the bug.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PlaceLine {
    pub file: String,
    /// Null outside of functions, and where the language is not known.
    pub function: Option<String>,
    /// In the practice tree as it was laid out, from 1.
    pub line: u32,
    /// The family of the edit, without its strategy.
    pub kind: String,
    /// The original's lines, and those of the bug.
    pub was: Vec<String>,
    pub is: Vec<String>,
}

impl From<&Place> for PlaceLine {
    fn from(place: &Place) -> Self {
        let Place { file, function, line, kind, was, is } = place.clone();
        Self { file, function, line, kind, was, is }
    }
}

impl Session {
    /// The next rung of the ladder.
    pub fn practice_hint(&self, practice: &PracticeRef) -> Result<PracticeHintAnswer, Error> {
        let mut round = self.round(practice)?;
        round.refuse_over()?;
        let Some(rung) = Rung::after(round.row.hints) else {
            return Err(Error::usage(
                "all hints are used; look again at what they say (`ssr-mcp practice`), or give up \
                 (`ssr-mcp practice give-up`)",
            ));
        };
        let used = round.record.store.use_hint(&round.row.id, round.row.hints, now());
        if !used.map_err(Error::harness)? {
            return Err(Error::usage(
                "another process took a hint or ended the round at this moment; `ssr-mcp practice` shows it",
            ));
        }
        round.row.hints += 1;
        let hints = hints(&round);
        Ok(PracticeHintAnswer {
            practice: round.row.id.clone(),
            hint: hint(&round, rung),
            hints_left: Rung::ALL.len() - hints.len(),
            hints,
            best_score: practice::score(End::Solved { hints: round.row.hints }),
        })
    }

    /// Ends an open round, and tells the bug.
    pub fn practice_give_up(&self, practice: &PracticeRef) -> Result<PracticeRevealAnswer, Error> {
        let mut round = self.round(practice)?;
        round.refuse_over()?;
        ended(&mut round, End::GivenUp)?;
        revealed(&round)
    }

    /// Tells the bug of a round that is over; the last one where none is named or open.
    pub fn practice_reveal(&self, practice: &PracticeRef) -> Result<PracticeRevealAnswer, Error> {
        let round = self.round_or_last(practice)?;
        if round.is_open() {
            return Err(Error::usage(
                "the round is open; solve it first, or give up, which tells the bug (`ssr-mcp practice \
                 give-up`)",
            ));
        }
        revealed(&round)
    }
}

/// Ends an open round: its game, the ratings, and when its families come back.
pub(super) fn ended(round: &mut Round, end: End) -> Result<StoredGame, Error> {
    let (now, active) = (now(), round.time()?.1);
    let bug = round.bug_rating()?;
    let state = match end {
        End::Solved { .. } => PracticeState::Solved,
        End::GivenUp => PracticeState::GivenUp,
    };
    let store = &round.record.store;
    let (row, clues) = (&round.row, &round.clues);
    let conclude = |standing: &Standing| {
        let game = StoredGame {
            practice: Some(row.id.clone()),
            families: row.families.clone(),
            solved: state == PracticeState::Solved,
            hints: row.hints,
            seconds: active,
            ..blank(PERSON, &row.artifact, practice::score(end), now)
        };
        let mut conclusion = concluded(game, standing, &bug, now);
        conclusion.cards = cards(clues, standing, Seen::of(end), now);
        conclusion
    };
    let done = store
        .finish_practice(&row.id, state, (PERSON, &row.artifact), conclude)
        .map_err(Error::harness)?;
    let Some(Conclusion { game, .. }) = done else {
        return Err(Error::usage(
            "another process ended the round at this moment; `ssr-mcp practice reveal` tells its bug",
        ));
    };
    if let Err(error) = round.workspace.unpin(&row.id) {
        tracing::warn!(
            "the round's copy of the repository stays until `ssr-mcp state prune`: {error}"
        );
    }
    round.row.state = state;
    round.row.ended = Some(now);
    round.row.score = Some(game.score);
    round.row.rated = game.rated;
    Ok(game)
}

/// A game of which only these are known.
pub(super) fn blank(player: &str, artifact: &str, score: f64, at: i64) -> StoredGame {
    StoredGame {
        practice: None,
        player: player.to_owned(),
        artifact: artifact.to_owned(),
        families: "[]".to_owned(),
        at,
        solved: score > 0.0,
        score,
        hints: 0,
        seconds: 0,
        rated: false,
        rating: 0.0,
        deviation: 0.0,
        bug_rating: 0.0,
        bug_deviation: 0.0,
    }
}

/// The ratings after a game. Who knows the bug already learns nothing of their own strength from it: only
/// the first game of a player at a bug counts.
pub(super) fn concluded(
    mut game: StoredGame,
    standing: &Standing,
    first_of_bug: &StoredRating,
    now: i64,
) -> Conclusion {
    let player = rested(standing.player, now);
    let bug = standing.bug.unwrap_or(*first_of_bug);
    let (after, bug_after) = if standing.again {
        (player, bug)
    } else {
        let (after, bug_after) = practice::game(rating(&player), rating(&bug), game.score);
        (stored(after, player.games + 1, now), stored(bug_after, bug.games + 1, now))
    };
    game.rated = !standing.again;
    game.rating = after.rating;
    game.deviation = after.deviation;
    game.bug_rating = bug_after.rating;
    game.bug_deviation = bug_after.deviation;
    let ratings = game.rated.then_some([after, bug_after]);
    Conclusion { game, ratings, cards: Vec::new() }
}

fn cards(
    clues: &Clues,
    standing: &Standing,
    seen: Seen,
    now: i64,
) -> Vec<(String, Option<StoredCard>)> {
    let card = |family: String| {
        let known = standing.cards.iter().find(|card| card.family == family);
        let known = known.map(|card| Card { level: card.level, due: card.due });
        let after = Card::after(known, seen, now);
        let after = after.map(|Card { level, due }| {
            let family = family.clone();
            StoredCard { family, level, due }
        });
        (family, after)
    };
    clues.families().into_iter().map(card).collect()
}

fn revealed(round: &Round) -> Result<PracticeRevealAnswer, Error> {
    let (seconds, active_seconds) = round.time()?;
    let reversal = Patch::parse(&round.artifact.bug_inject).unwrap_or_default().reversed();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(PracticeRevealAnswer {
        practice: round.row.id.clone(),
        state: round.row.state.name().to_owned(),
        artifact: round.row.artifact.clone(),
        strategy: round.clues.strategy.clone(),
        explanation: explained(&round.clues),
        places: round.clues.places.iter().map(PlaceLine::from).collect(),
        diff: text(&round.artifact.bug_inject),
        repair: text(&reversal.to_bytes()),
        families: round.clues.families(),
        score: round.row.score.unwrap_or(0.0),
        rated: round.row.rated,
        rating: RatingLine::from(&player_rating(&round.record, PERSON)?),
        bug_rating: RatingLine::from(&round.bug_rating()?),
        players: players(round)?,
        seconds,
        active_seconds,
    })
}

/// The bug in words, one sentence an edit.
fn explained(clues: &Clues) -> String {
    let made = match clues.strategy.as_str() {
        "direct" => "Code was changed by structural edits.",
        "removal" => "Code was taken out.",
        "history" => "What a commit had improved was undone.",
        _ => "The bug was made elsewhere.",
    };
    let mut sentences = vec![made.to_owned()];
    for place in &clues.places {
        let Place { file, function, line, kind, was, is } = place;
        let function = function.as_ref().map_or_else(String::new, |name| format!(", in {name}"));
        let quote = |lines: &[String]| match lines {
            [one] => format!("`{}`", one.trim()),
            many => format!("{} lines", many.len()),
        };
        let change = match (was.is_empty(), is.is_empty()) {
            (_, true) => format!("{} went", quote(was)),
            (true, _) => format!("{} came", quote(is)),
            _ => format!("{} became {}", quote(was), quote(is)),
        };
        sentences.push(format!("In {file}{function}, line {line}: {}; {change}.", in_words(kind)));
    }
    sentences.join(" ")
}
