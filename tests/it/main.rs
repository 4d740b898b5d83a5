//! Tests of the real thing: the sources themselves, git, test runners, the sandbox, the binary.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test drives real programs, and one that cannot go on says so"
)]

mod agent;
mod agent_http;
mod apply;
mod bad_input;
mod bad_input_js;
mod bad_state;
mod bench;
mod built;
mod bytes;
mod cases;
mod cheats;
mod cheats_js;
mod cli;
mod conditions;
mod consistency;
mod diff_git;
mod editors;
mod editors_vscode;
mod endpoint;
mod eval;
mod fetch;
mod grading;
mod grammars;
mod history;
mod injector;
mod installed;
mod jobs;
mod killed;
mod leaks;
mod live;
mod loaded;
mod lsp;
mod mcp;
mod mcp_batch;
mod mcp_clients;
mod mcp_http;
mod mcp_wire;
mod model;
mod model_calls;
mod model_cli;
mod model_real;
mod plays;
mod practice;
mod processes;
mod real;
mod real_js;
mod real_languages;
mod runner;
mod runs;
mod sandbox;
mod setup;
mod soak;
mod solver;
mod store;
mod support;
mod tidy;
mod tiers;
mod together;
mod train;
mod unnoticed;
mod untouched;
mod warm;
mod workspace;
mod wrong_book;
