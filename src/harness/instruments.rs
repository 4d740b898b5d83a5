//! Programs of the runner that look at tests while they run, each as one step in a sandbox: what the
//! tests reach, which lines they execute, which candidate repairs pass a few of them.

use super::{Error, Harness};
use crate::runner::{
    Asked, Instrument, Lines, Probe, Probed, Purpose, Reach, Trial, Versions, Woven,
};
use crate::sandbox::{Collected, Finished, Step};
use crate::tree::{Changes, Overlaid, RelPath, Tree};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Lines executed by each test, 1-based: test id to file to lines.
pub type Coverage = Lines;

/// What the given tests said of one candidate repair. Not evidence: only a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screened {
    /// Of the given tests: which passed.
    pub passed: BTreeSet<TestId>,
    /// Where the others stopped, as far as it is known: a line of the test, and whether an assertion
    /// stopped it there. A later stage is a greater pair.
    pub stages: BTreeMap<TestId, (u32, bool)>,
}

/// Most that an instrument may write.
const OUTPUT: u64 = 256 << 20;
/// How long the instruments may take that run every test once.
pub(super) const SURVEY: Duration = Duration::from_mins(15);
/// How long a build of many versions may take beside twenty usual runs.
const BUILDING: Duration = Duration::from_mins(2);
/// Bounds of one candidate's time limit in a screen, seconds.
const SCREEN_LEAST: f64 = 2.0;
const SCREEN_MOST: f64 = 20.0;

impl Harness {
    /// Screens candidates in order on base + `changes`: each candidate's own changes on top, the given
    /// tests only. Stops after the first that passes all of them; the result is as long as what was
    /// run. One sandbox for the whole batch: what a candidate leaves behind may sway later ones, which
    /// is why a screen is a filter and never evidence.
    /// `usual`: how long a run of the artifact's script on base + `changes` takes; the limit of one
    /// candidate follows from it.
    pub fn screen(
        &self,
        changes: &Changes,
        candidates: &[Changes],
        asked: &Asked<'_>,
        test_files: &[RelPath],
        usual: Duration,
    ) -> Result<Vec<Screened>, Error> {
        let tests = asked.tests;
        let each = self.screening_limit(tests, usual);
        let mut all = Vec::new();
        while all.len() < candidates.len() {
            let rest = &candidates[all.len()..];
            let instrument = self.runner.screen_program(rest, asked, test_files, each);
            let count = u32::try_from(rest.len()).unwrap_or(u32::MAX).saturating_add(2);
            let mut touched = changes.clone();
            for candidate in rest {
                touched = touched.then(candidate);
            }
            let mounts = self.caches.for_solvers(&touched)?;
            let finished = self.measure_with(changes, mounts, &instrument, each * count)?;
            let output = output(&finished, &instrument).unwrap_or_default();
            let trials = self.runner.read_screen(&output);
            let done = trials.iter().any(|trial| tests.iter().all(|id| trial.passed.contains(id)));
            let ran = trials.len();
            all.extend(
                trials.into_iter().map(|Trial { passed, stages, .. }| Screened { passed, stages }),
            );
            if done {
                break;
            }
            if ran < rest.len() {
                // The candidate after the last one reported brought the whole batch down.
                all.push(Screened::default());
            }
        }
        all.truncate(candidates.len());
        Ok(all)
    }

    /// Tries versions (by number, each with its groups) that are woven into one build of base + `changes`:
    /// the given tests only, in order, up to the first that passes all of them. A filter like
    /// [`Harness::screen`]. `None` where the runner does not build, or this could not be built at all.
    pub fn try_versions(
        &self,
        changes: &Changes,
        woven: &Woven,
        versions: Vec<(usize, Vec<usize>)>,
        tests: &[TestId],
        usual: Duration,
    ) -> Result<Option<Versions>, Error> {
        let each = self.screening_limit(tests, usual);
        let runs = u32::try_from(versions.len()).unwrap_or(u32::MAX);
        let deadline = BUILDING + usual * 20 + each.saturating_mul(runs);
        let purpose = Purpose::Versions(versions);
        let output = self.switched(changes, woven, &purpose, (tests, each), deadline)?;
        let read = output.map(|output| self.runner.read_versions(&output));
        Ok(read.filter(|versions| versions.complete || !versions.tried.is_empty()))
    }

    /// Lines executed by each of `tests` on base + `changes`, by probes woven into it. `None` as for
    /// [`Harness::try_versions`].
    pub fn probed(
        &self,
        changes: &Changes,
        (woven, probes): (&Woven, Vec<Probe>),
        tests: &[TestId],
        usual: Duration,
    ) -> Result<Option<Probed>, Error> {
        let each = self.screening_limit(tests, usual);
        let purpose = Purpose::Probes(probes);
        let output = self.switched(changes, woven, &purpose, (tests, each), SURVEY)?;
        let Some(output) = output else { return Ok(None) };
        self.runner.read_probes(&output).map_err(|error| Error::Instrument(error.to_string()))
    }

    fn switched(
        &self,
        changes: &Changes,
        woven: &Woven,
        purpose: &Purpose,
        (tests, each): (&[TestId], Duration),
        deadline: Duration,
    ) -> Result<Option<Vec<u8>>, Error> {
        let tree = Overlaid { base: &*self.base, changes };
        let program = self.runner.switched_program(&tree, woven, purpose, tests, each);
        let Some(instrument) = program else { return Ok(None) };
        let mounts = self.caches.for_solvers(changes)?;
        let finished = self.measure_with(changes, mounts, &instrument, deadline.min(SURVEY))?;
        let said = super::script::ending(&finished.stdout.head);
        tracing::debug!(end = ?finished.end, wall = ?finished.wall, cpu = ?finished.cpu, said, "switched");
        Ok(output(&finished, &instrument))
    }

    /// Three usual runs; where each test's own time is known, five times theirs and one usual run for
    /// imports, if that is less. The floor keeps a slow start from counting as an endless loop.
    pub(super) fn screening_limit(&self, tests: &[TestId], usual: Duration) -> Duration {
        let known = self.baseline.get().and_then(|baseline| {
            tests.iter().map(|id| baseline.durations.get(id)).sum::<Option<f64>>()
        });
        let usual = usual.as_secs_f64();
        let by_run = 1.0 + 3.0 * usual;
        let by_tests = known.map_or(by_run, |own| 1.0 + usual + 5.0 * own);
        let seconds = by_run.min(by_tests).clamp(SCREEN_LEAST, SCREEN_MOST);
        self.time_limit().min(Duration::from_secs_f64(seconds))
    }

    /// Lines executed by each test on base + `changes`: of all tests in the files, or of `tests` alone.
    /// `None` where the framework cannot tell.
    pub fn coverage(
        &self,
        changes: &Changes,
        test_files: &[RelPath],
        tests: Option<&[TestId]>,
    ) -> Result<Option<Coverage>, Error> {
        let Some(instrument) = self.runner.lines_program(test_files, tests) else {
            return Ok(None);
        };
        let mounts = self.caches.for_solvers(changes)?;
        let finished = self.measure_with(changes, mounts, &instrument, SURVEY)?;
        let Some(output) = output(&finished, &instrument) else { return Ok(None) };
        self.runner
            .read_lines(&output)
            .map(Some)
            .map_err(|error| Error::Instrument(error.to_string()))
    }

    /// Which source files the tests of each test file may execute; every file where the framework
    /// cannot tell.
    pub(super) fn reach(&self, test_files: &[RelPath]) -> Result<Reach, Error> {
        let Some(instrument) = self.runner.reach_program(test_files) else {
            let everything: BTreeSet<String> = test_files.iter().map(ToString::to_string).collect();
            let code = |path: &RelPath| !test_files.contains(path) && !self.runner.sways(path);
            let files: BTreeMap<String, BTreeSet<String>> = self
                .base
                .paths()
                .into_iter()
                .filter(code)
                .map(|path| (path.to_string(), everything.clone()))
                .collect();
            return Ok(Reach { files, ..Reach::default() });
        };
        let mounts = self.caches.for_checks()?;
        let finished = self.measure_with(&Changes::new(), mounts, &instrument, SURVEY)?;
        let Some(output) = output(&finished, &instrument) else {
            return Err(Error::Instrument(format!(
                "what the tests reach could not be measured ({:?}): {}",
                finished.end,
                super::script::ending(&finished.stdout.head)
            )));
        };
        self.runner
            .read_reach(&output, &*self.base)
            .map_err(|error| Error::Instrument(error.to_string()))
    }

    pub(super) fn measure_with(
        &self,
        changes: &Changes,
        caches: Vec<crate::sandbox::Mount>,
        instrument: &Instrument,
        deadline: Duration,
    ) -> Result<Finished, Error> {
        let mut env = self.runner.tools().env.clone();
        env.insert("PYTHONHASHSEED".into(), "0".into());
        let step = Step {
            argv: instrument.argv.clone(),
            env,
            cwd: PathBuf::new(),
            stdin: Vec::new(),
            merge_stderr: true,
            deadline,
            files: instrument.files.clone(),
            changes: Changes::new(),
            collect: vec![instrument.output.clone()],
            collect_limit: OUTPUT,
        };
        let view = self.view(changes.clone(), caches);
        let slot = self.slots.take();
        let finished = self.sandbox.run(&view, &step, &self.cancel)?;
        drop(slot);
        self.spend(finished.cpu);
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(finished) }
    }
}

pub(super) fn output(finished: &Finished, instrument: &Instrument) -> Option<Vec<u8>> {
    match finished.collected.get(&instrument.output) {
        Some(Collected::File(bytes)) => Some(bytes.clone()),
        _ => None,
    }
}
