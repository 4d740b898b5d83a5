//! Edits by structure: mutations and removals of code, weakenings of tests.
//!
//! An edit keeps every byte outside it. Applied alone, each gives different bytes; the sets are in
//! source order and free of duplicates.

mod collector;
mod expression;
mod operator;
mod removal;
mod statement;
mod weakening;

pub use super::layout::delete;
pub use operator::Operator;
pub use removal::{Removal, RemovalKind, removals};
pub use weakening::{Weakening, WeakeningKind, merge, weakenings};

use super::{Language, Parsed};
use crate::text::Edit;

/// A small change of behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    pub operator: Operator,
    /// Sorted, not overlapping.
    pub edits: Vec<Edit>,
    pub function: Option<usize>,
    /// One-based line of the first edit.
    pub line: u32,
}

/// Every mutation of a file's code, in source order; tests in it are left alone.
pub fn mutations(parsed: &Parsed, language: &Language) -> Vec<Mutation> {
    let mut collector = collector::Collector::new(parsed, language);
    expression::mutate(&mut collector);
    statement::mutate(&mut collector);
    let mut found = collector.finish();
    found.retain(|mutation| !is_of_tests(parsed, &mutation.edits));
    found
}

fn is_of_tests(parsed: &Parsed, edits: &[Edit]) -> bool {
    edits.first().is_some_and(|edit| parsed.is_test_code(edit.range.end.max(1) - 1))
}
