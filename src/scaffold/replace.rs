//! Search and replace: the search text must match exactly once.

use super::Trouble;
use crate::text::{self, LineIndex};

/// A text after a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub bytes: Vec<u8>,
    /// The line, from 1, on which the replacement begins.
    pub line: usize,
}

/// `path` is for the error only.
pub fn replaced(
    path: &str,
    source: &[u8],
    search: &str,
    replace: &str,
) -> Result<Replaced, Trouble> {
    if search.is_empty() {
        return Err(Trouble::EmptySearch);
    }
    if search == replace {
        return Err(Trouble::Same);
    }
    let index = LineIndex::new(source);
    let line = |at: usize| usize::try_from(index.line_of(at)).unwrap_or(usize::MAX);
    let places = occurrences(source, search.as_bytes());
    match places.as_slice() {
        [at] => {
            let after = &source[at + search.len()..];
            let bytes = [&source[..*at], replace.as_bytes(), after].concat();
            Ok(Replaced { bytes, line: line(*at) })
        }
        [] => Err(Trouble::NoMatch { path: path.to_owned(), hint: hint(source, search) }),
        several => Err(Trouble::Matches {
            path: path.to_owned(),
            lines: several.iter().map(|at| line(*at)).collect(),
        }),
    }
}

/// Where `search` begins, also where its occurrences overlap.
fn occurrences(source: &[u8], search: &[u8]) -> Vec<usize> {
    let windows = source.windows(search.len()).enumerate();
    windows.filter(|(_, window)| *window == search).map(|(at, _)| at).collect()
}

/// What is the matter, where it can be told.
fn hint(source: &[u8], search: &str) -> String {
    let trimmed = |text: &'_ [u8]| -> Vec<Vec<u8>> {
        text::lines(text).map(|line| line.trim_ascii().to_vec()).collect()
    };
    let (have, want) = (trimmed(source), trimmed(search.trim_matches('\n').as_bytes()));
    if want.iter().all(Vec::is_empty) {
        return String::new();
    }
    let Some(at) = have.windows(want.len()).position(|window| window == want) else {
        return String::new();
    };
    let windows_ends = source.windows(2).any(|pair| pair == b"\r\n") && !search.contains('\r');
    let why = if windows_ends { "the ends of lines (they are CRLF)" } else { "white space" };
    format!(" (on line {} it would but for {why})", at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "def f(a):\n    return a + 1\n\n\ndef g(a):\n    return a + 1\n";

    #[track_caller]
    fn check(search: &str, replace: &str, expect: Result<(&str, usize), &str>) {
        let got = replaced("a.py", SOURCE.as_bytes(), search, replace);
        let got = got
            .map(|done| (String::from_utf8(done.bytes).expect("the source is text"), done.line))
            .map_err(|trouble| trouble.to_string());
        match (got, expect) {
            (Ok((text, line)), Ok((expect, at))) => {
                assert_eq!((text.as_str(), line), (expect, at));
            }
            (Err(text), Err(expect)) => assert!(text.contains(expect), "{text}"),
            (got, expect) => panic!("{got:?} is not {expect:?}"),
        }
    }

    #[test]
    fn one_exact_match_is_replaced() {
        let after = SOURCE.replace("def g(a):\n    return a + 1", "def g(a):\n    return a + 2");
        check("def g(a):\n    return a + 1", "def g(a):\n    return a + 2", Ok((&after, 5)));
        check("\n\n\n", "\n\n", Ok((&SOURCE.replace("\n\n\n", "\n\n"), 2)));
    }

    #[test]
    fn no_match_and_several_are_told_with_their_lines() {
        check("return a + 1", "return a", Err("occurs 2 times, on lines 2, 6"));
        check("return b", "return a", Err("occurs 0 times; it must"));
        check("  return a + 1\n\n\ndef g(a):\nreturn", "", Err("occurs 0 times;"));
        check(
            "def f(a):\n  return a + 1",
            "",
            Err("0 times (on line 1 it would but for white space)"),
        );
        check("", "x", Err("empty"));
        check("def f", "def f", Err("the same"));
        check(&"x".repeat(1000), "", Err("0 times"));
    }

    #[test]
    fn overlapping_matches_are_several() {
        let got = replaced("a", b"aaa", "aa", "b");
        assert_eq!(got, Err(Trouble::Matches { path: "a".to_owned(), lines: vec![1, 1] }));
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let got = replaced("a", b"\xff one \xfe", "one", "two");
        assert_eq!(got.map(|done| done.bytes), Ok(b"\xff two \xfe".to_vec()));
        let got =
            replaced("a", b"a\r\nb\r\n", "a\nb\n", "c").map_err(|trouble| trouble.to_string());
        assert!(got.is_err_and(|text| text.contains("CRLF")));
    }
}
