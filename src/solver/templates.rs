//! The repair templates: each looks at the suspicious code of one file and proposes changes.

mod arguments;
mod calls;
mod conditions;
mod constants;
mod expressions;
mod imports;
mod names;
mod operators;
mod shrink;
mod siblings;
mod statements;

use super::donors::Donors;
use super::evidence::Suspicion;
use super::proposal::{Collector, Proposal};
use super::source::Source;
use super::words;
use crate::syntax::{Expression, ExpressionKind, Part, Span, Statement};
use crate::text::Edit;
use calls::Calls;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// What the failing tests and their log mention: what a repair is likely to mention too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clues {
    pub(crate) words: BTreeSet<String>,
    /// Literals (with their quotes) in the failing tests.
    pub(crate) literals: BTreeSet<String>,
    /// Names that the log calls undefined or missing.
    pub(crate) missing: BTreeSet<String>,
    /// What the log says was raised, of the usual kinds; sorted.
    pub(crate) raised: BTreeSet<&'static str>,
    /// Import statements of other files, by the name that they bind.
    pub(crate) imports: BTreeMap<String, BTreeSet<String>>,
}

/// From which suspicion on a statement is looked at: by the cheap templates, and by those that make
/// many proposals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub(crate) cheap: f64,
    pub(crate) dear: f64,
}

/// Everything that is proposed for one file.
pub(crate) fn propose(
    source: &Source,
    suspicion: &Suspicion,
    thresholds: Thresholds,
    clues: &Clues,
) -> Vec<Proposal> {
    let work = Work::new(source, suspicion, thresholds, clues);
    let mut out = Collector::new(source.bytes());
    operators::propose(&work, &mut out);
    constants::propose(&work, &mut out);
    names::propose(&work, &mut out);
    shrink::propose(&work, &mut out);
    expressions::propose(&work, &mut out);
    conditions::propose(&work, &mut out);
    arguments::propose(&work, &mut out);
    siblings::propose(&work, &mut out);
    statements::propose(&work, &mut out);
    imports::propose(&work, &mut out);
    out.finish()
}

/// What one function can draw on.
struct Scope {
    likeness: BTreeMap<Option<usize>, f64>,
    /// Expressions that make sense in the function, by number, with their closeness.
    donors: Vec<(usize, f64)>,
    /// Names of variables that make sense in it, with their closeness.
    names: Vec<(String, f64)>,
    /// Conditions of the file that make sense in it, with their closeness and words.
    conditions: Vec<(Vec<u8>, f64, BTreeSet<String>)>,
    /// One-line statements of the file, by number, that could stand in it, with their closeness.
    statements: Vec<(usize, f64)>,
    calls: Calls,
}

struct Work<'a> {
    source: &'a Source,
    donors: Donors,
    clues: &'a Clues,
    thresholds: Thresholds,
    /// By statement.
    suspicion: Vec<f64>,
    scopes: BTreeMap<Option<usize>, Scope>,
}

/// How many donors of a file one function may draw on.
const DONORS: usize = 250;

impl<'a> Work<'a> {
    fn new(
        source: &'a Source,
        suspicion: &Suspicion,
        thresholds: Thresholds,
        clues: &'a Clues,
    ) -> Self {
        let statements = source.parsed.statements();
        let of_head = |statement: &Statement| {
            let first = source.parsed.line_of(statement.range.start);
            let head = statement.parts.iter().map(|(_, span)| span.end).min();
            let last = head.map_or(first, |end| source.parsed.line_of(end.saturating_sub(1)));
            suspicion.of(&source.path, &(first..=last.max(first)))
        };
        let suspicion: Vec<f64> = statements.iter().map(of_head).collect();
        let mut work = Self {
            source,
            donors: Donors::of(source),
            clues,
            thresholds,
            suspicion,
            scopes: BTreeMap::new(),
        };
        let wanted: BTreeSet<Option<usize>> = statements
            .iter()
            .zip(&work.suspicion)
            .filter(|(_, suspicion)| **suspicion >= thresholds.cheap)
            .map(|(statement, _)| statement.function)
            .collect();
        for function in wanted {
            let scope = work.scope_of(function);
            work.scopes.insert(function, scope);
        }
        work
    }

    fn scope_of(&self, function: Option<usize>) -> Scope {
        let likeness = self.donors.likeness(self.source, function);
        let mut donors: Vec<(usize, f64)> = Vec::new();
        for (number, donor) in self.donors.expressions.iter().enumerate() {
            let near = Donors::nearest(&likeness, &donor.functions);
            if near < 0.02 || !self.source.in_scope(&donor.text, function) {
                continue;
            }
            let clue = donor.words.iter().any(|word| self.clues.words.contains(word));
            let known = if clue { 1.3 } else { 1.0 };
            donors.push((number, near * known));
        }
        donors.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        donors.truncate(DONORS);
        let conditions = self.conditions_for(&likeness, function);
        let statements = self.statements_for(&likeness, function);
        let calls = calls::of(self, function, &likeness);
        Scope { likeness, donors, names: self.names_of(function), conditions, statements, calls }
    }

    fn conditions_for(
        &self,
        likeness: &BTreeMap<Option<usize>, f64>,
        function: Option<usize>,
    ) -> Vec<(Vec<u8>, f64, BTreeSet<String>)> {
        let mut conditions = Vec::new();
        for (text, functions) in &self.donors.conditions {
            let near = Donors::nearest(likeness, functions);
            if near >= 0.05 && self.source.in_scope(text, function) {
                let words = words::identifiers(text).map(|(_, word)| word.to_owned()).collect();
                conditions.push((text.clone(), near, words));
            }
        }
        conditions
    }

    fn statements_for(
        &self,
        likeness: &BTreeMap<Option<usize>, f64>,
        function: Option<usize>,
    ) -> Vec<(usize, f64)> {
        let mut seen = BTreeSet::new();
        let mut statements = Vec::new();
        for (number, statement) in self.source.parsed.statements().iter().enumerate() {
            let near = likeness.get(&statement.function).copied().unwrap_or(0.0);
            if near < 0.1 || statement.range.len() > 110 {
                continue;
            }
            let text = self.text(&statement.range);
            let set = statement.parts.get(Part::Target).map_or("", |t| self.source.str(t));
            if !text.contains(&b'\n')
                && seen.insert(text)
                && (self.source.in_scope(text, function) || self.clues.missing.contains(set))
            {
                statements.push((number, near));
            }
        }
        statements
    }

    /// Parameters and locals; those that the function never reads are likelier to be what is missing.
    fn names_of(&self, function: Option<usize>) -> Vec<(String, f64)> {
        let Some(number) = function else { return Vec::new() };
        let parsed = &self.source.parsed;
        let text = parsed.text(&parsed.functions()[number].range);
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, word) in words::identifiers(text) {
            *uses.entry(word).or_insert(0) += 1;
        }
        let own = parsed.names_in(number);
        self.source
            .local_names(function)
            .into_iter()
            .map(|name| {
                let once = uses.get(name).copied().unwrap_or(0) <= 1;
                let unused = own.contains(&name) && once;
                (name.to_owned(), if unused { 4.0 } else { 1.0 })
            })
            .collect()
    }

    fn scope(&self, function: Option<usize>) -> Option<&Scope> {
        self.scopes.get(&function)
    }

    fn text(&self, span: &Span) -> &'a [u8] {
        self.source.parsed.text(span)
    }

    fn lines(&self, statement: Option<usize>, span: &Span) -> RangeInclusive<u32> {
        self.source.lines(statement, span)
    }

    fn lines_of(&self, expression: &Expression) -> RangeInclusive<u32> {
        self.lines(expression.statement, &expression.range)
    }

    /// Expressions worth a cheap template, read or written.
    fn suspects(&self) -> impl Iterator<Item = &'a Expression> {
        self.suspects_from(self.thresholds.cheap)
    }

    /// Expressions worth a template that makes many proposals, read only.
    fn prime_suspects(&self) -> impl Iterator<Item = &'a Expression> {
        self.suspects_from(self.thresholds.dear).filter(|expression| !expression.assigned)
    }

    fn suspects_from(&self, least: f64) -> impl Iterator<Item = &'a Expression> {
        self.source.parsed.expressions().iter().filter(move |expression| {
            expression.statement.is_some_and(|statement| self.suspicion[statement] >= least)
        })
    }

    fn statements(&self, least: f64) -> impl Iterator<Item = (usize, &'a Statement)> {
        let all = self.source.parsed.statements().iter().enumerate();
        all.filter(move |(number, _)| self.suspicion[*number] >= least)
    }

    fn parent(&self, expression: &Expression) -> Option<&'a Expression> {
        expression.parent.map(|parent| &self.source.parsed.expressions()[parent])
    }

    /// Whether the expression is a whole name of a call or the name behind a dot: no value.
    fn is_callee(&self, expression: &Expression) -> bool {
        self.parent(expression).is_some_and(|parent| {
            parent.kind == ExpressionKind::Call && parent.callee() == Some(&expression.range)
        })
    }

    /// The outermost expression with exactly this range.
    fn expression_at(&self, span: &Span) -> Option<&'a Expression> {
        let expressions = self.source.parsed.expressions();
        let first = expressions.partition_point(|e| e.range.start < span.start);
        let mut same_start =
            expressions[first..].iter().take_while(|e| e.range.start == span.start);
        same_start.find(|e| e.range.end == span.end)
    }

    /// The innermost statement at an offset.
    fn statement_at(&self, offset: usize) -> Option<usize> {
        let statements = self.source.parsed.statements();
        let end = statements.partition_point(|statement| statement.range.start <= offset);
        (0..end).rev().find(|number| offset < statements[*number].range.end)
    }
}

/// One edit that replaces `span`.
fn replace(span: &Span, new: impl Into<Vec<u8>>) -> Vec<Edit> {
    vec![Edit::new(span.clone(), new)]
}

/// Whether an expression can stand as an operand without parentheses.
fn is_simple(kind: ExpressionKind) -> bool {
    !matches!(
        kind,
        ExpressionKind::Binary
            | ExpressionKind::Comparison
            | ExpressionKind::Boolean
            | ExpressionKind::Not
            | ExpressionKind::Unary
            | ExpressionKind::Conditional
            | ExpressionKind::Lambda
            | ExpressionKind::Await
            | ExpressionKind::Range
            | ExpressionKind::Cast
            | ExpressionKind::Other
    )
}

fn operand(text: &[u8], kind: ExpressionKind) -> Vec<u8> {
    if is_simple(kind) { text.to_vec() } else { [b"(", text, b")"].concat() }
}
