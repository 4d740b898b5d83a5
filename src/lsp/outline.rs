//! What of a file's structure an editor is shown: its functions and tests, by name and lines.

use crate::syntax::{Language, Parsed};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// In source order.
    pub(super) functions: Vec<Place>,
    pub(super) tests: Vec<Place>,
    /// Whether the whole file is there for tests.
    pub(super) test_file: bool,
}

/// A definition and the lines it spans, from 0, the last included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) name: String,
    /// With its scopes, as targets name it.
    pub(super) qualified: String,
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Outline {
    pub(super) fn of(language: &Language, source: Vec<u8>, test_file: bool) -> Self {
        let parsed = language.parse(source);
        let tests: Vec<Place> = parsed
            .tests()
            .iter()
            .map(|test| place(&parsed, &test.name, &test.qualified, &test.range))
            .collect();
        let functions = parsed
            .functions()
            .iter()
            .filter(|function| !test_file && !parsed.is_test_code(function.range.start))
            .map(|function| place(&parsed, &function.name, &function.qualified, &function.range))
            .collect();
        Self { functions, tests, test_file }
    }

    /// The innermost function that spans the line.
    pub(super) fn function_at(&self, line: u32) -> Option<&Place> {
        self.functions.iter().rev().find(|place| place.spans(line))
    }

    pub(super) fn test_at(&self, line: u32) -> Option<&Place> {
        self.tests.iter().rev().find(|place| place.spans(line))
    }

    /// Moves what stands behind a line, and stretches what spans it.
    pub(super) fn shift(&mut self, line: u32, by: isize) {
        for place in self.functions.iter_mut().chain(&mut self.tests) {
            shift(&mut place.first, &mut place.last, line, by);
        }
    }
}

impl Place {
    pub(super) fn spans(&self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// Moves lines that stand behind a changed one, and stretches those that span it.
pub(super) fn shift(first: &mut u32, last: &mut u32, line: u32, by: isize) {
    if *first > line {
        *first = moved(*first, by);
    }
    if *last >= line {
        *last = moved(*last, by).max(*first);
    }
}

fn moved(line: u32, by: isize) -> u32 {
    let moved = i64::from(line) + i64::try_from(by).unwrap_or(0);
    u32::try_from(moved.max(0)).unwrap_or(u32::MAX)
}

fn place(parsed: &Parsed, name: &str, qualified: &str, range: &std::ops::Range<usize>) -> Place {
    let first = parsed.line_of(range.start).saturating_sub(1);
    let last = parsed.line_of(range.end.saturating_sub(1).max(range.start)).saturating_sub(1);
    Place { name: name.to_owned(), qualified: qualified.to_owned(), first, last }
}
