//! Where hunks go.

use crate::injector::history::mapping::{Fit, closed, undo, with_newlines_of};
use crate::text::apply_edits;

/// The commit from `old` to `new` undone on `today`, all hunks that have a place: the text and how
/// each of them fits.
fn undone(old: &str, new: &str, today: &str) -> (String, Vec<Fit>) {
    let side = |text: &str| with_newlines_of(today.as_bytes(), &closed(text.as_bytes(), b"\n"));
    let newline: &[u8] = if today.contains("\r\n") { b"\r\n" } else { b"\n" };
    let whole = closed(today.as_bytes(), newline);
    let undos = undo(&side(old), &side(new), &whole, today.len());
    let edits: Vec<_> = undos.iter().flat_map(|undo| undo.edits.clone()).collect();
    let text = apply_edits(today.as_bytes(), &edits).unwrap();
    (String::from_utf8(text).unwrap(), undos.iter().map(|undo| undo.fit).collect())
}

#[track_caller]
fn check(old: &str, new: &str, today: &str, expect: &str, fits: &[Fit]) {
    let (text, found) = undone(old, new, today);
    assert_eq!((text.as_str(), found.as_slice()), (expect, fits));
}

const OLD: &str = "start\n\ndef low(value):\n    return value + 1\n\nend\n";
const NEW: &str = "start\n\ndef low(value):\n    if value:\n        return value - 1\n\nend\n";

#[test]
fn unchanged_since_is_the_exact_reversal() {
    check(OLD, NEW, NEW, OLD, &[Fit::Exact]);
}

#[test]
fn lines_before_and_after_may_be_new() {
    let today = format!("import os\n\n{NEW}\nmore\n");
    check(OLD, NEW, &today, &format!("import os\n\n{OLD}\nmore\n"), &[Fit::Exact]);
}

#[test]
fn context_may_have_changed() {
    let today = NEW.replace("start", "begin").replace("def low", "def lower").replace("end", "fin");
    let expect =
        OLD.replace("start", "begin").replace("def low", "def lower").replace("end", "fin");
    check(OLD, NEW, &today, &expect, &[Fit::Exact]);
}

#[test]
fn a_block_that_moved_is_found_where_it_stands() {
    let block = "def low(value):\n    if value:\n        return value - 1\n";
    let other = "def other(thing):\n    a = thing\n    b = a\n    c = b\n    return c\n";
    let new = format!("{block}\n{other}");
    let old = new.replace("    if value:\n        return value - 1\n", "    return value + 1\n");
    let today = format!("{other}\n{block}");
    let expect = format!("{other}\ndef low(value):\n    return value + 1\n");
    check(&old, &new, &today, &expect, &[Fit::Moved]);
}

#[test]
fn a_block_that_moved_and_stands_twice_has_no_place() {
    let block = "def low(value):\n    if value:\n        return value - 1\n";
    let other = "def other(thing):\n    a = thing\n    b = a\n    c = b\n    return c\n";
    let (new, twice) = (format!("{block}\n{other}"), format!("{other}\n{block}\n{block}\nend\n"));
    let old = new.replace("    if value:\n        return value - 1\n", "    return value + 1\n");
    check(&old, &new, &twice, &twice, &[]);
}

#[test]
fn lines_that_changed_in_part_give_way_as_a_whole() {
    let today = NEW.replace("return value - 1", "return value - STEP");
    check(OLD, NEW, &today, OLD, &[Fit::Changed]);
}

#[test]
fn lines_that_are_gone_have_no_place() {
    let today = "start\n\nclass Other:\n    field = None\n    other = True\n\nend\n";
    check(OLD, NEW, today, today, &[]);
}

#[test]
fn what_a_commit_took_away_comes_back_between_its_neighbours() {
    let (old, new) = ("a = 1\nb = 2\nc = 3\n", "a = 1\nc = 3\n");
    check(old, new, "a = 1\nx = 9\nc = 3\n", "a = 1\nb = 2\nx = 9\nc = 3\n", &[Fit::Exact]);
    check(old, new, "x = 9\nc = 3\n", "x = 9\nb = 2\nc = 3\n", &[Fit::Exact]);
    check("a\nb\n", "b\n", "b\n", "a\nb\n", &[Fit::Exact]);
    check("a\nb\n", "a\n", "a\n", "a\nb\n", &[Fit::Exact]);
}

#[test]
fn hunks_find_their_places_one_by_one() {
    let (old, new) = ("a\n1\n2\n3\n4\n5\nb\n", "A\n1\n2\n3\n4\n5\nB\n");
    check(old, new, "A\n1\n2\n3\n4\n5\nother\n", "a\n1\n2\n3\n4\n5\nother\n", &[Fit::Exact]);
}

#[test]
fn carriage_returns_are_todays() {
    let dos = |text: &str| text.replace('\n', "\r\n");
    check(OLD, NEW, &dos(NEW), &dos(OLD), &[Fit::Exact]);
    check(&dos(OLD), &dos(NEW), NEW, OLD, &[Fit::Exact]);
    check(&dos(OLD), &dos(NEW), &dos(NEW), &dos(OLD), &[Fit::Exact]);
}

#[test]
fn a_missing_last_newline_stays_missing_and_is_no_difference() {
    check("a\nb", "a\nB", "a\nB", "a\nb", &[Fit::Exact]);
    check("a\nb\n", "a\nB\n", "a\nB", "a\nb", &[Fit::Exact]);
    check("a\nb", "a\nB", "a\nB\n", "a\nb\n", &[Fit::Exact]);
    check("a\n", "a\nb\n", "a\nb", "a", &[Fit::Exact]);
    check("a\nb\n", "a\n", "a", "a\nb", &[Fit::Exact]);
    check("a\r\nb\r\n", "a\r\n", "a\r\nx\r\ny", "a\r\nb\r\nx\r\ny", &[Fit::Exact]);
    check("a\n", "a\nb\n", "x\r\na\r\nb", "x\r\na", &[Fit::Exact]);
}
