//! Removals: whole bodies, runs of statements, branches and functions.

use super::super::grammar::BlockStyle;
use super::super::layout::{delete, delete_clause};
use super::super::model::{Function, Part, Span, Statement, StatementKind as Kind};
use super::super::{Language, Parsed};
use super::statement::is_tail_value;
use crate::text::Edit;

/// The longest run of statements that is removed.
const LONGEST_RUN: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemovalKind {
    /// A function's body; the signature stays, and so does a documentation string.
    Body,
    /// Two to six consecutive statements of a block.
    Statements,
    /// A whole branch, loop, handler or try.
    Branch,
    /// A whole function or method.
    Function,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    pub what: RemovalKind,
    /// Sorted, not overlapping.
    pub edits: Vec<Edit>,
    /// The function it is in, or removes.
    pub function: Option<usize>,
    /// How many lines of source go.
    pub lines: u32,
}

/// Every removal of code, by kind and then in source order; tests are left alone.
pub fn removals(parsed: &Parsed, language: &Language) -> Vec<Removal> {
    let mut found = Vec::new();
    for (id, function) in parsed.functions().iter().enumerate() {
        if let Some(edit) = without_body(parsed, language, function) {
            push(parsed, &mut found, RemovalKind::Body, Some(id), vec![edit]);
        }
    }
    for block in parsed.blocks().iter().filter(|block| block.function.is_some()) {
        for start in 0..block.statements.len() {
            let ids = &block.statements[start..];
            for length in 2..=LONGEST_RUN.min(ids.len()) {
                if ids[..length].iter().any(|id| stays(parsed, language, &parsed.statements()[*id]))
                {
                    break;
                }
                if language.typed() && is_used_later(parsed, &ids[..length], block.range.end) {
                    continue;
                }
                let edits = delete(parsed, language, &ids[..length]);
                push(parsed, &mut found, RemovalKind::Statements, block.function, edits);
            }
        }
    }
    for (id, statement) in parsed.statements().iter().enumerate() {
        branches(parsed, language, id, statement, &mut found);
    }
    for (id, function) in parsed.functions().iter().enumerate() {
        let used = || language.typed() && is_used_elsewhere(parsed, function);
        if let Some(statement) = function.statement.filter(|_| !used()) {
            let edits = delete(parsed, language, &[statement]);
            push(parsed, &mut found, RemovalKind::Function, Some(id), edits);
        }
    }
    found.retain(|removal| !super::is_of_tests(parsed, &removal.edits));
    found
}

/// A name that these statements declare stands in the rest of their block: without it nothing
/// compiles.
fn is_used_later(parsed: &Parsed, ids: &[usize], block_end: usize) -> bool {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return false };
    let span = parsed.statements()[*first].range.start..parsed.statements()[*last].range.end;
    let rest = parsed.text(&(span.end..block_end.max(span.end)));
    parsed.declared_in(&span).iter().any(|name| has_word(rest, parsed.text(name)))
}

fn is_used_elsewhere(parsed: &Parsed, function: &Function) -> bool {
    let name = function.name.as_bytes();
    let source = parsed.source();
    has_word(&source[..function.range.start], name) || has_word(&source[function.range.end..], name)
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    let part = |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    let Some((first, _)) = word.split_first() else { return false };
    let starts = text.iter().enumerate().filter(|(_, byte)| *byte == first).map(|(at, _)| at);
    let mut words = starts.filter(|at| text[*at..].starts_with(word));
    words.any(|at| {
        !part(at.checked_sub(1).and_then(|before| text.get(before)))
            && !part(text.get(at + word.len()))
    })
}

fn stays(parsed: &Parsed, language: &Language, statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Docstring | Kind::Import)
        || is_tail_value(parsed, language, statement)
}

fn branches(
    parsed: &Parsed,
    language: &Language,
    id: usize,
    statement: &Statement,
    found: &mut Vec<Removal>,
) {
    let branching =
        matches!(statement.kind, Kind::If | Kind::Loop | Kind::Switch | Kind::Try | Kind::With);
    if !branching || statement.function.is_none() {
        return;
    }
    let value = is_tail_value(parsed, language, statement);
    if !value {
        let edits = delete(parsed, language, &[id]);
        push(parsed, found, RemovalKind::Branch, statement.function, edits);
    }
    let alternatives: Vec<&Span> = statement.parts.all(Part::Alternative).collect();
    let handlers: Vec<&Span> = statement.parts.all(Part::Handler).collect();
    // An `else` after the handlers needs one of them.
    let spare = handlers.len() > 1 && alternatives.is_empty();
    let clauses = alternatives.iter().filter(|_| !value).chain(handlers.iter().filter(|_| spare));
    for clause in clauses {
        let edits = vec![delete_clause(parsed, clause)];
        push(parsed, found, RemovalKind::Branch, statement.function, edits);
    }
}

/// The body replaced by the language's stub.
fn without_body(parsed: &Parsed, language: &Language, function: &Function) -> Option<Edit> {
    let block = &parsed.blocks()[function.block?];
    let statements = block.statements.iter().map(|id| &parsed.statements()[*id]);
    let mut kept = statements.skip_while(|statement| statement.kind == Kind::Docstring);
    let first = kept.next()?;
    let last = kept.last().unwrap_or(first);
    let inner = first.range.start..last.range.end;
    let stub = language.stub_statement().as_bytes();
    let old = parsed.text(&inner);
    if old == stub || old == language.tokens().empty_statement.as_bytes() {
        return None;
    }
    let leading_comment = block.range.start.max(first.range.start);
    let range = match language.blocks() {
        BlockStyle::Braces | BlockStyle::Words => inner,
        BlockStyle::Indent => leading_comment..inner.end,
    };
    Some(Edit::new(range, stub))
}

fn push(
    parsed: &Parsed,
    found: &mut Vec<Removal>,
    what: RemovalKind,
    function: Option<usize>,
    edits: Vec<Edit>,
) {
    if edits.is_empty() || edits.iter().all(|edit| parsed.text(&edit.range) == edit.replacement) {
        return;
    }
    let newlines = |edit: &Edit| parsed.line_of(edit.range.end) - parsed.line_of(edit.range.start);
    let lines = edits.iter().map(newlines).sum::<u32>().max(1);
    found.push(Removal { what, edits, function, lines });
}
