//! An expression for another: plus or minus one, a donor of the file, wrapped, sliced, grown.

use super::super::proposal::{Collector, Template};
use super::super::words;
use super::{Scope, Work, operand, replace};
use crate::syntax::{Expression, ExpressionKind, Part};
use crate::text::Edit;
use std::collections::BTreeSet;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    for expression in work.prime_suspects() {
        if work.is_callee(expression) || is_bare_statement(work, expression) {
            continue;
        }
        plus_minus_one(work, expression, out);
        let Some(scope) = work.scope(expression.function) else { continue };
        donors(work, scope, expression, out);
        wrap(work, scope, expression, out);
        grow(work, scope, expression, out);
        joined(work, scope, expression, out);
    }
}

/// A call for its effect: its value is used by nobody.
fn is_bare_statement(work: &Work<'_>, expression: &Expression) -> bool {
    expression.statement.is_some_and(|statement| {
        let statement = &work.source.parsed.statements()[statement];
        statement.kind == crate::syntax::StatementKind::Expression
            && statement.range.start == expression.range.start
            && statement.range.end <= expression.range.end + 1
            && statement.range.end != expression.range.end
    })
}

/// How likely the expression is a number, by where it stands.
fn numeric(work: &Work<'_>, expression: &Expression) -> f64 {
    if !matches!(
        expression.kind,
        ExpressionKind::Name
            | ExpressionKind::Attribute
            | ExpressionKind::Call
            | ExpressionKind::Binary
            | ExpressionKind::Subscript
            | ExpressionKind::Parenthesized
            | ExpressionKind::Integer
    ) {
        return 0.0;
    }
    let Some(parent) = work.parent(expression) else { return 0.3 };
    match parent.kind {
        ExpressionKind::Slice | ExpressionKind::Range => 1.0,
        ExpressionKind::Subscript if parent.parts.get(Part::Object) == Some(&expression.range) => {
            0.0
        }
        ExpressionKind::Subscript | ExpressionKind::Comparison => 0.8,
        ExpressionKind::Binary => 0.5,
        ExpressionKind::Call => {
            let callee = parent.callee().map_or(&b""[..], |callee| work.text(callee));
            if callee == b"range" { 1.2 } else { 0.3 }
        }
        ExpressionKind::Attribute => 0.0,
        _ => 0.2,
    }
}

fn plus_minus_one(work: &Work<'_>, expression: &Expression, out: &mut Collector<'_>) {
    let fit = numeric(work, expression);
    if fit == 0.0 || expression.kind == ExpressionKind::Integer {
        return;
    }
    let text = work.text(&expression.range);
    let tight = work.parent(expression).is_some_and(|parent| {
        matches!(parent.kind, ExpressionKind::Binary | ExpressionKind::Unary | ExpressionKind::Cast)
    });
    let written = |sign: &[u8]| {
        if tight { [b"(", text, sign, b"1)"].concat() } else { [text, sign, b"1"].concat() }
    };
    let alternatives =
        [&b" + "[..], b" - "].map(|sign| (replace(&expression.range, written(sign)), 1.0)).to_vec();
    out.site((Template::PlusMinusOne, fit), &work.lines_of(expression), 2, alternatives);
}

fn donors(work: &Work<'_>, scope: &Scope, expression: &Expression, out: &mut Collector<'_>) {
    let own = work.text(&expression.range);
    if expression.kind == ExpressionKind::String {
        return;
    }
    let mentioned: BTreeSet<String> =
        words::identifiers(own).map(|(_, word)| word.to_owned()).collect();
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    for (number, near) in &scope.donors {
        let donor = &work.donors.expressions[*number];
        if donor.text == own {
            continue;
        }
        let kind = if donor.kind == expression.kind { 0.6 } else { 0.15 };
        let shared = words::jaccard(&mentioned, &donor.words);
        alternatives.push((replace(&expression.range, donor.text.clone()), near * (kind + shared)));
    }
    let fit = if expression.kind == ExpressionKind::Name { 0.5 } else { 1.0 };
    out.site((Template::Donor, fit), &work.lines_of(expression), 16, alternatives);
}

/// A call around it that the file makes elsewhere, a chained call behind it, a slice of it.
#[allow(clippy::cast_precision_loss, reason = "counts of calls")]
fn wrap(work: &Work<'_>, scope: &Scope, expression: &Expression, out: &mut Collector<'_>) {
    let text = work.text(&expression.range);
    let closed = operand(text, expression.kind);
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    let mut add = |new: Vec<u8>, closeness: f64| {
        alternatives.push((replace(&expression.range, new), closeness));
    };
    for (callee, count) in &work.donors.wrappers {
        if work.source.in_scope(callee, expression.function) {
            let closeness = (*count as f64).sqrt();
            add([callee, &b"("[..], text, b")"].concat(), closeness);
        }
    }
    for (suffix, count) in &work.donors.suffixes {
        add([&closed[..], suffix].concat(), (*count as f64).sqrt());
    }
    for (callee, near) in &scope.calls.unary {
        add([callee.as_bytes(), b"(", text, b")"].concat(), 0.8 * near);
    }
    if work.source.language.name() == "python" {
        for function in ["list", "sorted", "len", "str", "int", "set", "abs", "tuple", "iter"] {
            add([function.as_bytes(), b"(", text, b")"].concat(), 0.6);
        }
        for slice in ["[1:]", "[:-1]", "[0]", "[-1]"] {
            add([&closed[..], slice.as_bytes()].concat(), 0.5);
        }
        add([b"[", text, b"]"].concat(), 0.5);
        for (name, _) in scope.names.iter().take(6) {
            for function in ["min", "max"] {
                let call = [function.as_bytes(), b"(", name.as_bytes(), b", ", text, b")"].concat();
                add(call, 0.4);
            }
            add([&closed[..], b"[", name.as_bytes(), b":]"].concat(), 0.2);
        }
    } else if work.source.language.name() == "rust" {
        for (before, after) in [("Some(", ")"), ("Ok(", ")"), ("&", ""), ("*", ""), ("!", "")] {
            add([before.as_bytes(), &closed, after.as_bytes()].concat(), 0.5);
        }
        add([&closed[..], b".clone()"].concat(), 0.3);
    }
    out.site((Template::Wrap, 1.0), &work.lines_of(expression), 20, alternatives);
}

/// What stands in for a value that is missing, empty or false, and what a text is made with: `name or {}`,
/// `'…' % name`.
fn joined(work: &Work<'_>, scope: &Scope, expression: &Expression, out: &mut Collector<'_>) {
    let text = work.text(&expression.range);
    let tokens = work.source.language.tokens();
    let typed = work.source.language.typed();
    let is_neutral = matches!(text, b"{}" | b"[]" | b"()" | b"''" | b"\"\"" | b"0")
        || text == tokens.null.as_bytes()
        || text == tokens.no.as_bytes();
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    let mut add = |parts: [&[u8]; 3], closeness: f64| {
        alternatives.push((replace(&expression.range, parts.concat()), closeness));
    };
    let or = format!(" {} ", tokens.or);
    let is_text = expression.kind == ExpressionKind::String;
    for (name, worth) in scope.names.iter().take(12) {
        let name = name.as_bytes();
        if is_text && work.source.language.name() == "python" {
            add([text, b" % ", name], *worth);
            add([text, b" + ", name], 0.5 * worth);
            add([name, b" + ", text], 0.5 * worth);
        } else if typed || name == text {
            // Either side would have to be a truth value.
        } else if is_neutral {
            add([name, or.as_bytes(), text], *worth);
        } else if expression.kind == ExpressionKind::Name {
            add([name, or.as_bytes(), text], 0.3 * worth);
            add([text, or.as_bytes(), name], 0.3 * worth);
        }
    }
    let fit = if is_text || is_neutral { 1.2 } else { 0.3 };
    out.site((Template::Grow, fit), &work.lines_of(expression), 16, alternatives);
}

fn grow(work: &Work<'_>, scope: &Scope, expression: &Expression, out: &mut Collector<'_>) {
    let fit = numeric(work, expression).max(0.2);
    if expression.kind == ExpressionKind::Integer || expression.kind == ExpressionKind::String {
        return;
    }
    let closed = operand(work.text(&expression.range), expression.kind);
    let own = work.text(&expression.range);
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    let operators =
        [(" + ", 1.0), (" - ", 1.0), (" * ", 0.7), (" % ", 0.4), (" / ", 0.4), (" // ", 0.3)];
    for (number, near) in scope.donors.iter().take(60) {
        let donor = &work.donors.expressions[*number];
        let worth = match donor.kind {
            ExpressionKind::Name => 1.0,
            ExpressionKind::Integer | ExpressionKind::Attribute | ExpressionKind::Call => 0.5,
            ExpressionKind::Subscript | ExpressionKind::Collection => 0.3,
            _ => continue,
        };
        if donor.text == own {
            continue;
        }
        for (operator, usual) in operators {
            if operator == " // " && work.source.language.name() != "python" {
                continue;
            }
            let right = [&closed[..], operator.as_bytes(), &donor.text].concat();
            alternatives.push((replace(&expression.range, right), near * worth * usual));
            if operator == " + " || operator == " - " {
                let left = [&donor.text[..], operator.as_bytes(), &closed].concat();
                alternatives.push((replace(&expression.range, left), near * worth * 0.4));
            }
        }
    }
    out.site((Template::Grow, fit), &work.lines_of(expression), 24, alternatives);
}
