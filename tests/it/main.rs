//! Tests of the real thing: real repositories, real processes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on says so"
)]

mod store;
mod support;
mod workspace;
