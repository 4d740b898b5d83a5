//! Pure tests: trees in memory, and a screen that is a closure.

mod features;
mod localisation;
mod repairs;
mod searching;

use super::evidence::Suspicion;
use super::ranking::{Proposals, Ranked, Taste};
use super::search::Space as _;
use super::survey::{Coverage, Failure, survey};
use crate::syntax::Languages;
use crate::tree::{Changes, File, RelPath};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn path(text: &str) -> RelPath {
    RelPath::parse(text.as_bytes()).unwrap()
}

pub(super) fn tree(files: &[(&str, &str)]) -> Changes {
    files.iter().map(|(name, text)| (path(name), Some(File::plain(text.as_bytes())))).collect()
}

pub(super) fn outcomes(failing: &[&str], passing: &[&str]) -> BTreeMap<TestId, bool> {
    let failing = failing.iter().map(|id| ((*id).to_owned(), true));
    failing.chain(passing.iter().map(|id| ((*id).to_owned(), false))).collect()
}

pub(super) fn surveyed(
    files: &[(&str, &str)],
    tests: &[&str],
    outcomes: &BTreeMap<TestId, bool>,
    coverage: Option<&Coverage>,
) -> Proposals {
    surveyed_with(files, tests, outcomes, coverage, b"")
}

pub(super) fn surveyed_with(
    files: &[(&str, &str)],
    tests: &[&str],
    outcomes: &BTreeMap<TestId, bool>,
    coverage: Option<&Coverage>,
    log: &[u8],
) -> Proposals {
    let tests: Vec<RelPath> = tests.iter().map(|name| path(name)).collect();
    let failure = Failure { outcomes, log, coverage };
    survey(&tree(files), &Languages::builtin(), &tests, &|_| true, &failure)
}

/// The place (from 0) of the proposal that turns `file` into `repaired`, in the plain order.
pub(super) fn place(
    proposals: &Proposals,
    failing: &BTreeSet<TestId>,
    file: &RelPath,
    repaired: &str,
) -> Option<usize> {
    let ranked = Ranked { proposals, taste: Taste::of(1, 0) };
    ranked
        .ranked(&[], failing)
        .into_iter()
        .filter_map(|number| ranked.candidate(&[number]))
        .position(|changes| {
            matches!(changes.get(file), Some(Some(file)) if &*file.bytes == repaired.as_bytes())
        })
}

pub(super) fn most(suspicion: &Suspicion, file: &RelPath, line: u32) -> f64 {
    suspicion.of(file, &(line..=line))
}
