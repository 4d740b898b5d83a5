//! Test ids, their outcomes, and what two runs differ in.

use std::collections::BTreeMap;

/// A test's name as its framework tells it apart from all others, e.g.
/// `tests/test_x.py::TestA::test_b[1 + 1]`.
pub type TestId = String;

/// What became of one test. A test that is absent from a report is *missing*, which is not failed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Passed,
    Failed,
    Error,
    Skipped,
    Missing,
}

/// The outcomes of one run, and the ids that were reported more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Verdicts {
    outcomes: BTreeMap<TestId, Outcome>,
    duplicates: Vec<TestId>,
}

impl Verdicts {
    /// Adds a report. A second report of an id is kept apart under `id#2`, `id#3` .. and the id is
    /// listed in `duplicates`.
    pub fn add(&mut self, _id: TestId, _outcome: Outcome) {
        todo!()
    }
    /// `Missing` where the id was not reported.
    pub fn of(&self, _id: &str) -> Outcome {
        todo!()
    }
    pub fn len(&self) -> usize {
        todo!()
    }
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    pub fn iter(&self) -> impl Iterator<Item = (&TestId, Outcome)> {
        self.outcomes.iter().map(|(id, outcome)| (id, *outcome))
    }
    /// Ids with this outcome, sorted.
    pub fn with(&self, _outcome: Outcome) -> Vec<TestId> {
        todo!()
    }
    /// Ids whose outcome is failed or error, sorted.
    pub fn failing(&self) -> Vec<TestId> {
        todo!()
    }
    pub fn duplicates(&self) -> &[TestId] {
        &self.duplicates
    }
}

/// What changed between two runs. Every list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Comparison {
    pub fail_to_pass: Vec<TestId>,
    pub pass_to_pass: Vec<TestId>,
    pub pass_to_fail: Vec<TestId>,
    /// Reported before, absent after.
    pub went_missing: Vec<TestId>,
}

/// Compares two runs of the same tests.
pub fn compare(_before: &Verdicts, _after: &Verdicts) -> Comparison {
    todo!()
}
