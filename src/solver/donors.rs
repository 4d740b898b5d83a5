//! What a file offers for repairs: its expressions, conditions, constants, calls, and which of its
//! functions are alike.

use super::source::Source;
use super::words;
use crate::syntax::{ExpressionKind, Part, Span, StatementKind};
use std::collections::{BTreeMap, BTreeSet};

/// Longer expressions are no donors.
const LONGEST: usize = 90;

/// An expression that occurs in the file.
pub(super) struct Donor {
    pub(super) text: Vec<u8>,
    pub(super) kind: ExpressionKind,
    pub(super) functions: BTreeSet<Option<usize>>,
    pub(super) words: BTreeSet<String>,
    pub(super) count: usize,
}

pub(super) struct Donors {
    pub(super) expressions: Vec<Donor>,
    /// Texts of conditions, with the functions they stand in.
    pub(super) conditions: BTreeMap<Vec<u8>, BTreeSet<Option<usize>>>,
    /// Callee to the argument texts it is called with.
    pub(super) arguments: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    /// Callees of calls with one argument, with how often.
    pub(super) wrappers: BTreeMap<Vec<u8>, usize>,
    /// `.name()` and `.name` behind something, with how often.
    pub(super) suffixes: BTreeMap<Vec<u8>, usize>,
    /// By function: the words of its text.
    words: Vec<BTreeSet<String>>,
}

impl Donors {
    pub(super) fn of(source: &Source) -> Self {
        let parsed = &source.parsed;
        let words_of = |span: &Span| {
            words::identifiers(parsed.text(span)).map(|(_, word)| word.to_owned()).collect()
        };
        let mut donors = Self {
            expressions: Vec::new(),
            conditions: BTreeMap::new(),
            arguments: BTreeMap::new(),
            wrappers: BTreeMap::new(),
            suffixes: BTreeMap::new(),
            words: parsed.functions().iter().map(|function| words_of(&function.range)).collect(),
        };
        donors.take_expressions(source);
        donors.take_conditions(source);
        donors
    }

    fn take_expressions(&mut self, source: &Source) {
        let parsed = &source.parsed;
        let mut index: BTreeMap<&[u8], usize> = BTreeMap::new();
        for expression in parsed.expressions() {
            let text = parsed.text(&expression.range);
            if expression.kind == ExpressionKind::Call {
                self.take_call(source, expression);
            }
            if expression.assigned || text.len() > LONGEST || text.contains(&b'\n') {
                continue;
            }
            let at = *index.entry(text).or_insert(self.expressions.len());
            if at == self.expressions.len() {
                self.expressions.push(Donor {
                    text: text.to_vec(),
                    kind: expression.kind,
                    functions: BTreeSet::new(),
                    words: words::identifiers(text).map(|(_, word)| word.to_owned()).collect(),
                    count: 0,
                });
            }
            self.expressions[at].functions.insert(expression.function);
            self.expressions[at].count += 1;
        }
    }

    fn take_call(&mut self, source: &Source, call: &crate::syntax::Expression) {
        let parsed = &source.parsed;
        let (Some(callee), Some(arguments)) = (call.callee(), call.arguments()) else { return };
        let name = last_name(parsed.text(callee));
        let list = call.argument_list();
        for argument in &list {
            let text = parsed.text(argument);
            if text.len() <= LONGEST && !text.contains(&b'\n') {
                self.arguments.entry(name.to_vec()).or_default().insert(text.to_vec());
            }
        }
        if list.len() == 1 && callee.len() <= 40 {
            *self.wrappers.entry(parsed.text(callee).to_vec()).or_insert(0) += 1;
        }
        let text = parsed.text(callee);
        if let Some(dot) = text.iter().rposition(|byte| *byte == b'.')
            && list.is_empty()
        {
            let mut suffix = text[dot..].to_vec();
            suffix.extend_from_slice(parsed.text(arguments));
            *self.suffixes.entry(suffix).or_insert(0) += 1;
        }
    }

    fn take_conditions(&mut self, source: &Source) {
        let parsed = &source.parsed;
        let mut take = |span: &Span, function: Option<usize>| {
            let text = parsed.text(span);
            if text.len() <= LONGEST && !text.contains(&b'\n') {
                self.conditions.entry(text.to_vec()).or_default().insert(function);
            }
        };
        for statement in parsed.statements() {
            if matches!(statement.kind, StatementKind::If | StatementKind::Loop)
                && let Some(condition) = statement.parts.get(Part::Condition)
            {
                take(condition, statement.function);
            }
        }
        for expression in parsed.expressions() {
            let parts: [Option<&Span>; 2] = match expression.kind {
                ExpressionKind::Boolean => [expression.left(), expression.right()],
                ExpressionKind::Comparison => [Some(&expression.range), None],
                ExpressionKind::Conditional => [expression.parts.get(Part::Condition), None],
                _ => continue,
            };
            for part in parts.into_iter().flatten() {
                take(part, expression.function);
            }
        }
    }

    /// How alike two functions are, 0 to 1; a function to itself 1.
    pub(super) fn alike(&self, source: &Source, a: Option<usize>, b: Option<usize>) -> f64 {
        let (Some(a), Some(b)) = (a, b) else { return if a == b { 1.0 } else { 0.2 } };
        if a == b {
            return 1.0;
        }
        let (first, second) = (&source.parsed.functions()[a], &source.parsed.functions()[b]);
        let names = words::jaccard(&words::parts(&first.name), &words::parts(&second.name));
        let parameters = |function: &crate::syntax::Function| {
            function.parameters.iter().map(|p| p.name.clone()).collect::<BTreeSet<_>>()
        };
        let parameters = words::jaccard(&parameters(first), &parameters(second));
        0.5 * words::jaccard(&self.words[a], &self.words[b]) + 0.25 * names + 0.25 * parameters
    }

    /// The likeness of `function` to the most alike of `others`.
    pub(super) fn nearest(
        likeness: &BTreeMap<Option<usize>, f64>,
        others: &BTreeSet<Option<usize>>,
    ) -> f64 {
        others.iter().filter_map(|other| likeness.get(other)).copied().fold(0.0, f64::max)
    }

    /// Likeness of every function, and of the code outside them, to `function`.
    pub(super) fn likeness(
        &self,
        source: &Source,
        function: Option<usize>,
    ) -> BTreeMap<Option<usize>, f64> {
        std::iter::once(None)
            .chain((0..source.parsed.functions().len()).map(Some))
            .map(|other| (other, self.alike(source, function, other)))
            .collect()
    }
}

/// What stands behind the last dot or colon of a callee.
pub(super) fn last_name(callee: &[u8]) -> &[u8] {
    let start = callee.iter().rposition(|byte| matches!(byte, b'.' | b':')).map_or(0, |i| i + 1);
    &callee[start..]
}
