//! The rules of practice, held against worked examples.

mod clues;
mod ratings;
mod rounds;
