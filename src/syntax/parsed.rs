//! One parsed file.

use super::model::{Assertion, Block, Expression, Function, Import, Span, Statement, Test};

/// A file's source and what is in it. Holds no syntax tree: only values.
#[derive(Clone, Debug)]
pub struct Parsed {}

impl Parsed {
    pub fn source(&self) -> &[u8] {
        todo!()
    }
    pub fn text(&self, span: &Span) -> &[u8] {
        &self.source()[span.clone()]
    }
    /// ERROR and MISSING nodes.
    pub fn syntax_errors(&self) -> usize {
        todo!()
    }
    pub fn functions(&self) -> &[Function] {
        todo!()
    }
    pub fn tests(&self) -> &[Test] {
        todo!()
    }
    pub fn assertions(&self) -> &[Assertion] {
        todo!()
    }
    pub fn blocks(&self) -> &[Block] {
        todo!()
    }
    pub fn statements(&self) -> &[Statement] {
        todo!()
    }
    pub fn expressions(&self) -> &[Expression] {
        todo!()
    }
    pub fn imports(&self) -> &[Import] {
        todo!()
    }
    /// Comments, so that an edit can keep out of them.
    pub fn comments(&self) -> &[Span] {
        todo!()
    }
    /// Parameters, then locals.
    pub fn names_in(&self, _function: usize) -> Vec<&str> {
        todo!()
    }
    /// Attribute, field and method names used anywhere in the file, sorted.
    pub fn attribute_names(&self) -> &[String] {
        todo!()
    }
    /// Names bound at the file's top level by assignments, definitions and imports, sorted.
    pub fn module_names(&self) -> &[String] {
        todo!()
    }
    /// The innermost function at an offset.
    pub fn function_at(&self, _offset: usize) -> Option<usize> {
        todo!()
    }
    /// One-based.
    pub fn line_of(&self, _offset: usize) -> u32 {
        todo!()
    }
    /// The bytes before the first character of the offset's line.
    pub fn indentation(&self, _offset: usize) -> &[u8] {
        todo!()
    }
    /// `\r\n` where the file's first line ends with it, else `\n`.
    pub fn newline(&self) -> &'static [u8] {
        todo!()
    }
}
