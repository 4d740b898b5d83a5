//! Self-play software-engineering RL on a developer's own repository.

pub mod tree;
pub mod dice;
pub mod text;
pub mod diff;
pub mod verdict;
pub mod artifact;
pub mod reward;
pub mod syntax;
pub mod sandbox;
pub mod workspace;
pub mod runner;
pub mod harness;
pub mod consistency;
pub mod grading;
pub mod injector;
pub mod solver;
pub mod episode;
