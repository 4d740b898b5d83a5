//! One parsed file.

use super::model::{Assertion, Block, Expression, Function, Import, Span, Statement, Test};
use super::walk::Lists;
use crate::text::LineIndex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A file's source and what is in it. Holds no syntax tree: only values.
#[derive(Debug)]
pub struct Parsed {
    source: Arc<[u8]>,
    lines: LineIndex,
    lists: Lists,
    newline: &'static [u8],
}

impl Parsed {
    pub(super) fn new(source: Arc<[u8]>, mut lists: Lists) -> Self {
        let lines = LineIndex::new(&source);
        for function in &mut lists.functions {
            function.line = lines.line_of(function.range.start);
        }
        let first = source.iter().position(|byte| *byte == b'\n');
        let newline: &[u8] = match first {
            Some(end) if source[..end].ends_with(b"\r") => b"\r\n",
            _ => b"\n",
        };
        Self { source, lines, lists, newline }
    }

    pub fn source(&self) -> &[u8] {
        &self.source
    }

    pub fn text(&self, span: &Span) -> &[u8] {
        self.source.get(span.clone()).unwrap_or_default()
    }

    /// ERROR and MISSING nodes.
    pub fn syntax_errors(&self) -> usize {
        self.lists.syntax_errors
    }

    pub fn functions(&self) -> &[Function] {
        &self.lists.functions
    }

    pub fn tests(&self) -> &[Test] {
        &self.lists.tests
    }

    pub fn assertions(&self) -> &[Assertion] {
        &self.lists.assertions
    }

    pub fn blocks(&self) -> &[Block] {
        &self.lists.blocks
    }

    pub fn statements(&self) -> &[Statement] {
        &self.lists.statements
    }

    pub fn expressions(&self) -> &[Expression] {
        &self.lists.expressions
    }

    pub fn imports(&self) -> &[Import] {
        &self.lists.imports
    }

    /// The values of a match's arms, blocks or expressions, in source order.
    pub fn choices(&self) -> &[Span] {
        &self.lists.choices
    }

    /// Comments, so that an edit can keep out of them.
    pub fn comments(&self) -> &[Span] {
        &self.lists.comments
    }

    /// Whether the offset is in a test, or in a part of a code file that is there for tests.
    pub fn is_test_code(&self, offset: usize) -> bool {
        let spans = &self.lists.test_code;
        let before = spans.partition_point(|span| span.start <= offset);
        before.checked_sub(1).is_some_and(|at| offset < spans[at].end)
    }

    /// Parameters, then locals.
    pub fn names_in(&self, function: usize) -> Vec<&str> {
        let Some(function) = self.functions().get(function) else { return Vec::new() };
        let parameters = function.parameters.iter().map(|parameter| parameter.name.as_str());
        parameters.chain(function.locals.iter().map(String::as_str)).collect()
    }

    /// Attribute, field and method names used anywhere in the file, sorted.
    pub fn attribute_names(&self) -> &BTreeSet<String> {
        &self.lists.attribute_names
    }

    /// Names bound at the file's top level by assignments, definitions and imports, sorted.
    pub fn module_names(&self) -> &BTreeSet<String> {
        &self.lists.module_names
    }

    /// The innermost function at an offset.
    pub fn function_at(&self, offset: usize) -> Option<usize> {
        let functions = self.functions();
        let mut at =
            functions.partition_point(|function| function.range.start <= offset).checked_sub(1);
        // Ranges nest or are apart, so whatever holds the offset holds the last one that began before.
        while let Some(index) = at {
            if functions[index].range.contains(&offset) {
                return Some(index);
            }
            at = functions[index].parent;
        }
        None
    }

    /// One-based.
    pub fn line_of(&self, offset: usize) -> u32 {
        self.lines.line_of(offset)
    }

    /// The blanks before the first other character of the offset's line.
    pub fn indentation(&self, offset: usize) -> &[u8] {
        let line = self.lines.line_range(self.line_of(offset)).unwrap_or_default();
        let text = &self.source[line];
        let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        &text[..blanks]
    }

    /// `\r\n` where the file's first line ends with it, else `\n`.
    pub fn newline(&self) -> &'static [u8] {
        self.newline
    }

    /// The names declared (not only assigned) in a range.
    pub(super) fn declared_in(&self, span: &Span) -> &[Span] {
        let declared = &self.lists.declared;
        let from = declared.partition_point(|name| name.start < span.start);
        let to = declared.partition_point(|name| name.start < span.end);
        &declared[from..to]
    }
}
