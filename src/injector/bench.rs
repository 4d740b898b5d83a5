//! What the injector runs: quick screens, and the script runs that the checks will ask for again.

use crate::harness::{Audience, Baseline, Error, Harness, How, Program, ScriptRun};
use crate::tree::{Changes, RelPath};
use crate::verdict::{Outcome, TestId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The frameworks whose tests the harness screens without a fresh process a candidate. For the
/// others a screen costs what a run costs, and a run is kept in the harness's memo.
const SCREENED: [&str; 1] = ["pytest"];

pub(super) struct Bench<'a> {
    harness: &'a Harness,
    baseline: Arc<Baseline>,
    parser: Vec<u8>,
    test_files: BTreeSet<RelPath>,
    plans: BTreeMap<BTreeSet<RelPath>, Option<Arc<Plan>>>,
    /// Tests that failed a screen and passed the run after it: the screen says nothing of them.
    blind: BTreeSet<TestId>,
}

/// The script of an artifact and what it says of the original.
pub(super) struct Plan {
    /// Sorted.
    pub test_files: Vec<RelPath>,
    pub script: Vec<u8>,
    pub passing: BTreeSet<TestId>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(harness: &'a Harness) -> Result<Self, Error> {
        Ok(Self {
            harness,
            baseline: harness.baseline()?,
            parser: harness.runner().parser(),
            test_files: harness.runner().test_files(harness.base()).into_iter().collect(),
            plans: BTreeMap::new(),
            blind: BTreeSet::new(),
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

    pub(super) fn screens(&self) -> bool {
        SCREENED.contains(&self.harness.runner().framework())
    }

    /// The passing tests of these files.
    pub(super) fn tests_of(&self, files: &[RelPath]) -> Vec<TestId> {
        of_files(&self.baseline.passing, files)
            .into_iter()
            .filter(|id| !self.blind.contains(*id))
            .cloned()
            .collect()
    }

    /// Of `tests`, which all pass on the original: those that a screen sees fail on base + `changes`.
    pub(super) fn screen(
        &self,
        changes: &Changes,
        tests: &[TestId],
        files: &[RelPath],
    ) -> Result<BTreeSet<TestId>, Error> {
        let candidates = std::slice::from_ref(changes);
        let screened = self.harness.screen(&Changes::new(), candidates, tests, files)?;
        let passed =
            screened.into_iter().next().map(|screened| screened.passed).unwrap_or_default();
        Ok(tests.iter().filter(|id| !passed.contains(*id)).cloned().collect())
    }

    /// From now on screens leave these tests out.
    pub(super) fn distrust(&mut self, tests: impl IntoIterator<Item = TestId>) {
        self.blind.extend(tests);
    }

    /// The script that runs these test files, or all test files where these have fewer passing tests
    /// than `least`. `None` where the original gives no verdict or not enough passing tests.
    pub(super) fn plan(
        &mut self,
        files: &BTreeSet<RelPath>,
        least: usize,
    ) -> Result<Option<Arc<Plan>>, Error> {
        if let Some(known) = self.plans.get(files) {
            return Ok(known.clone());
        }
        let mut plan = self.written(files)?;
        if plan.as_ref().is_none_or(|plan| plan.passing.len() < least) {
            plan = self.written(&self.test_files)?;
        }
        let plan = plan.filter(|plan| plan.passing.len() >= least).map(Arc::new);
        self.plans.insert(files.clone(), plan.clone());
        Ok(plan)
    }

    /// A script all of whose tests pass on the original. What fails there although the baseline
    /// passed twice hangs on its neighbours and is left out.
    fn written(&self, files: &BTreeSet<RelPath>) -> Result<Option<Plan>, Error> {
        let test_files: Vec<RelPath> = files.iter().cloned().collect();
        let mut excluded: BTreeSet<TestId> =
            of_files_or_none(self.baseline.excluded.keys(), &test_files, &self.test_files);
        for _ in 0..2 {
            let ids: Vec<TestId> = excluded.iter().cloned().collect();
            let script = self.harness.runner().script(&test_files, &ids);
            let program = Program { script: &script, parser: &self.parser };
            let run = self.harness.run(&Changes::new(), program, HOW, false)?;
            let Ok(verdicts) = run.verdicts else { return Ok(None) };
            let failing = verdicts.failing();
            if failing.is_empty() {
                let passing = verdicts.with(Outcome::Passed).into_iter().collect();
                return Ok(Some(Plan { test_files, script, passing }));
            }
            excluded.extend(failing);
        }
        Ok(None)
    }

    /// The run that the checks will ask for: the harness then answers from its memo.
    pub(super) fn run(&self, changes: &Changes, plan: &Plan) -> Result<ScriptRun, Error> {
        let program = Program { script: &plan.script, parser: &self.parser };
        self.harness.run(changes, program, HOW, false)
    }
}

const HOW: How = How { hash_seed: 0, audience: Audience::Check };

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
