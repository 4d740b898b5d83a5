//! The removal strategy's sites: runs of statements, branches, bodies, functions, a file's content.

use super::site::Site;
use super::words::{Usage, words};
use crate::syntax::structural::{Removal, RemovalKind, delete, removals};
use crate::syntax::{Expression, ExpressionKind, Language, Parsed, Part, Span, StatementKind};
use crate::text::{Edit, apply_edits};
use crate::tree::RelPath;

/// The most functions a file may have whose content goes as a whole.
const SMALL_FILE: usize = 8;

/// Every removal that leaves the rest running, in source order; the file's content last.
pub(super) fn sites(
    parsed: &Parsed,
    language: &Language,
    path: &RelPath,
    usage: &Usage,
) -> Vec<Site> {
    let all = removals(parsed, language);
    let whole = content(parsed, &all);
    all.into_iter()
        .filter_map(|removal| {
            let family = family(removal.what);
            let line = removal.edits.first().map_or(1, |edit| parsed.line_of(edit.range.start));
            let (function, mut edits) = (removal.function, removal.edits);
            if removal.what == RemovalKind::Function {
                edits = without_callers(parsed, language, path, usage, function?, edits)?;
            }
            Some(Site { family, appeal: appeal(removal.what), function, edits, line })
        })
        .chain(whole)
        .collect()
}

fn family(what: RemovalKind) -> &'static str {
    match what {
        RemovalKind::Body => "body_removed",
        RemovalKind::Statements => "statements_removed",
        RemovalKind::Branch => "branch_removed",
        RemovalKind::Function => "function_removed",
    }
}

fn appeal(what: RemovalKind) -> f64 {
    match what {
        RemovalKind::Statements | RemovalKind::Branch => 1.0,
        RemovalKind::Body => 0.5,
        RemovalKind::Function => 0.7,
    }
}

/// All bodies of a small file at once.
fn content(parsed: &Parsed, removals: &[Removal]) -> Option<Site> {
    let functions = parsed.functions();
    let outermost =
        |removal: &&Removal| removal.function.is_some_and(|at| functions[at].parent.is_none());
    let bodies: Vec<&Removal> = removals
        .iter()
        .filter(|removal| removal.what == RemovalKind::Body)
        .filter(outermost)
        .collect();
    let edits: Vec<Edit> = bodies.iter().flat_map(|body| body.edits.clone()).collect();
    let fits =
        (2..=SMALL_FILE).contains(&bodies.len()) && apply_edits(parsed.source(), &edits).is_ok();
    fits.then_some(Site { family: "content_removed", appeal: 0.5, function: None, edits, line: 1 })
}

/// The removal of a whole function and, at its callers in this file, of the calls: a call for its
/// effect goes with its statement, another gives way to its first argument or to null.
///
/// `None` where that is not sure to leave the rest running: another file names the function, this
/// file names it otherwise than to call it, or the language checks types.
fn without_callers(
    parsed: &Parsed,
    language: &Language,
    path: &RelPath,
    usage: &Usage,
    function: usize,
    mut edits: Vec<Edit>,
) -> Option<Vec<Edit>> {
    let function = parsed.functions().get(function)?;
    let name = function.name.as_bytes();
    if language.typed() || usage.outside(path, name) {
        return None;
    }
    let outside =
        |span: &Span| span.end <= function.range.start || function.range.end <= span.start;
    let calls: Vec<&Expression> = parsed
        .expressions()
        .iter()
        .filter(|call| call.kind == ExpressionKind::Call && outside(&call.range))
        .filter(|call| call.callee().is_some_and(|callee| last_word(parsed.text(callee)) == name))
        .collect();
    if mentions(parsed, name, &outside) != calls.len() {
        return None;
    }
    let mut statements = Vec::new();
    for call in calls {
        match whole_statement(parsed, call) {
            Some(statement) => statements.push(statement),
            None => edits.push(Edit::new(call.range.clone(), stand_in(parsed, language, call))),
        }
    }
    if !statements.is_empty() {
        edits.extend(delete(parsed, language, &statements));
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    apply_edits(parsed.source(), &edits).is_ok().then_some(edits)
}

/// How often the code names it, outside the function, comments and documentation.
fn mentions(parsed: &Parsed, name: &[u8], outside: &dyn Fn(&Span) -> bool) -> usize {
    let prose: Vec<&Span> = parsed
        .statements()
        .iter()
        .filter(|statement| statement.kind == StatementKind::Docstring)
        .map(|statement| &statement.range)
        .chain(parsed.comments())
        .collect();
    let in_prose =
        |at: &Span| prose.iter().any(|span| span.start <= at.start && at.end <= span.end);
    words(parsed.source())
        .filter(|at| &parsed.source()[at.clone()] == name)
        .filter(|at| outside(at) && !in_prose(at))
        .count()
}

fn last_word(text: &[u8]) -> &[u8] {
    words(text).last().filter(|at| at.end == text.len()).map_or(&[], |at| &text[at])
}

/// The statement that is this call and nothing else.
fn whole_statement(parsed: &Parsed, call: &Expression) -> Option<usize> {
    let index = call.statement?;
    let statement = parsed.statements().get(index)?;
    let alone = parsed.text(&statement.range).trim_ascii();
    let alone = alone.strip_suffix(b";").unwrap_or(alone).trim_ascii_end();
    (statement.kind == StatementKind::Expression && alone == parsed.text(&call.range))
        .then_some(index)
}

fn stand_in(parsed: &Parsed, language: &Language, call: &Expression) -> Vec<u8> {
    let keywords: Vec<&Span> = call.parts.all(Part::Keyword).collect();
    call.argument_list()
        .into_iter()
        .filter(|argument| !keywords.contains(argument))
        .map(|argument| parsed.text(argument))
        .find(|argument| !argument.starts_with(b"*") && !argument.starts_with(b"..."))
        .map_or_else(|| language.null().as_bytes().to_vec(), <[u8]>::to_vec)
}
