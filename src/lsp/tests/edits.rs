//! What saving would write, and patches as edits.

use crate::diff::Patch;
use crate::lsp::document::Document;
use crate::lsp::edits::{NotUtf8, Shown, as_file, unsaved, unsaved_without, workspace_edit};
use crate::lsp::profile::{Encoding, Profile};
use crate::lsp::types::{DocumentChange, Edit, TextEdit, Uri};
use crate::tree::{Changes, File, RelPath};
use std::collections::BTreeMap;
use std::path::Path;

#[track_caller]
fn check_saved(text: &str, on_disk: &[u8], expect: &[u8]) {
    assert_eq!(as_file(text.as_bytes(), Some(on_disk)).as_deref(), Ok(expect));
}

fn path(name: &str) -> RelPath {
    RelPath::parse(name.as_bytes()).unwrap()
}

fn open(text: &str) -> Document {
    Document::new(Uri::from("file:///x"), 7, text)
}

#[test]
fn a_text_that_differs_in_line_ends_or_byte_order_mark_alone_is_saved() {
    check_saved("a\nb\n", b"a\r\nb\r\n", b"a\r\nb\r\n");
    check_saved("a\n", b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\n");
}

#[test]
fn a_changed_text_keeps_the_line_ends_and_the_mark_of_its_file() {
    check_saved("a\nc\n", b"\xef\xbb\xbfa\r\nb\r\n", b"\xef\xbb\xbfa\r\nc\r\n");
    check_saved("a\r\nc", b"a\r\nb\r\n", b"a\r\nc");
    check_saved("c", b"a\nb\n", b"c");
}

#[test]
fn what_an_editor_shows_of_a_file_in_another_encoding_is_not_played_on() {
    assert_eq!(as_file("é".as_bytes(), Some(b"\xe9")), Err(NotUtf8));
}

#[test]
fn only_what_is_not_saved_counts_as_unsaved() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("same.py"), "a\n").unwrap();
    std::fs::write(dir.path().join("other.py"), "a\n").unwrap();
    std::fs::write(dir.path().join("latin.py"), b"\xe9\n").unwrap();
    let documents = BTreeMap::from([
        (path("same.py"), open("a\n")),
        (path("other.py"), open("b\n")),
        (path("new.py"), open("n\n")),
        (path("latin.py"), open("é\n")),
    ]);
    let (unsaved, left_out) = unsaved(dir.path(), &documents);
    let names: Vec<&str> = unsaved.keys().map(RelPath::as_str).collect();
    assert_eq!(names, ["new.py", "other.py"]);
    assert_eq!(left_out, [path("latin.py")]);
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed_out_of_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dir.path().join("link.py")).unwrap();
    let shown = Shown { folder: dir.path(), documents: &BTreeMap::new() };
    assert_eq!(crate::tree::Tree::read(&shown, &path("link.py")), None);
}

fn bug() -> Patch {
    let mut before = Changes::new();
    before.write(path("a.py"), File::plain(*b"one\ntwo\nthree\n"));
    let mut after = Changes::new();
    after.write(path("a.py"), File::plain(*b"one\nTWO\nthree\n"));
    Patch::between(&before, &after)
}

#[test]
fn a_bug_in_the_text_is_no_part_of_the_tree_that_its_artifact_is_played_on() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.py"), "one\ntwo\nthree\n").unwrap();
    let only_the_bug = BTreeMap::from([(path("a.py"), open("one\nTWO\nthree\n"))]);
    assert_eq!(unsaved_without(dir.path(), &only_the_bug, &bug()).0.len(), 0);
    let and_more = BTreeMap::from([(path("a.py"), open("one\nTWO\nthree\nfour\n"))]);
    let (unsaved, _) = unsaved_without(dir.path(), &and_more, &bug());
    assert_eq!(unsaved[&path("a.py")].as_ref(), b"one\ntwo\nthree\nfour\n");
}

#[track_caller]
fn check_edit(text: &str, new: &str, expect: &[(u32, u32, u32, u32, &str)]) {
    let documents = BTreeMap::from([(path("a.py"), open(text))]);
    let shown = Shown { folder: Path::new("/nowhere"), documents: &documents };
    let mut changes = Changes::new();
    changes.write(path("a.py"), File::plain(new.as_bytes()));
    let profile =
        Profile { document_changes: true, encoding: Encoding::Utf16, ..Profile::default() };
    let edit = workspace_edit(&shown, &changes, &profile).unwrap();
    let Some([DocumentChange::TextDocumentEdit(edit)]) = edit.document_changes.as_deref() else {
        panic!("not one document");
    };
    assert_eq!(edit.text_document.version, Some(7));
    let plain = |edit: &Edit| match edit {
        Edit::TextEdit(TextEdit { range, new_text }) => {
            let (start, end) = (range.start, range.end);
            (start.line, start.character, end.line, end.character, new_text.clone())
        }
        other => panic!("{other:?}"),
    };
    let found: Vec<_> = edit.edits.iter().map(plain).collect();
    let expect: Vec<_> =
        expect.iter().map(|(a, b, c, d, text)| (*a, *b, *c, *d, (*text).to_owned())).collect();
    assert_eq!(found, expect);
}

#[test]
fn an_edit_replaces_whole_lines() {
    check_edit("one\ntwo\nthree\n", "one\n2\nthree\n", &[(1, 0, 2, 0, "2\n")]);
    check_edit("one\ntwo\n", "one\ntwo\nthree\n", &[(2, 0, 2, 0, "three\n")]);
    check_edit("one\ntwo\n", "two\n", &[(0, 0, 1, 0, "")]);
}

#[test]
fn an_edit_of_a_last_line_without_an_end_ends_where_the_text_does() {
    check_edit("one\n🐞two", "one\n2", &[(1, 0, 1, 5, "2")]);
}

#[test]
fn a_text_with_carriage_returns_alone_is_replaced_as_a_whole() {
    check_edit("one\rtwo\n", "one\r2\n", &[(0, 0, 2, 0, "one\r2\n")]);
}

#[test]
fn a_file_that_is_not_open_has_no_version() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.py"), "one\ntwo\nthree\n").unwrap();
    let shown = Shown { folder: dir.path(), documents: &BTreeMap::new() };
    let changes = bug().apply(&shown).unwrap();
    let profile = Profile { document_changes: true, ..Profile::default() };
    let edit = workspace_edit(&shown, &changes, &profile).unwrap();
    let Some([DocumentChange::TextDocumentEdit(edit)]) = edit.document_changes.as_deref() else {
        panic!("not one document");
    };
    assert_eq!(edit.text_document.version, None);
    let plain = workspace_edit(&shown, &changes, &Profile::default()).unwrap();
    assert_eq!(plain.changes.map(|changes| changes.len()), Some(1));
}
