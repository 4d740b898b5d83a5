//! Lines, indentation, and deleting statements without a trace.

use super::grammar::BlockStyle;
use super::model::Span;
use super::{Language, Parsed};
use crate::text::Edit;
use std::collections::{BTreeMap, BTreeSet};

/// The edits that delete these statements, lines and trailing comments and all: sorted and apart.
///
/// A statement inside another deleted one counts once. Where a block would be left empty and may
/// not be, the language's empty statement stays in it.
pub fn delete(parsed: &Parsed, language: &Language, statements: &[usize]) -> Vec<Edit> {
    let chosen: BTreeSet<usize> = statements.iter().copied().collect();
    let outermost = chosen.iter().copied().filter(|id| !has_ancestor(parsed, *id, &chosen));
    let mut by_block: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut edits = Vec::new();
    for id in outermost {
        let Some(statement) = parsed.statements().get(id) else { continue };
        match statement.block {
            Some(block) => by_block.entry(block).or_default().push(statement.index),
            None => edits.push(Edit::new(statement.range.clone(), lone(language))),
        }
    }
    for (block, indices) in by_block {
        delete_in_block(parsed, language, block, &indices, &mut edits);
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    // Two deletions may both have taken the blank lines between them.
    let mut taken = 0;
    for edit in &mut edits {
        edit.range.start = edit.range.start.max(taken).min(edit.range.end);
        taken = taken.max(edit.range.end);
    }
    edits
}

/// What stands for a statement that is the whole body of another and has no block around it.
fn lone(language: &Language) -> &[u8] {
    match language.blocks() {
        BlockStyle::Braces => b"{}",
        BlockStyle::Indent | BlockStyle::Words => language.tokens().empty_statement.as_bytes(),
    }
}

fn has_ancestor(parsed: &Parsed, id: usize, chosen: &BTreeSet<usize>) -> bool {
    let parent = |id: usize| parsed.statements().get(id).and_then(|statement| statement.parent);
    std::iter::successors(parent(id), |id| parent(*id)).any(|id| chosen.contains(&id))
}

fn delete_in_block(
    parsed: &Parsed,
    language: &Language,
    block: usize,
    indices: &[usize],
    edits: &mut Vec<Edit>,
) {
    let block = &parsed.blocks()[block];
    let span = |index: usize| parsed.statements()[block.statements[index]].range.clone();
    let emptied = indices.len() == block.statements.len() && block.owner.is_some();
    if emptied && language.blocks() == BlockStyle::Indent {
        let whole = span(0).start..span(indices.len() - 1).end;
        edits.push(Edit::new(whole, language.tokens().empty_statement.as_bytes()));
        return;
    }
    for run in runs(indices) {
        let (first, last) = (run.start, run.end - 1);
        let previous = first.checked_sub(1).map(span);
        let next = (run.end < block.statements.len()).then(|| span(run.end));
        let range = without_trace(parsed, &(span(first).start..span(last).end), previous, next);
        edits.push(Edit::new(range, b""));
    }
}

/// Sorted indices as ranges.
fn runs(indices: &[usize]) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    for index in indices {
        match runs.last_mut() {
            Some(run) if run.end == *index => run.end += 1,
            _ => runs.push(*index..index + 1),
        }
    }
    runs
}

/// `span` with what would be left over of its lines.
fn without_trace(parsed: &Parsed, span: &Span, previous: Option<Span>, next: Option<Span>) -> Span {
    let source = parsed.source();
    let start = line_start(source, span.start);
    let end = trailing_end(parsed, span.end);
    let begins_line = source[start..span.start].iter().all(|byte| matches!(byte, b' ' | b'\t'));
    if begins_line && ends_line(source, end) {
        let end = next_line(source, end);
        return tidy_blank_lines(source, start..end, previous.is_none());
    }
    let same_line = |from: usize, to: usize| !source[from..to].contains(&b'\n');
    match (previous, next) {
        (_, Some(next)) if same_line(span.end, next.start) => span.start..next.start,
        (Some(previous), _) if same_line(previous.end, span.start) => previous.end..span.end,
        _ => span.clone(),
    }
}

/// Takes the blank lines after the deleted lines that the ones before already give.
fn tidy_blank_lines(source: &[u8], lines: Span, first: bool) -> Span {
    let Span { mut start, mut end } = lines;
    let mut before = 0;
    let mut above = start;
    while let Some(blank) = blank_line_before(source, above) {
        above = blank;
        before += 1;
    }
    let mut surplus = if first && before == 0 { usize::MAX } else { before };
    while surplus > 0 && end < source.len() {
        let after = next_line(source, end);
        if !source[end..after].trim_ascii().is_empty() {
            break;
        }
        end = after;
        surplus -= 1;
    }
    if end == source.len() {
        start = above;
    }
    start..end
}

/// The start of the line above, where that line is blank.
fn blank_line_before(source: &[u8], start: usize) -> Option<usize> {
    let above = line_start(source, start.checked_sub(1)?);
    source[above..start].trim_ascii().is_empty().then_some(above)
}

/// After the separators and the comment that follow on the same line.
pub(super) fn trailing_end(parsed: &Parsed, end: usize) -> usize {
    let source = parsed.source();
    let mut end = end;
    while let Some(b' ' | b'\t' | b';') = source.get(end) {
        end += 1;
    }
    let at = parsed.comments().partition_point(|comment| comment.start < end);
    match parsed.comments().get(at) {
        Some(comment) if comment.start == end => comment.end,
        _ => end,
    }
}

fn ends_line(source: &[u8], end: usize) -> bool {
    let rest = source[end..].iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    rest.is_none_or(|byte| *byte == b'\n')
}

pub(super) fn line_start(source: &[u8], offset: usize) -> usize {
    source[..offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// The start of the line after the one that holds `offset`.
pub(super) fn next_line(source: &[u8], offset: usize) -> usize {
    source[offset..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(source.len(), |at| offset + at + 1)
}

/// Deletes a clause (`else`, `except`) and the blanks before it. Some grammars leave the word `else`
/// out of it.
pub(super) fn delete_clause(parsed: &Parsed, clause: &Span) -> Edit {
    let before = parsed.source()[..clause.start].trim_ascii_end();
    let before = before.strip_suffix(b"else").unwrap_or(before).trim_ascii_end().len();
    Edit::new(before..clause.end, b"")
}

/// The text of a block's statements moved to the indentation of `at`; `None` where it holds strings
/// whose lines must not move.
pub(super) fn moved_out(parsed: &Parsed, block: usize, at: usize) -> Option<Vec<u8>> {
    let block = &parsed.blocks()[block];
    let first = &parsed.statements()[*block.statements.first()?].range;
    let last = &parsed.statements()[*block.statements.last()?].range;
    let source = parsed.source();
    let text =
        &source[first.start..trailing_end(parsed, last.end).min(block.range.end.max(last.end))];
    let many_lines = text.contains(&b'\n');
    let quotes: [&[u8]; 3] = [b"\"\"\"", b"'''", b"`"];
    if many_lines && quotes.iter().any(|quote| text.windows(quote.len()).any(|part| part == *quote))
    {
        return None;
    }
    let (outer, inner) = (parsed.indentation(at), parsed.indentation(first.start));
    let surplus = inner.strip_prefix(outer).unwrap_or_default().len();
    let mut moved = Vec::with_capacity(text.len());
    for (number, line) in crate::text::lines(text).enumerate() {
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let cut = if number == 0 { 0 } else { surplus.min(blanks) };
        moved.extend_from_slice(&line[cut..]);
    }
    Some(moved)
}

/// Whether an expression binds tighter than any operator put beside it, by its text: no blanks or
/// operators outside brackets and quotes.
pub fn is_simple(text: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut quote = None;
    for byte in text {
        if let Some(open) = quote {
            quote = (open != *byte).then_some(open);
            continue;
        }
        match byte {
            b'"' | b'\'' => quote = Some(*byte),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            byte if depth == 0 && byte.is_ascii() => {
                let plain = byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'.' | b':' | b'$' | b'@');
                if !plain {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}
