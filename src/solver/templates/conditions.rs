//! A conjunct or disjunct more: null tests of what is in scope, and conditions of the file.

use super::super::proposal::{Collector, Template};
use super::super::words;
use super::{Scope, Work, replace};
use crate::syntax::{ExpressionKind, Part, Span, StatementKind};
use crate::text::Edit;
use std::collections::BTreeSet;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    let mut sites: BTreeSet<(usize, usize, Option<usize>)> = BTreeSet::new();
    let mut add = |span: &Span, statement: Option<usize>| {
        sites.insert((span.start, span.end, statement));
    };
    for (number, statement) in work.statements(work.thresholds.dear) {
        if matches!(statement.kind, StatementKind::If | StatementKind::Loop)
            && let Some(condition) = statement.parts.get(Part::Condition)
        {
            add(condition, Some(number));
        }
    }
    for expression in work.prime_suspects() {
        match expression.kind {
            ExpressionKind::Comparison | ExpressionKind::Boolean | ExpressionKind::Not => {
                add(&expression.range, expression.statement);
            }
            ExpressionKind::Conditional => {
                if let Some(condition) = expression.parts.get(Part::Condition) {
                    add(condition, expression.statement);
                }
            }
            _ => {}
        }
    }
    for (start, end, statement) in sites {
        let function = statement.and_then(|s| work.source.parsed.statements()[s].function);
        if let Some(scope) = work.scope(function) {
            condition(work, scope, statement, &(start..end), out);
        }
    }
}

fn condition(
    work: &Work<'_>,
    scope: &Scope,
    statement: Option<usize>,
    span: &Span,
    out: &mut Collector<'_>,
) {
    let tokens = work.source.language.tokens();
    let own = work.text(span);
    let complex = words::identifiers(own).any(|(_, w)| w == tokens.or || w == tokens.and)
        || own.windows(2).any(|pair| pair == b"||" || pair == b"&&");
    let closed = if complex { [b"(", own, b")"].concat() } else { own.to_vec() };
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    for (other, closeness) in tests(work, scope, own) {
        for joint in [&tokens.and, &tokens.or] {
            let joint = [b" ", joint.as_bytes(), b" "].concat();
            let behind = [&closed[..], &joint, &other].concat();
            alternatives.push((replace(span, behind), closeness));
            let in_front = [&other[..], &joint, &closed].concat();
            alternatives.push((replace(span, in_front), closeness));
        }
    }
    out.site((Template::Condition, 1.0), &work.lines(statement, span), 40, alternatives);
    let mut alone: Vec<(Vec<Edit>, f64)> =
        tests(work, scope, own).into_iter().map(|(new, near)| (replace(span, new), near)).collect();
    alone.retain(|(edits, _)| edits[0].replacement != own);
    out.site((Template::Donor, 0.5), &work.lines(statement, span), 20, alone);
}

/// Conditions that make sense in the function, with their closeness.
pub(super) fn tests(work: &Work<'_>, scope: &Scope, own: &[u8]) -> Vec<(Vec<u8>, f64)> {
    let mentioned: BTreeSet<String> =
        words::identifiers(own).map(|(_, word)| word.to_owned()).collect();
    let mut tests: Vec<(Vec<u8>, f64)> = Vec::new();
    for (text, near, words) in scope.conditions.iter().filter(|(text, ..)| text != own) {
        tests.push((text.clone(), near * (0.3 + words::jaccard(&mentioned, words))));
    }
    for (name, closeness) in &scope.names {
        let mention = if mentioned.contains(name) { 0.15 } else { 0.08 };
        for test in null_tests(work, name) {
            tests.push((test.into_bytes(), closeness * mention));
        }
    }
    tests.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    tests.truncate(16);
    tests
}

fn null_tests(work: &Work<'_>, name: &str) -> Vec<String> {
    let language = &work.source.language;
    let negated = String::from_utf8(language.negated(name.as_bytes(), true)).unwrap_or_default();
    match language.name() {
        "python" => {
            vec![format!("{name} is None"), format!("{name} is not None"), name.to_owned(), negated]
        }
        "rust" => vec![
            name.to_owned(),
            negated,
            format!("{name}.is_empty()"),
            format!("!{name}.is_empty()"),
            format!("{name}.is_none()"),
            format!("{name}.is_some()"),
            format!("{name} == 0"),
        ],
        _ => vec![
            name.to_owned(),
            negated,
            format!("{name} {} {}", language.tokens().equal, language.null()),
        ],
    }
}
