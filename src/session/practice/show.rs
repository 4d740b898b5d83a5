//! A round as it stands: what a solver sees of its bug, and what was done so far.

use super::players::{PlayerLine, players};
use super::round::{Round, player_rating, rating};
use super::{PERSON, PracticeRef};
use crate::practice::{Behaviour, Rung};
use crate::session::{Error, Session};
use crate::store::StoredRating;
use crate::workspace::Edited;

/// Files that are named, at most.
const NAMED: usize = 50;

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeAnswer {
    /// The round's id.
    pub practice: String,
    /// open, solved or `given_up`.
    pub state: String,
    /// The bug's content id.
    pub artifact: String,
    /// The practice tree: a copy of the repository with the bug, to be edited.
    pub tree: String,
    /// What is broken, told by what the visible tests lack.
    pub broken: Vec<Behaviour>,
    /// The reversed weakening: the git diff that turns the visible tests back into the original ones.
    pub oracle: String,
    pub framework: String,
    /// Runs the visible tests in the sandbox.
    pub command: String,
    /// Why this bug.
    pub why: String,
    /// Files that were changed so far.
    pub changed: Vec<String>,
    /// What in the tree is no part of a repair, and why.
    pub left_out: Vec<String>,
    /// Why it is not known what was changed; null where it is.
    pub problem: Option<String>,
    /// The hints that were used.
    pub hints: Vec<Hint>,
    pub hints_left: usize,
    /// Repairs that were handed in.
    pub checks: u32,
    /// Seconds since it was begun, to its end where it is over.
    pub seconds: i64,
    /// The same without pauses: gaps of more than 15 minutes between commands and saved files.
    pub active_seconds: i64,
    /// The person's rating.
    pub rating: RatingLine,
    pub bug_rating: RatingLine,
    /// Who else tried this bug, and what came of it.
    pub players: Vec<PlayerLine>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct RatingLine {
    pub rating: f64,
    /// One standard deviation.
    pub deviation: f64,
    /// Rated games so far.
    pub games: u32,
    /// `1510 ± 180`.
    pub text: String,
}

impl From<&StoredRating> for RatingLine {
    fn from(known: &StoredRating) -> Self {
        let tenths = |value: f64| (value * 10.0).round() / 10.0;
        Self {
            rating: tenths(known.rating),
            deviation: tenths(known.deviation),
            games: known.games,
            text: rating(known).to_string(),
        }
    }
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Hint {
    /// The rung of the ladder: file, function, line or family.
    pub rung: String,
    pub text: String,
    /// The first place that it tells; relative to the tree.
    pub file: Option<String>,
    /// Null for the first two rungs.
    pub line: Option<u32>,
}

impl Session {
    /// The open round, or the one that is named.
    pub fn practice_show(&self, practice: &PracticeRef) -> Result<PracticeAnswer, Error> {
        let round = self.round(practice)?;
        if !round.is_open() {
            return answer(&round, &Edited::default(), None);
        }
        let Some(base) = round.base(self)? else {
            return answer(&round, &Edited::default(), Some(round.gone().to_string()));
        };
        let edited = round.edited(&base, &round.task(&base)?, "show")?;
        answer(&round, &edited, None)
    }
}

pub(super) fn answer(
    round: &Round,
    edited: &Edited,
    problem: Option<String>,
) -> Result<PracticeAnswer, Error> {
    let (seconds, active_seconds) = round.time()?;
    let hints = hints(round);
    let id = &round.row.id;
    Ok(PracticeAnswer {
        practice: id.clone(),
        state: round.row.state.name().to_owned(),
        artifact: round.row.artifact.clone(),
        tree: round.tree().display().to_string(),
        broken: round.shown.broken.clone(),
        oracle: round.shown.oracle.clone(),
        framework: round.shown.framework.clone(),
        command: "ssr-mcp practice run".to_owned(),
        why: round.settings.why.clone(),
        changed: edited.changes.paths().map(ToString::to_string).collect(),
        left_out: left_out(edited),
        problem,
        hints_left: Rung::ALL.len() - hints.len(),
        hints,
        checks: round.row.checks,
        seconds,
        active_seconds,
        rating: RatingLine::from(&player_rating(&round.record, PERSON)?),
        bug_rating: RatingLine::from(&round.bug_rating()?),
        players: players(round)?,
    })
}

/// The hints that were used.
pub(super) fn hints(round: &Round) -> Vec<Hint> {
    (0..round.row.hints).filter_map(Rung::after).map(|rung| hint(round, rung)).collect()
}

pub(super) fn hint(round: &Round, rung: Rung) -> Hint {
    let first = round.clues.places.first();
    Hint {
        rung: rung.name().to_owned(),
        text: rung.tell(&round.clues),
        file: first.map(|place| place.file.clone()),
        line: first.filter(|_| rung >= Rung::Line).map(|place| place.line),
    }
}

pub(super) fn left_out(edited: &Edited) -> Vec<String> {
    let mut named: Vec<String> =
        edited.left_out.iter().take(NAMED).map(|(path, why)| format!("{path}: {why}")).collect();
    let more = edited.left_out.len().saturating_sub(NAMED);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    named
}
