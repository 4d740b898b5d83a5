//! The files that may be repaired: parsed, with what templates ask of them.

use super::words;
use crate::syntax::{Language, Languages, Parsed};
use crate::tree::{RelPath, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Larger files are machine-made in most cases, and too slow to search.
const LARGEST: usize = 1 << 20;

pub(crate) struct Source {
    pub(crate) path: RelPath,
    pub(crate) language: Language,
    pub(crate) parsed: Parsed,
    /// The names that belong to some function: parameters and locals, with the functions.
    owners: BTreeMap<String, BTreeSet<usize>>,
}

impl Source {
    /// `None` where the file is missing, in no known language, or too large.
    pub(crate) fn open(tree: &dyn Tree, languages: &Languages, path: &RelPath) -> Option<Self> {
        let language = languages.for_path(path)?.clone();
        let file = tree.read(path).filter(|file| file.bytes.len() <= LARGEST)?;
        let parsed = language.parse(file.bytes);
        let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for function in 0..parsed.functions().len() {
            for name in parsed.names_in(function) {
                owners.entry(name.to_owned()).or_default().insert(function);
            }
        }
        Some(Self { path: path.clone(), language, parsed, owners })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.parsed.source()
    }

    /// The function and those it is nested in.
    pub(super) fn enclosing(&self, function: Option<usize>) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut next = function;
        while let Some(function) = next {
            chain.push(function);
            next = self.parsed.functions()[function].parent;
        }
        chain
    }

    /// Whether every name of `text` can be meant in `function`: one that belongs to other functions
    /// only cannot.
    pub(super) fn in_scope(&self, text: &[u8], function: Option<usize>) -> bool {
        let chain = self.enclosing(function);
        words::free_names(text).into_iter().all(|name| {
            self.owners.get(name).is_none_or(|owners| {
                chain.iter().any(|function| owners.contains(function))
                    || self.parsed.module_names().contains(name)
            })
        })
    }

    /// Parameters and locals of the function and those around it.
    pub(super) fn local_names(&self, function: Option<usize>) -> Vec<&str> {
        let mut names = Vec::new();
        for function in self.enclosing(function) {
            for name in self.parsed.names_in(function) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The lines from the start of the statement that holds `at` to its end.
    pub(super) fn lines(
        &self,
        statement: Option<usize>,
        at: &std::ops::Range<usize>,
    ) -> RangeInclusive<u32> {
        let start = statement.map_or(at.start, |s| self.parsed.statements()[s].range.start);
        let last = at.end.saturating_sub(1).max(at.start);
        self.parsed.line_of(start.min(at.start))..=self.parsed.line_of(last)
    }

    pub(super) fn str(&self, span: &std::ops::Range<usize>) -> &str {
        std::str::from_utf8(self.parsed.text(span)).unwrap_or("")
    }
}
