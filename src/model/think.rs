//! Thoughts that stand in a content: `<think>…</think>`.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The thoughts, and what follows them. Thoughts that do not end leave nothing. Where a template has begun them in the
/// prompt only their end is there, on a line by itself.
pub(super) fn split(content: &str) -> Option<(&str, &str)> {
    if let Some(rest) = content.trim_start().strip_prefix(OPEN) {
        let (thought, rest) = rest.split_once(CLOSE).unwrap_or((rest, ""));
        return Some((thought.trim(), rest.trim_start()));
    }
    let at = content.find(CLOSE)?;
    let (before, after) = (&content[..at], &content[at + CLOSE.len()..]);
    let alone = before.ends_with('\n') && (after.is_empty() || after.starts_with(['\n', '\r']));
    (alone && !before.contains(OPEN)).then(|| (before.trim(), after.trim_start()))
}

/// As a model writes it.
pub(super) fn join(thought: &str, content: &str) -> String {
    format!("{OPEN}\n{thought}\n{CLOSE}\n\n{content}")
}
