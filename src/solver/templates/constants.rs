//! Constants: neighbours, the usual suspects, and what the file or the failing tests use instead.

use super::super::proposal::{Collector, Template};
use super::{Work, replace};
use crate::syntax::{Expression, ExpressionKind};
use crate::text::Edit;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    for expression in work.suspects() {
        let alternatives = match expression.kind {
            ExpressionKind::Integer => integers(work, expression),
            ExpressionKind::Float => literals(work, expression, 0.5),
            ExpressionKind::String => literals(work, expression, 1.0),
            ExpressionKind::True | ExpressionKind::False | ExpressionKind::Null => {
                words(work, expression)
            }
            _ => continue,
        };
        out.site((Template::Constant, 1.0), &work.lines_of(expression), 14, alternatives);
    }
}

fn integers(work: &Work<'_>, expression: &Expression) -> Vec<(Vec<Edit>, f64)> {
    let text = work.source.str(&expression.range);
    let mut alternatives = literals(work, expression, 0.5);
    let Ok(value) = text.parse::<i128>() else { return alternatives };
    let mut add = |new: String, closeness: f64| {
        alternatives.push((replace(&expression.range, new), closeness));
    };
    if let (Some(more), Some(less)) = (value.checked_add(1), value.checked_sub(1)) {
        add(more.to_string(), 1.5);
        add(less.to_string(), 1.5);
    }
    for (usual, closeness) in [(0, 0.6), (1, 0.6), (-1, 0.3), (2, 0.2)] {
        add(usual.to_string(), closeness);
    }
    add(format!("-{value}"), 0.3);
    if !work.source.language.null().is_empty() {
        add(work.source.language.null().to_owned(), 0.2);
    }
    alternatives
}

/// The file's other literals of the same kind, and those of the failing tests.
fn literals(work: &Work<'_>, expression: &Expression, most: f64) -> Vec<(Vec<Edit>, f64)> {
    let own = work.text(&expression.range);
    let mut alternatives = Vec::new();
    let Some(scope) = work.scope(expression.function) else { return alternatives };
    for (number, near) in &scope.donors {
        let donor = &work.donors.expressions[*number];
        if donor.kind == expression.kind && donor.text != own {
            let closeness = most * near * (0.3 + resemblance(own, &donor.text));
            alternatives.push((replace(&expression.range, donor.text.clone()), closeness));
        }
    }
    for literal in &work.clues.literals {
        let quoted = literal.starts_with(['"', '\'']);
        if quoted == (expression.kind == ExpressionKind::String) && literal.as_bytes() != own {
            let closeness = most * (0.2 + resemblance(own, literal.as_bytes()));
            alternatives.push((replace(&expression.range, literal.as_bytes()), closeness));
        }
    }
    alternatives
}

/// `true`, `false` and the null literal for each other.
fn words(work: &Work<'_>, expression: &Expression) -> Vec<(Vec<Edit>, f64)> {
    let tokens = work.source.language.tokens();
    let own = work.source.str(&expression.range);
    let null = expression.kind == ExpressionKind::Null;
    let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
    for (word, closeness) in [(&tokens.yes, 1.0), (&tokens.no, 1.0), (&tokens.null, 0.15)] {
        if !word.is_empty() && word != own {
            alternatives.push((replace(&expression.range, word.as_bytes()), closeness));
        }
    }
    if null {
        alternatives.push((replace(&expression.range, *b"0"), 0.5));
    }
    alternatives
}

/// The share of their bytes that two texts have in common at their ends, 0 to 1.
#[allow(clippy::cast_precision_loss, reason = "lengths of literals")]
pub(super) fn resemblance(a: &[u8], b: &[u8]) -> f64 {
    let shorter = a.len().min(b.len());
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    (front + back).min(shorter) as f64 / a.len().max(b.len()).max(1) as f64
}
