//! Names that were replaced by others since a commit, told from the lines that differ in them only.

use super::super::words::words;
use crate::diff::line_changes;
use crate::syntax::Parsed;
use crate::text::lines;
use std::collections::{BTreeMap, BTreeSet};

/// Old names to new ones.
pub(super) type Renames = BTreeMap<Vec<u8>, Vec<u8>>;

/// The names that stand in `from` and no longer in `to`, whose place one new name has taken.
pub(super) fn between(from: &[u8], to: &[u8]) -> Renames {
    let (from_lines, to_lines): (Vec<&[u8]>, Vec<&[u8]>) =
        (lines(from).collect(), lines(to).collect());
    let mut votes: BTreeMap<&[u8], BTreeSet<&[u8]>> = BTreeMap::new();
    for change in line_changes(&from_lines, &to_lines) {
        if change.old.len() != change.new.len() {
            continue;
        }
        for (one, other) in change.old.zip(change.new) {
            let (one, other) = (from_lines[one], to_lines[other]);
            for (old, new) in replaced(one, other).unwrap_or_default() {
                votes.entry(old).or_default().insert(new);
            }
        }
    }
    if votes.is_empty() {
        return Renames::new();
    }
    let (before, after) = (names(from), names(to));
    let only = |(old, new): (&[u8], BTreeSet<&[u8]>)| {
        let new = *new.first().filter(|_| new.len() == 1)?;
        (!after.contains(old) && !before.contains(new)).then(|| (old.to_vec(), new.to_vec()))
    };
    votes.into_iter().filter_map(only).collect()
}

/// The words in which two lines differ; `None` where they differ in anything else.
fn replaced<'a>(one: &'a [u8], other: &'a [u8]) -> Option<Vec<(&'a [u8], &'a [u8])>> {
    let (mut at, mut other_at) = (0, 0);
    let mut found = Vec::new();
    let mut others = words(other);
    for word in words(one) {
        let other_word = others.next()?;
        if one[at..word.start] != other[other_at..other_word.start] {
            return None;
        }
        (at, other_at) = (word.end, other_word.end);
        if one[word.clone()] != other[other_word.clone()] {
            found.push((&one[word], &other[other_word]));
        }
    }
    (others.next().is_none() && one[at..] == other[other_at..]).then_some(found)
}

fn names(text: &[u8]) -> BTreeSet<&[u8]> {
    words(text).map(|at| &text[at]).collect()
}

/// Only names that the code itself gives: what else gave way, a library's function or a field, was
/// no rename but a change of what is done.
pub(super) fn of_own_names(renames: Renames, from: &Names, to: &Names) -> Renames {
    renames.into_iter().filter(|(old, new)| from.contains(old) && to.contains(new)).collect()
}

pub(super) type Names = BTreeSet<Vec<u8>>;

/// The names that a file gives: of functions, parameters, locals, and at its top level, but not by
/// importing them.
pub(super) fn given(parsed: &Parsed) -> Names {
    let functions = parsed.functions();
    let imported: BTreeSet<&str> =
        parsed.imports().iter().flat_map(|import| &import.names).map(String::as_str).collect();
    let top = parsed.module_names().iter().map(String::as_str);
    let top = top.filter(|name| !imported.contains(name));
    let inner = (0..functions.len()).flat_map(|function| parsed.names_in(function));
    let names = functions.iter().map(|function| function.name.as_str()).chain(inner).chain(top);
    names.map(|name| name.as_bytes().to_vec()).collect()
}

/// The text with every such name replaced.
pub(super) fn applied(text: &[u8], renames: &Renames) -> Vec<u8> {
    if renames.is_empty() {
        return text.to_vec();
    }
    let mut result = Vec::with_capacity(text.len());
    let mut at = 0;
    for word in words(text) {
        if let Some(new) = renames.get(&text[word.clone()]) {
            result.extend_from_slice(&text[at..word.start]);
            result.extend_from_slice(new);
            at = word.end;
        }
    }
    result.extend_from_slice(&text[at..]);
    result
}
