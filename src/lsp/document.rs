//! One open document: its text, its version, and what is known of its structure.

use super::bugs::Marks;
use super::outline::Outline;
use super::profile::Encoding;
use super::types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use ropey::Rope;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Document {
    /// As the client spells it.
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) text: Rope,
    /// Counts every change, whatever the client's versions do.
    pub(super) revision: u64,
    /// Of this text or, until the next reading is done, of an earlier one with its lines moved.
    pub(super) reading: Option<Arc<Reading>>,
    /// The revision that `reading` was made from.
    pub(super) read: u64,
}

/// What was made out of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) outline: Outline,
    pub(super) marks: Marks,
}

/// What a change could not be applied for; the client then shows other text than we hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfStep;

impl Document {
    pub(super) fn new(uri: Uri, version: i32, text: &str) -> Self {
        let text = Rope::from_str(text);
        Self { uri, version, text, revision: 1, reading: None, read: 0 }
    }

    /// Applies changes in their order. On failure nothing after the failing one is applied.
    pub(super) fn change(
        &mut self,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> Result<(), OutOfStep> {
        self.version = version;
        for change in changes {
            self.revision += 1;
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    self.text = Rope::from_str(&whole.text);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let start = char_at(&self.text, part.range.start, encoding);
                    let end = char_at(&self.text, part.range.end, encoding);
                    if start > end {
                        return Err(OutOfStep);
                    }
                    let lines = self.text.len_lines();
                    let last = self.text.char_to_line(end);
                    self.text.try_remove(start..end).map_err(|_| OutOfStep)?;
                    self.text.try_insert(start, &part.text).map_err(|_| OutOfStep)?;
                    self.move_reading(last, lines);
                }
            }
        }
        Ok(())
    }

    /// Moves what stands behind a change by the lines that it added or took.
    fn move_reading(&mut self, last: usize, lines_before: usize) {
        let by = self.text.len_lines().cast_signed() - lines_before.cast_signed();
        if let (Some(reading), true) = (&mut self.reading, by != 0) {
            let reading = Arc::make_mut(reading);
            let line = to_u32(last);
            reading.outline.shift(line, by);
            reading.marks.shift(line, by);
        }
    }

    /// Takes what was made of this text; what was made of an earlier one is too late.
    pub(super) fn take(&mut self, revision: u64, reading: Reading) -> bool {
        let current = revision == self.revision;
        if current {
            self.read = revision;
            self.reading = Some(Arc::new(reading));
        }
        current
    }

    /// Whether what is known of its structure is of this text.
    pub(super) fn is_read(&self) -> bool {
        self.read == self.revision
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.text.len_bytes());
        for chunk in self.text.chunks() {
            bytes.extend_from_slice(chunk.as_bytes());
        }
        bytes
    }
}

/// The character offset of a position. What lies beyond its line is the line's end, and what lies beyond the
/// text is the text's, as the protocol wants it; what falls into a character is its beginning.
fn char_at(text: &Rope, position: Position, encoding: Encoding) -> usize {
    let line = position.line as usize;
    if line >= text.len_lines() {
        return text.len_chars();
    }
    let start = text.line_to_char(line);
    let line = text.line(line);
    let length = length_without_break(&line);
    let wanted = position.character as usize;
    let within = match encoding {
        Encoding::Utf32 => wanted.min(length),
        Encoding::Utf8 => line.byte_to_char(wanted.min(line.char_to_byte(length))),
        Encoding::Utf16 => line.utf16_cu_to_char(wanted.min(line.char_to_utf16_cu(length))),
    };
    start + within
}

fn length_without_break(line: &ropey::RopeSlice<'_>) -> usize {
    let mut length = line.len_chars();
    while length > 0 && matches!(line.char(length - 1), '\n' | '\r') {
        length -= 1;
    }
    length
}

/// From the beginning of a line to that of another one.
pub(super) fn lines(from: u32, to: u32) -> Range {
    Range { start: Position { line: from, character: 0 }, end: Position { line: to, character: 0 } }
}

pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(super) fn position_to_char(text: &Rope, position: Position, encoding: Encoding) -> usize {
    char_at(text, position, encoding)
}
