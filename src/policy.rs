//! The small model that both embedded players share: features of each choice among many to its
//! probability.
//!
//! It is linear: a logit is the sum of weights times feature values, and what should act together is a
//! feature of its own (`template*stage=…`). That is a decision, not a first step: the start weights can
//! then say an order that is known to be good to the last bit, and every weight can be read by its name.
//!
//! Roles share weights: a feature's weight is what both roles have in common plus what the role adds.
//! A feature of the role alone would cancel out of every softmax.
//!
//! Choices are ordered draws without replacement (Plackett-Luce), of which one draw is a softmax.
//! Pure: no clock, no files; chance comes as [`Dice`](crate::dice::Dice).

mod checkpoint;
mod draws;
mod options;
mod past;
mod player;
mod scene;
mod weights;

#[cfg(test)]
mod tests;

pub use checkpoint::{AVERAGE, Checkpoint, Refusal, VERSION, WEIGHTS};
pub use draws::{Draws, Misdrawn, draw, greedy};
pub use options::{LARGEST_VALUE, Options, OptionsBuilder};
pub use past::Past;
pub use player::{Drawn, Player, Sampling};
pub(crate) use scene::doublings;
pub use scene::{Names, Scene};
pub use weights::{LARGEST_WEIGHT, Scope, Weights};

/// Who chooses.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Injector,
    Solver,
}

impl Role {
    pub const ALL: [Self; 2] = [Self::Injector, Self::Solver];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Injector => "injector",
            Self::Solver => "solver",
        }
    }
}
