//! Less: a part of an expression for the whole, a statement or a guard gone.

use super::super::place;
use super::super::proposal::{Collector, Template};
use super::{Work, replace};
use crate::syntax::structural;
use crate::syntax::{BlockStyle, Expression, ExpressionKind, Part, Span, StatementKind};
use crate::text::Edit;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    for expression in work.suspects().filter(|expression| !expression.assigned) {
        // Where types are declared, a field and what has it are hardly ever of one.
        let typed = work.source.language.typed();
        let parts = match expression.kind {
            ExpressionKind::Attribute if typed => Vec::new(),
            _ => parts_of(expression),
        };
        let alternatives: Vec<(Vec<Edit>, f64)> = parts
            .into_iter()
            .map(|part| (replace(&expression.range, work.text(&part)), 1.0))
            .collect();
        if !alternatives.is_empty() {
            let fit = if work.is_callee(expression) { 0.3 } else { 1.0 };
            out.site((Template::Shrink, fit), &work.lines_of(expression), 6, alternatives);
        }
        arguments(work, expression, out);
    }
    deletions(work, out);
    unguarded(work, out);
}

/// The parts that may stand for the whole.
fn parts_of(expression: &Expression) -> Vec<Span> {
    let wanted: &[Part] = match expression.kind {
        ExpressionKind::Binary | ExpressionKind::Boolean => &[Part::Left, Part::Right],
        ExpressionKind::Conditional => &[Part::Body, Part::Alternative],
        ExpressionKind::Subscript | ExpressionKind::Slice | ExpressionKind::Attribute => {
            &[Part::Object]
        }
        ExpressionKind::Unary | ExpressionKind::Cast => &[Part::Value, Part::Right],
        ExpressionKind::Call => &[Part::Argument],
        _ => return Vec::new(),
    };
    let mut parts: Vec<Span> =
        wanted.iter().flat_map(|part| expression.parts.all(*part)).cloned().collect();
    let keywords: Vec<&Span> = expression.parts.all(Part::Keyword).collect();
    parts.retain(|part| !keywords.contains(&part));
    parts
}

/// Calls with an argument less; chains without their last link.
fn arguments(work: &Work<'_>, expression: &Expression, out: &mut Collector<'_>) {
    if expression.kind != ExpressionKind::Call {
        return;
    }
    let list = expression.argument_list();
    let mut alternatives = Vec::new();
    for (number, argument) in list.iter().enumerate() {
        let span = match (list.get(number + 1), number.checked_sub(1).and_then(|n| list.get(n))) {
            (Some(next), _) => argument.start..next.start,
            (None, Some(before)) => before.end..argument.end,
            (None, None) => (*argument).clone(),
        };
        alternatives.push((replace(&span, *b""), 1.0));
    }
    if let Some(callee) = expression.callee()
        && let Some(object) = work
            .expression_at(callee)
            .filter(|e| e.kind == ExpressionKind::Attribute)
            .and_then(|attribute| attribute.parts.get(Part::Object))
    {
        alternatives.push((replace(&expression.range, work.text(object)), 1.0));
    }
    out.site((Template::Shrink, 0.4), &work.lines_of(expression), 6, alternatives);
}

fn deletions(work: &Work<'_>, out: &mut Collector<'_>) {
    for (number, statement) in work.statements(work.thresholds.cheap) {
        let fit = match statement.kind {
            StatementKind::Break | StatementKind::Continue => 1.0,
            StatementKind::Return if statement.parts.get(Part::Value).is_none() => 2.0,
            StatementKind::Return | StatementKind::Raise
                if statement.index + 1 < statement.siblings =>
            {
                2.0
            }
            StatementKind::Assignment
            | StatementKind::AugmentedAssignment
            | StatementKind::Expression
            | StatementKind::If
            | StatementKind::Return
            | StatementKind::Raise => 0.5,
            _ => continue,
        };
        let edits = structural::delete(&work.source.parsed, &work.source.language, &[number]);
        let start = statement.range.start;
        out.site(
            (Template::Delete, fit),
            &work.lines(Some(number), &(start..start)),
            1,
            vec![(edits, 1.0)],
        );
    }
}

/// The body of an `if` in its place.
fn unguarded(work: &Work<'_>, out: &mut Collector<'_>) {
    let parsed = &work.source.parsed;
    for (number, statement) in work.statements(work.thresholds.cheap) {
        let (StatementKind::If, None) = (statement.kind, statement.parts.get(Part::Alternative))
        else {
            continue;
        };
        let Some(body) = parsed.blocks().iter().find(|block| block.owner == Some(number)) else {
            continue;
        };
        let (Some(first), Some(last)) = (body.statements.first(), body.statements.last()) else {
            continue;
        };
        let inner = parsed.statements()[*first].range.start..parsed.statements()[*last].range.end;
        if work.source.language.blocks() == BlockStyle::Indent
            && parsed.line_of(inner.start) == parsed.line_of(statement.range.start)
        {
            continue;
        }
        let edit =
            place::in_place(work.source, &statement.range, &place::flush(work.source, &inner));
        let lines = work.lines(Some(number), &(statement.range.start..inner.start));
        out.site((Template::Guard, 0.3), &lines, 1, vec![(vec![edit], 1.0)]);
    }
}
