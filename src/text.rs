//! Byte text: where its lines are, and edits that replace ranges of it.

use std::ops::Range;

#[cfg(test)]
mod tests;

/// Replaces the bytes in `range` with `replacement`. An empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    pub range: Range<usize>,
    pub replacement: Vec<u8>,
}

impl Edit {
    pub fn new(range: Range<usize>, replacement: impl Into<Vec<u8>>) -> Self {
        Self { range, replacement: replacement.into() }
    }
}

/// Why edits cannot be applied together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overlap {
    #[error(
        "edits of bytes {first:?} and {second:?} overlap: which one wins is undefined; merge them"
    )]
    Ranges { first: Range<usize>, second: Range<usize> },
    #[error(
        "an edit of bytes {range:?} does not lie in a text of {len} bytes: it was made for another text"
    )]
    Outside { range: Range<usize>, len: usize },
}

/// `source` with all `edits` done. Offsets are those of `source`; the order of `edits` matters only
/// between insertions at one place, which come out in the order given.
pub fn apply_edits(source: &[u8], edits: &[Edit]) -> Result<Vec<u8>, Overlap> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut result = Vec::with_capacity(source.len());
    let mut before = 0..0;
    for edit in sorted {
        let range = edit.range.clone();
        if range.start > range.end || range.end > source.len() {
            return Err(Overlap::Outside { range, len: source.len() });
        }
        if range.start < before.end {
            return Err(Overlap::Ranges { first: before, second: range });
        }
        result.extend_from_slice(&source[before.end..range.start]);
        result.extend_from_slice(&edit.replacement);
        before = range;
    }
    result.extend_from_slice(&source[before.end..]);
    Ok(result)
}

/// The lines of a byte text. A line ends after `\n` and includes it; the last may lack one. A lone
/// carriage return ends nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    /// Start of every line, ascending; empty for an empty text.
    starts: Vec<usize>,
    len: usize,
}

impl LineIndex {
    pub fn new(source: &[u8]) -> Self {
        let mut starts = Vec::new();
        let mut next = 0;
        for line in lines(source) {
            starts.push(next);
            next += line.len();
        }
        Self { starts, len: source.len() }
    }

    /// How many lines there are: 0 for an empty text.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line, counted from 1, that holds the byte at `offset`. An offset at or past the end
    /// belongs to the last line; in an empty text it is line 1.
    pub fn line_of(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The bytes of a line counted from 1, its newline included; `None` where there is no such line.
    pub fn line_range(&self, line: u32) -> Option<Range<usize>> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        Some(start..self.starts.get(index + 1).copied().unwrap_or(self.len))
    }
}

/// The lines of `source`, each with its `\n`; the last may lack one.
pub fn lines(source: &[u8]) -> impl Iterator<Item = &[u8]> {
    source.split_inclusive(|byte| *byte == b'\n')
}

/// The identifiers of a text in order, each with its offset. Those in strings and comments too.
pub fn identifiers(text: &[u8]) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            while at < text.len() && is_word(text[at]) {
                at += 1;
            }
            if at == start {
                at += 1;
            } else if !text[start].is_ascii_digit()
                && let Ok(word) = std::str::from_utf8(&text[start..at])
            {
                return Some((start, word));
            }
        }
        None
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
