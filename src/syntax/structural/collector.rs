//! Gathers mutations, drops those that change nothing and duplicates, and answers what the
//! mutating code asks about a file.

use super::super::model::{Expression, Span};
use super::super::{Language, Parsed};
use super::{Mutation, Operator};
use crate::text::Edit;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub(super) struct Collector<'a> {
    pub(super) parsed: &'a Parsed,
    pub(super) language: &'a Language,
    expressions: HashMap<(usize, usize), usize>,
    blocks: HashMap<(usize, usize), usize>,
    scopes: Vec<Scope<'a>>,
    found: Vec<Mutation>,
}

/// Names that may stand for each other in one function.
#[derive(Default)]
struct Scope<'a> {
    names: Vec<&'a str>,
    types: BTreeMap<&'a str, &'a str>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(parsed: &'a Parsed, language: &'a Language) -> Self {
        let key = |span: &Span| (span.start, span.end);
        let expressions = parsed.expressions().iter().enumerate();
        let blocks = parsed.blocks().iter().enumerate();
        let scopes = (0..parsed.functions().len()).map(|function| scope(parsed, function));
        Self {
            parsed,
            language,
            expressions: expressions.map(|(id, it)| (key(&it.range), id)).collect(),
            blocks: blocks.map(|(id, it)| (key(&it.range), id)).collect(),
            scopes: scopes.collect(),
            found: Vec::new(),
        }
    }

    pub(super) fn text(&self, span: &Span) -> &'a [u8] {
        self.parsed.text(span)
    }

    pub(super) fn word(&self, span: &Span) -> &'a str {
        std::str::from_utf8(self.text(span)).unwrap_or_default()
    }

    /// The expression that has exactly this range, the innermost where several have.
    pub(super) fn expression_at(&self, span: &Span) -> Option<&'a Expression> {
        let id = self.expressions.get(&(span.start, span.end))?;
        self.parsed.expressions().get(*id)
    }

    pub(super) fn block_at(&self, span: &Span) -> Option<usize> {
        self.blocks.get(&(span.start, span.end)).copied()
    }

    /// Other names for `name` in the function: with the same written type where types matter; at
    /// most `limit`, those that come after it first.
    pub(super) fn other_names(&self, function: usize, name: &str, limit: usize) -> Vec<&'a str> {
        let scope = &self.scopes[function];
        let Some(at) = scope.names.iter().position(|known| *known == name) else {
            return Vec::new();
        };
        let others = scope.names[at + 1..].iter().chain(&scope.names[..at]).copied();
        if !self.language.typed() {
            return others.take(limit).collect();
        }
        let Some(ty) = scope.types.get(name) else { return Vec::new() };
        others.filter(|other| scope.types.get(other) == Some(ty)).take(limit).collect()
    }

    /// Replaces one range.
    pub(super) fn replace(
        &mut self,
        operator: Operator,
        function: Option<usize>,
        range: &Span,
        replacement: impl Into<Vec<u8>>,
    ) {
        self.push(operator, function, vec![Edit::new(range.clone(), replacement)]);
    }

    /// Exchanges the texts of two ranges.
    pub(super) fn swap(&mut self, operator: Operator, function: Option<usize>, a: &Span, b: &Span) {
        let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
        if a.end > b.start {
            return;
        }
        let edits = vec![Edit::new(a.clone(), self.text(b)), Edit::new(b.clone(), self.text(a))];
        self.push(operator, function, edits);
    }

    pub(super) fn push(&mut self, operator: Operator, function: Option<usize>, edits: Vec<Edit>) {
        let Some(first) = edits.first() else { return };
        if edits.iter().all(|edit| self.text(&edit.range) == edit.replacement) {
            return;
        }
        let line = self.parsed.line_of(first.range.start);
        self.found.push(Mutation { operator, edits, function, line });
    }

    /// In source order; of equal edits the first operator's stays.
    pub(super) fn finish(self) -> Vec<Mutation> {
        let mut found = self.found;
        found.sort_by_key(|mutation| {
            (mutation.edits.first().map_or(0, |edit| edit.range.start), mutation.operator)
        });
        let mut fresh = HashSet::with_capacity(found.len());
        let keep: Vec<bool> = found.iter().map(|mutation| fresh.insert(&mutation.edits)).collect();
        drop(fresh);
        let mut keep = keep.into_iter();
        found.retain(|_| keep.next().unwrap_or(false));
        found
    }
}

fn scope(parsed: &Parsed, function: usize) -> Scope<'_> {
    let known = &parsed.functions()[function];
    let parameters = known.parameters.iter();
    let types = parameters.filter_map(|it| Some((it.name.as_str(), it.ty.as_deref()?))).collect();
    let mut seen = BTreeSet::new();
    let mut names = parsed.names_in(function);
    names.retain(|name| seen.insert(*name) && !matches!(*name, "self" | "cls" | "_"));
    Scope { names, types }
}
