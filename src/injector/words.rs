//! Which identifiers a text uses, by its letters alone: no language needed.

use crate::tree::{RelPath, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Where the identifiers of a text are: runs of letters, digits, underscores and non-ASCII bytes
/// that do not begin with a digit.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].iter().position(|byte| is_word(*byte))?;
            let len = text[start..].iter().position(|byte| !is_word(*byte));
            at = len.map_or(text.len(), |len| start + len);
            if !text[start].is_ascii_digit() {
                return Some(start..at);
            }
        }
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The identifiers of several files together.
pub(super) fn words_of(tree: &dyn Tree, paths: &[RelPath]) -> BTreeSet<Vec<u8>> {
    let files = paths.iter().filter_map(|path| tree.read(path));
    files
        .flat_map(|file| words(&file.bytes).map(|at| file.bytes[at].to_vec()).collect::<Vec<_>>())
        .collect()
}

/// Which files use an identifier: the first, and whether others do too.
#[derive(Default)]
pub(super) struct Usage(BTreeMap<Vec<u8>, (usize, bool)>, Vec<RelPath>);

impl Usage {
    pub(super) fn of(tree: &dyn Tree, paths: Vec<RelPath>) -> Self {
        let mut usage = BTreeMap::new();
        for (index, path) in paths.iter().enumerate() {
            let Some(file) = tree.read(path) else { continue };
            for at in words(&file.bytes) {
                match usage.get_mut(&file.bytes[at.clone()]) {
                    None => {
                        usage.insert(file.bytes[at].to_vec(), (index, false));
                    }
                    Some((first, others)) => *others |= *first != index,
                }
            }
        }
        Self(usage, paths)
    }

    pub(super) fn has(&self, word: &[u8]) -> bool {
        self.0.contains_key(word)
    }

    /// Whether a file other than `path` uses it.
    pub(super) fn outside(&self, path: &RelPath, word: &[u8]) -> bool {
        self.0.get(word).is_some_and(|(first, others)| *others || self.1[*first] != *path)
    }
}
