//! Which functions the tests of each test file enter, where probes in a build can tell.
//!
//! A test that never enters a function does not see a change of its body: so fewer test files need to
//! be built and run for it. This does not hold for what runs at build time, and says nothing of code
//! outside of bodies.

use super::{Error, Harness};
use crate::runner::{Probe, weave};
use crate::syntax::Languages;
use crate::tree::{RelPath, Tree};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Each test is a process of its own: where there are more, the map would cost more than it saves.
const TESTS: usize = 500;

/// Code file, line (from 1) where an outermost function's body begins, test files with passing tests that
/// enter it. A function that is not listed may be entered by any.
pub type Entered = BTreeMap<RelPath, BTreeMap<u32, BTreeSet<RelPath>>>;

/// Functions and the wall seconds of each test in a process of its own.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) entered: Entered,
    pub(super) seconds: BTreeMap<TestId, f64>,
}

impl Harness {
    /// Empty where it cannot be told.
    pub(super) fn entered(
        &self,
        code: &BTreeSet<RelPath>,
        passing: &BTreeSet<TestId>,
        usual: Duration,
    ) -> Result<Measured, Error> {
        let Some(switch) = self.runner.probes() else { return Ok(Measured::default()) };
        if self.runner.runs_while_building() || passing.len() > TESTS {
            return Ok(Measured::default());
        }
        let languages = Languages::builtin();
        let (woven, probes) = weave::probes(&*self.base, &languages, switch, code);
        let tests: Vec<TestId> = passing.iter().cloned().collect();
        let untouched = crate::tree::Changes::new();
        let told = self.probed(&untouched, (&woven, probes.clone()), &tests, usual)?;
        let Some(told) = told else { return Ok(Measured::default()) };
        let mut entered = bodies(&*self.base, &languages, &probes, &told.left_out);
        for (test, files) in &told.lines {
            let Some(test_file) = file_of(test) else { return Ok(Measured::default()) };
            for (path, lines) in files {
                for (body, tests) in entered.entry(path.clone()).or_default().values_mut() {
                    if lines.range(body.clone()).next().is_some() {
                        tests.insert(test_file.clone());
                    }
                }
            }
        }
        let entered = entered
            .into_iter()
            .map(|(path, bodies)| {
                (path, bodies.into_iter().map(|(first, (_, tests))| (first, tests)).collect())
            })
            .collect();
        Ok(Measured { entered, seconds: told.seconds })
    }
}

fn file_of(test: &TestId) -> Option<RelPath> {
    let (file, _) = test.split_once("::")?;
    RelPath::parse(file.as_bytes()).ok()
}

type Bodies = BTreeMap<RelPath, BTreeMap<u32, (std::ops::RangeInclusive<u32>, BTreeSet<RelPath>)>>;

/// The outermost functions that have probes, and no probe that was left out, with their lines.
fn bodies(
    tree: &dyn Tree,
    languages: &Languages,
    probes: &[Probe],
    left_out: &BTreeSet<usize>,
) -> Bodies {
    let mut lines: BTreeMap<&RelPath, BTreeMap<u32, bool>> = BTreeMap::new();
    for (number, probe) in probes.iter().enumerate() {
        for line in &probe.lines {
            let works = lines.entry(&probe.path).or_default().entry(*line).or_insert(true);
            *works &= !left_out.contains(&number);
        }
    }
    let mut found = Bodies::new();
    for (path, lines) in lines {
        let (Some(language), Some(file)) = (languages.for_path(path), tree.read(path)) else {
            continue;
        };
        let parsed = language.parse(file.bytes);
        let of_file = found.entry(path.clone()).or_default();
        for function in parsed.functions().iter().filter(|f| f.parent.is_none()) {
            let first = parsed.line_of(function.body.start);
            let body = first..=parsed.line_of(function.body.end.saturating_sub(1));
            let mut works = lines.range(body.clone()).map(|(_, works)| *works).peekable();
            if works.peek().is_some() && works.all(|works| works) {
                of_file.insert(first, (body, BTreeSet::new()));
            }
        }
    }
    found
}
