//! Before the search: what fails, where the fault may be, what the failing tests speak of.
//!
//! Reads the task's tree only.

use super::evidence::Evidence;
use super::hints;
use super::ranking::{self, Proposals};
use super::reach;
use super::source::Source;
use super::templates::Clues;
use super::words;
use crate::syntax::{ExpressionKind, Languages};
use crate::tree::{RelPath, Tree};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};

/// More files are not searched: those first that the log names.
const FILES: usize = 400;

/// Lines that each test executes, by file.
pub(crate) type Coverage = BTreeMap<TestId, BTreeMap<RelPath, BTreeSet<u32>>>;

/// What a run of the task with its original tests showed.
pub(crate) struct Failure<'a> {
    /// Every reported test, and whether it failed.
    pub(crate) outcomes: &'a BTreeMap<TestId, bool>,
    pub(crate) log: &'a [u8],
    pub(crate) coverage: Option<&'a Coverage>,
}

impl Failure<'_> {
    pub(crate) fn failing(&self) -> BTreeSet<TestId> {
        self.outcomes.iter().filter(|(_, failed)| **failed).map(|(id, _)| id.clone()).collect()
    }
}

/// What may be repaired: code files of known languages that neither hold tests nor sway them.
struct Ground<'a> {
    tree: &'a dyn Tree,
    languages: &'a Languages,
    test_files: &'a [RelPath],
    repairable: &'a dyn Fn(&RelPath) -> bool,
}

impl Ground<'_> {
    fn may(&self, path: &RelPath) -> bool {
        (self.repairable)(path)
            && !self.test_files.contains(path)
            && self.languages.for_path(path).is_some_and(|language| {
                !language.is_test_path(path) && !language.is_test_support_path(path)
            })
    }

    fn tests(&self) -> Vec<Source> {
        let open = |path| Source::open(self.tree, self.languages, path);
        self.test_files.iter().filter_map(open).collect()
    }
}

/// The files that a repair may touch, as far as they are searched where nothing is measured.
pub(crate) fn code(
    tree: &dyn Tree,
    languages: &Languages,
    test_files: &[RelPath],
    repairable: &dyn Fn(&RelPath) -> bool,
) -> BTreeSet<RelPath> {
    let ground = Ground { tree, languages, test_files, repairable };
    every(&ground, &ground.tests())
}

/// Puts the proposals for a task together. `tree`: the task with the original tests back.
/// `repairable`: whether a repair may touch a file.
pub(crate) fn survey(
    tree: &dyn Tree,
    languages: &Languages,
    test_files: &[RelPath],
    repairable: &dyn Fn(&RelPath) -> bool,
    failure: &Failure<'_>,
) -> Proposals {
    let failing = failure.failing();
    let hints = hints::places(failure.log, tree);
    let ground = Ground { tree, languages, test_files, repairable };
    let may = |path: &RelPath| ground.may(path);
    let tests = ground.tests();
    let measured = failure
        .coverage
        .map(|coverage| Evidence::measured(coverage, &failing, &may))
        .filter(Evidence::speaks);
    let mut paths: BTreeSet<RelPath> = match &measured {
        Some(evidence) => ranking::files(evidence),
        None => every(&ground, &tests),
    };
    paths.extend(hints.keys().map(|(path, _)| path.clone()).filter(&may));
    let sources: Vec<Source> =
        paths.iter().filter_map(|path| Source::open(tree, languages, path)).collect();
    let mut evidence =
        measured.unwrap_or_else(|| reach::guessed(&sources, &tests, failure.outcomes));
    evidence.hints = hints;
    let clues = clues(&tests, &sources, &failing, failure.log);
    Proposals::new(tree, sources, evidence, &failing, clues)
}

/// Files in the language of the tests; where there are too many, those that the tests name.
fn every(ground: &Ground<'_>, tests: &[Source]) -> BTreeSet<RelPath> {
    let named: BTreeSet<&str> =
        tests.iter().flat_map(|test| words::identifiers(test.bytes())).map(|(_, w)| w).collect();
    let spoken: BTreeSet<&str> = tests.iter().map(|test| test.language.name()).collect();
    let mut paths: Vec<RelPath> =
        ground.tree.paths().into_iter().filter(|path| ground.may(path)).collect();
    paths.retain(|path| {
        spoken.is_empty()
            || ground
                .languages
                .for_path(path)
                .is_some_and(|language| spoken.contains(language.name()))
    });
    let stem = |path: &RelPath| path.file_name().split('.').next().unwrap_or("").to_owned();
    paths.sort_by_key(|path| (!named.contains(&*stem(path)), path.clone()));
    paths.truncate(FILES);
    paths.into_iter().collect()
}

fn clues(tests: &[Source], sources: &[Source], failing: &BTreeSet<TestId>, log: &[u8]) -> Clues {
    let mut clues = Clues::default();
    let names: BTreeSet<&str> = failing
        .iter()
        .filter_map(|id| {
            let plain = id.split('[').next().unwrap_or(id);
            words::identifiers(plain.as_bytes()).last().map(|(_, word)| word)
        })
        .collect();
    for test in tests {
        for function in test.parsed.functions() {
            if !names.contains(&*function.name) {
                continue;
            }
            let text = test.parsed.text(&function.range);
            clues.words.extend(words::identifiers(text).map(|(_, word)| word.to_owned()));
            for expression in test.parsed.expressions() {
                let inside = function.range.start <= expression.range.start
                    && expression.range.end <= function.range.end;
                let literal = matches!(
                    expression.kind,
                    ExpressionKind::Integer | ExpressionKind::String | ExpressionKind::Float
                );
                if inside && literal && expression.range.len() <= 60 && clues.literals.len() < 60 {
                    clues.literals.insert(test.str(&expression.range).to_owned());
                }
            }
        }
    }
    clues.missing = missing(log);
    clues.raised = raised(log);
    if !clues.missing.is_empty() {
        for source in sources.iter().chain(tests) {
            for import in source.parsed.imports() {
                for name in &import.names {
                    let text = source.str(&import.range).to_owned();
                    clues.imports.entry(name.clone()).or_default().insert(text);
                }
            }
        }
    }
    clues
}

/// Names that a log calls undefined.
fn missing(log: &[u8]) -> BTreeSet<String> {
    let log = String::from_utf8_lossy(&log[log.len().saturating_sub(1 << 20)..]);
    let mut names = BTreeSet::new();
    for line in log.lines() {
        let undefined =
            ["NameError", "UnboundLocalError", "AttributeError", "cannot find", "not found in"];
        if !undefined.iter().any(|word| line.contains(word)) {
            continue;
        }
        let plain = line.replace("&#x27;", "'").replace("&apos;", "'").replace('`', "'");
        for quoted in plain.split('\'').skip(1).step_by(2) {
            let is_name = quoted.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name && !quoted.is_empty() && quoted.len() < 60 {
                names.insert(quoted.to_owned());
            }
        }
    }
    names
}

/// How tests end that do not pass, as far as it tells what to repair.
const RAISED: [&str; 16] = [
    "AssertionError",
    "AttributeError",
    "ImportError",
    "IndexError",
    "KeyError",
    "NameError",
    "NotImplementedError",
    "OverflowError",
    "RangeError",
    "RecursionError",
    "ReferenceError",
    "StopIteration",
    "TypeError",
    "UnboundLocalError",
    "ValueError",
    "ZeroDivisionError",
];

/// Those of [`RAISED`] that stand in a log.
fn raised(log: &[u8]) -> BTreeSet<&'static str> {
    let log = &log[log.len().saturating_sub(1 << 20)..];
    let mut found = BTreeSet::new();
    for (_, word) in words::identifiers(log) {
        found.extend(RAISED.iter().find(|known| **known == word));
    }
    found
}
