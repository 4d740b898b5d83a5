//! Whether the fast ways may be taken: runs in a process that is there already, test files chosen by what
//! they reach, candidates that share a build. Where an audit found that they said something else than plain
//! runs of the whole suite, they are not taken again.

use super::{Audience, Error, Harness, How, Program, ScriptRun};
use crate::runner::Switch;
use crate::tree::Changes;
use std::sync::atomic::Ordering;

impl Harness {
    /// Whether every run is a plain one, and of all test files.
    pub fn is_plain(&self) -> bool {
        self.plain.load(Ordering::Relaxed)
    }

    /// Makes every run from now on a plain one. Other processes know of it by the store alone.
    pub fn stop_fast_ways(&self) {
        self.plain.store(true, Ordering::Relaxed);
        self.warm.leave();
    }

    /// How candidates share a build, where they may.
    pub fn switch(&self) -> Option<&Switch> {
        self.runner.switch().filter(|_| !self.is_plain())
    }

    /// What all test files say of base + `changes`, less the tests that the baseline excludes: a run in
    /// processes of its own, never answered from the memo.
    pub fn run_everything(&self, changes: &Changes) -> Result<ScriptRun, Error> {
        let baseline = self.baseline()?;
        let files = self.runner.test_files(&*self.base);
        let excluded: Vec<_> = baseline.excluded.keys().cloned().collect();
        let (script, parser) = (self.runner.script(&files, &excluded), self.runner.parser());
        let program = Program { script: &script, parser: &parser };
        let how = How { hash_seed: 0, audience: Audience::Check };
        self.run_now(&changes.against(&*self.base), program, how, self.time_limit())
    }
}
