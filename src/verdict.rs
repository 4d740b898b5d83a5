//! Test ids, their outcomes, and what two runs differ in.

use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

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

impl Outcome {
    /// Reads a status word of a report, in any case and with white space around it. `None` for a
    /// word that says nothing about a test. An expected failure (`xfail`) counts as skipped and an
    /// unexpected pass (`xpass`) as passed, as `JUnit` reports do it.
    pub fn from_status(status: &str) -> Option<Self> {
        Some(match status.trim().to_ascii_lowercase().as_str() {
            "pass" | "passed" | "ok" | "success" | "succeeded" | "xpass" | "xpassed" => {
                Self::Passed
            }
            "fail" | "failed" | "failure" | "not ok" => Self::Failed,
            "error" | "errored" | "err" => Self::Error,
            "skip" | "skipped" | "ignored" | "pending" | "disabled" | "xfail" | "xfailed" => {
                Self::Skipped
            }
            _ => return None,
        })
    }

    /// Failed or error.
    pub fn is_failing(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }

    /// The word that reports use: `passed`, `failed`, `error`, `skipped`, `missing`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
            Self::Missing => "missing",
        }
    }
}

/// The outcomes of one run, and the ids that were reported more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Verdicts {
    outcomes: BTreeMap<TestId, Outcome>,
    duplicates: Vec<TestId>,
}

impl Verdicts {
    /// Adds a report. A second report of an id is kept apart under `id#2`, `id#3` .. and the id is
    /// listed in `duplicates`. A report of `Missing` is no report and adds nothing.
    pub fn add(&mut self, id: TestId, outcome: Outcome) {
        if outcome == Outcome::Missing {
            return;
        }
        let name = if self.outcomes.contains_key(&id) { self.free_name(&id) } else { id.clone() };
        let again = name != id;
        self.outcomes.insert(name, outcome);
        if again && let Err(place) = self.duplicates.binary_search(&id) {
            self.duplicates.insert(place, id);
        }
    }

    /// `Missing` where the id was not reported.
    pub fn of(&self, id: &str) -> Outcome {
        self.outcomes.get(id).copied().unwrap_or(Outcome::Missing)
    }

    /// How many reports there were, duplicates counted apart.
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = (&TestId, Outcome)> {
        self.outcomes.iter().map(|(id, outcome)| (id, *outcome))
    }

    /// Ids with this outcome, sorted. None is `Missing`: that takes a second run, see [`compare`].
    pub fn with(&self, outcome: Outcome) -> Vec<TestId> {
        self.ids(|found| found == outcome)
    }

    /// Ids whose outcome is failed or error, sorted.
    pub fn failing(&self) -> Vec<TestId> {
        self.ids(Outcome::is_failing)
    }

    /// Ids that were reported more than once, sorted.
    pub fn duplicates(&self) -> &[TestId] {
        &self.duplicates
    }

    fn ids(&self, keep: impl Fn(Outcome) -> bool) -> Vec<TestId> {
        self.iter().filter(|(_, outcome)| keep(*outcome)).map(|(id, _)| id.clone()).collect()
    }

    /// `id#n` for an `n` from 2 that is not taken. Doubles and then halves, so that a log of one id
    /// over and over stays cheap; that is the least such `n` unless a framework itself uses `#n`.
    fn free_name(&self, id: &str) -> TestId {
        let name = |n: usize| format!("{id}#{n}");
        let taken = |n: usize| self.outcomes.contains_key(&name(n));
        let (mut low, mut high) = (1, 2);
        while taken(high) {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if taken(middle) { low = middle } else { high = middle }
        }
        name(high)
    }
}

impl FromIterator<(TestId, Outcome)> for Verdicts {
    fn from_iter<I: IntoIterator<Item = (TestId, Outcome)>>(reports: I) -> Self {
        let mut verdicts = Self::default();
        reports.into_iter().for_each(|(id, outcome)| verdicts.add(id, outcome));
        verdicts
    }
}

/// What changed between two runs. Every list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Comparison {
    /// Failed or error before, passed after.
    pub fail_to_pass: Vec<TestId>,
    pub pass_to_pass: Vec<TestId>,
    /// Passed before, failed or error after.
    pub pass_to_fail: Vec<TestId>,
    /// Reported before, absent after.
    pub went_missing: Vec<TestId>,
}

/// Compares two runs of the same tests.
pub fn compare(before: &Verdicts, after: &Verdicts) -> Comparison {
    let mut changed = Comparison::default();
    for (id, was) in before.iter() {
        let list = match (was, after.of(id)) {
            (_, Outcome::Missing) => &mut changed.went_missing,
            (Outcome::Passed, Outcome::Passed) => &mut changed.pass_to_pass,
            (Outcome::Passed, is) if is.is_failing() => &mut changed.pass_to_fail,
            (was, Outcome::Passed) if was.is_failing() => &mut changed.fail_to_pass,
            _ => continue,
        };
        list.push(id.clone());
    }
    changed
}
