//! What the suite says of the untouched tree: two runs that must agree, and two controls that prove
//! that edits take effect.

use super::entered::{Entered, Measured};
use super::{Audience, Error, Harness, How, NoVerdict, Program, ScriptRun, script};
use crate::runner::Runner;
use crate::sandbox::Tier;
use crate::tree::{Changes, File, RelPath, Tree, hex};
use crate::verdict::{Outcome, TestId, Verdicts};
use crate::workspace::Base;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// What the suite says of the untouched tree, from two runs that agree.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Baseline {
    pub passing: BTreeSet<TestId>,
    /// Already failing, skipped or unstable: excluded from play, with the reason.
    pub excluded: BTreeMap<TestId, String>,
    /// Source file to the test files whose tests may execute it.
    pub reach: BTreeMap<RelPath, BTreeSet<RelPath>>,
    /// The same by function, where that is known; it holds for changes of bodies only.
    #[serde(default)]
    pub entered: Entered,
    /// Seconds of each test alone, where the framework could tell.
    pub durations: BTreeMap<TestId, f64>,
    /// Wall seconds of a run of everything; where code is built, with one file built anew.
    pub seconds: f64,
}

/// How long the first runs may take: nothing is known yet, and caches are cold.
const FIRST_RUN: Duration = Duration::from_mins(10);

/// Files that the forced-fail control breaks before it gives up.
const CONTROLS: usize = 5;

/// What a baseline depends on: the tree, the tools and our own programs.
pub(super) fn key(base: &Base, runner: &Runner, tier: Tier) -> String {
    let mut hash = Sha256::new();
    hash.update(&base.id);
    hash.update(runner.framework());
    hash.update(runner.scope());
    hash.update([0]);
    for (name, value) in &runner.tools().env {
        hash.update(name.as_encoded_bytes());
        hash.update([0]);
        hash.update(value.as_encoded_bytes());
        hash.update([0]);
    }
    hash.update(runner.script(&[], &[]));
    hash.update(runner.parser());
    hash.update(env!("CARGO_PKG_VERSION"));
    // Other tiers show the tree elsewhere, or less of the machine.
    if tier != Tier::A {
        hash.update(format!("{tier:?}"));
    }
    hex(&hash.finalize())
}

impl Harness {
    /// All that a run depends on beside what it runs and on which changes.
    pub fn environment_key(&self) -> String {
        let plain = if self.is_plain() { " plain" } else { "" };
        key(&self.base, &self.runner, self.tier()) + plain
    }

    /// Measured once a tree and set of tools, kept in the store.
    pub fn baseline(&self) -> Result<Arc<Baseline>, Error> {
        if let Some(known) = self.baseline.get() {
            return Ok(Arc::clone(known));
        }
        // Threads that ask at once wait for the first one.
        let _measuring = self.measuring.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.baseline.get() {
            return Ok(Arc::clone(known));
        }
        let key = key(&self.base, &self.runner, self.tier());
        let stored = self.store.baseline(&key)?.and_then(|json| serde_json::from_str(&json).ok());
        let baseline = match stored {
            Some(baseline) if self.caches.are_warm() => baseline,
            _ => {
                let baseline = self.measure()?;
                let json = serde_json::to_string(&baseline)
                    .map_err(|error| Error::Instrument(error.to_string()))?;
                self.store.save_baseline(&key, &json)?;
                baseline
            }
        };
        Ok(Arc::clone(self.baseline.get_or_init(|| Arc::new(baseline))))
    }

    fn first_run(&self) -> Duration {
        self.time_limit.unwrap_or(FIRST_RUN)
    }

    fn measure(&self) -> Result<Baseline, Error> {
        let test_files = self.runner.test_files(&*self.base);
        let script = self.runner.script(&test_files, &[]);
        let parser = self.runner.parser();
        let program = Program { script: &script, parser: &parser };
        let first = self.fill_caches(program)?;
        let second = self.run_now(
            &Changes::new(),
            program,
            How { hash_seed: 1, audience: Audience::Check },
            self.first_run(),
        )?;
        let mut seconds = second.wall.as_secs_f64();
        let (passing, excluded) = agree(&self.verdicts_of(first)?, &self.verdicts_of(second)?);
        self.refuse_without_network(&excluded)?;
        if passing.is_empty() {
            return Err(Error::Baseline(format!(
                "none of the {} tests passes in the copy, which has no network, no history and no ignored \
                 files (first: {}); make some pass in a fresh clone without a network, or name the command \
                 that runs them with --test-command and --report",
                excluded.len(),
                excluded.iter().next().map_or("", |(_, reason)| reason)
            )));
        }
        let survey = self.reach(&test_files)?;
        let reach = code_only(self, &test_files, &survey.files);
        self.forced_fail(&reach, &passing)?;
        if self.runner.builds() {
            seconds = seconds.max(self.rebuilt(&reach, program)?.as_secs_f64());
        }
        let code = reach.keys().cloned().collect();
        let usual = Duration::from_secs_f64(seconds);
        let Measured { entered, seconds: alone } = self.entered(&code, &passing, usual)?;
        let durations = if alone.is_empty() { survey.seconds } else { alone };
        Ok(Baseline { passing, excluded, reach, entered, durations, seconds })
    }

    /// Where there is no network, tests that fail for want of one must not go as tests that always failed.
    fn refuse_without_network(&self, excluded: &BTreeMap<TestId, String>) -> Result<(), Error> {
        let mut failing = excluded.iter().filter(|(_, reason)| !reason.contains(": skipped "));
        let wanted = self.wanted_network.load(Ordering::Relaxed);
        let Some((_, first)) = failing.next().filter(|_| wanted) else { return Ok(()) };
        let tier = self.tier();
        Err(Error::NeedsNetwork { tier, failing: failing.count() + 1, first: first.clone() })
    }

    /// How long a run takes that finds one code file changed: an empty line at its end. Of the files that
    /// most tests reach, a crate's first.
    fn rebuilt(
        &self,
        reach: &BTreeMap<RelPath, BTreeSet<RelPath>>,
        program: Program<'_>,
    ) -> Result<Duration, Error> {
        let root = |path: &RelPath| path.file_name() == "lib.rs" || path.file_name() == "main.rs";
        let chosen = reach.iter().max_by_key(|(path, tests)| (tests.len(), root(path)));
        let Some((path, _)) = chosen else { return Ok(Duration::ZERO) };
        let Some(file) = self.base.read(path) else { return Ok(Duration::ZERO) };
        let mut changes = Changes::new();
        let bytes = [&file.bytes[..], b"\n"].concat();
        changes.write(path.clone(), File { bytes: bytes.into(), ..file });
        Ok(self.run_now(&changes, program, How::CHECK, self.first_run())?.wall)
    }

    fn fill_caches(&self, program: Program<'_>) -> Result<ScriptRun, Error> {
        if self.caches.are_warm() {
            return self.run_now(&Changes::new(), program, How::CHECK, self.first_run());
        }
        let view = self.view(Changes::new(), self.caches.filling()?);
        let step = self.script_step(program.script, How::CHECK, self.first_run());
        let slot = self.slots.take();
        let finished = self.sandbox.run(&view, &step, &self.cancel)?;
        drop(slot);
        let run = self.conclude(finished, program.parser, self.first_run())?;
        // Python writes byte code short, without a word, where there is no room.
        self.caches.have_room()?;
        self.caches.filled()?;
        Ok(run)
    }

    /// All five outcomes, from the log itself: the parser's form has two.
    fn verdicts_of(&self, run: ScriptRun) -> Result<Verdicts, Error> {
        let told = run.verdicts.map_err(|problem| {
            let advice = match problem {
                NoVerdict::TimedOut(_) => "allow more with --timeout, or have the test that hangs skipped",
                _ => "run the tests yourself in a fresh clone, or name another command with --test-command",
            };
            Error::Baseline(format!(
                "{problem} (the log ends: {}); {advice}",
                script::ending(&run.log)
            ))
        })?;
        let read = self.runner.read_log(&run.log).unwrap_or(told);
        if read.is_empty() {
            return Err(Error::Baseline(format!(
                "no test reported (the log ends: {}); run the tests yourself in a fresh clone, or name \
                 another command with --test-command",
                script::ending(&run.log)
            )));
        }
        Ok(read)
    }

    /// A statement that fails, added to a reached file, must turn a passing test red; otherwise the
    /// tests run another copy of the code and every verdict would be a lie. Several files are tried,
    /// those that most test files reach first: one may be compiled out, or imported on demand only.
    fn forced_fail(
        &self,
        reach: &BTreeMap<RelPath, BTreeSet<RelPath>>,
        passing: &BTreeSet<TestId>,
    ) -> Result<(), Error> {
        let mut files: Vec<(&RelPath, &BTreeSet<RelPath>)> = reach.iter().collect();
        files.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
        let mut tried = 0;
        for (path, test_files) in files {
            let Some(original) = self.base.read(path) else { continue };
            let sabotaged = self.runner.sabotage(path, &original.bytes);
            if sabotaged.is_empty() {
                continue;
            }
            let mut changes = Changes::new();
            changes.write(path.clone(), File { bytes: sabotaged.into(), ..original });
            if !self.runs_green(&changes, test_files, passing)? {
                return Ok(());
            }
            tried += 1;
            if tried == CONTROLS {
                break;
            }
        }
        Err(Error::Baseline(if tried == 0 {
            "no test executes any source file of this repository. The tests may import an installed copy of \
             the code: install it in editable mode (`pip install -e .`)"
                .to_owned()
        } else {
            format!(
                "breaking any of {tried} source files in the copy changes no test: the tests run another copy \
                 of the code. Install this repository in editable mode (`pip install -e .`) or remove the \
                 installed copy"
            )
        }))
    }

    /// Whether the passing tests of these files still pass with the changes.
    fn runs_green(
        &self,
        changes: &Changes,
        test_files: &BTreeSet<RelPath>,
        passing: &BTreeSet<TestId>,
    ) -> Result<bool, Error> {
        let files: Vec<RelPath> = test_files.iter().cloned().collect();
        let (script, parser) = (self.runner.script(&files, &[]), self.runner.parser());
        let program = Program { script: &script, parser: &parser };
        let run = |changes: &Changes| self.run_now(changes, program, How::CHECK, self.first_run());
        let untouched = Changes::new();
        let Ok(before) = run(&untouched)?.verdicts else { return Ok(true) };
        let Ok(after) = run(changes)?.verdicts else { return Ok(false) };
        let ours: Vec<TestId> =
            before.with(Outcome::Passed).into_iter().filter(|id| passing.contains(id)).collect();
        Ok(ours.iter().all(|id| after.of(id) == Outcome::Passed))
    }
}

/// Drops what is no code of the repository's own: test files and files that sway tests.
fn code_only(
    harness: &Harness,
    test_files: &[RelPath],
    reach: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<RelPath, BTreeSet<RelPath>> {
    let checked = |path: &String| RelPath::parse(path.as_bytes()).ok();
    reach
        .iter()
        .filter_map(|(path, tests)| {
            Some((checked(path)?, tests.iter().filter_map(checked).collect()))
        })
        .filter(|(path, _)| !test_files.contains(path) && !harness.runner.sways(path))
        .collect()
}

/// Splits the ids of two runs into those that passed twice and the rest with a reason.
fn agree(first: &Verdicts, second: &Verdicts) -> (BTreeSet<TestId>, BTreeMap<TestId, String>) {
    let mut passing = BTreeSet::new();
    let mut excluded = BTreeMap::new();
    let ids: BTreeSet<&TestId> = first.iter().chain(second.iter()).map(|(id, _)| id).collect();
    let twice = first.duplicates().iter().chain(second.duplicates());
    let twice: BTreeSet<&str> = twice.map(TestId::as_str).collect();
    for id in ids {
        let (one, two) = (first.of(id), second.of(id));
        let reason = match (one, two) {
            _ if twice.contains(id.as_str()) => format!("{id}: reported more than once"),
            // A script that leaves an id out leaves all its copies out.
            _ if copied(id).is_some_and(|id| twice.contains(id)) => continue,
            (Outcome::Passed, Outcome::Passed) => {
                passing.insert(id.clone());
                continue;
            }
            (one, two) if one == two => format!("{id}: {} before any change", word(one)),
            (one, two) => format!("{id}: unstable, {} then {}", word(one), word(two)),
        };
        excluded.insert(id.clone(), reason);
    }
    (passing, excluded)
}

/// The id that a numbered one is a copy of.
fn copied(id: &str) -> Option<&str> {
    let (of, number) = id.rsplit_once('#')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(of)
}

fn word(outcome: Outcome) -> String {
    format!("{outcome:?}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(list: &[(&str, Outcome)]) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for (id, outcome) in list {
            verdicts.add((*id).to_owned(), *outcome);
        }
        verdicts
    }

    #[test]
    fn only_tests_that_passed_twice_are_played_on() {
        use Outcome::{Failed, Passed, Skipped};
        let first = verdicts(&[("a", Passed), ("b", Passed), ("c", Failed), ("d", Skipped)]);
        let second = verdicts(&[("a", Passed), ("b", Failed), ("c", Failed), ("e", Passed)]);
        let (passing, excluded) = agree(&first, &second);
        assert_eq!(passing.into_iter().collect::<Vec<_>>(), ["a"]);
        assert_eq!(
            excluded.into_values().collect::<Vec<_>>(),
            [
                "b: unstable, passed then failed",
                "c: failed before any change",
                "d: unstable, skipped then missing",
                "e: unstable, missing then passed",
            ]
        );
    }

    #[test]
    fn no_copy_of_a_test_that_reports_twice_is_played_on() {
        use Outcome::Passed;
        let both = verdicts(&[("a", Passed), ("a", Passed), ("a", Passed), ("b#2", Passed)]);
        let (passing, excluded) = agree(&both, &both);
        assert_eq!(passing.into_iter().collect::<Vec<_>>(), ["b#2"]);
        assert_eq!(excluded.into_values().collect::<Vec<_>>(), ["a: reported more than once"]);
    }
}
