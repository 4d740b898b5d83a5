//! Self-play software-engineering RL on a developer's own repository.

pub mod artifact;
pub mod dice;
pub mod diff;
pub mod harness;
pub mod reward;
pub mod runner;
pub mod sandbox;
pub mod syntax;
pub mod tree;
pub mod verdict;
pub mod workspace;
