//! Self-play software-engineering RL on a developer's own repository.
//!
//! One round: a bug is injected and hidden by weakened tests, nine checks prove it real, attempts
//! repair it from the reversed weakening, a judge grades each in a sandbox, and both roles are scored
//! (SSR, arXiv 2512.18552). Modules stand on floors; one may use what is below it or to its left
//! (`tests/it/tidy.rs` keeps that). In reading order:

// Words: pure values.
pub mod tree;
pub mod dice;
pub mod text;
pub mod diff;
pub mod verdict;
pub mod artifact;
pub mod reward;
pub mod chart;
// Languages: pure.
pub mod syntax;
pub mod policy;
// World: the only floor that touches the machine.
pub mod sandbox;
pub mod workspace;
pub mod runner;
pub mod store;
pub mod model;
pub mod harness;
// Play: the rules of the game.
pub mod scaffold;
pub mod consistency;
pub mod grading;
pub mod agent;
pub mod injector;
pub mod solver;
pub mod wrong_book;
pub mod unnoticed;
pub mod practice;
pub mod episode;
// Learning: from rewards to a better policy.
pub mod trainer;
// Host: options and state.
pub mod config;
pub mod setup;
pub mod session;
pub mod wire;
// Faces: decode, call a verb, encode.
pub mod mcp;
pub mod lsp;
pub mod cli;
