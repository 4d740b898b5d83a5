//! Places that a test log names: tracebacks, panics, compiler messages. Only hints: a log's text can
//! be anything.

use crate::tree::{RelPath, Tree};
use std::collections::BTreeMap;

/// Of a long log the end is read.
const READ: usize = 1 << 20;

/// Files of the tree and lines (from 1) that the log names, with how often.
///
/// Understood are `path:line` and `File "path", line N`; the path may be absolute, as long as a file
/// of the tree ends it.
pub(super) fn places(log: &[u8], tree: &dyn Tree) -> BTreeMap<(RelPath, u32), usize> {
    let log = &log[log.len().saturating_sub(READ)..];
    let mut known: BTreeMap<String, Option<RelPath>> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for line in log.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        for (path, number) in mentions(&line) {
            let file = known.entry(path.to_owned()).or_insert_with(|| resolve(path, tree)).clone();
            if let Some(file) = file {
                *places.entry((file, number)).or_insert(0) += 1;
            }
        }
    }
    places
}

fn mentions(line: &str) -> Vec<(&str, u32)> {
    let mut found = Vec::new();
    // XML writes a quote as `&quot;`.
    for (open, close) in [("File \"", "\", line "), ("File &quot;", "&quot;, line ")] {
        if let Some((_, rest)) = line.split_once(open)
            && let Some((path, rest)) = rest.split_once(close)
            && let Some(number) = leading_number(rest)
        {
            found.push((path, number));
        }
    }
    for (at, _) in line.match_indices(':') {
        let Some(number) = leading_number(&line[at + 1..]) else { continue };
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | '+');
        let start = line[..at]
            .rfind(|c| !is_path(c))
            .map_or(0, |i| i + line[i..].chars().next().map_or(1, char::len_utf8));
        let path = &line[start..at];
        if path.contains('.') && path.len() > 2 {
            found.push((path, number));
        }
    }
    found
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The longest tail of `path` that is a file of the tree.
fn resolve(path: &str, tree: &dyn Tree) -> Option<RelPath> {
    let mut tail = path.trim_start_matches('/').trim_start_matches("./");
    loop {
        if let Ok(candidate) = RelPath::parse(tail.as_bytes())
            && tree.has(&candidate)
        {
            return Some(candidate);
        }
        tail = tail.split_once('/')?.1;
    }
}
