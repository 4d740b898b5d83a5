//! One language: which files are its own, how it is parsed, which words its edits use.

use super::grammar::{BlockStyle, Tokens};
use super::parsed::Parsed;
use crate::tree::RelPath;
use std::sync::Arc;

/// Cheap to clone.
#[derive(Clone)]
pub struct Language {}

impl Language {
    pub fn name(&self) -> &str {
        todo!()
    }
    pub fn extensions(&self) -> &[String] {
        todo!()
    }
    /// Whether the file holds tests, by its path.
    pub fn is_test_path(&self, _path: &RelPath) -> bool {
        todo!()
    }
    /// Whether the file sways tests without holding any (`conftest.py`).
    pub fn is_test_support_path(&self, _path: &RelPath) -> bool {
        todo!()
    }
    /// Never fails: what is not understood is counted in [`Parsed::syntax_errors`].
    pub fn parse(&self, _source: Arc<[u8]>) -> Parsed {
        todo!()
    }
    /// Only the number of syntax errors; about four times cheaper than [`Language::parse`].
    pub fn syntax_errors(&self, _source: &[u8]) -> usize {
        todo!()
    }
    pub fn tokens(&self) -> &Tokens {
        todo!()
    }
    pub fn blocks(&self) -> BlockStyle {
        todo!()
    }
    /// Names are exchanged only where their types are written and equal.
    pub fn typed(&self) -> bool {
        todo!()
    }
    /// The null literal.
    pub fn null(&self) -> &str {
        &self.tokens().null
    }
    pub fn stub_statement(&self) -> &str {
        &self.tokens().stub_statement
    }
    /// The negation of an expression.
    pub fn negated(&self, _expression: &[u8], _simple: bool) -> Vec<u8> {
        todo!()
    }
    /// The operators that may stand for `operator`, by table name (`boundary`, `negation`,
    /// `arithmetic`, `bitwise`, `boolean`, `assignment`, `unary`).
    pub fn operator_swaps(&self, _operator: &str) -> Vec<(&str, &str)> {
        todo!()
    }
    pub fn line_comment(&self) -> &str {
        todo!()
    }
}
