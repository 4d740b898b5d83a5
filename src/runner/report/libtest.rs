//! The report of Rust's test binaries: what each one lists, and its status lines. Only listed names
//! count, so that a printed line cannot invent a test; two different outcomes of one are an error.

use super::NoReport;
use crate::verdict::{Outcome, Verdicts};
use std::collections::BTreeMap;

struct TestFile<'a> {
    name: &'a [u8],
    /// `None`: the file did not compile.
    tests: Option<BTreeMap<&'a [u8], Option<Outcome>>>,
}

pub(super) fn read(block: &[&[u8]]) -> Result<Verdicts, NoReport> {
    let mut files: Vec<TestFile<'_>> = Vec::new();
    let mut complete = false;
    for line in block.iter().filter(|line| !line.is_empty()) {
        let (word, rest) = split(line);
        let tests = files.last_mut().and_then(|file| file.tests.as_mut());
        match (word, tests) {
            (b"file", _) => files.push(TestFile { name: rest, tests: Some(BTreeMap::new()) }),
            (b"broken", _) => files.push(TestFile { name: rest, tests: None }),
            (b"list", Some(tests)) => {
                tests.entry(rest).or_insert(None);
            }
            (b"line", Some(tests)) => note(tests, rest)?,
            (b"end", _) if rest.is_empty() => complete = true,
            _ => return Err(NoReport::Unreadable(text(line))),
        }
    }
    if complete { verdicts(files) } else { Err(NoReport::Incomplete("it has no last line".into())) }
}

fn verdicts(files: Vec<TestFile<'_>>) -> Result<Verdicts, NoReport> {
    let mut verdicts = Verdicts::default();
    for file in files {
        let Some(tests) = file.tests else {
            verdicts.add(text(file.name), Outcome::Error);
            continue;
        };
        for (name, outcome) in tests {
            let name = text(name);
            let outcome =
                outcome.ok_or_else(|| NoReport::Incomplete(format!("{name:?} has no outcome")))?;
            verdicts.add(format!("{}::{name}", text(file.name)), outcome);
        }
    }
    Ok(verdicts)
}

fn note<'a>(
    tests: &mut BTreeMap<&'a [u8], Option<Outcome>>,
    line: &'a [u8],
) -> Result<(), NoReport> {
    if let Some((name, outcome)) = status(line)
        && let Some(known) = tests.get_mut(name)
    {
        if known.is_some_and(|before| before != outcome) {
            return Err(NoReport::Incomplete(format!("{:?} has two outcomes", text(name))));
        }
        *known = Some(outcome);
    }
    Ok(())
}

/// Name and outcome of `test NAME ... ok`; `None` where it is no such line.
fn status(line: &[u8]) -> Option<(&[u8], Outcome)> {
    const DOTS: &[u8] = b" ... ";
    const REASON: &[u8] = b" ... ignored, ";
    let rest = line.strip_prefix(b"test ")?;
    let find = |needle: &[u8]| rest.windows(needle.len()).position(|window| window == needle);
    let find_last = |needle: &[u8]| rest.windows(needle.len()).rposition(|window| window == needle);
    let (name, outcome) = if let Some(at) = find(REASON) {
        (&rest[..at], Outcome::Skipped)
    } else {
        let at = find_last(DOTS)?;
        let outcome = match &rest[at + DOTS.len()..] {
            b"ok" => Outcome::Passed,
            b"FAILED" => Outcome::Failed,
            b"ignored" => Outcome::Skipped,
            _ => return None,
        };
        (&rest[..at], outcome)
    };
    let suffixes: [&[u8]; 3] = [b" - should panic", b" - compile fail", b" - compile"];
    let plain =
        suffixes.iter().fold(name, |name, suffix| name.strip_suffix(*suffix).unwrap_or(name));
    Some((plain, outcome))
}

fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let at = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    (&line[..at], line.get(at + 1..).unwrap_or_default())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
