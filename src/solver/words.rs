//! Names in byte text, found without a grammar: good enough to tell what a test or a donor mentions.

pub(super) use crate::text::identifiers;
use std::collections::BTreeSet;

/// Identifiers that stand for themselves: not a member of something, not in a string.
pub(super) fn free_names(text: &[u8]) -> BTreeSet<&str> {
    let strings = string_ranges(text);
    identifiers(text)
        .filter(|(at, word)| {
            let before = text[..*at].iter().rposition(|b| !b.is_ascii_whitespace());
            let member = before.is_some_and(|i| text[i] == b'.' && (i == 0 || text[i - 1] != b'.'));
            let after = *at + word.len();
            let keyword_argument = text[after..].first() == Some(&b'=')
                && text.get(after + 1).is_none_or(|b| *b != b'=');
            !member && !keyword_argument && !strings.iter().any(|s| s.contains(at))
        })
        .map(|(_, word)| word)
        .collect()
}

/// Quoted stretches, roughly: `'..'` and `".."` on one line with backslash escapes.
fn string_ranges(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let quote = text[at];
        if quote == b'"' || quote == b'\'' {
            let mut end = at + 1;
            while end < text.len() && text[end] != quote && text[end] != b'\n' {
                end += 1 + usize::from(text[end] == b'\\');
            }
            // A lifetime has no closing quote.
            if text.get(end) == Some(&quote) {
                ranges.push(at..end + 1);
                at = end;
            }
        }
        at += 1;
    }
    ranges
}

/// `text` with every free-standing word that `rename` knows exchanged.
pub(super) fn renamed(text: &[u8], rename: &dyn Fn(&str) -> Option<String>) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut done = 0;
    for (at, word) in identifiers(text) {
        let member = at > 0 && text[at - 1] == b'.';
        if !member && let Some(new) = rename(word) {
            result.extend_from_slice(&text[done..at]);
            result.extend_from_slice(new.as_bytes());
            done = at + word.len();
        }
    }
    result.extend_from_slice(&text[done..]);
    result
}

/// The parts of a name: `read_next`, `ReadNext` and `readNext` have `read` and `next`.
pub(super) fn parts(name: &str) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    let mut part = String::new();
    let mut lower_before = false;
    for c in name.chars() {
        let ends = c == '_' || (c.is_uppercase() && lower_before);
        if ends && !part.is_empty() {
            parts.insert(std::mem::take(&mut part));
        }
        if c != '_' {
            part.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    if !part.is_empty() {
        parts.insert(part);
    }
    parts
}

/// Shared elements over all elements; 0 for two empty sets.
#[allow(clippy::cast_precision_loss, reason = "sets of names are far below 2^52")]
pub(super) fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}

/// `text` with every stretch of white space as one space.
pub(super) fn squeezed(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        if !result.is_empty() {
            result.push(b' ');
        }
        result.extend_from_slice(word);
    }
    result
}
