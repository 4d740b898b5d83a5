//! Screening and coverage where building is dear: many candidates, or all probes, in one build.

use super::search::Answer;
use super::{Bench, survey};
use crate::grading::Task;
use crate::harness::{Coverage, Error, Harness};
use crate::runner::{Switch, weave};
use crate::syntax::Languages;
use crate::tree::{Changes, Overlaid};
use crate::verdict::TestId;
use std::collections::BTreeMap;
use std::time::Duration;

/// Of candidates that must be built one by one, so many are run at once; the others come again.
const ALONE: usize = 4;
/// Passing tests whose probes are read: each is a process of its own.
const PASSING: usize = 200;

impl Bench<'_> {
    /// Candidates that share a build first, then some of those that cannot.
    pub(super) fn screen_together(
        &self,
        switch: &Switch,
        candidates: &[Changes],
    ) -> Result<Vec<Option<Answer>>, Error> {
        let tree = Overlaid { base: self.harness.base(), changes: &self.state };
        let mut versions = weave::versions(&tree, self.languages, switch, candidates);
        let mut answers: Vec<Option<Answer>> = vec![None; candidates.len()];
        if !versions.numbers.is_empty() {
            let places: Vec<usize> = versions.numbers.iter().map(|(n, _)| n - 1).collect();
            if self.try_versions(&versions, &mut answers)? {
                return Ok(answers);
            }
            if places.iter().all(|place| answers[*place].is_none()) {
                tracing::debug!("the candidates do not build together");
                versions.alone.extend(places);
                versions.alone.sort_unstable();
            }
        }
        versions.alone.truncate(ALONE);
        let alone: Vec<Changes> =
            versions.alone.iter().map(|place| candidates[*place].clone()).collect();
        if !alone.is_empty() {
            for (place, answer) in versions.alone.iter().zip(self.screen_one_by_one(&alone)?) {
                answers[*place] = answer;
            }
        }
        Ok(answers)
    }

    /// Fills in what the versions did; whether one passed all tests.
    fn try_versions(
        &self,
        versions: &weave::Versions,
        answers: &mut [Option<Answer>],
    ) -> Result<bool, Error> {
        let tests: Vec<TestId> = self.failing.iter().cloned().collect();
        let numbers = versions.numbers.clone();
        let result =
            self.harness.try_versions(&self.state, &versions.woven, numbers, &tests, self.usual)?;
        let Some(result) = result else { return Ok(false) };
        let last = result.tried.last().map_or(0, |tried| tried.number);
        let mut tried: BTreeMap<usize, _> =
            result.tried.into_iter().map(|tried| (tried.number, tried)).collect();
        let passed = tried.get(&last).is_some_and(|tried| tried.passed == self.failing);
        let mut unlucky = !passed && !result.complete;
        for (number, _) in &versions.numbers {
            answers[number - 1] = match tried.remove(number) {
                Some(tried) => Some(Answer { passed: tried.passed, stages: tried.stages }),
                // It did not compile.
                None if *number < last || result.complete => Some(Answer::default()),
                // The one after the last that was reported brought the program down.
                None if unlucky => {
                    unlucky = false;
                    Some(Answer::default())
                }
                None => None,
            };
        }
        Ok(passed)
    }
}

/// Lines that the failing tests, and some of those that pass, execute on the task with its original
/// tests back.
pub(super) fn coverage(
    harness: &Harness,
    languages: &Languages,
    task: &Task,
    outcomes: &BTreeMap<TestId, bool>,
    usual: Duration,
) -> Result<Option<Coverage>, Error> {
    let Some(switch) = harness.runner().probes() else { return Ok(None) };
    let state = task.with_oracle();
    let tree = Overlaid { base: harness.base(), changes: state };
    let runner = harness.runner();
    let paths = survey::code(&tree, languages, &task.test_files, &|path| !runner.sways(path));
    let (woven, probes) = weave::probes(&tree, languages, switch, &paths);
    let passing: Vec<&TestId> =
        outcomes.iter().filter(|(_, failed)| !**failed).map(|(id, _)| id).collect();
    let step = passing.len().div_ceil(PASSING).max(1);
    let failing = outcomes.iter().filter(|(_, failed)| **failed).map(|(id, _)| id);
    let tests: Vec<TestId> = failing.chain(passing.into_iter().step_by(step)).cloned().collect();
    let told = harness.probed(state, (&woven, probes), &tests, usual)?;
    Ok(told.map(|told| told.lines))
}
