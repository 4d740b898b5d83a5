//! A candidate bug: one draft, or several of different files.

use super::Strategy;
use super::draft::Draft;
use crate::tree::{Changes, RelPath};
use std::collections::BTreeSet;

/// Drafts of different files, sorted by path.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    drafts: Vec<Draft>,
}

impl Candidate {
    pub(super) fn of(drafts: impl IntoIterator<Item = Draft>) -> Self {
        let mut drafts: Vec<Draft> = drafts.into_iter().collect();
        drafts.sort_by(|one, other| one.path.cmp(&other.path));
        Self { drafts }
    }

    pub(super) fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    /// The buggy tree, laid over the base.
    pub(super) fn changes(&self) -> Changes {
        self.drafts.iter().map(|draft| (draft.path.clone(), Some(draft.file.clone()))).collect()
    }

    /// The test files that reach any of its files, sorted.
    pub(super) fn tests(&self) -> BTreeSet<RelPath> {
        self.drafts.iter().flat_map(|draft| draft.tests.iter().cloned()).collect()
    }

    /// The commits that it undoes, by their place in the history; sorted.
    pub(super) fn commits(&self) -> Vec<usize> {
        let all: BTreeSet<usize> =
            self.drafts.iter().flat_map(|draft| draft.commits.iter().copied()).collect();
        all.into_iter().collect()
    }

    /// One line for people.
    pub(super) fn summary(&self, strategy: Strategy) -> String {
        let places: Vec<&str> =
            self.drafts.iter().flat_map(|draft| &draft.summary).map(String::as_str).collect();
        format!("{}: {}", strategy.name(), places.join("; "))
    }
}
