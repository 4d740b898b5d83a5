//! How like two bugs are: what their diffs share, word by word.

use crate::diff::{Line, Patch};
use std::collections::{BTreeSet, VecDeque};

/// So many words in a row make a shingle.
const WORDS: usize = 3;

/// A diff as the set of its runs of three words, in hashes; what it removes and what it adds apart.
/// Paths, line numbers, context and white space do not count: the same edit elsewhere is the same idea.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shingles(BTreeSet<u64>);

impl Shingles {
    #[must_use]
    pub fn of(patch: &Patch) -> Self {
        let mut shingles = BTreeSet::new();
        for hunk in patch.files().iter().flat_map(crate::diff::FilePatch::hunks) {
            let removed = hunk.lines().iter().filter_map(|line| match line {
                Line::Removed(text) => Some(text.as_slice()),
                Line::Added(_) | Line::Context(_) => None,
            });
            let added = hunk.lines().iter().filter_map(|line| match line {
                Line::Added(text) => Some(text.as_slice()),
                Line::Removed(_) | Line::Context(_) => None,
            });
            shingle(b"-", &removed.flat_map(words).collect::<Vec<_>>(), &mut shingles);
            shingle(b"+", &added.flat_map(words).collect::<Vec<_>>(), &mut shingles);
        }
        Self(shingles)
    }

    /// What both have over what either has (Jaccard): 1 for equal ones, two empty ones too.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a diff has fewer than 2^52 words")]
    pub fn similarity(&self, other: &Self) -> f64 {
        let both = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - both;
        if all == 0 { 1.0 } else { both as f64 / all as f64 }
    }
}

/// The newest bugs, so many at most.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Buffer {
    capacity: usize,
    bugs: VecDeque<Shingles>,
}

impl Buffer {
    /// A buffer that holds nothing finds everything new.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, bugs: VecDeque::new() }
    }

    pub fn len(&self) -> usize {
        self.bugs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bugs.is_empty()
    }

    /// Forgets the oldest where there is no room.
    pub fn push(&mut self, bug: Shingles) {
        self.bugs.push_back(bug);
        while self.bugs.len() > self.capacity {
            self.bugs.pop_front();
        }
    }

    /// The largest similarity to a bug in it; 0 where it is empty.
    #[must_use]
    pub fn nearest(&self, bug: &Shingles) -> f64 {
        self.bugs.iter().map(|known| known.similarity(bug)).fold(0.0, f64::max)
    }

    /// 1 less the largest similarity: 1 where it is empty.
    #[must_use]
    pub fn novelty(&self, bug: &Shingles) -> f64 {
        1.0 - self.nearest(bug)
    }
}

/// Names and numbers whole, every other character by itself.
fn words(line: &[u8]) -> Vec<&[u8]> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut words = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let start = at;
        while at < line.len() && is_word(line[at]) {
            at += 1;
        }
        at = at.max(start + 1);
        let word = &line[start..at];
        if !word.trim_ascii().is_empty() {
            words.push(word);
        }
    }
    words
}

/// Fewer words than a shingle has are one by themselves.
fn shingle(side: &[u8], words: &[&[u8]], into: &mut BTreeSet<u64>) {
    if words.is_empty() {
        return;
    }
    for run in words.windows(WORDS.min(words.len())) {
        into.insert(hash(side, run));
    }
}

/// FNV-1a; a zero byte ends a word. Kept in files: the function must not change.
fn hash(side: &[u8], words: &[&[u8]]) -> u64 {
    let bytes = side.iter().chain(words.iter().flat_map(|word| word.iter().chain(&[0])));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
