//! Tests against the real world: the sources themselves, git, test runners, the sandbox, the binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod diff_git;
mod tidy;
