//! Edits and line numbers on byte texts.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(source: &str, edits: &[(Range<usize>, &str)], expect: &str) {
    let edits: Vec<_> = edits.iter().map(|(range, text)| Edit::new(range.clone(), *text)).collect();
    let result = apply_edits(source.as_bytes(), &edits).expect("the edits fit");
    assert_eq!(String::from_utf8(result).unwrap(), expect);
}

#[test]
fn edits_use_offsets_of_the_source_in_any_order() {
    check("hello world", &[(6..11, "moon"), (0..5, "goodbye")], "goodbye moon");
    check("abc", &[(1..2, "")], "ac");
    check("", &[(0..0, "new")], "new");
}

#[test]
fn insertions_at_one_place_keep_their_order() {
    check("ab", &[(1..1, "1"), (1..1, "2")], "a12b");
    check("abc", &[(1..2, "B"), (1..1, "<")], "a<Bc");
    check("abc", &[(2..2, ">"), (1..2, "B")], "aB>c");
}

#[test]
fn overlapping_edits_are_refused() {
    let edits = [Edit::new(0..3, "x"), Edit::new(2..4, "y")];
    let expect = Overlap::Ranges { first: 0..3, second: 2..4 };
    assert_eq!(apply_edits(b"abcdef", &edits), Err(expect));
    let inside = [Edit::new(0..3, "x"), Edit::new(1..1, "y")];
    assert!(apply_edits(b"abcdef", &inside).is_err());
}

#[test]
fn edits_outside_the_text_are_refused() {
    let expect = Overlap::Outside { range: 2..4, len: 3 };
    assert_eq!(apply_edits(b"abc", &[Edit::new(2..4, "x")]), Err(expect));
    #[allow(clippy::reversed_empty_ranges, reason = "the point of the test")]
    let inverted = Edit::new(2..1, "x");
    assert!(apply_edits(b"abc", &[inverted]).is_err());
}

#[test]
fn lines_are_counted_from_one_and_hold_their_newline() {
    let index = LineIndex::new(b"a\r\nb\rc\n\nlast");
    assert_eq!(index.count(), 4);
    assert_eq!(
        [0, 2, 3, 6, 7, 8, 11, 12, 99].map(|at| index.line_of(at)),
        [1, 1, 2, 2, 3, 4, 4, 4, 4]
    );
    let ranges: Vec<_> = (0..6).map(|line| index.line_range(line)).collect();
    assert_eq!(ranges, [None, Some(0..3), Some(3..7), Some(7..8), Some(8..12), None]);
}

#[test]
fn an_empty_text_has_no_lines() {
    let index = LineIndex::new(b"");
    assert_eq!((index.count(), index.line_of(0), index.line_range(1)), (0, 1, None));
}

proptest! {
    #[test]
    fn line_ranges_join_to_the_text(source in "[a\r\n]{0,30}") {
        let index = LineIndex::new(source.as_bytes());
        let mut at = 0;
        for line in 1..=u32::try_from(index.count()).unwrap() {
            let range = index.line_range(line).unwrap();
            prop_assert_eq!(range.start, at);
            prop_assert!(range.clone().all(|offset| index.line_of(offset) == line));
            at = range.end;
        }
        prop_assert_eq!(at, source.len());
    }
}

#[test]
fn identifiers_are_found_without_a_grammar() {
    let found: Vec<_> = identifiers("a1 + 2b.c_d('été')".as_bytes()).collect();
    assert_eq!(found, [(0, "a1"), (8, "c_d"), (13, "été")]);
    assert_eq!(
        identifiers(b"\xff\xfe x").collect::<Vec<_>>(),
        [(3, "x")],
        "what is no UTF-8 is none"
    );
    assert_eq!(identifiers(b"").count(), 0);
}
