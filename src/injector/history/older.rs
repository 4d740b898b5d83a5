//! The weakening that history offers: the tests as they were before the commit, all of them or some.

use super::{Undoing, mapping, renames};
use crate::syntax::Languages;
use crate::text::{Edit, apply_edits};
use crate::tree::{Changes, File, RelPath, Tree};
use std::collections::BTreeMap;
use std::ops::Range;

/// Which parts of test files may become older.
pub(in super::super) type Within<'a> = &'a dyn Fn(&RelPath, &Range<usize>) -> bool;

/// The listed test files that the commits changed, with all of it undone that still has a place and lies
/// `within`; `None` where that is nothing.
pub(super) fn tests(
    undoing: &Undoing,
    commits: &[usize],
    tree: &dyn Tree,
    test_files: &[RelPath],
    (languages, within): (&Languages, Within<'_>),
) -> Option<Changes> {
    let mut edits: BTreeMap<&RelPath, Vec<Edit>> = BTreeMap::new();
    for commit in commits {
        for revision in &undoing.history.commits[*commit].files {
            if !test_files.contains(&revision.path) {
                continue;
            }
            let Some(today) = tree.read(&revision.path) else { continue };
            let closed = mapping::closed(&today.bytes, b"\n");
            let old = mapping::with_newlines_of(&closed, &mapping::closed(&revision.old, b"\n"));
            let new = mapping::with_newlines_of(&closed, &mapping::closed(&revision.new, b"\n"));
            // Tests name what other files give, so that every rename counts; a wrong one shows when the
            // weakened tests run.
            let renamed = renames::between(&new, &closed);
            let (old, new) = (renames::applied(&old, &renamed), renames::applied(&new, &renamed));
            let undone = mapping::undo(&old, &new, &closed, today.bytes.len());
            let file = edits.entry(&revision.path).or_default();
            let edits = undone.into_iter().flat_map(|undo| undo.edits);
            for edit in edits.filter(|edit| within(&revision.path, &edit.range)) {
                file.push(edit);
                if apply_edits(&today.bytes, file).is_err() {
                    file.pop();
                }
            }
        }
    }
    let mut changes = Changes::new();
    for (path, edits) in edits {
        let today = tree.read(path)?;
        let bytes = apply_edits(&today.bytes, &edits).ok()?;
        let language = languages.for_path(path)?;
        let sound = language.syntax_errors(&bytes) <= language.syntax_errors(&today.bytes);
        if sound && !language.is_same_code(&today.bytes, &bytes) {
            changes.write(path.clone(), File { bytes: bytes.into(), ..today });
        }
    }
    (!changes.is_empty()).then_some(changes)
}
