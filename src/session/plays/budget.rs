//! How much of a play is left: told after every call.

use crate::store;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Budget {
    /// Calls made so far, this one included.
    pub turn: u32,
    /// Calls that may still be made; `play_submit` is always allowed.
    pub turns_left: u32,
    /// Seconds until the play expires.
    pub seconds_left: i64,
}

impl Budget {
    pub(super) fn of(play: &store::Play, turn: u32, now: i64) -> Self {
        Self {
            turn,
            turns_left: play.most_turns.saturating_sub(turn),
            seconds_left: play.expires.saturating_sub(now).max(0),
        }
    }

    /// For the end of an error.
    pub(super) fn notice(&self) -> String {
        format!("[turn {}; {} left, and {} s]", self.turn, self.turns_left, self.seconds_left)
    }
}
