//! What old code needs and nobody has any more: functions, methods, classes and constants that were deleted
//! since come back beside the code that uses them. A deleted file comes back so, by its parts: with a file
//! of its own the bug would need both, and no test of an importer could pass with one of them restored.

use super::super::code::Opened;
use super::super::words::words;
use super::Undoing;
use super::fit::Sides;
use crate::syntax::{BlockStyle, Parsed, Part, StatementKind};
use crate::text::{Edit, lines};
use std::collections::BTreeSet;

impl Undoing {
    /// The text of a top-level definition in what some file once was, the newest first.
    pub(super) fn definition(&self, name: &str, user: &Opened) -> Option<Vec<u8>> {
        let (language, extension) = (&user.language, user.path.extension());
        let commits = self.history.commits.iter();
        let texts = commits.flat_map(|commit| {
            let gone = commit.gone.iter().map(|gone| (&gone.path, &gone.old));
            gone.chain(commit.files.iter().map(|file| (&file.path, &file.old)))
        });
        texts
            .filter(|(path, text)| path.extension() == extension && holds(text, name.as_bytes()))
            .find_map(|(_, text)| top_level(&language.parse(text.clone()), name))
    }
}

impl Sides<'_> {
    /// A definition put before the top-level statement that needs it.
    pub(super) fn definition(&self, name: &str, user: usize) -> Option<Edit> {
        let text = top_level(self.old, name).or_else(|| (self.elsewhere)(name))?;
        let top = self.today.statements().iter().filter(|statement| {
            statement.parent.is_none() && self.today.indentation(statement.range.start).is_empty()
        });
        let place = top.map(|statement| &statement.range).find(|range| range.contains(&user));
        let place =
            place.map_or_else(|| line_start(self.today.source(), user), |range| range.start);
        let blank = if self.language.blocks() == BlockStyle::Indent { 3 } else { 2 };
        let text = [text, self.today.newline().repeat(blank)].concat();
        Some(Edit::new(place..place, text))
    }

    /// A method put behind the one that needs it.
    pub(super) fn method(&self, name: &str, user: usize) -> Option<Edit> {
        let method = self.old.functions().iter().find(|function| is_method(function, name))?;
        let user = &self.today.functions()[self.today.function_at(user)?];
        let (from, to) =
            (self.old.indentation(method.range.start), self.today.indentation(user.range.start));
        let text = reindented(self.old.text(&method.range), from, to);
        let (newline, source) = (self.today.newline(), self.today.source());
        // Behind its last line, which may be one that changes.
        let line = source[user.range.end..].iter().position(|byte| *byte == b'\n');
        let (place, text) = match line {
            Some(end) => (user.range.end + end + 1, [newline, &text[..], newline].concat()),
            None => (source.len(), [newline, newline, &text[..]].concat()),
        };
        Some(Edit::new(place..place, text))
    }

    /// The edits without imports, among their lines, of names that nobody gives any more and that come back
    /// as definitions.
    pub(super) fn without_gone_imports(&self, edits: Vec<Edit>) -> Vec<Edit> {
        let is_gone =
            |name: &String| !self.usage.has(name.as_bytes()) && (self.elsewhere)(name).is_some();
        let imports = self.old.imports().iter().filter(|import| import.names.iter().all(is_gone));
        let gone: Vec<&[u8]> =
            imports.map(|import| self.old.text(&import.range).trim_ascii_end()).collect();
        let stripped = edits.into_iter().filter_map(|edit| {
            let is_gone = |line: &&[u8]| gone.contains(&line.trim_ascii_end());
            if !lines(&edit.replacement).any(|line| is_gone(&line)) {
                return Some(edit);
            }
            let left = lines(&edit.replacement).filter(|line| !is_gone(line));
            let left = left.collect::<Vec<_>>().concat();
            let nothing = edit.range.is_empty() && left.trim_ascii().is_empty();
            (!nothing).then(|| Edit::new(edit.range, left))
        });
        stripped.collect()
    }

    /// Methods that the old lines call, that the old file gave and that nobody has any more.
    pub(super) fn missing_methods(&self, edits: &[Edit], text: &Parsed) -> BTreeSet<String> {
        let called = edits.iter().flat_map(|edit| {
            let text = &edit.replacement;
            words(text)
                .filter(|at| text[..at.start].ends_with(b".") || text[..at.start].ends_with(b"->"))
                .map(|at| String::from_utf8_lossy(&text[at]).into_owned())
        });
        let is_gone = |name: &String| {
            !self.usage.has(name.as_bytes())
                && self.old.functions().iter().any(|function| is_method(function, name))
                && text.functions().iter().all(|function| function.name != *name)
        };
        called.filter(is_gone).collect()
    }
}

fn is_method(function: &crate::syntax::Function, name: &str) -> bool {
    function.name == name && function.qualified.len() > name.len() && function.parent.is_none()
}

/// A top-level function, class or constant of that name, without what stands around it.
fn top_level(parsed: &Parsed, name: &str) -> Option<Vec<u8>> {
    let at_top = |start: usize| parsed.indentation(start).is_empty();
    let function = parsed.functions().iter().find(|f| f.qualified == name && at_top(f.range.start));
    if let Some(function) = function {
        return Some(parsed.text(&function.range).to_vec());
    }
    let found = parsed.statements().iter().find(|statement| {
        let target = || statement.parts.get(Part::Target).map(|target| parsed.text(target));
        at_top(statement.range.start)
            && statement.function.is_none()
            && match statement.kind {
                StatementKind::Assignment => target() == Some(name.as_bytes()),
                StatementKind::Definition => names(parsed.text(&statement.range), name.as_bytes()),
                _ => false,
            }
    })?;
    Some(parsed.text(&found.range).to_vec())
}

/// Whether the name is among the first words of a definition, behind its decorators.
fn names(text: &[u8], name: &[u8]) -> bool {
    let head = lines(text).find(|line| !line.starts_with(b"@") && !line.starts_with(b"#"));
    let head = head.unwrap_or_default();
    words(head).take(4).any(|at| head[at] == *name)
}

fn holds(text: &[u8], name: &[u8]) -> bool {
    words(text).any(|at| text[at] == *name)
}

fn line_start(text: &[u8], at: usize) -> usize {
    text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

/// The text of something that stands at one indentation, written at another; its first line stays where
/// it is put, with the new indentation before it.
pub(super) fn reindented(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    for (number, line) in lines(text).enumerate() {
        if line.trim_ascii().is_empty() {
            result.extend_from_slice(line);
            continue;
        }
        result.extend_from_slice(to);
        let rest = if number == 0 { line } else { line.strip_prefix(from).unwrap_or(line) };
        result.extend_from_slice(rest);
    }
    result
}
