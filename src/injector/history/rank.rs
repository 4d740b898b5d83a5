//! How likely a commit is to have changed behaviour under test.

use super::super::choice::root;
use crate::workspace::Commit;

/// What messages of repairs say, by how sure a sign it is. Words begin with these, so that "fixes"
/// and "fixed" count.
const SURE: [&str; 12] = [
    "fix",
    "bug",
    "regression",
    "crash",
    "incorrect",
    "wrong",
    "broken",
    "issue",
    "off by",
    "off-by",
    "edge case",
    "corner case",
];
const LIKELY: [&str; 10] = [
    "handle", "error", "correct", "prevent", "avoid", "missing", "ensure", "fail", "leak",
    "properly",
];
/// What changes no behaviour, or much of it at once.
const UNLIKELY: [&str; 14] = [
    "typo",
    "format",
    "rustfmt",
    "black",
    "lint",
    "style",
    "docs",
    "doc:",
    "bump",
    "release",
    "version",
    "rename",
    "changelog",
    "cleanup",
];

/// Changed lines of code up to which a commit is small, and up to which it is middling.
const SMALL: usize = 30;
const MIDDLING: usize = 150;

/// Never zero. What wrote lines of the target that still stand can be undone there. `lines`: changed lines of code, both sides; `tests`: whether it changed a test file,
/// too; `age`: its place among the `of` commits that were kept, newest first.
pub(super) fn weight(commit: &Commit, lines: usize, tests: bool, age: usize, of: usize) -> f64 {
    let message = commit.message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| begins_word(&message, word));
    let mut weight = match (says(&SURE), says(&LIKELY)) {
        (true, _) => 4.0,
        (false, true) => 2.0,
        (false, false) => 1.0,
    };
    if says(&UNLIKELY) {
        weight *= 0.4;
    }
    if tests {
        weight *= 3.0;
    }
    if commit.wrote {
        weight *= 4.0;
    }
    weight *= match lines {
        0..=SMALL => 1.0,
        lines if lines <= MIDDLING => 0.6,
        _ => 0.2,
    };
    // Of a commit that changed much else, one file is a smaller part of the idea.
    weight /= root(commit.touched.max(1));
    let (age, of) = (u32::try_from(age).unwrap_or(u32::MAX), u32::try_from(of).unwrap_or(u32::MAX));
    weight * (1.0 - 0.5 * f64::from(age) / f64::from(of.max(1)))
}

/// Whether a word of the text begins with `start`.
fn begins_word(text: &str, start: &str) -> bool {
    text.match_indices(start).any(|(at, _)| {
        !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
    })
}
