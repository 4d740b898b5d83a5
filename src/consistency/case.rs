//! What the checks learn about one artifact, from one to the next.

use super::Minima;
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::harness::{Error, Harness, How, NoVerdict, Program};
use crate::tree::{Changes, Overlaid, RelPath};
use crate::verdict::{Outcome, TestId, Verdicts};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(super) struct Case<'a> {
    pub(super) harness: &'a Harness,
    pub(super) artifact: &'a Artifact,
    pub(super) minima: &'a Minima,
    runs: Runs,
    pub(super) seen: Seen,
    /// Set by `separation`: the bug alone, and the weakening on top of it.
    pub(super) bug: Changes,
    pub(super) bug_and_weakening: Changes,
    /// Set by `separation`: what must be restored together to take back one changed file (a rename
    /// has two paths).
    pub(super) units: Vec<BTreeSet<RelPath>>,
    /// Set by `bug`: passed on the original, fail with the bug.
    pub(super) failing: BTreeSet<TestId>,
    /// Set by `bug`, where the artifact's script or parser is not the runner's own.
    pub(super) second: Option<Second>,
    /// Set by `bug`: pass on both.
    pub(super) still_passing: Vec<TestId>,
    pub(super) cpu: Duration,
}

/// How the runs of a case are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Plainly, or answered from the memo of plain runs.
    Plain,
    /// Warm where that is possible.
    Warm,
    /// Plainly, and each of them now.
    Fresh,
}

/// What the artifact's script said.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// On the original; set by `parser`.
    pub(super) original: Verdicts,
    /// Of each other state that the checks came to, by name.
    pub(super) states: BTreeMap<String, Verdicts>,
    /// Of the bug's failing tests where one changed file is restored, by name.
    pub(super) restored: BTreeMap<String, Verdicts>,
}

/// The runner's own script over the listed test files: a script and a parser may print what they like.
#[derive(Clone)]
pub(super) struct Second {
    script: Vec<u8>,
    parser: Vec<u8>,
    /// By it: passed on the original, fail with the bug.
    pub(super) failing: BTreeSet<TestId>,
}

impl Second {
    pub(super) fn new(script: Vec<u8>, parser: Vec<u8>) -> Self {
        Self { script, parser, failing: BTreeSet::new() }
    }

    pub(super) fn program(&self) -> Program<'_> {
        Program { script: &self.script, parser: &self.parser }
    }
}

impl<'a> Case<'a> {
    pub(super) fn new(
        harness: &'a Harness,
        artifact: &'a Artifact,
        minima: &'a Minima,
        runs: Runs,
    ) -> Self {
        Self {
            harness,
            artifact,
            minima,
            runs,
            seen: Seen::default(),
            bug: Changes::new(),
            bug_and_weakening: Changes::new(),
            units: Vec::new(),
            failing: BTreeSet::new(),
            second: None,
            still_passing: Vec::new(),
            cpu: Duration::ZERO,
        }
    }

    /// Parses a part and applies it to base + `below`.
    pub(super) fn apply(
        &self,
        part: &str,
        bytes: &[u8],
        below: &Changes,
    ) -> Result<(Patch, Changes), String> {
        let patch =
            Patch::parse(bytes).map_err(|refusal| format!("{part} is refused: {refusal}"))?;
        let tree = Overlaid { base: self.harness.base(), changes: below };
        let changes =
            patch.apply(&tree).map_err(|failure| format!("{part} does not apply: {failure}"))?;
        Ok((patch, below.then(&changes)))
    }

    /// Makes the runs of the bug that other checks will ask for, where fast ways serve and these runs need a
    /// build.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        if self.runs != Runs::Warm || self.artifact.test_parser != self.harness.runner().parser() {
            return Ok(());
        }
        self.harness.prepare(&self.bug, &self.units, self.program())
    }

    /// What the artifact's script and parser say of base + `changes`: asked before, or in a warm process,
    /// where that may be and is possible.
    pub(super) fn run(&mut self, changes: &Changes) -> Result<Result<Verdicts, NoVerdict>, Error> {
        self.run_of(changes, self.program())
    }

    /// What they say of the bug's failing tests. Where fast ways serve, no others are built and run, unless all
    /// were asked before.
    pub(super) fn run_failing(
        &mut self,
        changes: &Changes,
    ) -> Result<Result<Verdicts, NoVerdict>, Error> {
        let known = self.harness.remembers(changes, self.program());
        let alone = if known { None } else { self.script_of_failing() };
        let run = match &alone {
            Some(script) => {
                let parser = &self.artifact.test_parser;
                self.run_of(changes, Program { script, parser })?
            }
            None => self.run(changes)?,
        };
        let failing = |(id, _): &(&TestId, Outcome)| self.failing.contains(*id);
        Ok(run.map(|said| said.iter().filter(failing).map(|(id, how)| (id.clone(), how)).collect()))
    }

    /// The runner's own script over the failing tests alone, where the artifact's is its own, too.
    fn script_of_failing(&self) -> Option<Vec<u8>> {
        let fast = self.runs == Runs::Warm;
        fast.then(|| {
            self.harness.script_of_some(self.program(), &self.seen.original, &self.failing)
        })?
    }

    /// The same of another script and parser.
    pub(super) fn run_of(
        &mut self,
        changes: &Changes,
        program: Program<'_>,
    ) -> Result<Result<Verdicts, NoVerdict>, Error> {
        let run = match self.runs {
            Runs::Warm => self.harness.run_warm(changes, program, None)?,
            Runs::Plain => self.harness.run(changes, program, How::CHECK, false)?,
            Runs::Fresh => self.harness.run(changes, program, How::CHECK, true)?,
        };
        self.cpu += run.cpu;
        Ok(run.verdicts)
    }

    /// The same, run anew in a sandbox and processes of its own.
    pub(super) fn run_fresh(
        &mut self,
        changes: &Changes,
        how: How,
    ) -> Result<Result<Verdicts, NoVerdict>, Error> {
        let run = self.harness.run(changes, self.program(), how, true)?;
        self.cpu += run.cpu;
        Ok(run.verdicts)
    }

    /// Two runs anew, in processes of their own.
    pub(super) fn run_twice(
        &mut self,
        changes: &Changes,
        hash_seeds: [u32; 2],
    ) -> Result<[Result<Verdicts, NoVerdict>; 2], Error> {
        let kept = self.runs == Runs::Warm;
        let runs = self.harness.run_twice(changes, self.program(), hash_seeds, kept)?;
        self.cpu += runs.iter().map(|run| run.cpu).sum::<Duration>();
        Ok(runs.map(|run| run.verdicts))
    }

    fn program(&self) -> Program<'a> {
        Program { script: &self.artifact.test_script, parser: &self.artifact.test_parser }
    }

    /// Originally passing tests that fail in `verdicts`. Missing is not failed.
    pub(super) fn broken_by(&self, verdicts: &Verdicts) -> BTreeSet<TestId> {
        let passed = |id: &TestId| self.seen.original.of(id) == Outcome::Passed;
        verdicts.failing().into_iter().filter(passed).collect()
    }
}
