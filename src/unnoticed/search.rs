//! The search: draw edits, leave out what no test executes, run the tests on the rest, and have what they
//! do not notice run once more as every run is.

use super::reached::{Lines, Reached, span, tests};
use super::{Counts, NothingToTry, Request, Tried, Unnoticed, choice};
use crate::dice::Dice;
use crate::diff::Patch;
use crate::harness::{Error, Harness, How, Program};
use crate::injector::{Editable, Singles};
use crate::runner::{Difference, Reaction, Recorded, Watched, WatchedEdit, WovenEdit};
use crate::syntax::Languages;
use crate::tree::{Changes, RelPath};
use crate::verdict::{Outcome, TestId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Edits of one file before the next file has its turn.
const TURN: usize = 16;
/// Longest that the tests may take on one edit.
const LONGEST: Duration = Duration::from_secs(30);

pub(super) fn search(
    harness: &Harness,
    languages: &Languages,
    request: &Request,
    known: &dyn Fn(&str) -> bool,
    keep: &mut dyn FnMut(&[Tried]) -> Result<(), crate::store::Error>,
) -> Result<Result<Counts, NothingToTry>, Error> {
    if !harness.runner().observes() {
        return Ok(Err(NothingToTry(CANNOT_TELL.to_owned())));
    }
    let singles = match Singles::survey(harness, languages, request.target.as_ref())? {
        Ok(singles) => singles,
        Err(reason) => return Ok(Err(NothingToTry(reason))),
    };
    let dice = Dice::new(request.seed).fork("unnoticed");
    let order = singles.order(&mut dice.fork("files"));
    let mut reached = Reached::new(harness, languages);
    let mut search = Search { harness, request, known, keep, counts: Counts::default() };
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut turn = 0;
    loop {
        let mut any = false;
        for place in &order {
            if search.is_over() {
                return Ok(Ok(search.counts));
            }
            if turn > 0 && waiting.get(place).is_none_or(Vec::is_empty) {
                continue;
            }
            let file = singles.open(harness, *place)?;
            let Some(lines) = reached.of(&file)? else {
                return Ok(Err(NothingToTry(CANNOT_TELL.to_owned())));
            };
            let waiting = waiting.entry(*place).or_insert_with(|| {
                let mut order = choice::order(&file, &mut dice.fork(file.path().as_str()));
                order.reverse();
                order
            });
            let drawn = search.draw(&file, &lines, waiting);
            any |= !waiting.is_empty();
            search.batches(&file, drawn)?;
        }
        turn += 1;
        if !any {
            return Ok(Ok(search.counts));
        }
    }
}

const CANNOT_TELL: &str = "what the tests' calls do cannot be recorded here: that needs pytest, unittest, \
    cargo-test or a framework of JavaScript, run without --test-command";

struct Search<'a> {
    harness: &'a Harness,
    request: &'a Request,
    known: &'a dyn Fn(&str) -> bool,
    keep: &'a mut dyn FnMut(&[Tried]) -> Result<(), crate::store::Error>,
    counts: Counts,
}

/// An edit that tests execute.
struct Drawn {
    place: usize,
    id: String,
    changes: Changes,
    edit: WatchedEdit,
    tests: BTreeSet<TestId>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.counts.unnoticed >= self.request.limit || self.counts.tried >= self.request.runs
    }

    /// The next edits of a file that tests execute, as many as a turn has.
    fn draw(&mut self, file: &Editable, lines: &Lines, waiting: &mut Vec<usize>) -> Vec<Drawn> {
        let most = TURN.min(self.request.runs - self.counts.tried);
        let mut drawn: Vec<Drawn> = Vec::new();
        while drawn.len() < most
            && let Some(place) = waiting.pop()
        {
            let tests = tests(file, place, lines);
            if tests.is_empty() {
                self.counts.not_reached += 1;
                continue;
            }
            let Some(edited) = file.edited(place) else { continue };
            let parsed = file.language().parse(edited.bytes.clone());
            if parsed.syntax_errors() > file.parsed().syntax_errors() {
                self.counts.invalid += 1;
                continue;
            }
            let content = edited.bytes.to_vec();
            let bodies = Recorded::all(&parsed);
            let changes: Changes = [(file.path().clone(), Some(edited))].into_iter().collect();
            let id = changes.digest()[..12].to_owned();
            if (self.known)(&id) || drawn.iter().any(|other| other.id == id) {
                self.counts.known += 1;
                continue;
            }
            let edit = watched(file, place, content, bodies);
            drawn.push(Drawn { place, id, changes, edit, tests });
        }
        drawn
    }

    /// Runs those together that the same test files execute.
    fn batches(&mut self, file: &Editable, drawn: Vec<Drawn>) -> Result<(), Error> {
        let mut groups: BTreeMap<Vec<RelPath>, Vec<Drawn>> = BTreeMap::new();
        // Where code is built, each test is a process of its own, and one build serves them all.
        let builds = self.harness.runner().builds();
        for one in drawn {
            let of = if builds { file.tests.clone() } else { files_of(&one.tests, &file.tests) };
            groups.entry(of).or_default().push(one);
        }
        for (test_files, group) in groups {
            if self.counts.unnoticed >= self.request.limit {
                break;
            }
            self.batch(file, &test_files, &group)?;
        }
        Ok(())
    }

    fn batch(
        &mut self,
        file: &Editable,
        test_files: &[RelPath],
        group: &[Drawn],
    ) -> Result<(), Error> {
        let baseline = self.harness.baseline()?;
        let excluded: Vec<TestId> = baseline.excluded.keys().cloned().collect();
        let units = units(file);
        let bodies = Recorded::all(file.parsed());
        let mut rest = group;
        while let Some(first) = rest.first() {
            let edits: Vec<WatchedEdit> = rest.iter().map(|one| one.edit.clone()).collect();
            let each = self.harness.time_limit().min(LONGEST);
            let reactions = if self.harness.runner().builds() {
                self.harness.observe_woven(file.path(), &woven(rest), each)?
            } else {
                let watched = Watched {
                    path: file.path(),
                    units: &units,
                    bodies: &bodies,
                    test_files,
                    excluded: &excluded,
                    edits: &edits,
                    each,
                };
                self.harness.observe(&watched)?
            };
            let reactions = reactions.unwrap_or_default();
            let came = reactions.len();
            let mut tried = Vec::new();
            for (one, reaction) in rest.iter().zip(reactions) {
                tried.push(self.judge(file, one, reaction)?);
                if self.counts.unnoticed >= self.request.limit {
                    // What was tried beyond that is forgotten, so that the next call finds it.
                    return Ok((self.keep)(&tried)?);
                }
            }
            rest = &rest[came..];
            if came < edits.len() {
                // The one after the last that was told brought the sandbox down.
                let one = rest.first().unwrap_or(first);
                self.counts.tried += 1;
                self.counts.lost += 1;
                tried.push(Tried { id: one.id.clone(), outcome: "lost", unnoticed: None });
                rest = &rest[1..];
            }
            (self.keep)(&tried)?;
        }
        Ok(())
    }

    fn judge(&mut self, file: &Editable, one: &Drawn, reaction: Reaction) -> Result<Tried, Error> {
        let tried = |outcome, unnoticed| Ok(Tried { id: one.id.clone(), outcome, unnoticed });
        if reaction == Reaction::Invalid {
            self.counts.invalid += 1;
            return tried("invalid", None);
        }
        let counts = &mut self.counts;
        counts.tried += 1;
        let (count, outcome) = match reaction {
            Reaction::Invalid | Reaction::Failed => (&mut counts.failed, "failed"),
            Reaction::Timeout => (&mut counts.timed_out, "timed_out"),
            Reaction::Unseen => (&mut counts.unseen, "unseen"),
            Reaction::Same => (&mut counts.no_difference, "no_difference"),
            Reaction::Unstable => (&mut counts.unstable, "unstable"),
            Reaction::Different(evidence) => {
                if self.passes_plainly(file, one)? {
                    self.counts.unnoticed += 1;
                    let unnoticed = self.unnoticed(file, one, evidence);
                    return tried("unnoticed", Some(unnoticed));
                }
                (&mut self.counts.failed_plainly, "failed_plainly")
            }
        };
        *count += 1;
        tracing::debug!(outcome, edit = file.describe(one.place), "tried");
        tried(outcome, None)
    }

    /// Whether no test fails in a run like any other, of all test files that reach the file.
    fn passes_plainly(&self, file: &Editable, one: &Drawn) -> Result<bool, Error> {
        let runner = self.harness.runner();
        let baseline = self.harness.baseline()?;
        let excluded: Vec<TestId> = baseline.excluded.keys().cloned().collect();
        let script = runner.script(&file.tests, &excluded);
        let parser = runner.parser();
        let program = Program { script: &script, parser: &parser };
        let passed = |changes: &Changes| -> Result<BTreeSet<TestId>, Error> {
            let run = self.harness.run(changes, program, How::CHECK, false)?;
            let verdicts = run.verdicts.ok();
            Ok(verdicts.into_iter().flat_map(|v| v.with(Outcome::Passed)).collect())
        };
        let wanted = passed(&Changes::new())?;
        Ok(!wanted.is_empty() && wanted.is_subset(&passed(&one.changes)?))
    }

    fn unnoticed(&self, file: &Editable, one: &Drawn, evidence: Difference) -> Unnoticed {
        let diff = Patch::between(self.harness.base(), &one.changes).to_bytes();
        let (line, last_line) = span(file, one.place);
        let function = file.function(one.place).and_then(|at| file.parsed().functions().get(at));
        Unnoticed {
            id: one.id.clone(),
            file: file.path().to_string(),
            line,
            last_line,
            function: function.map(|function| function.qualified.clone()),
            operator: file.operator(one.place).to_owned(),
            summary: file.describe(one.place),
            diff: String::from_utf8_lossy(&diff).into_owned(),
            tests: one.tests.iter().cloned().collect(),
            evidence,
        }
    }
}

fn woven(edits: &[Drawn]) -> Vec<(Changes, WovenEdit)> {
    let woven = |one: &Drawn| {
        let tests = one.tests.iter().cloned().collect();
        (one.changes.clone(), WovenEdit { tests })
    };
    edits.iter().map(woven).collect()
}

/// First and last lines of the outermost functions, in source order.
fn units(file: &Editable) -> Vec<(u32, u32)> {
    let parsed = file.parsed();
    let outermost = parsed.functions().iter().filter(|function| function.parent.is_none());
    outermost
        .map(|function| {
            let end = function.range.end.max(function.range.start + 1) - 1;
            (parsed.line_of(function.range.start), parsed.line_of(end))
        })
        .collect()
}

fn watched(file: &Editable, place: usize, content: Vec<u8>, bodies: Vec<Recorded>) -> WatchedEdit {
    let parsed = file.parsed();
    let unit = file.outermost(place).map(|at| {
        let before = parsed.functions()[..at].iter();
        before.filter(|function| function.parent.is_none()).count()
    });
    let lines = |bytes: &[u8]| i64::try_from(crate::text::lines(bytes).count()).unwrap_or(0);
    let added = lines(&content) - lines(parsed.source());
    let (_, last) = span(file, place);
    WatchedEdit { content, bodies, unit, last, added }
}

/// The test files that hold these tests; all of them where an id names none.
fn files_of(tests: &BTreeSet<TestId>, all: &[RelPath]) -> Vec<RelPath> {
    let files: BTreeSet<&str> =
        tests.iter().map(|test| test.split_once("::").map_or("", |(file, _)| file)).collect();
    let named: Vec<RelPath> =
        all.iter().filter(|path| files.contains(path.as_str())).cloned().collect();
    if named.len() == files.len() { named } else { all.to_vec() }
}
