//! What the injector runs: the artifact's own script, so that the checks' runs are answered from the
//! harness's memo.
//!
//! A run costs little more than a screen of one candidate in a sandbox of its own, and the run of the
//! bug is needed anyway: so candidates are not screened first.

use crate::harness::{Baseline, Error, Harness, Program, ScriptRun};
use crate::tree::{Changes, RelPath};
use crate::verdict::{Outcome, TestId, Verdicts};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Bench<'a> {
    harness: &'a Harness,
    baseline: Arc<Baseline>,
    parser: Vec<u8>,
    test_files: BTreeSet<RelPath>,
    /// Fewest passing tests a script runs.
    least: usize,
    plans: BTreeMap<BTreeSet<RelPath>, Option<Arc<Plan>>>,
}

/// A script and the tests that it runs.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Sorted.
    pub test_files: Vec<RelPath>,
    pub script: Vec<u8>,
    /// Tests that pass on the original: by the baseline until [`Bench::proved`] has run them.
    pub passing: BTreeSet<TestId>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(harness: &'a Harness, least: usize) -> Result<Self, Error> {
        harness.leave_places();
        Ok(Self {
            harness,
            baseline: harness.baseline()?,
            parser: harness.runner().parser(),
            test_files: harness.runner().test_files(harness.base()).into_iter().collect(),
            least,
            plans: BTreeMap::new(),
        })
    }

    pub(super) fn harness(&self) -> &'a Harness {
        self.harness
    }

    pub(super) fn parser(&self) -> &[u8] {
        &self.parser
    }

    /// All test files of the original.
    pub(super) fn test_files(&self) -> &BTreeSet<RelPath> {
        &self.test_files
    }

    /// The script that runs these test files, and further ones where these have too few passing tests.
    /// Nothing is run for it. All of them where the choice of files is not to be believed.
    pub(super) fn planned(&self, files: &BTreeSet<RelPath>) -> Plan {
        let files = if self.harness.is_plain() { &self.test_files } else { files };
        let test_files = widened(files, &self.test_files, self.least, &|files| {
            of_files(&self.baseline.passing, files).len()
        });
        let passing = of_files(&self.baseline.passing, &test_files).into_iter().cloned().collect();
        let excluded =
            of_files_or_none(self.baseline.excluded.keys(), &test_files, &self.test_files);
        Plan { script: self.script(&test_files, &excluded), test_files, passing }
    }

    /// The same with its tests run on the original: all of them pass there, and enough of them.
    pub(super) fn proved(&mut self, files: &BTreeSet<RelPath>) -> Result<Option<Arc<Plan>>, Error> {
        if let Some(known) = self.plans.get(files) {
            return Ok(known.clone());
        }
        let plan = self.prove(self.planned(files))?.map(Arc::new);
        self.plans.insert(files.clone(), plan.clone());
        Ok(plan)
    }

    /// What fails here although the baseline passed twice hangs on its neighbours and is left out.
    fn prove(&self, mut plan: Plan) -> Result<Option<Plan>, Error> {
        let mut excluded =
            of_files_or_none(self.baseline.excluded.keys(), &plan.test_files, &self.test_files);
        for _ in 0..2 {
            let Ok(verdicts) = self.run(&Changes::new(), &plan)?.verdicts else { return Ok(None) };
            let failing = verdicts.failing();
            if failing.is_empty() {
                plan.passing = verdicts.with(Outcome::Passed).into_iter().collect();
                return Ok((plan.passing.len() >= self.least).then_some(plan));
            }
            excluded.extend(failing);
            plan.script = self.script(&plan.test_files, &excluded);
        }
        Ok(None)
    }

    fn script(&self, test_files: &[RelPath], excluded: &BTreeSet<TestId>) -> Vec<u8> {
        let excluded: Vec<TestId> = excluded.iter().cloned().collect();
        self.harness.runner().script(test_files, &excluded)
    }

    /// The run that the checks will ask for, cut sooner: a candidate that hangs is no bug of ours.
    pub(super) fn run(&self, changes: &Changes, plan: &Plan) -> Result<ScriptRun, Error> {
        let program = Program { script: &plan.script, parser: &self.parser };
        // How long a build takes is no matter of the tests.
        let built = self.harness.runner().builds();
        let limit = if changes.is_empty() || built { None } else { self.patience(plan) };
        self.harness.run_warm(changes, program, limit)
    }

    /// Makes the runs that the checks will ask for, of a bug that has not been run yet.
    pub(super) fn prepare(&self, changes: &Changes, plan: &Plan) -> Result<(), Error> {
        let program = Program { script: &plan.script, parser: &self.parser };
        let units: Vec<BTreeSet<RelPath>> =
            changes.paths().map(|path| [path.clone()].into()).collect();
        self.harness.prepare(changes, &units, program)
    }

    /// The repeats that the checks will ask for, while the bug is built: hiding it builds other things.
    pub(super) fn repeat(&self, changes: &Changes, plan: &Plan) -> Result<(), Error> {
        let program = Program { script: &plan.script, parser: &self.parser };
        self.harness.repeat_early(changes, program)
    }

    /// What some of the plan's tests say, or all of them where that is known.
    pub(super) fn run_some(
        &self,
        changes: &Changes,
        plan: &Plan,
        some: &BTreeSet<TestId>,
    ) -> Result<ScriptRun, Error> {
        let program = Program { script: &plan.script, parser: &self.parser };
        if self.harness.remembers(changes, program) {
            return self.run(changes, plan);
        }
        let passing = plan.passing.iter().map(|id| (id.clone(), Outcome::Passed)).collect();
        match self.harness.script_of_some(program, &passing, some) {
            Some(script) => self.run(changes, &Plan { script, ..plan.clone() }),
            None => self.run(changes, plan),
        }
    }

    fn patience(&self, plan: &Plan) -> Option<Duration> {
        patience(&self.baseline, &plan.passing, plan.test_files.len(), self.test_files.len())
    }
}

/// Two seconds, ten times what the tests take on the original, and three times the share that `files`
/// of `all` test files have in what a run of everything needs beside its tests: start, imports,
/// collection. `None` where that is not known.
fn patience(
    baseline: &Baseline,
    tests: &BTreeSet<TestId>,
    files: usize,
    all: usize,
) -> Option<Duration> {
    let seconds = |id| baseline.durations.get(id).copied();
    let own = tests.iter().map(seconds).sum::<Option<f64>>()?;
    let beside = (baseline.seconds - baseline.durations.values().sum::<f64>()).max(0.0);
    #[expect(clippy::cast_precision_loss, reason = "numbers of files")]
    let share = files as f64 / all.max(1) as f64;
    Duration::try_from_secs_f64(2.0 + 10.0 * own + 3.0 * beside * share).ok()
}

impl Plan {
    /// The passing tests that fail in `verdicts`; `None` where one of them does not report.
    pub(super) fn failing(&self, verdicts: &Verdicts) -> Option<BTreeSet<TestId>> {
        let mut failing = BTreeSet::new();
        for id in &self.passing {
            match verdicts.of(id) {
                Outcome::Failed | Outcome::Error => {
                    failing.insert(id.clone());
                }
                Outcome::Passed => {}
                Outcome::Skipped | Outcome::Missing => return None,
            }
        }
        Some(failing)
    }
}

/// `files` and, until they have `least` tests by `count`, one more of `all` at a time: the smallest
/// that is enough, or the largest where none is.
pub(super) fn widened(
    files: &BTreeSet<RelPath>,
    all: &BTreeSet<RelPath>,
    least: usize,
    count: &dyn Fn(&[RelPath]) -> usize,
) -> Vec<RelPath> {
    let mut chosen = files.clone();
    loop {
        let list: Vec<RelPath> = chosen.iter().cloned().collect();
        let have = count(&list);
        if have >= least {
            return list;
        }
        let others: Vec<(usize, &RelPath)> =
            all.difference(&chosen).map(|file| (count(std::slice::from_ref(file)), file)).collect();
        let enough = others.iter().filter(|(tests, _)| have + tests >= least).min();
        let Some((_, next)) = enough.or_else(|| others.iter().max()) else { return list };
        chosen.insert((*next).clone());
    }
}

/// How ids name a file: `tests/test_x.py::..` or `tests.test_x. ..`.
struct Names {
    path: String,
    dotted: String,
}

impl Names {
    fn of<'f>(files: impl IntoIterator<Item = &'f RelPath>) -> Vec<Self> {
        let names = |file: &RelPath| {
            let path = file.as_str().to_owned();
            let dotted = path.rsplit_once('.').map_or(&*path, |(stem, _)| stem).replace('/', ".");
            Self { path, dotted }
        };
        files.into_iter().map(names).collect()
    }

    fn own(&self, id: &str) -> bool {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with("::") || rest.starts_with('.');
        id.strip_prefix(&self.path).is_some_and(ends)
            || id.strip_prefix(&self.dotted).is_some_and(ends)
    }
}

/// The ids of these files; all ids where none names one of them.
fn of_files<'i>(ids: &'i BTreeSet<TestId>, files: &[RelPath]) -> Vec<&'i TestId> {
    let names = Names::of(files);
    let found: Vec<&TestId> =
        ids.iter().filter(|id| names.iter().any(|name| name.own(id))).collect();
    if found.is_empty() { ids.iter().collect() } else { found }
}

/// The ids of these files and those that name none of `all`.
fn of_files_or_none<'i>(
    ids: impl Iterator<Item = &'i TestId>,
    files: &[RelPath],
    all: &BTreeSet<RelPath>,
) -> BTreeSet<TestId> {
    let (names, all) = (Names::of(files), Names::of(all));
    ids.filter(|id| names.iter().any(|name| name.own(id)) || !all.iter().any(|name| name.own(id)))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_may_take_as_long_as_its_tests_suggest() {
        let ids = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let baseline = Baseline {
            passing: ids(&["a", "b", "c"]),
            excluded: BTreeMap::new(),
            entered: BTreeMap::new(),
            reach: BTreeMap::new(),
            durations: [("a".to_owned(), 0.5), ("b".to_owned(), 0.25)].into(),
            seconds: 2.75,
        };
        let check = |tests: &[&str], files: usize, seconds: Option<f64>| {
            let expect = seconds.map(Duration::from_secs_f64);
            assert_eq!(patience(&baseline, &ids(tests), files, 4), expect, "{tests:?}");
        };
        check(&["a"], 1, Some(2.0 + 5.0 + 1.5));
        check(&["a", "b"], 2, Some(2.0 + 7.5 + 3.0));
        check(&["a", "c"], 1, None);
    }
}
