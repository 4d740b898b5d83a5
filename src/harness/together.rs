//! The states of one bug in one build: where a bug edits bodies of functions only, these choose by a number
//! at run time whether they are those of the bug, of the bug less one of its files, or the original's.
//!
//! A run of such a state is asked for as any other, by its changes, and never made plainly by this way. It is
//! believed only where the build, told to be the original, says what the original says.

use super::{Error, Harness, How, Program, ScriptRun};
use crate::runner::weave;
use crate::syntax::Languages;
use crate::tree::{Changes, RelPath};
use crate::verdict::{Outcome, TestId, Verdicts};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bugs whose builds are known; those of a batch are checked beside each other.
const KEPT: usize = 8;

#[derive(Default)]
pub(super) struct Known {
    all: Mutex<VecDeque<Arc<Together>>>,
    /// Whether the repository's code may be woven.
    allowed: OnceLock<bool>,
}

/// One bug's build.
pub(super) struct Together {
    /// Paths that the bug changes.
    paths: BTreeSet<RelPath>,
    /// Its states by number, from 1: the bug, and the bug less one unit each.
    states: Vec<Changes>,
    /// The tree that holds all of them.
    woven: Changes,
    /// The test files by which it says what the original says.
    files: BTreeSet<RelPath>,
}

/// What is to be laid out for a run, and which of the states there it is to be, if there are several.
pub(super) struct Laid {
    pub(super) changes: Changes,
    pub(super) state: Option<usize>,
}

impl Together {
    /// How base + `changes` is had of this build: a state, and on top of it files that are not woven.
    fn laid(&self, changes: &Changes, files: &[RelPath]) -> Option<Laid> {
        if !files.iter().all(|file| self.files.contains(file)) {
            return None;
        }
        let of_bug = |path: &RelPath| self.paths.contains(path);
        let own: Changes = changes
            .iter()
            .filter(|(path, _)| of_bug(path))
            .map(|(path, file)| (path.clone(), file.cloned()))
            .collect();
        let state = self.states.iter().position(|state| *state == own)? + 1;
        let mut laid = self.woven.clone();
        for (path, file) in changes.iter().filter(|(path, _)| !of_bug(path)) {
            if self.woven.get(path).is_some() {
                return None;
            }
            match file {
                Some(file) => laid.write(path.clone(), file.clone()),
                None => laid.delete(path.clone()),
            }
        }
        Some(Laid { changes: laid, state: Some(state) })
    }

    fn original(&self) -> Laid {
        Laid { changes: self.woven.clone(), state: Some(0) }
    }
}

impl Known {
    fn all(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<Together>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How these changes are had for these test files: of a build that holds them, if there is one.
    pub(super) fn laid(&self, changes: &Changes, files: &[RelPath]) -> Laid {
        let all = self.all();
        let laid = all.iter().rev().find_map(|together| together.laid(changes, files));
        laid.unwrap_or_else(|| Laid { changes: changes.clone(), state: None })
    }

    fn add(&self, together: Arc<Together>) {
        let mut all = self.all();
        while all.len() >= KEPT {
            all.pop_front();
        }
        all.push_back(together);
    }

    fn forget(&self, together: &Arc<Together>) {
        self.all().retain(|known| !Arc::ptr_eq(known, together));
    }
}

impl Harness {
    /// Makes the runs that the checks of a bug will ask for in an order that builds the least: the bug, what
    /// repeats it, and, where one build holds them, the bug less one of its `units` each. Nothing where it is
    /// known already, or where no build is needed.
    pub fn prepare(
        &self,
        bug: &Changes,
        units: &[BTreeSet<RelPath>],
        program: Program<'_>,
    ) -> Result<(), Error> {
        let bug = bug.against(&*self.base);
        let Some(chosen) = self.runner.own_script(program.script) else { return Ok(()) };
        if !self.runner.builds() || self.is_plain() || self.remembers(&bug, program) {
            return Ok(());
        }
        // The bug's run is to be the first of a bug in its place.
        self.leave_places();
        let original = self.run_warm(&Changes::new(), program, None)?;
        // Of a bug in one file there is no other state than the original.
        let states = states(&bug, units);
        let woven = if units.len() > 1 { self.woven(&states, chosen.files) } else { None };
        let mut together = woven.map(Arc::new);
        if let Some(tried) = &together
            && !self.is_vouched_for(tried, &original, program)?
        {
            self.leave_places();
            together = None;
        }
        self.note_spent(|spent| match together {
            Some(_) => spent.together += 1,
            None => spent.apart += 1,
        });
        let run = self.run_warm(&bug, program, None)?;
        let (Ok(before), Ok(after)) = (&original.verdicts, &run.verdicts) else { return Ok(()) };
        let passed = |id: &TestId| before.of(id) == Outcome::Passed;
        let failing: BTreeSet<TestId> = after.failing().into_iter().filter(passed).collect();
        if failing.is_empty() {
            return Ok(());
        }
        self.repeat_early(&bug, program)?;
        let script = self.script_of_some(program, before, &failing);
        let some = Program { script: script.as_deref().unwrap_or(program.script), ..program };
        for state in together.iter().flat_map(|together| &together.states[1..]) {
            self.run_warm(state, some, None)?;
        }
        Ok(())
    }

    /// The runner's own script over some tests of a script of its own, of which `all` said so on the original.
    /// Other test files are not built.
    pub fn script_of_some(
        &self,
        program: Program<'_>,
        all: &Verdicts,
        some: &BTreeSet<TestId>,
    ) -> Option<Vec<u8>> {
        if self.is_plain() || program.parser != self.runner.parser() {
            return None;
        }
        let chosen = self.runner.own_script(program.script)?;
        let file_of = |id: &TestId| {
            let name = id.split_once("::")?.0;
            chosen.files.iter().find(|path| path.as_str() == name).cloned()
        };
        let files: Option<BTreeSet<RelPath>> = some.iter().map(file_of).collect();
        let files: Vec<RelPath> = files?.into_iter().collect();
        let mut excluded: BTreeSet<TestId> = chosen.excluded.iter().cloned().collect();
        let others = all.iter().map(|(id, _)| id);
        excluded.extend(others.filter(|id| !some.contains(*id)).cloned());
        excluded.retain(|id| file_of(id).is_none_or(|file| files.contains(&file)));
        Some(self.runner.script(&files, &excluded.into_iter().collect::<Vec<_>>()))
    }

    /// Whether the build, told to be the original, says what that says. It serves from then on.
    fn is_vouched_for(
        &self,
        together: &Arc<Together>,
        original: &ScriptRun,
        program: Program<'_>,
    ) -> Result<bool, Error> {
        self.together.add(Arc::clone(together));
        let run =
            self.run_laid(&together.original(), program, How::CHECK.hash_seed, self.time_limit())?;
        let same = run.is_some_and(|run| run.verdicts.is_ok() && run.verdicts == original.verdicts);
        if !same {
            tracing::debug!("a build of several states does not say what the original says");
            self.together.forget(together);
        }
        Ok(same)
    }

    /// One tree of these states, the first of which is the bug; `None` where it cannot be.
    fn woven(&self, states: &[Changes], files: Vec<RelPath>) -> Option<Together> {
        let switch = self.runner.switch()?;
        let allowed = || !self.runner.runs_while_building() && self.runner.may_weave(&*self.base);
        if !*self.together.allowed.get_or_init(allowed) {
            return None;
        }
        let changed: Vec<Changes> =
            states.iter().filter(|state| !state.is_empty()).cloned().collect();
        let versions = weave::versions(&*self.base, &Languages::builtin(), switch, &changed);
        if versions.numbers.len() != changed.len() {
            return None;
        }
        Some(Together {
            paths: states.first()?.paths().cloned().collect(),
            states: changed,
            woven: self.runner.woven_tree(&*self.base, &versions.woven)?,
            files: files.into_iter().collect(),
        })
    }
}

/// The bug, and the bug less one of its units each.
fn states(bug: &Changes, units: &[BTreeSet<RelPath>]) -> Vec<Changes> {
    let less = |unit: &BTreeSet<RelPath>| {
        let mut changes = bug.clone();
        for path in unit {
            changes.restore(path);
        }
        changes
    };
    let mut states = vec![bug.clone()];
    states.extend(units.iter().map(less));
    states
}
