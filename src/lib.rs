//! Self-play software-engineering RL on a developer's own repository.

pub mod artifact;
pub mod cli;
pub mod config;
pub mod consistency;
pub mod dice;
pub mod diff;
pub mod episode;
pub mod grading;
pub mod harness;
pub mod injector;
pub mod mcp;
pub mod reward;
pub mod runner;
pub mod sandbox;
pub mod session;
pub mod solver;
pub mod syntax;
pub mod text;
pub mod tree;
pub mod verdict;
pub mod workspace;
