//! Rewards, novelty, signals and guards.

mod guards;
mod paper;
mod rules;
mod watching;
