//! One token changed: operators, negations, exchanged operands and statements. Most small injections
//! are their own inverse, so the injector's own operators serve here as well.

use super::super::place;
use super::super::proposal::{Collector, Template};
use super::{Work, is_simple, replace};
use crate::syntax::structural::{self, Operator};
use crate::syntax::{ExpressionKind, Part, Span, StatementKind};
use crate::text::Edit;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    mutations(work, out);
    operators(work, out);
    negations(work, out);
    neighbours(work, out);
}

/// Two statements in a row, the other way round.
fn neighbours(work: &Work<'_>, out: &mut Collector<'_>) {
    let statements = work.source.parsed.statements();
    for (number, first) in work.statements(work.thresholds.cheap) {
        let Some(block) = first.block else { continue };
        let block = &work.source.parsed.blocks()[block];
        let Some(second) = block.statements.get(first.index + 1) else { continue };
        let second = &statements[*second];
        let fixed = |kind| {
            matches!(
                kind,
                StatementKind::Docstring | StatementKind::Definition | StatementKind::Import
            )
        };
        if fixed(first.kind)
            || fixed(second.kind)
            || !place::alone(work.source, &first.range)
            || !place::alone(work.source, &second.range)
        {
            continue;
        }
        let edits = vec![
            Edit::new(first.range.clone(), work.text(&second.range)),
            Edit::new(second.range.clone(), work.text(&first.range)),
        ];
        let lines = work.lines(Some(number), &(first.range.start..first.range.start));
        out.site((Template::Swap, 0.3), &lines, 1, vec![(edits, 1.0)]);
    }
}

fn mutations(work: &Work<'_>, out: &mut Collector<'_>) {
    let mut sites: BTreeMap<(Operator, usize), Vec<Vec<Edit>>> = BTreeMap::new();
    for mutation in structural::mutations(&work.source.parsed, &work.source.language) {
        if let Some(first) = mutation.edits.first() {
            sites.entry((mutation.operator, first.range.start)).or_default().push(mutation.edits);
        }
    }
    for ((operator, at), alternatives) in sites {
        let Some(template) = undone_by(operator) else { continue };
        let statement = work.statement_at(at);
        if statement.is_none_or(|number| work.suspicion[number] < work.thresholds.cheap) {
            continue;
        }
        let end = alternatives.iter().flatten().map(|edit| edit.range.end).max().unwrap_or(at);
        let end = if template.0 == Template::Delete { at } else { end };
        let lines = work.lines(statement, &(at..end));
        let alternatives = alternatives.into_iter().map(|edits| (edits, 1.0)).collect();
        out.site(template, &lines, 12, alternatives);
    }
}

/// The template that an operator serves as a repair, and how well; `None` where it repairs nothing.
fn undone_by(operator: Operator) -> Option<(Template, f64)> {
    Some(match operator {
        Operator::ComparisonBoundary
        | Operator::ComparisonNegation
        | Operator::Arithmetic
        | Operator::Bitwise
        | Operator::BooleanOperator
        | Operator::AssignmentOperator => (Template::Operator, 0.5),
        Operator::Unary | Operator::BreakContinue => (Template::Operator, 0.6),
        Operator::NegateCondition | Operator::DropNot | Operator::InvertBranches => {
            (Template::Negation, 0.6)
        }
        Operator::Constant | Operator::BooleanConstant => (Template::Constant, 0.6),
        Operator::SwapOperands | Operator::SwapArguments | Operator::ShuffleStatements => {
            (Template::Swap, 0.7)
        }
        Operator::ReplaceName => (Template::Name, 0.3),
        Operator::ReplaceAttribute => (Template::Attribute, 0.5),
        Operator::OffByOne => (Template::PlusMinusOne, 1.0),
        Operator::CallToArgument | Operator::DropArgument | Operator::BreakChain => {
            (Template::Shrink, 0.5)
        }
        Operator::RemoveElse
        | Operator::RemoveConditional
        | Operator::RemoveAssignment
        | Operator::RemoveCall
        | Operator::RemoveWrapper => (Template::Delete, 0.5),
        Operator::StringConstant
        | Operator::DropDefault
        | Operator::NeutralReturn
        | Operator::RemoveLoop
        | Operator::EarlyReturn => return None,
    })
}

fn operators(work: &Work<'_>, out: &mut Collector<'_>) {
    for expression in work.suspects() {
        let Some(operator) = expression.operator() else { continue };
        let fit = if expression.kind == ExpressionKind::Comparison { 0.7 } else { 0.5 };
        swap_operator(work, out, operator, expression.statement, fit);
        if matches!(expression.kind, ExpressionKind::Comparison | ExpressionKind::Binary)
            && let (Some(left), Some(right)) = (expression.left(), expression.right())
        {
            let edits = vec![
                Edit::new(left.clone(), work.text(right)),
                Edit::new(right.clone(), work.text(left)),
            ];
            let swapped = vec![(edits, 1.0)];
            out.site((Template::Swap, 0.3), &work.lines_of(expression), 1, swapped);
        }
    }
    for (number, statement) in work.statements(work.thresholds.cheap) {
        if statement.kind == StatementKind::AugmentedAssignment
            && let Some(operator) = statement.parts.get(Part::Operator)
        {
            swap_operator(work, out, operator, Some(number), 0.6);
            let plain = vec![(replace(operator, *b"="), 1.0)];
            out.site((Template::Operator, 0.1), &work.lines(Some(number), operator), 1, plain);
        } else if statement.kind == StatementKind::Assignment
            && let (Some(target), Some(value)) =
                (statement.parts.get(Part::Target), statement.parts.get(Part::Value))
            && let Some(at) = work
                .text(&(target.end..value.start.max(target.end)))
                .iter()
                .position(|b| *b == b'=')
        {
            let at = target.end + at;
            let augmented =
                ["+=", "-=", "*=", "|=", "&="].map(|new| (replace(&(at..at + 1), new), 1.0));
            let lines = work.lines(Some(number), &(at..at + 1));
            out.site((Template::Operator, 0.2), &lines, 5, augmented.to_vec());
        }
    }
}

/// Operators two steps away count too, but less: `<` becomes `>=` becomes `>`.
fn swap_operator(
    work: &Work<'_>,
    out: &mut Collector<'_>,
    operator: &Span,
    statement: Option<usize>,
    fit: f64,
) {
    let Ok(written) = std::str::from_utf8(work.text(operator)) else { return };
    let language = &work.source.language;
    let near: BTreeSet<&str> =
        language.operator_swaps(written).into_iter().map(|(_, new)| new).collect();
    let far = near.iter().flat_map(|step| language.operator_swaps(step)).map(|(_, new)| new);
    let far: BTreeSet<&str> = far.filter(|new| *new != written && !near.contains(new)).collect();
    let arithmetic: &[&str] = match (written, language.name()) {
        ("+" | "-" | "*" | "/" | "//" | "%" | "**", "python") => &["+", "-", "*", "/", "//", "%"],
        ("+" | "-" | "*" | "/" | "%", _) => &["+", "-", "*", "/", "%"],
        _ => &[],
    };
    let other = arithmetic
        .iter()
        .filter(|new| **new != written && !near.contains(**new) && !far.contains(**new));
    let alternatives = near
        .iter()
        .map(|new| (replace(operator, *new), 1.0))
        .chain(far.iter().map(|new| (replace(operator, *new), 0.25)))
        .chain(other.map(|new| (replace(operator, *new), 0.15)))
        .collect();
    out.site((Template::Operator, fit), &work.lines(statement, operator), 12, alternatives);
}

/// `not` put on conditions and boolean operands, and taken off.
fn negations(work: &Work<'_>, out: &mut Collector<'_>) {
    let mut conditions: Vec<(Option<usize>, &Span)> = Vec::new();
    for (number, statement) in work.statements(work.thresholds.cheap) {
        if let Some(condition) = statement.parts.get(Part::Condition) {
            conditions.push((Some(number), condition));
        }
    }
    for expression in work.suspects() {
        match expression.kind {
            ExpressionKind::Boolean => {
                let sides = [expression.left(), expression.right()].into_iter().flatten();
                conditions.extend(sides.map(|side| (expression.statement, side)));
            }
            ExpressionKind::Comparison => {
                conditions.push((expression.statement, &expression.range));
            }
            ExpressionKind::Conditional => {
                let condition = expression.parts.get(Part::Condition);
                conditions.extend(condition.map(|span| (expression.statement, span)));
            }
            ExpressionKind::Not => {
                let inner = expression.parts.iter().map(|(_, span)| span).last();
                if let Some(inner) = inner {
                    let bare = vec![(replace(&expression.range, work.text(inner)), 1.0)];
                    out.site((Template::Negation, 0.7), &work.lines_of(expression), 1, bare);
                }
            }
            _ => {}
        }
    }
    for (statement, condition) in conditions {
        let kind = work.expression_at(condition).map(|expression| expression.kind);
        if kind == Some(ExpressionKind::Not) {
            continue;
        }
        let simple = kind.is_some_and(is_simple);
        let negated = work.source.language.negated(work.text(condition), simple);
        let alternatives = vec![(replace(condition, negated), 1.0)];
        out.site((Template::Negation, 0.5), &work.lines(statement, condition), 1, alternatives);
    }
}
