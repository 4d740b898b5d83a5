//! What can be done with a commit's change of one file: its hunks that still have a place today.

use super::super::code::{Code, Opened, is_within};
use super::super::words::{Usage, words};
use super::fit::Sides;
use super::{Undoing, Unit, Way, Ways, mapping, renames};
use crate::diff::line_changes;
use crate::syntax::{Language, Parsed};
use crate::text::{Edit, apply_edits, lines};
use crate::workspace::Revision;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Undoing {
    /// The hunks of a change that can be undone today, each with what it needs.
    pub(super) fn ways(
        &self,
        commit: usize,
        revision: usize,
        file: usize,
        code: &mut Code<'_>,
    ) -> Ways {
        let revision = &self.history.commits[commit].files[revision];
        let symbol = code.symbol().map(str::to_owned);
        let (opened, usage) = code.open_with_usage(file);
        let language = &opened.language;
        let (old, new) = under_todays_names(revision, &opened.parsed, language);
        let since = self.renames_since(commit, (&old, &new), usage, language);
        let (old, new) = (renames::applied(&old, &since), renames::applied(&new, &since));
        let today = mapping::closed(&opened.file.bytes, opened.parsed.newline());
        let undos = mapping::undo(&old, &new, &today, opened.file.bytes.len());
        let hunks = mapping::count(&old, &new);
        let old = language.parse(old);
        let sides = Sides {
            old: &old,
            today: &opened.parsed,
            path: &opened.path,
            language,
            usage,
            elsewhere: &|name| self.definition(name, opened),
        };
        let mut units: Vec<Unit> = Vec::new();
        for (index, undo) in undos.iter().enumerate() {
            if sides.is_imports_only(undo) {
                continue;
            }
            let Some((hunks, edits)) = sides.completed(&undos, index) else { continue };
            let in_target = symbol.as_ref().is_none_or(|symbol| {
                undo.edits.iter().any(|edit| touches(&opened.parsed, edit, symbol))
            });
            let has_effect = in_target && has_effect(opened, &edits);
            if has_effect && !units.iter().any(|unit| unit.edits == edits) {
                units.push(Unit { file, hunks, edits, fit: undo.fit });
            }
        }
        let mut left: Vec<Way> = (0..units.len()).map(Way::One).collect();
        if units.len() > 1 {
            left.push(Way::All);
        }
        Ways { units, hunks, left }
    }

    /// Names in the lines that the commit changed and that nothing in the repository has any more, with
    /// the names that this commit and those since have put in their place.
    fn renames_since(
        &self,
        commit: usize,
        (old, new): (&[u8], &[u8]),
        usage: &Usage,
        language: &Language,
    ) -> renames::Renames {
        let changed = [removed(old, new).concat(), removed(new, old).concat()].concat();
        let gone = |word: &&[u8]| !usage.has(word);
        let gone: BTreeSet<&[u8]> = words(&changed).map(|at| &changed[at]).filter(gone).collect();
        let mut followed: Vec<(Vec<u8>, Vec<u8>)> =
            gone.iter().map(|word| (word.to_vec(), word.to_vec())).collect();
        for later in (0..=commit).rev() {
            let has = |name: &[u8], text: &[u8]| words(text).any(|at| text[at] == *name);
            for (_, name) in &mut followed {
                let files = &self.history.commits[later].files;
                if files.iter().any(|file| has(name, &file.old) && !has(name, &file.new))
                    && let Some(new) = self.renames_of(later, language).get(name)
                {
                    name.clone_from(new);
                }
            }
        }
        followed.into_iter().filter(|(old, new)| old != new && usage.has(new)).collect()
    }

    /// The names that a commit replaced, over all its files.
    fn renames_of(&self, commit: usize, language: &Language) -> &renames::Renames {
        self.renamed[commit].get_or_init(|| {
            let files = &self.history.commits[commit].files;
            let given = |side: fn(&Revision) -> &Arc<[u8]>| -> renames::Names {
                files
                    .iter()
                    .flat_map(|file| renames::given(&language.parse(side(file).clone())))
                    .collect()
            };
            let (from, to) = (given(|file| &file.old), given(|file| &file.new));
            let all = files.iter().flat_map(|file| renames::between(&file.old, &file.new));
            renames::of_own_names(all.collect(), &from, &to)
        })
    }
}

/// The commit's two sides, closed, with today's newlines and the names that today's file has for
/// theirs.
fn under_todays_names(
    revision: &Revision,
    today: &Parsed,
    language: &Language,
) -> (Vec<u8>, Vec<u8>) {
    let side =
        |text: &[u8]| mapping::with_newlines_of(today.source(), &mapping::closed(text, b"\n"));
    let (old, new) = (side(&revision.old), side(&revision.new));
    let mut renamed = renames::between(&new, today.source());
    if !renamed.is_empty() {
        let from = renames::given(&language.parse(new.clone()));
        renamed = renames::of_own_names(renamed, &from, &renames::given(today));
    }
    (renames::applied(&old, &renamed), renames::applied(&new, &renamed))
}

/// The lines of the old text that the new one lacks.
fn removed<'a>(old: &'a [u8], new: &'a [u8]) -> Vec<&'a [u8]> {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old).collect(), lines(new).collect());
    line_changes(&old, &new).into_iter().flat_map(|change| old[change.old].to_vec()).collect()
}

/// Whether the edits change code, and none of it is there for tests.
pub(super) fn has_effect(opened: &Opened, edits: &[Edit]) -> bool {
    let in_tests = |edit: &Edit| {
        opened.parsed.is_test_code(edit.range.start)
            || opened.parsed.is_test_code(edit.range.end.saturating_sub(1))
    };
    !edits.iter().any(in_tests)
        && apply_edits(&opened.file.bytes, edits)
            .is_ok_and(|bytes| !opened.language.is_same_code(&opened.file.bytes, &bytes))
}

pub(super) fn touches(parsed: &Parsed, edit: &Edit, symbol: &str) -> bool {
    [edit.range.start, edit.range.end.saturating_sub(1)]
        .into_iter()
        .filter_map(|at| parsed.function_at(at))
        .any(|function| is_within(parsed, function, symbol))
}
