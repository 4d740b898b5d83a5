//! From a test's id to where it is written.

use super::titles;
use crate::syntax::{Language, Languages, Parsed};
use crate::tree::{RelPath, Tree};

/// A test file, parsed.
pub(super) struct TestFile {
    pub path: RelPath,
    pub language: Language,
    pub parsed: Parsed,
}

/// A test of a test file: indices of the file and of [`Parsed::tests`]; without the latter the whole file, a
/// program that is one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub file: usize,
    pub test: Option<usize>,
}

/// Reads and parses test files that hold at least one test or are one.
pub(super) fn open(tree: &dyn Tree, languages: &Languages, paths: &[RelPath]) -> Vec<TestFile> {
    paths
        .iter()
        .filter_map(|path| {
            let language = languages.for_path(path)?.clone();
            let parsed = language.parse(tree.read(path)?.bytes);
            let holds_tests = !parsed.tests().is_empty();
            (holds_tests || is_program(&parsed, &language)).then(|| TestFile {
                path: path.clone(),
                language,
                parsed,
            })
        })
        .collect()
}

fn is_program(parsed: &Parsed, language: &Language) -> bool {
    language.program().is_some_and(|start| parsed.functions().iter().any(|f| f.name == start))
}

/// The test that an id names. Parameters in brackets, what a slash parts from a test's name, a subtest's in parentheses and the numbers of
/// repeated ids are not looked at: all of them are one function.
///
/// Among tests of that name the one wins whose file the id names, and then the one whose qualified
/// name it ends with; an id that leaves several open names none. Where there is no such test, the id of a
/// program's file names the program.
pub(super) fn locate(id: &str, files: &[TestFile]) -> Option<Place> {
    titles::locate(id, files).or_else(|| by_name(id, files))
}

fn by_name(id: &str, files: &[TestFile]) -> Option<Place> {
    let of_test = || {
        let (file, name) = id.split_once("::")?;
        let (test, _) = name.split_once('/')?;
        named(&format!("{file}::{test}"), files)
    };
    named(id, files).or_else(of_test).or_else(|| program(id, files))
}

fn named(id: &str, files: &[TestFile]) -> Option<Place> {
    let parts = parts(id);
    let name = parts.last()?;
    let mut best: Option<(usize, Place)> = None;
    let mut tied = false;
    for (file, test_file) in files.iter().enumerate() {
        for (test, found) in test_file.parsed.tests().iter().enumerate() {
            if found.name != *name {
                continue;
            }
            let score =
                100 * file_score(id, &test_file.path) + common_end(&parts, &found.qualified);
            match best {
                Some((top, _)) if score < top => {}
                Some((top, _)) if score == top => tied = true,
                _ => {
                    best = Some((score, Place { file, test: Some(test) }));
                    tied = false;
                }
            }
        }
    }
    best.filter(|_| !tied).map(|(_, place)| place)
}

fn program(id: &str, files: &[TestFile]) -> Option<Place> {
    let of_file = |file: &TestFile| {
        id.strip_prefix(file.path.as_str()).is_some_and(|rest| rest.starts_with("::"))
            && is_program(&file.parsed, &file.language)
    };
    files.iter().position(of_file).map(|file| Place { file, test: None })
}

/// `tests/test_x.py::TestA::test_b[1 + 1]` to `tests/test_x`, `py`, `TestA`, `test_b`.
fn parts(id: &str) -> Vec<&str> {
    let end = id.find(['[', '(', '#', ' ']).unwrap_or(id.len());
    let plain = id[..end].trim_end();
    plain.split("::").flat_map(|part| part.split('.')).filter(|part| !part.is_empty()).collect()
}

/// 2 where the id begins with the file's path, 1 where it names the file's stem, else 0.
fn file_score(id: &str, path: &RelPath) -> usize {
    let path = path.as_str();
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let dotted = stem.replace('/', ".");
    if id.starts_with(path) || id.starts_with(&dotted) {
        return 2;
    }
    let name = stem.rsplit('/').next().unwrap_or(stem);
    let names = |part: &str| part == name;
    usize::from(id.split(['/', '.', ':', ' ', '$']).any(names))
}

/// How many trailing parts of the id the qualified name shares.
fn common_end(parts: &[&str], qualified: &str) -> usize {
    let qualified: Vec<&str> = qualified.split("::").flat_map(|part| part.split('.')).collect();
    parts.iter().rev().zip(qualified.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// One-based lines of a file that a log names, as in `tests/test_x.py:41:` or
/// `tests/test_x.py", line 41`. The places where a failing test stopped are among them.
pub(super) fn lines_named(log: &[u8], path: &RelPath) -> Vec<u32> {
    let name = path.as_str().as_bytes();
    let mut lines = Vec::new();
    let mut rest = log;
    while let Some(at) = find(rest, name) {
        rest = &rest[at + name.len()..];
        let number = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"\", line "));
        lines.extend(number.and_then(leading_number));
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn leading_number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
