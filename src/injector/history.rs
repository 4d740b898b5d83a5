//! The history strategy: what commits repaired is broken again, on today's code.
//!
//! A commit is drawn by what its message says, what it touched, its size and its age; of it one file
//! that passing tests reach; of that one hunk, all hunks that still have a place, or these with what
//! another commit did to the file. The hunks' new lines, wherever they are today, give way to the old
//! ones under today's names. A function that stands in another file today is undone there, and what old
//! code needs and nobody has any more comes back with it.

mod definitions;
mod fit;
mod mapping;
mod moved;
mod older;
mod rank;
mod renames;
mod similarity;
mod ways;
#[cfg(test)]
mod tests;

use super::candidate::Candidate;
use super::choice::{root, weighted};
use super::code::{Code, Opened};
use super::draft::Draft;
use super::{Undone, UndoneCommit};
use crate::dice::Dice;
use crate::diff::line_changes;
use crate::syntax::Languages;
use crate::text::{Edit, apply_edits, lines};
use crate::tree::{Changes, File, RelPath, Tree};
use crate::workspace::History;
use mapping::Fit;
pub(super) use older::Within;
use similarity::{Changed, similarity};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Of all draws, those that undo two commits of one file together.
const TOGETHER: f64 = 0.15;
/// How often a change of a file that is gone is drawn, beside one of a file that is there: little of it
/// stands elsewhere today.
const GONE: f64 = 0.4;
/// Characters of a commit's first line that a summary shows.
const SHOWN: usize = 60;

/// What can be undone, and what of it was drawn.
pub(super) struct Undoing {
    history: Arc<History>,
    changes: Vec<FileChange>,
    /// By commit, where it was asked for.
    renamed: Vec<OnceCell<renames::Renames>>,
    /// Today's functions, once they were looked for.
    functions: Option<moved::Functions>,
}

/// A commit's change of one code file.
struct FileChange {
    commit: usize,
    side: Side,
    weight: f64,
    /// What can be done with it; `None` until it is drawn.
    opened: Option<Ways>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Of the commit's files, and its index in [`Code::files`].
    Today { revision: usize, file: usize },
    /// Of those that are gone.
    Gone(usize),
}

#[derive(Default)]
struct Ways {
    units: Vec<Unit>,
    /// Hunks of the commit in this file, also those that have no place today.
    hunks: usize,
    left: Vec<Way>,
}

/// A hunk with all that it needs.
#[derive(Clone)]
struct Unit {
    /// Index in [`Code::files`].
    file: usize,
    hunks: Vec<usize>,
    edits: Vec<Edit>,
    fit: Fit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    One(usize),
    All,
}

pub(super) enum Drawn {
    Draft(Draft),
    /// What was drawn comes to nothing.
    Nothing,
    /// Everything was drawn.
    End,
}

impl Undoing {
    pub(super) fn new(history: Arc<History>, code: &Code<'_>) -> Self {
        let history = Arc::new(without_gone_tests(history, code));
        let mut changes = Vec::new();
        let of = history.commits.len();
        for (age, commit) in history.commits.iter().enumerate() {
            let place = |path: &RelPath| code.files().iter().position(|file| file.path == *path);
            let tests =
                commit.added_tests || commit.files.iter().any(|file| code.is_test(&file.path));
            let code_files = commit.files.iter().filter(|file| !code.is_test(&file.path));
            let there: usize = code_files.map(|file| changed_lines(&file.old, &file.new)).sum();
            let moved = commit.gone.iter().filter_map(|gone| Some((gone, gone.new.as_ref()?)));
            let gone: usize = moved.map(|(gone, new)| changed_lines(&gone.old, new)).sum();
            let lines = there + gone;
            let weight = rank::weight(commit, lines, tests, age, of);
            for (revision, file) in commit.files.iter().enumerate() {
                let Some(file) = place(&file.path) else { continue };
                // As for every strategy: what many test files reach costs most to run.
                let weight = weight / root(code.files()[file].tests.len().max(1));
                let side = Side::Today { revision, file };
                changes.push(FileChange { commit: age, side, weight, opened: None });
            }
            for (at, _) in commit.gone.iter().enumerate().filter(|(_, gone)| gone.new.is_some()) {
                let (side, weight) = (Side::Gone(at), weight * GONE);
                changes.push(FileChange { commit: age, side, weight, opened: None });
            }
        }
        let renamed = vec![OnceCell::new(); of];
        Self { history, changes, renamed, functions: None }
    }

    /// Whether any commit changed a file that may be edited.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn draw(&mut self, dice: &mut Dice, code: &mut Code<'_>) -> Drawn {
        let weights: Vec<f64> = self.changes.iter().map(FileChange::remaining).collect();
        let Some(drawn) = weighted(dice, &weights) else { return Drawn::End };
        self.open(drawn, code);
        let Some(way) = self.way(dice, drawn) else { return Drawn::Nothing };
        let Some(file) = self.file_of(drawn, way) else { return Drawn::Nothing };
        let mut commits = vec![(drawn, way)];
        if dice.unit() < TOGETHER
            && let Some(other) = self.partner(dice, drawn, file, code)
        {
            commits.push((other, Way::All));
        }
        if commits.len() > 1
            && let Some(draft) = self.draft(&commits, code)
        {
            // Alone it is another bug, still to be drawn.
            let ways = self.changes[drawn].opened.get_or_insert_default();
            ways.left.push(way);
            return Drawn::Draft(draft);
        }
        self.draft(&commits[..1], code).map_or(Drawn::Nothing, Drawn::Draft)
    }

    /// What is left of a change to draw: hunks one by one, and all of them together.
    fn way(&mut self, dice: &mut Dice, drawn: usize) -> Option<Way> {
        let ways = self.changes[drawn].opened.as_mut()?;
        let weight = |way: &Way| match way {
            Way::All => 1.5,
            Way::One(unit) if ways.units[*unit].fit == Fit::Changed => 0.5,
            Way::One(_) => 1.0,
        };
        let weights: Vec<f64> = ways.left.iter().map(weight).collect();
        weighted(dice, &weights).map(|at| ways.left.remove(at))
    }

    /// The file that a way of a change leads to.
    fn file_of(&self, drawn: usize, way: Way) -> Option<usize> {
        let ways = self.changes[drawn].opened.as_ref()?;
        match (way, self.changes[drawn].side) {
            (Way::One(unit), _) => Some(ways.units.get(unit)?.file),
            (Way::All, Side::Today { file, .. }) => Some(file),
            (Way::All, Side::Gone(_)) => None,
        }
    }

    /// Another commit's change of the same file.
    fn partner(
        &mut self,
        dice: &mut Dice,
        drawn: usize,
        file: usize,
        code: &mut Code<'_>,
    ) -> Option<usize> {
        let is_other = |at: &usize| {
            let side = self.changes[*at].side;
            *at != drawn && matches!(side, Side::Today { file: other, .. } if other == file)
        };
        let others: Vec<usize> = (0..self.changes.len()).filter(is_other).collect();
        let weights: Vec<f64> = others.iter().map(|at| self.changes[*at].weight).collect();
        let other = others[weighted(dice, &weights)?];
        self.open(other, code);
        Some(other)
    }

    fn open(&mut self, at: usize, code: &mut Code<'_>) {
        if self.changes[at].opened.is_none() {
            let (commit, side) = (self.changes[at].commit, self.changes[at].side);
            let mut ways = match side {
                Side::Today { revision, file } => self.ways(commit, revision, file, code),
                Side::Gone(_) => Ways::default(),
            };
            for unit in self.moved(commit, side, code) {
                ways.left.push(Way::One(ways.units.len()));
                ways.hunks = ways.hunks.max(unit.hunks.len());
                ways.units.push(unit);
            }
            self.changes[at].opened = Some(ways);
        }
    }

    /// The changes undone together, all of one file; `None` where they get in each other's way or
    /// come to nothing.
    fn draft(&self, drawn: &[(usize, Way)], code: &mut Code<'_>) -> Option<Draft> {
        let (first, way) = *drawn.first()?;
        let file = self.file_of(first, way)?;
        let tests = code.files()[file].tests.clone();
        let (opened, usage) = code.open_with_usage(file);
        let mut edits: Vec<Edit> = Vec::new();
        let (mut summary, mut commits) = (Vec::new(), Vec::new());
        for (at, way) in drawn {
            let change = &self.changes[*at];
            let ways = change.opened.as_ref()?;
            let units: Vec<&Unit> = match way {
                Way::One(unit) => vec![ways.units.get(*unit)?],
                Way::All => ways.units.iter().filter(|unit| unit.file == file).collect(),
            };
            let mut hunks = BTreeSet::new();
            let first = units.first()?.edits.first()?.range.start;
            for unit in units {
                let fresh = unit.edits.iter().filter(|edit| !edits.contains(edit));
                let with: Vec<Edit> = edits.iter().chain(fresh).cloned().collect();
                // Of hunks of one commit that overlap when fitted, the first stands.
                if apply_edits(&opened.file.bytes, &with).is_ok() {
                    edits = with;
                    hunks.extend(unit.hunks.iter().copied());
                } else if drawn.len() > 1 {
                    return None;
                }
            }
            summary.push(self.describe(change, hunks.len(), ways.hunks, opened, first));
            commits.push(change.commit);
        }
        let bytes = apply_edits(&opened.file.bytes, &edits).ok()?;
        let bytes = fit::with_signatures(&opened.parsed, bytes, &opened.language);
        let whole = opened.language.parse(bytes.clone());
        if opened.language.is_same_code(&opened.file.bytes, &bytes)
            || !fit::lost(&opened.parsed, &whole, &opened.path, usage).is_empty()
        {
            return None;
        }
        commits.sort_unstable();
        Some(Draft {
            path: opened.path.clone(),
            file: File { bytes: bytes.into(), executable: opened.file.executable },
            tests,
            summary,
            commits,
            drawn: None,
        })
    }

    /// `` undoes 1 of 3 hunks of 1a2b3c4d "Round halves to even" in money.py: round_half (line 41) ``
    fn describe(
        &self,
        change: &FileChange,
        hunks: usize,
        of: usize,
        opened: &Opened,
        at: usize,
    ) -> String {
        let commit = &self.history.commits[change.commit];
        let part = if hunks < of { format!("{hunks} of {of} hunks of ") } else { String::new() };
        let id = commit.id.get(..8).unwrap_or(&commit.id);
        let title: String = commit.summary.chars().take(SHOWN).collect();
        let function = opened.parsed.function_at(at).map(|at| &opened.parsed.functions()[at]);
        let place = function.map_or("top level", |function| &function.qualified);
        let line = opened.parsed.line_of(at);
        format!("undoes {part}{id} {title:?} in {}: {place} (line {line})", opened.path)
    }

    /// The older tests of the candidate's commits, as far as they lie `within`, laid over the base; `None`
    /// where there are none.
    pub(super) fn older_tests(
        &self,
        candidate: &Candidate,
        tree: &dyn Tree,
        test_files: &[RelPath],
        languages: &Languages,
        within: Within<'_>,
    ) -> Option<Changes> {
        older::tests(self, &candidate.commits(), tree, test_files, (languages, within))
    }

    /// Which commits the candidate undoes, and how closely.
    pub(super) fn origin(
        &self,
        candidate: &Candidate,
        tree: &dyn Tree,
        is_test: &dyn Fn(&RelPath) -> bool,
    ) -> Option<Undone> {
        let (mut bug, mut reversal) = (Changed::default(), Changed::default());
        for (path, file) in candidate.changes().iter() {
            let bytes =
                |file: Option<&File>| file.map(|file| file.bytes.clone()).unwrap_or_default();
            bug.add(&bytes(tree.read(path).as_ref()), &bytes(file));
        }
        let commits: Vec<_> =
            candidate.commits().iter().map(|at| &self.history.commits[*at]).collect();
        for file in commits.iter().flat_map(|it| &it.files).filter(|it| !is_test(&it.path)) {
            reversal.add(&file.new, &file.old);
        }
        for gone in commits.iter().flat_map(|it| &it.gone) {
            // What was deleted as a whole is no change that a bug can take back.
            if let Some(new) = &gone.new {
                reversal.add(new, &gone.old);
            }
        }
        let named = commits
            .iter()
            .map(|commit| UndoneCommit { id: commit.id.clone(), summary: commit.summary.clone() });
        let commits: Vec<_> = named.collect();
        let similarity = similarity(&bug, &reversal);
        (!commits.is_empty()).then_some(Undone { commits, similarity })
    }
}

impl FileChange {
    /// Its weight as long as something is left to draw.
    fn remaining(&self) -> f64 {
        let done = self.opened.as_ref().is_some_and(|ways| ways.left.is_empty());
        if done { 0.0 } else { self.weight }
    }
}

/// A test file that is gone, or that was renamed beyond recognition, is no code that a bug could bring back.
fn without_gone_tests(history: Arc<History>, code: &Code<'_>) -> History {
    // Known by its name alone: it is none of today's.
    let is_test = |path: &RelPath| {
        let language = code.languages().for_path(path);
        language.is_some_and(|it| it.is_test_path(path) || it.is_test_support_path(path))
    };
    let mut history = Arc::unwrap_or_clone(history);
    for commit in &mut history.commits {
        commit.gone.retain(|gone| !is_test(&gone.path));
    }
    history
}

fn changed_lines(old: &[u8], new: &[u8]) -> usize {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old).collect(), lines(new).collect());
    line_changes(&old, &new).iter().map(|change| change.old.len() + change.new.len()).sum()
}
