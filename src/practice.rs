//! A person's bug: what may be told of it and when, what a round of it scores, how hard it is, and which
//! bug comes next. Pure: nothing is run here, and the time is an argument.
//!
//! What a solver sees is what a person sees: the tree with bug and weakening, and the reversed weakening,
//! here in words ([`behaviours`]). Where the bug is ([`Clues`]) is told by the hint ladder, a rung at a
//! time, and whole once the round is over.

mod behaviour;
mod choice;
mod clue;
mod family;
mod hint;
mod pace;
mod rating;
mod score;
mod spacing;
#[cfg(test)]
mod tests;
mod unfit;

pub use behaviour::{Behaviour, behaviours};
pub use choice::{Candidate, Why, next};
pub use clue::{Clues, Place, clues};
pub use family::{family, in_words};
pub use hint::Rung;
pub use pace::{PAUSE, active, spell};
pub use rating::{Facts, Rating, first_of_bug, game, rested};
pub use score::{End, score};
pub use spacing::{Card, DAYS, Seen};
pub use unfit::Unfit;
