//! Documents: positions in every encoding, and changes in their order.

use crate::lsp::document::{Document, OutOfStep, position_to_char};
use crate::lsp::profile::Encoding;
use crate::lsp::types::{
    Position, Range, TextDocumentContentChangeEvent, TextDocumentContentChangePartial,
    TextDocumentContentChangeWholeDocument, Uri,
};
use proptest::prelude::{Strategy, any, proptest};
use ropey::Rope;

fn at(line: u32, character: u32) -> Position {
    Position { line, character }
}

fn part(start: Position, end: Position, text: &str) -> TextDocumentContentChangeEvent {
    #[allow(deprecated, reason = "the field is there")]
    let part = TextDocumentContentChangePartial {
        range: Range { start, end },
        range_length: None,
        text: text.to_owned(),
    };
    TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part)
}

fn whole(text: &str) -> TextDocumentContentChangeEvent {
    let whole = TextDocumentContentChangeWholeDocument { text: text.to_owned() };
    TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole)
}

#[track_caller]
fn check_position(text: &str, encoding: Encoding, position: Position, expect: usize) {
    assert_eq!(position_to_char(&Rope::from_str(text), position, encoding), expect);
}

#[track_caller]
fn check(
    before: &str,
    changes: &[TextDocumentContentChangeEvent],
    encoding: Encoding,
    after: &str,
) {
    let mut document = Document::new(Uri::from("file:///a.py"), 1, before);
    document.change(2, changes, encoding).unwrap();
    assert_eq!(document.text.to_string(), after);
}

#[test]
fn a_character_beyond_the_basic_plane_counts_two_in_utf_16_four_in_utf_8_and_one_in_utf_32() {
    let text = "x = '🐞é'  # 🐛\ny";
    check_position(text, Encoding::Utf16, at(0, 7), 6);
    check_position(text, Encoding::Utf8, at(0, 9), 6);
    check_position(text, Encoding::Utf32, at(0, 6), 6);
}

#[test]
fn a_position_within_a_character_is_its_beginning() {
    check_position("🐞x", Encoding::Utf16, at(0, 1), 0);
    check_position("🐞x", Encoding::Utf8, at(0, 3), 0);
}

#[test]
fn a_position_beyond_its_line_is_the_lines_end_and_beyond_the_text_the_texts() {
    for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
        check_position("ab\r\ncd", encoding, at(0, 99), 2);
        check_position("ab\ncd", encoding, at(9, 0), 5);
    }
}

#[test]
fn only_what_the_protocol_calls_a_line_break_ends_a_line() {
    check_position("a\u{2028}b\u{b}c\nd", Encoding::Utf16, at(1, 0), 6);
    check_position("a\rb\nc", Encoding::Utf16, at(2, 0), 4);
}

#[test]
fn changes_are_applied_one_after_the_other() {
    let changes = [part(at(0, 0), at(0, 0), "one\n"), part(at(1, 0), at(1, 3), "two")];
    check("abc\n", &changes, Encoding::Utf16, "one\ntwo\n");
}

#[test]
fn a_change_behind_an_astral_character_lands_where_the_editor_made_it() {
    check("'🐞' + a", &[part(at(0, 7), at(0, 8), "b")], Encoding::Utf16, "'🐞' + b");
    check("'🐞' + a", &[part(at(0, 9), at(0, 10), "b")], Encoding::Utf8, "'🐞' + b");
}

#[test]
fn a_change_without_a_range_is_the_whole_text() {
    check("abc", &[whole("x"), part(at(0, 1), at(0, 1), "y")], Encoding::Utf16, "xy");
}

#[test]
fn a_change_whose_end_is_before_its_start_is_not_guessed_at() {
    let mut document = Document::new(Uri::from("file:///a.py"), 1, "abc");
    let wrong = [part(at(0, 2), at(0, 1), "x")];
    assert_eq!(document.change(2, &wrong, Encoding::Utf16), Err(OutOfStep));
}

/// A text, and places in it by character.
fn edited() -> impl Strategy<Value = (String, Vec<(usize, usize, String)>)> {
    let text = "[a-c🐞é\n]{0,30}";
    (text, proptest::collection::vec((any::<usize>(), any::<usize>(), text), 1..8))
}

/// The position of a character, counted by hand.
fn position(text: &[char], at: usize, encoding: Encoding) -> Position {
    let before = &text[..at];
    let start = before.iter().rposition(|c| *c == '\n').map_or(0, |line| line + 1);
    let width = |c: &char| match encoding {
        Encoding::Utf8 => c.len_utf8(),
        Encoding::Utf16 => c.len_utf16(),
        Encoding::Utf32 => 1,
    };
    let line = before.iter().filter(|c| **c == '\n').count();
    let character: usize = before[start..].iter().map(width).sum();
    Position { line: u32::try_from(line).unwrap(), character: u32::try_from(character).unwrap() }
}

proptest! {
    #[test]
    fn a_document_follows_its_editor_in_every_encoding((text, edits) in edited()) {
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let mut editor: Vec<char> = text.chars().collect();
            let mut document = Document::new(Uri::from("file:///a.py"), 0, &text);
            for (version, (one, other, inserted)) in edits.iter().enumerate() {
                let places = [one % (editor.len() + 1), other % (editor.len() + 1)];
                let (start, end) = (places[0].min(places[1]), places[0].max(places[1]));
                let change = part(position(&editor, start, encoding), position(&editor, end, encoding), inserted);
                editor.splice(start..end, inserted.chars());
                document.change(i32::try_from(version).unwrap(), &[change], encoding).unwrap();
            }
            proptest::prop_assert_eq!(document.text.to_string(), editor.iter().collect::<String>());
        }
    }
}
