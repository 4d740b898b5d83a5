//! Where statements can be put, and how their text is indented there.

use super::source::Source;
use crate::syntax::{BlockStyle, Span};
use crate::text::Edit;

/// What one level of indentation is in the file: the smallest indentation that a line has.
pub(super) fn unit(source: &Source) -> Vec<u8> {
    let indents = source.bytes().split(|byte| *byte == b'\n').filter_map(|line| {
        let depth = line.iter().take_while(|b| **b == b' ' || **b == b'\t').count();
        (depth > 0 && depth < line.len()).then(|| line[..depth].to_vec())
    });
    let smallest =
        indents.min_by_key(|indent| if indent[0] == b'\t' { 1 } else { indent.len().max(2) });
    smallest.unwrap_or_else(|| b"    ".to_vec())
}

/// Whether the span has its lines for itself, but for a comment behind it.
pub(super) fn alone(source: &Source, span: &Span) -> bool {
    let bytes = source.bytes();
    let before = &bytes[line_start(bytes, span.start)..span.start];
    let after = bytes[span.end..].split(|byte| *byte == b'\n').next().unwrap_or(b"");
    let after = after.trim_ascii();
    before.iter().all(u8::is_ascii_whitespace)
        && (after.is_empty() || after.starts_with(source.language.line_comment().as_bytes()))
}

pub(super) fn line_start(bytes: &[u8], offset: usize) -> usize {
    bytes[..offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

fn line_end(bytes: &[u8], offset: usize) -> usize {
    bytes[offset..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |n| offset + n)
}

/// Puts `text` (indented like nothing: its first line at column 0) on lines of its own before the
/// statement. The statement must be alone on its lines.
pub(super) fn before(source: &Source, statement: &Span, text: &[u8]) -> Edit {
    let at = line_start(source.bytes(), statement.start);
    let mut new = indented(text, source.parsed.indentation(statement.start));
    new.extend_from_slice(source.parsed.newline());
    Edit::new(at..at, new)
}

/// The same behind the statement.
pub(super) fn after(source: &Source, statement: &Span, text: &[u8]) -> Edit {
    let mut at = line_end(source.bytes(), statement.end);
    if at > statement.end && source.bytes()[at - 1] == b'\r' {
        at -= 1;
    }
    let mut new = source.parsed.newline().to_vec();
    new.extend(indented(text, source.parsed.indentation(statement.start)));
    Edit::new(at..at, new)
}

/// The text of a span with the indentation of its first line taken off the others.
pub(super) fn flush(source: &Source, span: &Span) -> Vec<u8> {
    let indent = source.parsed.indentation(span.start);
    let text = source.parsed.text(span);
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let mut result = lines.next().unwrap_or(b"").to_vec();
    for line in lines {
        result.extend_from_slice(line.strip_prefix(indent).unwrap_or(line));
    }
    result
}

/// `text` with `indent` before every line that is not blank.
pub(super) fn indented(text: &[u8], indent: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len() + indent.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if !line.trim_ascii().is_empty() {
            result.extend_from_slice(indent);
        }
        result.extend_from_slice(line);
    }
    result
}

/// `text` indented as what takes the place of `statement`: its first line stays where it is.
pub(super) fn in_place(source: &Source, statement: &Span, text: &[u8]) -> Edit {
    let indent = source.parsed.indentation(statement.start);
    let new = indented(text, indent);
    let new = new.strip_prefix(indent).unwrap_or(&new).to_vec();
    Edit::new(statement.clone(), new)
}

/// `if condition:` around a statement's text; `None` where the language's blocks are not known.
pub(super) fn guarded(source: &Source, condition: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let newline = source.parsed.newline();
    let body = indented(body, &unit(source));
    let parts: [&[u8]; 6] = match source.language.blocks() {
        BlockStyle::Indent => [b"if ", condition, b":", newline, &body, b""],
        BlockStyle::Braces
            if source.language.name() == "rust" || source.language.name() == "go" =>
        {
            return Some([b"if ", condition, b" {", newline, &body, newline, b"}"].concat());
        }
        BlockStyle::Braces => {
            return Some([b"if (", condition, b") {", newline, &body, newline, b"}"].concat());
        }
        BlockStyle::Words => return None,
    };
    Some(parts.concat())
}
