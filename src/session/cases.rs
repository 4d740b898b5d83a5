//! Bugs that are brought along: as they are written (`case.rs`), and put on their trees (`ready.rs`).

mod case;
mod ready;

pub(super) use case::{Case, Cases};
pub(super) use ready::{Found, NotReady, Ready};
