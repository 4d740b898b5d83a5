//! Who else tried a bug: the person, the embedded solver, and calling agents.

use super::round::Round;
use super::{EMBEDDED, PERSON};
use crate::practice::spell;
use crate::session::Error;
use crate::store::SolverPlay;

/// What somebody came to at a bug.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct PlayerLine {
    /// person, embedded solver, or a model's or agent's name.
    pub player: String,
    pub solved: bool,
    /// One clause: `you: solved in 4 min with 1 hint`.
    pub text: String,
    /// What it took; null where that is not known.
    pub seconds: Option<i64>,
    /// Attempts, or finished rounds and plays.
    pub attempts: u32,
}

pub(super) fn players(round: &Round) -> Result<Vec<PlayerLine>, Error> {
    let store = &round.record.store;
    let id = &round.row.artifact;
    let games = store.games().map_err(Error::harness)?;
    let of = |player: &str| {
        let games = games.iter().filter(|game| game.player == player && game.artifact == *id);
        games.collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    let mine = of(PERSON);
    if let Some(last) = mine.last() {
        let time = spell(last.seconds);
        let text = match (last.solved, last.hints) {
            (false, _) => format!("you: gave up after {time}"),
            (true, 0) => format!("you: solved in {time}"),
            (true, 1) => format!("you: solved in {time} with 1 hint"),
            (true, many) => format!("you: solved in {time} with {many} hints"),
        };
        lines.push(PlayerLine {
            player: PERSON.to_owned(),
            solved: last.solved,
            text,
            seconds: Some(last.seconds),
            attempts: count(mine.len()),
        });
    }
    let (attempts, solved) = store.embedded_attempts(id).map_err(Error::harness)?;
    if attempts > 0 {
        let seconds = of(EMBEDDED).last().map(|game| game.seconds);
        let took = seconds.map_or_else(String::new, |seconds| format!(" ({})", spell(seconds)));
        let text = if solved == 0 {
            format!("{EMBEDDED}: failed in {attempts} of {attempts} attempts{took}")
        } else {
            format!("{EMBEDDED}: solved in {solved} of {attempts} attempts{took}")
        };
        let player = EMBEDDED.to_owned();
        lines.push(PlayerLine { player, solved: solved > 0, text, seconds, attempts });
    }
    lines.extend(agents(&store.solver_plays(id).map_err(Error::harness)?));
    Ok(lines)
}

/// One line an agent, in the order in which they first played.
fn agents(plays: &[SolverPlay]) -> Vec<PlayerLine> {
    let mut lines: Vec<PlayerLine> = Vec::new();
    for play in plays {
        let player = play.player.clone().unwrap_or_else(|| "an agent".to_owned());
        let solved = play.reward.is_some_and(|reward| reward > 0.0);
        let seconds = i64::try_from(play.millis / 1000).unwrap_or(i64::MAX);
        let outcome = if solved { "solved" } else { "failed" };
        let text = format!("{player}: {outcome} in {} calls", play.turns);
        let line = PlayerLine { player, solved, text, seconds: Some(seconds), attempts: 1 };
        match lines.iter_mut().find(|known| known.player == line.player) {
            // The best of several plays is what counts.
            Some(known) if known.solved >= solved => known.attempts += 1,
            Some(known) => *known = PlayerLine { attempts: known.attempts + 1, ..line },
            None => lines.push(line),
        }
    }
    lines
}

fn count(many: usize) -> u32 {
    u32::try_from(many).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_played_twice_has_one_line_with_its_best_play() {
        let play = |reward, turns| SolverPlay {
            player: Some("X".to_owned()),
            reward: Some(reward),
            turns,
            millis: 61_500,
        };
        let lines = agents(&[play(-1.0, 9), play(1.0, 12), play(-1.0, 3)]);
        let told: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.attempts)).collect();
        assert_eq!(told, [("X: solved in 12 calls", 3)]);
    }
}
