//! Tests against the real world: the sources themselves, git, test runners, the sandbox, the binary.

mod diff_git;
mod tidy;
