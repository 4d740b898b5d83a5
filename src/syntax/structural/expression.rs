//! Mutations of expressions.

use super::super::layout::is_simple;
use super::super::model::{Expression, ExpressionKind as Kind, Part, Span};
use super::Operator;
use super::collector::Collector;
use std::collections::{BTreeMap, BTreeSet};

/// How many names stand in for one.
const NAMES: usize = 4;
/// How many attributes stand in for one.
const ATTRIBUTES: usize = 2;

pub(super) fn mutate(collector: &mut Collector<'_>) {
    let attributes = Attributes::new(collector);
    for (id, expression) in collector.parsed.expressions().iter().enumerate() {
        match expression.kind {
            Kind::Comparison => comparison(collector, expression),
            Kind::Binary => binary(collector, expression),
            Kind::Boolean => boolean(collector, expression),
            Kind::Not => drop_not(collector, expression),
            Kind::Unary => unary(collector, expression),
            Kind::Integer => integer(collector, expression),
            Kind::Float => float(collector, expression),
            Kind::True | Kind::False => truth(collector, expression),
            Kind::String => string(collector, expression),
            Kind::Call => call(collector, expression),
            Kind::Name => name(collector, expression),
            Kind::Attribute => attributes.replace(collector, id, expression),
            Kind::Slice | Kind::Range => range(collector, expression),
            Kind::Conditional => conditional(collector, expression),
            _ => {}
        }
        for condition in expression.parts.all(Part::Condition) {
            negate_condition(collector, expression.function, condition);
        }
    }
}

/// Exchanges the operators of an expression by one table.
fn swap_operators(
    collector: &mut Collector<'_>,
    expression: &Expression,
    operator: Operator,
    table: &str,
) {
    let language = collector.language;
    for span in expression.parts.all(Part::Operator) {
        for swap in language.swaps_in(table, &one_line(collector.word(span))) {
            collector.replace(operator, expression.function, span, swap.as_str());
        }
    }
}

/// `not   in` as `not in`.
fn one_line(word: &str) -> String {
    word.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn swap_operands(collector: &mut Collector<'_>, expression: &Expression) {
    let Some(operator) = expression.operator() else { return };
    if !collector.language.is_ordered(&one_line(collector.word(operator))) {
        return;
    }
    if let (Some(left), Some(right)) = (expression.left(), expression.right())
        && collector.text(left) != collector.text(right)
        && is_simple(collector.text(left))
        && is_simple(collector.text(right))
    {
        collector.swap(Operator::SwapOperands, expression.function, left, right);
    }
}

fn comparison(collector: &mut Collector<'_>, expression: &Expression) {
    swap_operators(collector, expression, Operator::ComparisonBoundary, "boundary");
    swap_operators(collector, expression, Operator::ComparisonNegation, "negation");
    swap_operands(collector, expression);
}

fn binary(collector: &mut Collector<'_>, expression: &Expression) {
    let quoted = |span: Option<&Span>| {
        span.is_some_and(|span| matches!(collector.text(span).last(), Some(b'"' | b'\'' | b'`')))
    };
    // A string's operators are other operators: exchanged they only raise.
    if !quoted(expression.left()) && !quoted(expression.right()) {
        swap_operators(collector, expression, Operator::Arithmetic, "arithmetic");
        swap_operators(collector, expression, Operator::Bitwise, "bitwise");
        swap_operands(collector, expression);
    }
    break_chain(collector, expression);
}

fn boolean(collector: &mut Collector<'_>, expression: &Expression) {
    swap_operators(collector, expression, Operator::BooleanOperator, "boolean");
    break_chain(collector, expression);
}

fn break_chain(collector: &mut Collector<'_>, expression: &Expression) {
    for side in [expression.left(), expression.right()].into_iter().flatten() {
        let text = collector.text(side);
        collector.replace(Operator::BreakChain, expression.function, &expression.range, text);
    }
}

fn drop_not(collector: &mut Collector<'_>, expression: &Expression) {
    if let Some(right) = expression.right() {
        let text = collector.text(right);
        collector.replace(Operator::DropNot, expression.function, &expression.range, text);
    }
}

fn unary(collector: &mut Collector<'_>, expression: &Expression) {
    swap_operators(collector, expression, Operator::Unary, "unary");
    let Some((operator, right)) = expression.operator().zip(expression.right()) else { return };
    if collector.text(operator) == b"-" {
        let text = collector.text(right);
        collector.replace(Operator::Unary, expression.function, &expression.range, text);
    }
}

fn integer(collector: &mut Collector<'_>, expression: &Expression) {
    let text = collector.word(&expression.range);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let plain = number == "0" || !number.starts_with('0');
    let known_suffix = suffix.is_empty() || suffix.starts_with(['u', 'i', 'U', 'L', 'l']);
    let Some(value) = number.parse::<u64>().ok().filter(|_| plain && known_suffix) else { return };
    let mut values = vec![value.saturating_add(1).to_string()];
    if value > 0 {
        values.push((value - 1).to_string());
        values.push("0".to_owned());
        values.push("1".to_owned());
        if !collector.language.typed() && !is_negated(collector, expression) {
            values.push(format!("-{value}"));
        }
    }
    for value in values {
        collector.replace(
            Operator::Constant,
            expression.function,
            &expression.range,
            format!("{value}{suffix}"),
        );
    }
}

/// A minus before it would give `--`.
fn is_negated(collector: &Collector<'_>, expression: &Expression) -> bool {
    let parent = expression.parent.map(|parent| &collector.parsed.expressions()[parent]);
    parent.is_some_and(|parent| {
        parent.kind == Kind::Unary
            || parent.parts.get(Part::Object) == Some(&expression.range)
            || parent.left() == Some(&expression.range)
    })
}

fn float(collector: &mut Collector<'_>, expression: &Expression) {
    let text = collector.word(&expression.range);
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let Some(value) = text.parse::<f64>().ok().filter(|value| plain && value.is_finite()) else {
        return;
    };
    for value in [value + 1.0, value - 1.0, 0.0, 1.0] {
        if value >= 0.0 {
            collector.replace(
                Operator::Constant,
                expression.function,
                &expression.range,
                format!("{value:?}"),
            );
        }
    }
}

fn truth(collector: &mut Collector<'_>, expression: &Expression) {
    let tokens = collector.language.tokens();
    let other = if expression.kind == Kind::True { &tokens.no } else { &tokens.yes };
    if !other.is_empty() {
        collector.replace(
            Operator::BooleanConstant,
            expression.function,
            &expression.range,
            other.as_str(),
        );
    }
}

/// Takes the last letter away, and everything.
fn string(collector: &mut Collector<'_>, expression: &Expression) {
    let Some(content) = expression.parts.get(Part::Value) else { return };
    let text = collector.text(content);
    let special = |byte: &u8| matches!(byte, b'\\' | b'%' | b'{' | b'}' | b'$' | b'#' | b'\n');
    let Some((last, rest)) = text.split_last() else { return };
    if text.iter().any(special) {
        return;
    }
    if last.is_ascii() && !rest.is_empty() {
        collector.replace(Operator::StringConstant, expression.function, content, rest);
    }
    collector.replace(Operator::StringConstant, expression.function, content, "");
}

fn call(collector: &mut Collector<'_>, expression: &Expression) {
    let keywords: BTreeSet<usize> =
        expression.parts.all(Part::Keyword).map(|span| span.start).collect();
    let arguments = expression.argument_list();
    let positional: Vec<&Span> = arguments
        .iter()
        .copied()
        .filter(|span| !keywords.contains(&span.start) && !is_splat(collector.text(span)))
        .collect();
    for pair in positional.windows(2) {
        if may_swap(collector, expression, pair[0], pair[1]) {
            collector.swap(Operator::SwapArguments, expression.function, pair[0], pair[1]);
        }
    }
    for (at, argument) in arguments.iter().enumerate() {
        if keywords.contains(&argument.start) {
            let range = with_comma(&arguments, at);
            collector.replace(Operator::DropArgument, expression.function, &range, "");
        }
    }
    let is_range = expression
        .callee()
        .is_some_and(|callee| collector.language.is_range_call(collector.word(callee)));
    if is_range && let Some(stop) = positional.get(usize::from(positional.len() > 1)) {
        shift(collector, expression.function, stop);
    }
    let alone = expression.statement.is_some_and(|statement| {
        collector.parsed.statements()[statement].range.start == expression.range.start
            && expression.parent.is_none()
    });
    if let [argument] = arguments[..]
        && !positional.is_empty()
        && !alone
        && !collector.language.typed()
    {
        let text = collector.text(argument);
        // The call's parentheses may be what lets it go on over lines, or what binds it.
        let loose = expression.parent.is_some()
            && (!is_simple(text) || text.first().is_some_and(u8::is_ascii_digit));
        let text = if loose || text.contains(&b'\n') {
            [b"(", text, b")"].concat()
        } else {
            text.to_vec()
        };
        collector.replace(Operator::CallToArgument, expression.function, &expression.range, text);
    }
}

fn is_splat(text: &[u8]) -> bool {
    text.starts_with(b"*") || text.starts_with(b"...") || text.starts_with(b"&")
}

/// Where types matter, only names with the same written type and two plain numbers change places.
fn may_swap(collector: &Collector<'_>, call: &Expression, a: &Span, b: &Span) -> bool {
    if collector.text(a) == collector.text(b) {
        return false;
    }
    if !collector.language.typed() {
        return true;
    }
    let kind = |span: &Span| collector.expression_at(span).map(|expression| expression.kind);
    match (kind(a), kind(b)) {
        (Some(Kind::Integer), Some(Kind::Integer)) | (Some(Kind::String), Some(Kind::String)) => {
            true
        }
        (Some(Kind::Name), Some(Kind::Name)) => call.function.is_some_and(|function| {
            let others = collector.other_names(function, collector.word(a), usize::MAX);
            others.contains(&collector.word(b))
        }),
        _ => false,
    }
}

/// An argument with the comma that goes with it.
fn with_comma(arguments: &[&Span], at: usize) -> Span {
    let argument = arguments[at];
    match (at.checked_sub(1), arguments.get(at + 1)) {
        (Some(before), _) => arguments[before].end..argument.end,
        (None, Some(after)) => argument.start..after.start,
        (None, None) => argument.clone(),
    }
}

fn name(collector: &mut Collector<'_>, expression: &Expression) {
    let Some(function) = expression.function.filter(|_| !expression.assigned) else { return };
    for other in collector.other_names(function, collector.word(&expression.range), NAMES) {
        collector.replace(Operator::ReplaceName, Some(function), &expression.range, other);
    }
}

/// The end of a range or slice moves by one.
fn range(collector: &mut Collector<'_>, expression: &Expression) {
    swap_operators(collector, expression, Operator::OffByOne, "range");
    let is_range = expression.kind == Kind::Range;
    for part in [Part::Start, Part::Stop] {
        if let Some(span) = expression.parts.get(part)
            && (part == Part::Stop || !is_range || !collector.language.typed())
        {
            shift(collector, expression.function, span);
        }
    }
}

/// `x` becomes `x + 1` and `x - 1`. Numbers are left to [`integer`].
fn shift(collector: &mut Collector<'_>, function: Option<usize>, span: &Span) {
    let text = collector.text(span);
    if text.first().is_none_or(u8::is_ascii_digit) {
        return;
    }
    for change in [" + 1", " - 1"] {
        let mut shifted = Vec::with_capacity(text.len() + 6);
        let (open, close): (&[u8], &[u8]) = if is_simple(text) { (b"", b"") } else { (b"(", b")") };
        for piece in [open, text, close, change.as_bytes()] {
            shifted.extend_from_slice(piece);
        }
        collector.replace(Operator::OffByOne, function, span, shifted);
    }
}

fn conditional(collector: &mut Collector<'_>, expression: &Expression) {
    let parts = &expression.parts;
    let Some((body, alternative)) = parts.get(Part::Body).zip(parts.get(Part::Alternative)) else {
        return;
    };
    if collector.text(body) == collector.text(alternative) {
        return;
    }
    collector.swap(Operator::InvertBranches, expression.function, body, alternative);
    for branch in [body, alternative] {
        let text = collector.text(branch);
        let is_statement = expression.statement.is_some_and(|statement| {
            collector.parsed.statements()[statement].range.start == expression.range.start
        });
        if !is_statement {
            collector.replace(
                Operator::RemoveConditional,
                expression.function,
                &expression.range,
                text,
            );
        }
    }
}

/// Comparisons and negations are left to their own operators.
pub(super) fn negate_condition(
    collector: &mut Collector<'_>,
    function: Option<usize>,
    condition: &Span,
) {
    let kind = collector.expression_at(condition).map(|expression| expression.kind);
    if matches!(kind, Some(Kind::Comparison | Kind::Not)) {
        return;
    }
    let text = collector.text(condition);
    let negated = collector.language.negated(text, is_simple(text));
    collector.replace(Operator::NegateCondition, function, condition, negated);
}

/// The function, the object's text, and whether the attribute is called.
type AttributeKey<'a> = (Option<usize>, &'a [u8], bool);

/// The attributes read of one object in one function, those called apart.
struct Attributes<'a> {
    names: BTreeMap<AttributeKey<'a>, BTreeSet<&'a str>>,
    callees: Vec<bool>,
}

impl<'a> Attributes<'a> {
    fn new(collector: &Collector<'a>) -> Self {
        let expressions = collector.parsed.expressions();
        let mut attributes =
            Self { names: BTreeMap::new(), callees: vec![false; expressions.len()] };
        for (id, expression) in expressions.iter().enumerate() {
            let call = expression.parent.map(|parent| &expressions[parent]);
            attributes.callees[id] =
                call.is_some_and(|call| call.callee() == Some(&expression.range));
            if let Some((key, name)) = attributes.key(collector, id, expression) {
                attributes.names.entry(key).or_default().insert(name);
            }
        }
        attributes
    }

    fn key(
        &self,
        collector: &Collector<'a>,
        id: usize,
        expression: &Expression,
    ) -> Option<(AttributeKey<'a>, &'a str)> {
        if expression.kind != Kind::Attribute {
            return None;
        }
        let object = collector.text(expression.parts.get(Part::Object)?);
        let name = collector.word(expression.parts.get(Part::Name)?);
        Some(((expression.function, object, self.callees[id]), name))
    }

    fn replace(&self, collector: &mut Collector<'a>, id: usize, expression: &Expression) {
        if collector.language.typed() || expression.assigned {
            return;
        }
        let Some((key, name)) = self.key(collector, id, expression) else { return };
        let Some(span) = expression.parts.get(Part::Name) else { return };
        let others = self.names.get(&key).into_iter().flatten().filter(|other| **other != name);
        for other in others.take(ATTRIBUTES) {
            collector.replace(Operator::ReplaceAttribute, expression.function, span, *other);
        }
    }
}
