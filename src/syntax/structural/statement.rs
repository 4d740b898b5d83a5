//! Mutations of statements.

use super::super::layout::{delete, delete_clause, line_start, moved_out};
use super::super::model::{Part, Statement, StatementKind as Kind};
use super::Operator;
use super::collector::Collector;
use super::expression::negate_condition;
use crate::text::Edit;

/// Longer neighbours are not exchanged.
const SHUFFLED: usize = 400;

pub(super) fn mutate(collector: &mut Collector<'_>) {
    for (id, statement) in collector.parsed.statements().iter().enumerate() {
        for condition in statement.parts.all(Part::Condition) {
            negate_condition(collector, statement.function, condition);
        }
        match statement.kind {
            Kind::Return => neutral_return(collector, statement),
            Kind::Break | Kind::Continue => break_continue(collector, statement),
            Kind::If => branches(collector, statement),
            Kind::Assignment if statement.parts.get(Part::Target).is_some() => {
                remove(collector, Operator::RemoveAssignment, id);
            }
            Kind::AugmentedAssignment => {
                assignment_operator(collector, statement);
                remove(collector, Operator::RemoveAssignment, id);
            }
            Kind::Expression => remove(collector, Operator::RemoveCall, id),
            Kind::Loop => remove(collector, Operator::RemoveLoop, id),
            Kind::Try | Kind::With => keep_body(collector, statement, Operator::RemoveWrapper),
            _ => {}
        }
        shuffle(collector, statement);
        early_return(collector, statement);
    }
    drop_defaults(collector);
}

fn remove(collector: &mut Collector<'_>, operator: Operator, id: usize) {
    let statement = &collector.parsed.statements()[id];
    // Only functions' statements: at module level this breaks whatever imports the file.
    if statement.function.is_some() && !is_value(collector, statement) {
        let edits = delete(collector.parsed, collector.language, &[id]);
        collector.push(operator, statement.function, edits);
    }
}

/// It gives its block a value, so it cannot go.
fn is_value(collector: &Collector<'_>, statement: &Statement) -> bool {
    is_tail_value(collector.parsed, collector.language, statement)
}

/// Where a block's last expression is its value: it is that one, and its function returns one.
pub(super) fn is_tail_value(
    parsed: &super::super::Parsed,
    language: &super::super::Language,
    statement: &Statement,
) -> bool {
    language.has_tail_values()
        && statement.index + 1 == statement.siblings
        && !parsed.text(&statement.range).ends_with(language.tokens().terminator.as_bytes())
        && statement.function.is_some_and(|function| parsed.functions()[function].returns.is_some())
}

fn neutral_return(collector: &mut Collector<'_>, statement: &Statement) {
    let parsed = collector.parsed;
    let (Some(value), Some(function)) = (statement.parts.get(Part::Value), statement.function)
    else {
        return;
    };
    let function = &parsed.functions()[function];
    // A tail value is returned only from the body itself.
    if value == &statement.range && statement.block != function.block {
        return;
    }
    for neutral in collector.language.neutral_values(function.returns.as_deref()) {
        collector.replace(Operator::NeutralReturn, statement.function, value, neutral);
    }
}

fn break_continue(collector: &mut Collector<'_>, statement: &Statement) {
    let statements = collector.parsed.statements();
    let parents = std::iter::successors(statement.parent, |id| statements[*id].parent);
    let around = parents
        .map(|id| statements[id].kind)
        .find(|kind| matches!(kind, Kind::Loop | Kind::Switch | Kind::Definition));
    if around != Some(Kind::Loop) {
        return;
    }
    let word = collector.word(&statement.range);
    let other = match word.trim_end_matches(';').trim_end() {
        "break" => word.replace("break", "continue"),
        "continue" => word.replace("continue", "break"),
        _ => return,
    };
    collector.replace(Operator::BreakContinue, statement.function, &statement.range, other);
}

fn branches(collector: &mut Collector<'_>, statement: &Statement) {
    let parts = &statement.parts;
    let alternatives: Vec<_> = parts.all(Part::Alternative).collect();
    let body = parts.get(Part::Body);
    if let ([_], Some(body), Some(other)) =
        (&alternatives[..], body, parts.get(Part::AlternativeBody))
    {
        collector.swap(Operator::InvertBranches, statement.function, body, other);
    }
    if let Some(last) = alternatives.last()
        && !is_value(collector, statement)
    {
        let edit = delete_clause(collector.parsed, last);
        collector.push(Operator::RemoveElse, statement.function, vec![edit]);
    }
    let plain = alternatives.is_empty()
        || (alternatives.len() == 1 && parts.get(Part::AlternativeBody).is_some());
    if plain && parts.get(Part::Condition).is_some() {
        keep_body(collector, statement, Operator::RemoveConditional);
    }
}

/// Puts the body where the statement is.
fn keep_body(collector: &mut Collector<'_>, statement: &Statement, operator: Operator) {
    let Some(body) = statement.parts.get(Part::Body) else { return };
    if statement.block.is_none() || statement.function.is_none() {
        return;
    }
    let block = collector.block_at(body);
    let moved = block.and_then(|block| moved_out(collector.parsed, block, statement.range.start));
    if let Some(moved) = moved {
        collector.replace(operator, statement.function, &statement.range, moved);
    }
}

fn assignment_operator(collector: &mut Collector<'_>, statement: &Statement) {
    let Some(operator) = statement.parts.get(Part::Operator) else { return };
    let language = collector.language;
    for swap in language.swaps_in("assignment", collector.word(operator)) {
        collector.replace(
            Operator::AssignmentOperator,
            statement.function,
            operator,
            swap.as_str(),
        );
    }
}

/// Exchanges the statement and the one after it, where one uses what the other sets.
fn shuffle(collector: &mut Collector<'_>, statement: &Statement) {
    let parsed = collector.parsed;
    let Some(block) = statement.block.filter(|_| statement.function.is_some()) else { return };
    let Some(next) = parsed.blocks()[block].statements.get(statement.index + 1) else { return };
    let next = &parsed.statements()[*next];
    let movable = |it: &Statement| {
        matches!(
            it.kind,
            Kind::Assignment | Kind::AugmentedAssignment | Kind::Expression | Kind::If | Kind::Loop
        ) && it.range.len() <= SHUFFLED
            && !is_tail_value(parsed, collector.language, it)
            && (!collector.language.typed()
                || it.kind != Kind::Assignment
                || it.parts.get(Part::Target).is_some())
    };
    if !movable(statement) || !movable(next) {
        return;
    }
    let uses = |a: &Statement, b: &Statement| {
        let target = a.parts.get(Part::Target).map(|target| parsed.text(target));
        let text = parsed.text(&b.range);
        target.is_some_and(|target| contains(text, target))
    };
    let calls = statement.kind == Kind::Expression && next.kind == Kind::Expression;
    if calls || uses(statement, next) || uses(next, statement) {
        let (a, b) = (statement.range.clone(), next.range.clone());
        collector.swap(Operator::ShuffleStatements, statement.function, &a, &b);
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

/// A return before a statement of the function's own block.
fn early_return(collector: &mut Collector<'_>, statement: &Statement) {
    let parsed = collector.parsed;
    let Some(function) = statement.function.map(|function| &parsed.functions()[function]) else {
        return;
    };
    let fits = statement.block.is_some()
        && statement.block == function.block
        && !matches!(
            statement.kind,
            Kind::Return | Kind::Docstring | Kind::Import | Kind::Definition
        );
    let start = statement.range.start;
    let line = line_start(parsed.source(), start);
    let begins_line = parsed.source()[line..start].iter().all(|byte| matches!(byte, b' ' | b'\t'));
    if !fits || !begins_line {
        return;
    }
    let tokens = collector.language.tokens();
    let typed_without_value = collector.language.typed() && function.returns.is_none();
    let mut returns = Vec::new();
    if typed_without_value {
        returns.push(tokens.return_statement.clone());
    } else if let Some(value) =
        collector.language.neutral_values(function.returns.as_deref()).first()
    {
        returns.push(format!("return {value}{}", tokens.terminator));
    }
    for text in returns {
        let mut inserted = text.into_bytes();
        inserted.extend_from_slice(parsed.newline());
        inserted.extend_from_slice(parsed.indentation(start));
        collector.push(
            Operator::EarlyReturn,
            statement.function,
            vec![Edit::new(start..start, inserted)],
        );
    }
}

/// The first default of a function: after it there may be no parameter without one.
fn drop_defaults(collector: &mut Collector<'_>) {
    for (id, function) in collector.parsed.functions().iter().enumerate() {
        if let Some(default) = function.parameters.iter().find_map(|it| it.default.as_ref()) {
            collector.replace(Operator::DropDefault, Some(id), default, "");
        }
    }
}
