//! Weakenings of failing tests, from the least that may hide a failure to the whole test.

use super::locate::{Place, TestFile, lines_named, locate, open};
use crate::syntax::structural::{Weakening, WeakeningKind, merge, weakenings};
use crate::syntax::{Languages, StatementKind};
use crate::text::apply_edits;
use crate::tree::{Changes, File, RelPath, Tree};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

/// How much of a test goes. Never commented out, always deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// The assertion at which it stopped and those after it.
    Later,
    /// All assertions.
    Assertions,
    /// Everything from the statement at which it stopped.
    Rest,
    Test,
}

/// The failing tests that were found in the test files, and how to weaken them.
pub(super) struct Weakener {
    files: Vec<OpenTests>,
    failing: BTreeMap<Place, BTreeSet<TestId>>,
}

struct OpenTests {
    tests: TestFile,
    file: File,
    weakenings: Vec<Weakening>,
    /// One-based lines at which something stopped.
    stops: Vec<u32>,
}

impl Weakener {
    /// `log`: of the run in which they failed.
    pub(super) fn new(
        tree: &dyn Tree,
        languages: &Languages,
        test_files: &[RelPath],
        failing: &BTreeSet<TestId>,
        log: &[u8],
    ) -> Self {
        let parsed = open(tree, languages, test_files);
        let mut places: BTreeMap<Place, BTreeSet<TestId>> = BTreeMap::new();
        for id in failing {
            if let Some(place) = locate(id, &parsed) {
                places.entry(place).or_default().insert(id.clone());
            }
        }
        let failing_files: BTreeSet<usize> = places.keys().map(|place| place.file).collect();
        let files = parsed
            .into_iter()
            .enumerate()
            .map(|(index, tests)| {
                let used = failing_files.contains(&index);
                let file = tree.read(&tests.path).unwrap_or_else(|| File::plain(Vec::new()));
                OpenTests {
                    stops: if used { lines_named(log, &tests.path) } else { Vec::new() },
                    weakenings: if used {
                        weakenings(&tests.parsed, &tests.language)
                    } else {
                        Vec::new()
                    },
                    file,
                    tests,
                }
            })
            .collect();
        Self { files, failing: places }
    }

    /// Where failing tests are, with their ids.
    pub(super) fn failing(&self) -> &BTreeMap<Place, BTreeSet<TestId>> {
        &self.failing
    }

    /// Whether a range of a test file lies in a failing test, but for the end of its last line.
    pub(super) fn is_within(&self, path: &RelPath, range: &Range<usize>) -> bool {
        self.failing.keys().any(|place| {
            let OpenTests { tests, .. } = &self.files[place.file];
            let of = |test: usize| {
                let found = &tests.parsed.tests()[test].range;
                found.start <= range.start && range.end <= found.end + 2
            };
            tests.path == *path && place.test.is_none_or(of)
        })
    }

    /// Whether a test stopped inside one of its assertions.
    pub(super) fn stopped_in_assertion(&self, place: Place) -> bool {
        let file = &self.files[place.file];
        let stops = stops(file, place.test);
        file.weakenings
            .iter()
            .filter(|weakening| place.test.is_none() || weakening.test == place.test)
            .filter(|weakening| weakening.what == WeakeningKind::Assertion)
            .any(|weakening| {
                let lines = lines(file, weakening.statement);
                stops.iter().any(|stop| lines.contains(stop))
            })
    }

    /// Whether the cut of the rest leaves nothing of a test.
    pub(super) fn empties(&self, place: Place) -> bool {
        let file = &self.files[place.file];
        let from = stops(file, place.test).first().copied();
        // A program stays one, whatever it runs.
        place.test.is_some()
            && rest(file, place.test, from).len() == rest(file, place.test, None).len()
    }

    /// Whether the log says where a test stopped.
    pub(super) fn has_stop(&self, place: Place) -> bool {
        !stops(&self.files[place.file], place.test).is_empty()
    }

    /// The weakened test files; `None` where nothing can be cut so.
    pub(super) fn changes(&self, cuts: &BTreeMap<Place, Cut>) -> Option<Changes> {
        let mut changes = Changes::new();
        for (index, file) in self.files.iter().enumerate() {
            let mut chosen = Vec::new();
            for (place, cut) in cuts.iter().filter(|(place, _)| place.file == index) {
                chosen.extend(weakenings_for(file, place.test, *cut));
            }
            let refs: Vec<&Weakening> = chosen.iter().collect();
            if refs.is_empty() {
                continue;
            }
            let TestFile { parsed, language, .. } = &file.tests;
            let edits = merge(parsed, language, &refs);
            let bytes = apply_edits(parsed.source(), &edits).ok()?;
            if bytes == parsed.source() || language.syntax_errors(&bytes) > parsed.syntax_errors() {
                return None;
            }
            let executable = file.file.executable;
            changes.write(file.tests.path.clone(), File { bytes: bytes.into(), executable });
        }
        (!changes.is_empty()).then_some(changes)
    }

    /// Whether a test has something to cut so.
    pub(super) fn can(&self, place: Place, cut: Cut) -> bool {
        !weakenings_for(&self.files[place.file], place.test, cut).is_empty()
    }
}

/// The weakenings that cut one test so; none where the cut does not exist for it.
fn weakenings_for(file: &OpenTests, test: Option<usize>, cut: Cut) -> Vec<Weakening> {
    let of_kind = |what: WeakeningKind| {
        file.weakenings.iter().filter(move |weakening| {
            weakening.what == what && (test.is_none() || weakening.test == test)
        })
    };
    let stops = stops(file, test);
    let after = |weakening: &&Weakening| {
        let lines = lines(file, weakening.statement);
        match test {
            Some(_) => stops.first().is_some_and(|stop| lines.end() >= stop),
            // Of a program every function that stopped, by itself.
            None => function_lines(file, weakening.statement).is_some_and(|function| {
                stops.iter().any(|stop| function.contains(stop) && lines.end() >= stop)
            }),
        }
    };
    match cut {
        Cut::Later => of_kind(WeakeningKind::Assertion).filter(after).cloned().collect(),
        Cut::Assertions => of_kind(WeakeningKind::Assertion).cloned().collect(),
        Cut::Rest => rest(file, test, stops.first().copied()),
        Cut::Test if test.is_none() => Vec::new(),
        Cut::Test => of_kind(WeakeningKind::Test).cloned().collect(),
    }
}

/// The one-based lines of a statement.
fn lines(file: &OpenTests, statement: usize) -> RangeInclusive<u32> {
    let parsed = &file.tests.parsed;
    let range = &parsed.statements()[statement].range;
    parsed.line_of(range.start)..=parsed.line_of(range.end.saturating_sub(1))
}

/// The lines at which a failing test stopped, sorted: a parametrised test can stop at several. The
/// line of its head is none of them, for logs name it as the test's place.
fn stops(file: &OpenTests, test: Option<usize>) -> Vec<u32> {
    let parsed = &file.tests.parsed;
    let Some(test) = test else { return file.stops.clone() };
    let found = &parsed.tests()[test];
    let body = found.function.map_or(&found.range, |function| &parsed.functions()[function].body);
    let lines = parsed.line_of(body.start)..=parsed.line_of(body.end.saturating_sub(1));
    file.stops.iter().copied().filter(|line| lines.contains(line)).collect()
}

/// The test's statements from the one at which it stopped; all where that is not known.
fn rest(file: &OpenTests, test: Option<usize>, stop: Option<u32>) -> Vec<Weakening> {
    let parsed = &file.tests.parsed;
    let Some(test) = test else { return calls_of_program(file) };
    let found = &parsed.tests()[test];
    let block = found.function.and_then(|function| parsed.functions()[function].block);
    let statements = block.map_or(&[][..], |block| &parsed.blocks()[block].statements);
    let goes = |statement: &&usize| {
        parsed.statements()[**statement].kind != StatementKind::Docstring
            && stop.is_none_or(|stop| *lines(file, **statement).end() >= stop)
    };
    let weakening = |statement: &usize| Weakening {
        what: WeakeningKind::Assertion,
        test: Some(test),
        name: found.qualified.clone(),
        statement: *statement,
        edits: Vec::new(),
    };
    statements.iter().filter(goes).map(weakening).collect()
}

/// What a program calls for its effect from its first function.
fn calls_of_program(file: &OpenTests) -> Vec<Weakening> {
    let TestFile { parsed, language, .. } = &file.tests;
    let start = parsed.functions().iter().find(|f| Some(f.name.as_str()) == language.program());
    let block = start.and_then(|function| function.block);
    let statements = block.map_or(&[][..], |block| &parsed.blocks()[block].statements);
    let called =
        |statement: &&usize| parsed.statements()[**statement].kind == StatementKind::Expression;
    let weakening = |statement: &usize| Weakening {
        what: WeakeningKind::Assertion,
        test: None,
        name: start.map(|function| function.qualified.clone()).unwrap_or_default(),
        statement: *statement,
        edits: Vec::new(),
    };
    statements.iter().filter(called).map(weakening).collect()
}

/// The one-based lines of the function that a statement is in.
fn function_lines(file: &OpenTests, statement: usize) -> Option<RangeInclusive<u32>> {
    let parsed = &file.tests.parsed;
    let range = &parsed.functions()[parsed.statements()[statement].function?].range;
    Some(parsed.line_of(range.start)..=parsed.line_of(range.end.saturating_sub(1)))
}
