//! Which drafts make a bug together: every changed file has to matter on its own.

use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::BTreeSet;

/// A draft as the combination sees it.
pub(super) struct Noticed<'a> {
    pub path: &'a RelPath,
    /// The originally passing tests that fail under it alone.
    pub failing: &'a BTreeSet<TestId>,
}

/// Whether each of the drafts has a failing test that no other breaks: with its file restored that
/// test passes again, which is what inverse mutation asks for.
pub(super) fn each_matters(drafts: &[Noticed<'_>]) -> bool {
    drafts.iter().enumerate().all(|(index, draft)| {
        let others = || drafts.iter().enumerate().filter(|(other, _)| *other != index);
        others().all(|(_, other)| other.path != draft.path)
            && draft
                .failing
                .iter()
                .any(|test| others().all(|(_, other)| !other.failing.contains(test)))
    })
}

/// `count` drafts, the last one among them, that make a bug together; the earliest such by index.
pub(super) fn combine(drafts: &[Noticed<'_>], count: usize) -> Option<Vec<usize>> {
    let newest = drafts.len().checked_sub(1)?;
    let mut chosen = vec![newest];
    extend(drafts, count, 0, &mut chosen).then_some(chosen).map(|mut chosen| {
        chosen.sort_unstable();
        chosen
    })
}

fn extend(drafts: &[Noticed<'_>], count: usize, from: usize, chosen: &mut Vec<usize>) -> bool {
    let picked: Vec<Noticed<'_>> = chosen
        .iter()
        .map(|index| Noticed { path: drafts[*index].path, failing: drafts[*index].failing })
        .collect();
    if !each_matters(&picked) {
        // A further draft can only take tests away from those chosen.
        return false;
    }
    if chosen.len() == count {
        return true;
    }
    for next in from..drafts.len() - 1 {
        chosen.push(next);
        if extend(drafts, count, next + 1, chosen) {
            return true;
        }
        chosen.pop();
    }
    false
}
