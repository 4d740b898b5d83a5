//! The LSP face: code actions, lenses, hints and commands over the verbs of [`crate::session`].
//!
//! What a client asks is answered from the text it has shown and from the store; whatever runs tests is a
//! job, whose progress and end are told. State has one owner ([`state`]), and every message that changes it
//! does so before it awaits anything, so that messages take effect in the order in which they came.

mod actions;
mod bugs;
mod commands;
mod diagnostics;
mod document;
mod edits;
mod hints;
mod lenses;
mod notices;
mod outline;
mod pipe;
mod practice;
mod profile;
mod proposed;
mod server;
mod shared;
mod state;
#[cfg(test)]
mod tests;
mod tests_of;
mod uri;
mod virtual_documents;
mod watch;
mod work;

/// The protocol's types: the one place that says which crate they are of.
use tower_lsp::gen_lsp_types as types;

pub use server::{Ended, serve};
pub use state::Settings;
