//! Statements made from names in scope: assignments, calls, returns, guards.

use super::super::place;
use super::super::proposal::{Collector, Template};
use super::{Scope, Work, conditions, replace};
use crate::syntax::{ExpressionKind, Part, Statement, StatementKind};
use crate::text::Edit;
use std::collections::BTreeSet;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    for (number, statement) in work.statements(work.thresholds.dear) {
        let Some(scope) = work.scope(statement.function) else { continue };
        if statement.function.is_none() {
            continue;
        }
        returns(work, scope, number, statement, out);
        values(work, scope, number, statement, out);
        if place::alone(work.source, &statement.range) {
            insertions(work, scope, number, statement, out);
            guards(work, scope, number, statement, out);
        }
    }
}

/// What a `return`, or the last expression of a body, gives back.
fn returns(
    work: &Work<'_>,
    scope: &Scope,
    number: usize,
    statement: &Statement,
    out: &mut Collector<'_>,
) {
    let tail = statement.kind == StatementKind::Expression
        && statement.index + 1 == statement.siblings
        && !work.source.language.tokens().terminator.is_empty()
        && !work
            .text(&statement.range)
            .ends_with(work.source.language.tokens().terminator.as_bytes());
    if statement.kind != StatementKind::Return && !tail {
        return;
    }
    let value = statement.parts.get(Part::Value).cloned();
    let value = if tail { Some(statement.range.clone()) } else { value };
    let lines = work.lines(Some(number), &statement.range);
    let neutral = match &value {
        None => true,
        Some(value) => {
            let tokens = work.source.language.tokens();
            let text = work.source.str(value);
            text == tokens.null || text == tokens.neutral_value || text.len() <= 1
        }
    };
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    let inherited = inherited(work, statement.function).map(|call| (call.into_bytes(), 0.5));
    for (new, closeness) in candidates(work, scope).into_iter().chain(inherited) {
        let closeness =
            closeness * if of_parameter(work, statement.function, &new) { 4.0 } else { 1.0 };
        let edits = match &value {
            Some(value) => replace(value, new),
            None => replace(&statement.range, [b"return ", &new[..]].concat()),
        };
        alternatives.push((edits, closeness));
    }
    out.site((Template::Return, if neutral { 2.0 } else { 0.4 }), &lines, 40, alternatives);
}

/// Whether it is a field of a parameter: what an accessor gives back.
fn of_parameter(work: &Work<'_>, function: Option<usize>, text: &[u8]) -> bool {
    let Some(function) = function.map(|at| &work.source.parsed.functions()[at]) else {
        return false;
    };
    let Some(dot) = text.iter().position(|byte| *byte == b'.') else { return false };
    let rest = &text[dot + 1..];
    let plain = rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    plain && function.parameters.iter().any(|parameter| parameter.name.as_bytes() == &text[..dot])
}

/// Values that a function like this one may give back or assign.
fn candidates(work: &Work<'_>, scope: &Scope) -> Vec<(Vec<u8>, f64)> {
    let tokens = work.source.language.tokens();
    let mut values: Vec<(Vec<u8>, f64)> = Vec::new();
    for (name, closeness) in &scope.names {
        values.push((name.clone().into_bytes(), 1.0 * closeness));
    }
    for (word, closeness) in [(&tokens.yes, 0.5), (&tokens.no, 0.5), (&tokens.null, 0.4)] {
        if !word.is_empty() {
            values.push((word.clone().into_bytes(), closeness));
        }
    }
    let calls = scope.calls.texts.iter();
    values.extend(calls.map(|(call, near)| (call.clone().into_bytes(), 0.35 * near)));
    let returned = returned_elsewhere(work);
    for (number, near) in &scope.donors {
        let donor = &work.donors.expressions[*number];
        let given_back = if returned.contains(&donor.text[..]) { 0.8 } else { 0.15 };
        let short = if donor.text.len() < 30 { 1.0 } else { 0.6 };
        let worth = if donor.kind == ExpressionKind::String { 0.3 } else { 1.0 };
        values.push((donor.text.clone(), near * given_back * short * worth));
    }
    values
}

fn returned_elsewhere<'a>(work: &Work<'a>) -> BTreeSet<&'a [u8]> {
    let statements = work.source.parsed.statements().iter();
    statements
        .filter(|statement| statement.kind == StatementKind::Return)
        .filter_map(|statement| statement.parts.get(Part::Value))
        .map(|value| work.text(value))
        .collect()
}

/// The right side of an assignment.
fn values(
    work: &Work<'_>,
    scope: &Scope,
    number: usize,
    statement: &Statement,
    out: &mut Collector<'_>,
) {
    let (StatementKind::Assignment, Some(value), Some(target)) =
        (statement.kind, statement.parts.get(Part::Value), statement.parts.get(Part::Target))
    else {
        return;
    };
    // What is assigned to the same name elsewhere.
    let statements = work.source.parsed.statements().iter();
    let elsewhere = statements
        .filter(|other| other.kind == StatementKind::Assignment)
        .filter(|other| {
            other.parts.get(Part::Target).map(|t| work.text(t)) == Some(work.text(target))
        })
        .filter_map(|other| Some((other.function, work.text(other.parts.get(Part::Value)?))))
        .filter(|(_, text)| text.len() < 120 && *text != work.text(value))
        .filter(|(_, text)| work.source.in_scope(text, statement.function))
        .map(|(function, text)| {
            let near = scope.likeness.get(&function).copied().unwrap_or(0.1);
            (replace(value, text), near)
        });
    let alternatives: Vec<(Vec<Edit>, f64)> = elsewhere.collect();
    out.site((Template::Donor, 0.8), &work.lines(Some(number), value), 12, alternatives);
}

/// `a = b`, `a.append(b)` and the like, before the statement and at the end of its block.
fn insertions(
    work: &Work<'_>,
    scope: &Scope,
    number: usize,
    statement: &Statement,
    out: &mut Collector<'_>,
) {
    if statement.kind == StatementKind::Docstring {
        return;
    }
    let terminator = work.source.language.tokens().terminator.clone();
    let mut made: Vec<(String, f64)> = Vec::new();
    let names: Vec<&(String, f64)> = scope.names.iter().take(10).collect();
    for (target, first) in &names {
        for (value, second) in names.iter().filter(|(value, _)| value != target) {
            made.push((format!("{target} = {value}{terminator}"), 0.25 * first * second));
            if work.source.language.name() == "python" {
                made.push((format!("{target}.append({value})"), 0.1 * first * second));
                made.push((format!("{target}.add({value})"), 0.05 * first * second));
            } else if work.source.language.name() == "rust" {
                made.push((format!("{target}.push({value});"), 0.1 * first * second));
            }
        }
        for step in ["+= 1", "-= 1"] {
            made.push((format!("{target} {step}{terminator}"), 0.15 * first));
        }
    }
    copied(work, scope, &mut made);
    for (call, near) in &scope.calls.texts {
        made.push((format!("{call}{terminator}"), 0.3 * near));
        for (target, worth) in scope.names.iter().filter(|(_, worth)| *worth > 1.0) {
            made.push((format!("{target} = {call}{terminator}"), 0.1 * near * worth));
        }
    }
    missing(work, scope, &terminator, &mut made);
    if let Some(call) = inherited(work, statement.function) {
        made.push((call, 1.0));
    }
    let source = work.source;
    let put = |text: &str| place::before(source, &statement.range, text.as_bytes());
    let mut alternatives: Vec<(Vec<Edit>, f64)> =
        made.iter().map(|(text, near)| (vec![put(text)], *near)).collect();
    let leaves = matches!(
        statement.kind,
        StatementKind::Return
            | StatementKind::Raise
            | StatementKind::Break
            | StatementKind::Continue
    );
    if statement.index + 1 == statement.siblings && !leaves {
        let put = |text: &str| place::after(source, &statement.range, text.as_bytes());
        alternatives.extend(made.iter().map(|(text, near)| (vec![put(text)], *near)));
    }
    let lines = work.lines(Some(number), &(statement.range.start..statement.range.start));
    out.site((Template::Insert, 1.0), &lines, 100, alternatives);
}

/// A value for each name that the log calls undefined.
fn missing(work: &Work<'_>, scope: &Scope, terminator: &str, made: &mut Vec<(String, f64)>) {
    for name in work.clues.missing.iter().take(3) {
        for (number, near) in scope.donors.iter().take(60) {
            let donor = String::from_utf8_lossy(&work.donors.expressions[*number].text);
            if donor != name.as_str() {
                made.push((format!("{name} = {donor}{terminator}"), 2.0 * near));
            }
        }
    }
}

/// The same method of the base class, in Python.
fn inherited(work: &Work<'_>, function: Option<usize>) -> Option<String> {
    let function = &work.source.parsed.functions()[function?];
    let mut parameters = function.parameters.iter().map(|parameter| parameter.name.as_str());
    if work.source.language.name() != "python" || parameters.next() != Some("self") {
        return None;
    }
    let arguments: Vec<&str> = parameters.collect();
    Some(format!("super().{}({})", function.name, arguments.join(", ")))
}

/// One-line statements of like functions and of this one, and what elsewhere gives a value to a name
/// that this function reads and never sets.
fn copied(work: &Work<'_>, scope: &Scope, made: &mut Vec<(String, f64)>) {
    for (number, near) in &scope.statements {
        let other = &work.source.parsed.statements()[*number];
        let fit = match other.kind {
            StatementKind::Assignment | StatementKind::Expression => 0.4,
            StatementKind::AugmentedAssignment => 0.5,
            StatementKind::Break | StatementKind::Continue => 0.3,
            StatementKind::Return | StatementKind::Raise => 0.1,
            _ => continue,
        };
        let text = work.source.str(&other.range);
        let set = other.parts.get(Part::Target).map_or("", |target| work.source.str(target));
        let missing = work.clues.missing.contains(set);
        if !text.is_empty() {
            made.push((text.to_owned(), near * fit * if missing { 10.0 } else { 1.0 }));
        }
    }
}

/// The statement under a condition; an early exit before it.
fn guards(
    work: &Work<'_>,
    scope: &Scope,
    number: usize,
    statement: &Statement,
    out: &mut Collector<'_>,
) {
    if matches!(
        statement.kind,
        StatementKind::Docstring | StatementKind::Definition | StatementKind::Import
    ) {
        return;
    }
    let source = work.source;
    let lines = work.lines(Some(number), &(statement.range.start..statement.range.start));
    let tests = conditions::tests(work, scope, work.text(&statement.range));
    let mut under: Vec<(Vec<Edit>, f64)> = Vec::new();
    let mut exits: Vec<(Vec<Edit>, f64)> = Vec::new();
    let terminator = &source.language.tokens().terminator;
    let in_loop = enclosing_loop(work, statement);
    let leaving = leavings(work, scope);
    for (condition, near) in &tests {
        let body = place::flush(source, &statement.range);
        if let Some(text) = place::guarded(source, condition, &body) {
            under.push((vec![place::in_place(source, &statement.range, &text)], *near));
        }
        let mut exit = |body: &[u8], fit: f64| {
            if let Some(text) = place::guarded(source, condition, body) {
                exits.push((vec![place::before(source, &statement.range, &text)], near * fit));
            }
        };
        for (body, fit) in &leaving {
            exit(body, *fit);
        }
        if in_loop {
            exit(format!("continue{terminator}").as_bytes(), 0.5);
            exit(format!("break{terminator}").as_bytes(), 0.5);
        }
    }
    if statement.kind != StatementKind::Return || statement.index > 0 {
        out.site((Template::Guard, 0.7), &lines, 20, under);
    }
    let first = statement.index == 0 || statement.kind == StatementKind::Return;
    out.site((Template::Guard, if first { 1.0 } else { 0.5 }), &lines, 40, exits);
}

fn enclosing_loop(work: &Work<'_>, statement: &Statement) -> bool {
    let mut parent = statement.parent;
    while let Some(number) = parent {
        let statement = &work.source.parsed.statements()[number];
        if statement.kind == StatementKind::Loop {
            return true;
        }
        parent = statement.parent.filter(|_| statement.kind != StatementKind::Definition);
    }
    false
}

/// Statements that leave a function: those of like functions first.
fn leavings(work: &Work<'_>, scope: &Scope) -> Vec<(Vec<u8>, f64)> {
    let tokens = work.source.language.tokens();
    let end = &tokens.terminator;
    let mut leavings: Vec<(Vec<u8>, f64)> = Vec::new();
    let mut add = |value: &str, fit: f64| {
        leavings.push((format!("return {value}{end}").into_bytes(), fit));
    };
    for value in [&tokens.null, &tokens.yes, &tokens.no].into_iter().filter(|v| !v.is_empty()) {
        add(value, 0.3);
    }
    for (name, closeness) in scope.names.iter().take(6) {
        add(name, 0.3 * closeness);
    }
    let mut near_ones: Vec<(Vec<u8>, f64)> = Vec::new();
    for (number, near) in &scope.statements {
        let other = &work.source.parsed.statements()[*number];
        if matches!(other.kind, StatementKind::Return | StatementKind::Raise) {
            near_ones.push((work.text(&other.range).to_vec(), *near));
        }
    }
    near_ones.sort_by(|a, b| b.1.total_cmp(&a.1));
    near_ones.truncate(8);
    leavings.extend(near_ones);
    leavings
}
