//! Languages loaded from `grammars/`, named queries, edit sites. The only user of tree-sitter.
//!
//! A language is a folder of data: `grammar.toml` says which files are its own, how its tests are
//! named and which words its edits use; `queries/*.scm` say which nodes are functions, tests,
//! assertions, statements and expressions. What comes out is neutral: byte ranges with names
//! ([`Parsed`]). [`structural`] makes edits of it.

mod error;
mod grammar;
mod language;
mod languages;
mod layout;
mod model;
mod outline;
mod parsed;
mod roles;
pub mod structural;
mod walk;

pub use error::GrammarError;
pub use grammar::{BlockStyle, GrammarSource, Tokens};
pub use language::Language;
pub use languages::Languages;
pub use layout::is_simple;
pub use model::{
    Assertion, Block, Expression, ExpressionKind, Function, Import, Parameter, Part, Parts, Span,
    Statement, StatementKind, Test,
};
pub use parsed::Parsed;
