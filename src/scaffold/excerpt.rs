//! What a player is shown of a long text: head and tail of an output, numbered lines of a file.

use super::OUTPUT;
use crate::sandbox::Captured;
use crate::text;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// A text that may lack its middle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capped {
    pub text: String,
    /// Bytes that were left out.
    pub left_out: u64,
}

/// The head and the tail of what a command printed.
pub fn capped(output: &Captured) -> Capped {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let text = if output.dropped == 0 {
        lossy(&[&*output.head, &*output.tail].concat())
    } else {
        let left_out = output.dropped;
        format!("{}\n[{left_out} bytes left out]\n{}", lossy(&output.head), lossy(&output.tail))
    };
    Capped { text, left_out: output.dropped }
}

/// A text as it is, or its beginning and its end.
pub fn shortened(text: &[u8]) -> String {
    let cut = text.len().saturating_sub(OUTPUT);
    let (head, rest) = text.split_at(text.len().min(OUTPUT / 2));
    let dropped = cut as u64;
    capped(&Captured { head: head.to_vec(), tail: rest[cut..].to_vec(), dropped }).text
}

/// Lines `wanted` of a file with their numbers, as many as fit; and the lines that are shown. Lines are
/// counted from 1.
pub fn numbered(
    source: &[u8],
    wanted: RangeInclusive<usize>,
) -> (String, Option<RangeInclusive<usize>>) {
    let (mut shown, mut last) = (String::new(), None);
    let lines = text::lines(source).enumerate().map(|(at, line)| (at + 1, line));
    for (number, line) in lines.filter(|(number, _)| wanted.contains(number)) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let room = OUTPUT.saturating_sub(shown.len());
        if last.is_some() && line.len() + 8 > room {
            break;
        }
        // A single line that is longer than all there is room for is cut.
        let cut = line.char_indices().map(|(at, _)| at).chain([line.len()]);
        let end = cut.take_while(|at| *at <= room).last().unwrap_or(0);
        let more = if end < line.len() { " [cut]" } else { "" };
        writeln!(shown, "{number:>6}\t{}{more}", &line[..end]).ok();
        last = Some(number);
    }
    (shown, last.map(|last| *wanted.start().max(&1)..=last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_is_told_between_head_and_tail() {
        let whole = Captured { head: b"ab".to_vec(), tail: b"cd".to_vec(), dropped: 0 };
        assert_eq!(capped(&whole), Capped { text: "abcd".to_owned(), left_out: 0 });
        let cut = Captured { dropped: 7, ..whole };
        assert_eq!(capped(&cut).text, "ab\n[7 bytes left out]\ncd");
    }

    #[test]
    fn a_character_across_head_and_tail_is_whole_where_nothing_was_dropped() {
        let whole = Captured { head: vec![0xc3], tail: vec![0xa9], dropped: 0 };
        assert_eq!(capped(&whole).text, "é");
    }

    #[test]
    fn a_long_text_is_shortened_in_its_middle() {
        assert_eq!(shortened(b""), "");
        let whole = "x".repeat(OUTPUT);
        assert_eq!(shortened(whole.as_bytes()), whole);
        let text = format!("begin{}end", "x".repeat(OUTPUT));
        let short = shortened(text.as_bytes());
        assert!(short.starts_with("begin") && short.ends_with("end"));
        assert!(short.contains("\n[8 bytes left out]\n") && short.len() == OUTPUT + 20);
    }

    #[track_caller]
    fn check(
        source: &str,
        wanted: RangeInclusive<usize>,
        expect: &str,
        shown: Option<(usize, usize)>,
    ) {
        let (text, lines) = numbered(source.as_bytes(), wanted);
        assert_eq!(text, expect);
        assert_eq!(lines.map(|lines| (*lines.start(), *lines.end())), shown);
    }

    #[test]
    fn lines_are_numbered_from_one() {
        check("a\nb\r\nc", 2..=9, "     2\tb\n     3\tc\n", Some((2, 3)));
        check("a\n", 0..=1, "     1\ta\n", Some((1, 1)));
        check("a\n", 2..=3, "", None);
        check("", 1..=3, "", None);
    }

    #[test]
    fn no_more_lines_are_shown_than_fit() {
        let source = "x".repeat(99) + "\n";
        let (text, lines) = numbered(source.repeat(1000).as_bytes(), 1..=1000);
        assert!(text.len() <= OUTPUT && text.len() > OUTPUT - 200, "{}", text.len());
        assert_eq!(lines.map(|lines| *lines.end()), Some(text.lines().count()));
        let (text, _) = numbered("é".repeat(OUTPUT).as_bytes(), 1..=1);
        assert!(text.len() < OUTPUT + 40 && text.ends_with(" [cut]\n"), "{}", text.len());
    }
}
