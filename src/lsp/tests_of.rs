//! Which test of a file a test's id means.

use super::outline::{Outline, Place};
use crate::tree::RelPath;

/// The test that a framework calls `id`, if it is one of the file. An id ends with the test's title, which
/// parameters (`[1-2]`) may follow; scopes stand before it, and the file at the beginning where the framework
/// names it.
pub(super) fn place<'a>(id: &str, file: &RelPath, outline: &'a Outline) -> Option<&'a Place> {
    let rest = match id.strip_prefix(file.as_str()) {
        Some(rest) => rest,
        None if names_a_file(id) => return None,
        None => id,
    };
    // What a framework adds behind a title: parameters, or the names of subtests.
    let parts = ['[', '/'].map(|end| rest.split(end).next().unwrap_or(rest));
    let titled = |test: &&Place| {
        is_last(rest, &test.name) || parts.iter().any(|part| is_last(part, &test.name))
    };
    let scoped = |test: &&Place| {
        let scopes = test.qualified.strip_suffix(&test.name).unwrap_or_default();
        scopes.split([':', '.']).filter(|scope| !scope.is_empty()).all(|scope| rest.contains(scope))
    };
    let fitting: Vec<&Place> = outline.tests.iter().filter(titled).collect();
    fitting.iter().rev().find(|test| scoped(test)).or(fitting.first()).copied()
}

/// Whether the text ends with the name, and the name is not only the end of a longer one.
fn is_last(text: &str, name: &str) -> bool {
    let before = text.strip_suffix(name);
    before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn names_a_file(id: &str) -> bool {
    let first = id.split("::").next().unwrap_or(id);
    let first = first.split(" > ").next().unwrap_or(first);
    first.contains('/') || first.rsplit_once('.').is_some_and(|(_, end)| end.len() <= 4)
}
