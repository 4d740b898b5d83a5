//! Ratings of players and bugs on one scale, by Glicko-2 (M. Glickman, "Example of the Glicko-2 system").
//! A round is a game of a player against a bug.

use skillratings::Outcomes;
use skillratings::glicko2::{self, Glicko2Config, Glicko2Rating};

/// How well somebody finds bugs, or how hard a bug is to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    pub rating: f64,
    /// One standard deviation: how little is known of it.
    pub deviation: f64,
    /// How much it is expected to change.
    pub volatility: f64,
}

impl Default for Rating {
    /// Of whom nothing is known.
    fn default() -> Self {
        Self { rating: 1500.0, deviation: 350.0, volatility: 0.06 }
    }
}

impl std::fmt::Display for Rating {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} ± {:.0}", self.rating, self.deviation)
    }
}

impl From<Rating> for Glicko2Rating {
    fn from(Rating { rating, deviation, volatility }: Rating) -> Self {
        Self { rating, deviation, volatility }
    }
}

impl From<Glicko2Rating> for Rating {
    fn from(Glicko2Rating { rating, deviation, volatility }: Glicko2Rating) -> Self {
        Self { rating, deviation, volatility }
    }
}

/// One rating period of these games.
pub(super) fn period(player: Rating, games: &[(Rating, Outcomes)]) -> Rating {
    let games: Vec<(Glicko2Rating, Outcomes)> =
        games.iter().map(|(other, outcome)| ((*other).into(), *outcome)).collect();
    glicko2::glicko2_rating_period(&player.into(), &games, &Glicko2Config::new()).into()
}

/// Player and bug after a game in which the player came to `score`, from 0 to 1.
///
/// Glicko-2 is defined for any score, its implementation for 0, ½ and 1: what lies between is drawn
/// straight between the two nearest.
pub fn game(player: Rating, bug: Rating, score: f64) -> (Rating, Rating) {
    (scored(player, bug, score), scored(bug, player, 1.0 - score))
}

fn scored(one: Rating, other: Rating, score: f64) -> Rating {
    let score = score.clamp(0.0, 1.0);
    let [lower, upper, share] =
        if score < 0.5 { [0.0, 0.5, score * 2.0] } else { [0.5, 1.0, score * 2.0 - 1.0] };
    let outcome = |points: f64| match points {
        0.0 => Outcomes::LOSS,
        1.0 => Outcomes::WIN,
        _ => Outcomes::DRAW,
    };
    let [low, high] = [lower, upper].map(|points| period(one, &[(other, outcome(points))]));
    let between = |low: f64, high: f64| low + (high - low) * share;
    Rating {
        rating: between(low.rating, high.rating),
        deviation: between(low.deviation, high.deviation),
        volatility: between(low.volatility, high.volatility),
    }
}

/// Seconds of a rating period in which nothing was played.
const PERIOD: i64 = 7 * 24 * 3600;
/// After so many idle periods a deviation has grown as far as it does.
const LONGEST: i64 = 2000;

/// A rating after so many seconds without a game: each week that was not played in makes it less certain.
#[must_use]
pub fn rested(rating: Rating, seconds: i64) -> Rating {
    let idle = (seconds / PERIOD).clamp(0, LONGEST);
    (0..idle).fold(rating, |rating, _| glicko2::decay_deviation(&rating.into()).into())
}

/// What is known of a bug before anybody practised on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The embedded solver's attempts, and those that repaired it.
    pub attempts: u32,
    pub solved: u32,
    /// Tests that the bug makes fail.
    pub failing_tests: usize,
    /// Lines and files of the bug's diff.
    pub changed_lines: usize,
    pub changed_files: usize,
}

/// The rating that a bug begins with.
///
/// From the embedded solver's solve rate, smoothed by one success and one failure, as a player of 1500
/// would have it; 40 less for each doubling of the failing tests (each is a trace), at most 160; 30 more
/// for each doubling of the changed lines above two, at most 150, and 60 for each further file. The
/// deviation is 350 where no attempt was made, and shrinks with their number, to no less than 150: a
/// person does not fail where the solver does.
#[must_use]
pub fn first_of_bug(facts: &Facts) -> Rating {
    let (attempts, solved) =
        (f64::from(facts.attempts), f64::from(facts.solved.min(facts.attempts)));
    let rate = (solved + 1.0) / (attempts + 2.0);
    let by_rate = if facts.attempts == 0 { 0.0 } else { 400.0 * ((1.0 - rate) / rate).log10() };
    let by_tests = (40.0 * doublings(facts.failing_tests, 1)).min(160.0);
    let by_lines = (30.0 * doublings(facts.changed_lines, 2)).min(150.0);
    let by_files = 60.0 * count(facts.changed_files.saturating_sub(1)).min(3.0);
    let rating = (1500.0 + by_rate - by_tests + by_lines + by_files).clamp(700.0, 2500.0);
    let deviation = (350.0 / (1.0 + attempts / 4.0).sqrt()).max(150.0);
    Rating { rating, deviation, ..Rating::default() }
}

fn doublings(many: usize, from: usize) -> f64 {
    (count(many.max(from)) / count(from)).log2()
}

fn count(many: usize) -> f64 {
    f64::from(u32::try_from(many).unwrap_or(u32::MAX))
}
