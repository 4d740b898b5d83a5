//! Self-play software-engineering RL on a developer's own repository.

pub mod tree;
pub mod dice;
pub mod diff;
pub mod verdict;
pub mod artifact;
pub mod reward;
pub mod syntax;
pub mod sandbox;
pub mod workspace;
pub mod runner;
pub mod harness;
