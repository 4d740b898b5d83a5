//! Which tests execute the lines of an edit.

use crate::harness::{Coverage, Error, Harness};
use crate::injector::Editable;
use crate::runner::{Probe, weave};
use crate::syntax::{Languages, StatementKind};
use crate::tree::{Changes, RelPath};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Lines by test, of the test files and code files that were asked for so far.
pub(super) struct Reached<'a> {
    harness: &'a Harness,
    languages: &'a Languages,
    asked: BTreeSet<RelPath>,
    lines: Coverage,
    /// Lines of which it is known whether they are executed.
    probed: BTreeMap<RelPath, BTreeSet<u32>>,
}

/// Lines of a file to the passing tests that execute them; empty where it is known that none does.
pub(super) type Lines = BTreeMap<u32, BTreeSet<TestId>>;

impl<'a> Reached<'a> {
    pub(super) fn new(harness: &'a Harness, languages: &'a Languages) -> Self {
        Self {
            harness,
            languages,
            asked: BTreeSet::new(),
            lines: Coverage::new(),
            probed: BTreeMap::new(),
        }
    }

    /// `None` where the framework cannot tell.
    pub(super) fn of(&mut self, file: &Editable) -> Result<Option<Lines>, Error> {
        let baseline = self.harness.baseline()?;
        let told =
            if self.harness.runner().builds() { self.probe(file)? } else { self.trace(file)? };
        if !told {
            return Ok(None);
        }
        let probed = self.probed.get(file.path()).into_iter().flatten();
        let mut lines: Lines = probed.map(|line| (*line, BTreeSet::new())).collect();
        for (test, files) in self.lines.iter().filter(|(test, _)| baseline.passing.contains(*test))
        {
            for line in files.get(file.path()).into_iter().flatten() {
                lines.entry(*line).or_default().insert(test.clone());
            }
        }
        Ok(Some(lines))
    }

    /// Where nothing is built: every line of every file, once a test file.
    fn trace(&mut self, file: &Editable) -> Result<bool, Error> {
        let new: Vec<RelPath> =
            file.tests.iter().filter(|test| !self.asked.contains(*test)).cloned().collect();
        if new.is_empty() {
            return Ok(true);
        }
        let Some(told) = self.harness.coverage(&Changes::new(), &new, None)? else {
            return Ok(false);
        };
        self.lines.extend(told);
        self.asked.extend(new);
        Ok(true)
    }

    /// Where code is built: by probes in one file.
    fn probe(&mut self, file: &Editable) -> Result<bool, Error> {
        if !self.asked.insert(file.path().clone()) {
            return Ok(true);
        }
        let Some(switch) = self.harness.runner().probes() else { return Ok(false) };
        let baseline = self.harness.baseline()?;
        let tests: Vec<TestId> = baseline.passing.iter().cloned().collect();
        let paths = BTreeSet::from([file.path().clone()]);
        let (woven, probes) = weave::probes(self.harness.base(), self.languages, switch, &paths);
        if probes.is_empty() {
            return Ok(true);
        }
        let usual = Duration::from_secs_f64(baseline.seconds);
        let Some(told) =
            self.harness.probed(&Changes::new(), (&woven, probes.clone()), &tests, usual)?
        else {
            return Ok(false);
        };
        let works = |(number, _): &(usize, &Probe)| !told.left_out.contains(number);
        let works = probes.iter().enumerate().filter(works);
        let known = works.flat_map(|(_, probe)| probe.lines.clone()).collect();
        self.probed.insert(file.path().clone(), known);
        for (test, files) in told.lines {
            self.lines.entry(test).or_default().extend(files);
        }
        Ok(true)
    }
}

/// First and last lines that an edit changes.
pub(super) fn span(file: &Editable, place: usize) -> (u32, u32) {
    let line = |offset: usize| file.parsed().line_of(offset);
    let edits = file.edits(place);
    let first = edits.iter().map(|edit| line(edit.range.start)).min().unwrap_or(1);
    let last = edits.iter().map(|edit| line(edit.range.end.max(edit.range.start + 1) - 1)).max();
    (first, last.unwrap_or(first).max(first))
}

/// The tests that execute a line of the edit, or begin the statement that it is a part of.
pub(super) fn tests(file: &Editable, place: usize, lines: &Lines) -> BTreeSet<TestId> {
    let (first, last) = span(file, place);
    let of = |from: u32, to: u32| -> BTreeSet<TestId> {
        lines.range(from..=to).flat_map(|(_, tests)| tests).cloned().collect()
    };
    let found = of(first, last);
    if !found.is_empty() || lines.range(first..=last).next().is_some() {
        return found;
    }
    // Of a statement over several lines, some lines execute nothing of their own.
    let start = file.edits(place).first().map_or(0, |edit| edit.range.start);
    let holds_others = [
        StatementKind::If,
        StatementKind::Loop,
        StatementKind::Switch,
        StatementKind::Try,
        StatementKind::With,
        StatementKind::Definition,
    ];
    let around = file
        .parsed()
        .statements()
        .iter()
        .filter(|statement| statement.range.contains(&start))
        .max_by_key(|statement| statement.range.start)
        .filter(|statement| !holds_others.contains(&statement.kind));
    around.map_or_else(BTreeSet::new, |statement| {
        let first = file.parsed().line_of(statement.range.start);
        of(first, last)
    })
}
