//! A name for another: variables in scope, attributes of the file, and opposites.

use super::super::proposal::{Collector, Template};
use super::super::words;
use super::{Work, replace};
use crate::syntax::{Expression, ExpressionKind, Part};
use crate::text::Edit;

/// Names that are taken for each other.
const OPPOSITES: &[(&str, &str)] = &[
    ("min", "max"),
    ("any", "all"),
    ("append", "extend"),
    ("append", "insert"),
    ("add", "discard"),
    ("add", "remove"),
    ("add", "update"),
    ("keys", "values"),
    ("values", "items"),
    ("keys", "items"),
    ("lower", "upper"),
    ("lstrip", "rstrip"),
    ("strip", "lstrip"),
    ("strip", "rstrip"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("startswith", "endswith"),
    ("starts_with", "ends_with"),
    ("trim_start", "trim_end"),
    ("trim", "trim_start"),
    ("trim", "trim_end"),
    ("first", "last"),
    ("left", "right"),
    ("start", "end"),
    ("start", "stop"),
    ("next", "prev"),
    ("head", "tail"),
    ("pop", "popleft"),
    ("append", "appendleft"),
    ("push", "pop"),
    ("push_back", "push_front"),
    ("pop_back", "pop_front"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("Some", "Ok"),
    ("Less", "Greater"),
    ("Equal", "Less"),
    ("Equal", "Greater"),
    ("is_ascii_digit", "is_ascii_alphanumeric"),
    ("is_ascii_digit", "is_ascii_alphabetic"),
    ("floor", "ceil"),
    ("set", "list"),
    ("list", "tuple"),
    ("sorted", "list"),
    ("sorted", "reversed"),
    ("int", "float"),
    ("KeyError", "IndexError"),
    ("ValueError", "TypeError"),
    ("ValueError", "KeyError"),
    ("isinstance", "issubclass"),
    ("getattr", "hasattr"),
    ("iter", "into_iter"),
    ("map", "and_then"),
    ("filter", "map"),
    ("true", "false"),
];

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    for expression in work.suspects() {
        match expression.kind {
            ExpressionKind::Name => names(work, expression, out),
            ExpressionKind::Attribute => attributes(work, expression, out),
            _ => {}
        }
    }
}

fn names(work: &Work<'_>, expression: &Expression, out: &mut Collector<'_>) {
    let own = work.source.str(&expression.range);
    let Some(scope) = work.scope(expression.function) else { return };
    let called = work.is_callee(expression);
    let is_local = scope.names.iter().any(|(name, _)| name == own);
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    for (name, closeness) in scope.names.iter().filter(|(name, _)| name != own) {
        let kin = 1.0 + 2.0 * words::jaccard(&words::parts(own), &words::parts(name));
        let fit = if is_local { 1.0 } else { 0.3 };
        alternatives.push((replace(&expression.range, name.as_bytes()), closeness * kin * fit));
    }
    for name in work.source.parsed.module_names().iter().filter(|name| *name != own) {
        let kin = words::jaccard(&words::parts(own), &words::parts(name));
        let clue = if work.clues.words.contains(name) { 0.1 } else { 0.0 };
        let same_case = starts_upper(own) == starts_upper(name);
        let closeness = if same_case { 0.05 + kin + clue } else { 0.02 };
        let fit = if is_local { 0.2 } else { 1.0 };
        alternatives.push((replace(&expression.range, name.as_bytes()), closeness * fit));
    }
    alternatives.extend(opposites(own).map(|new| (replace(&expression.range, new), 1.5)));
    // Written names are wrong less often than read ones.
    let fit = if expression.assigned { 0.4 } else { 1.0 } * if called { 0.7 } else { 1.0 };
    out.site((Template::Name, fit), &work.lines_of(expression), 16, alternatives);
}

fn attributes(work: &Work<'_>, expression: &Expression, out: &mut Collector<'_>) {
    let Some(span) = expression.parts.get(Part::Name) else { return };
    let own = work.source.str(span);
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    let function = expression.function.map(|f| &work.source.parsed.functions()[f].range);
    let near: std::collections::BTreeSet<&str> = function
        .map(|range| words::identifiers(work.text(range)).map(|(_, word)| word).collect())
        .unwrap_or_default();
    for name in work.source.parsed.attribute_names().iter().filter(|name| *name != own) {
        let kin = words::jaccard(&words::parts(own), &words::parts(name));
        let used = if near.contains(name.as_str()) { 0.4 } else { 0.0 };
        let clue = if work.clues.words.contains(name) { 0.2 } else { 0.0 };
        alternatives.push((replace(span, name.as_bytes()), 0.05 + kin + used + clue));
    }
    alternatives.extend(opposites(own).map(|new| (replace(span, new), 1.5)));
    out.site((Template::Attribute, 1.0), &work.lines(expression.statement, span), 16, alternatives);
}

fn opposites(name: &str) -> impl Iterator<Item = &'static str> {
    OPPOSITES.iter().filter_map(move |(a, b)| match name {
        _ if name == *a => Some(*b),
        _ if name == *b => Some(*a),
        _ => None,
    })
}

fn starts_upper(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(char::is_uppercase)
}
