//! Failures that come back: which tree a failed attempt leads to, which entry of the wrong-book is
//! played next, and the second-order bug that a failed repair makes. (SSR, arXiv 2512.18552: a failed
//! repair on top of bug and weakening is a new bug; deeper ones overlap too much with what is there.)
//!
//! The attempts at a second-order bug do not enter its parent's solve rate: that is a statement about
//! the parent's bug alone.

#[cfg(test)]
mod tests;

use crate::artifact::Artifact;
use crate::dice::Dice;
use crate::diff::Patch;
use crate::grading::{self, Reason, Task};
use crate::harness::Harness;
use crate::solver::Attempt;
use crate::store::{Entry, Failure};
use crate::tree::{Changes, hex};
use sha2::{Digest, Sha256};

/// The order of a bug that nobody built on another's failure.
pub const FIRST_ORDER: u32 = 1;
/// The deepest there is.
pub const SECOND_ORDER: u32 = 2;

/// Groups in a row that must have failed before an entry makes a bug of its own.
const ROUNDS: u32 = 2;
/// An entry is drawn from so many: those with the most failures.
const TOP: usize = 8;

/// What a round on the wrong-book plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// The entry's failed repair as a bug of its own.
    SecondOrder(&'a Entry),
    /// The entry's bug, attempted once more.
    Again(&'a Entry),
}

/// Draws from the entries of first order that are not solved: one that failed in two rounds in a row or
/// more and may become a bug of its own, while there is one; else one that failed in its last round
/// only, to be attempted again. `entries` come with the most failures first.
pub fn choose<'a>(entries: &'a [Entry], base: &str, dice: &mut Dice) -> Option<Choice<'a>> {
    let open: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.base == base && entry.bug_order == FIRST_ORDER && !entry.solved)
        .collect();
    let mut draw = |fits: &dyn Fn(&Entry) -> bool| {
        let top: Vec<&Entry> = open.iter().copied().filter(|entry| fits(entry)).take(TOP).collect();
        dice.pick(&top).copied()
    };
    draw(&|entry| entry.streak >= ROUNDS && entry.feeds && !entry.fed)
        .map(Choice::SecondOrder)
        .or_else(|| draw(&|entry| entry.streak < ROUNDS).map(Choice::Again))
}

/// What the failed ones of a group of attempts lead to. A patch that is absent, refused or does not
/// apply leads nowhere: it counts as the bug's own tree. None where the artifact cannot be played.
pub fn failures(harness: &Harness, artifact: &Artifact, attempts: &[Attempt]) -> Vec<Failure> {
    let Ok(task) = Task::of(harness.base(), artifact) else { return Vec::new() };
    let mut failures: Vec<Failure> = Vec::new();
    for attempt in attempts.iter().filter(|attempt| !attempt.solved) {
        let rebuilt = grading::rebuild(harness, artifact, attempt.patch.as_bytes());
        let feeds = rebuilt.as_ref().is_ok_and(|rebuilt| rebuilt.flags.is_empty())
            && attempt.flags.is_empty()
            && was_judged(&attempt.reason);
        let tree = rebuilt.map_or_else(|_| task.with_oracle().digest(), |r| r.tree.digest());
        if let Some(known) = failures.iter_mut().find(|failure| failure.tree == tree) {
            known.attempts += 1;
            continue;
        }
        failures.push(Failure {
            id: id(&harness.base().id, &tree),
            tree,
            patch: attempt.patch.clone().into_bytes(),
            reason: attempt.reason.to_string(),
            feeds,
            attempts: 1,
        });
    }
    failures
}

/// Whether tests ran on the patch and found it wanting: nothing else is a developer's mistake.
fn was_judged(reason: &Reason) -> bool {
    matches!(reason, Reason::TestsFailed(_) | Reason::OtherTests { .. })
}

fn id(base: &str, tree: &str) -> String {
    hex(&Sha256::new().chain_update(base).chain_update([0]).chain_update(tree).finalize())
}

/// A failed repair as a bug of its own. Its `bug_inject.diff` holds bug and failed repair together;
/// the other four parts are the parent's.
#[derive(Clone, Debug)]
pub struct SecondOrder {
    pub artifact: Artifact,
    /// As an injected bug's.
    pub tree_digest: String,
}

/// Why a failed repair makes no bug of its own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("it does not lead to a tree: {0}")]
    NoTree(String),
    #[error("it looks suspicious: {0}")]
    Suspicious(String),
    #[error("it leads to the original")]
    Original,
    #[error("it leads to its parent's bug")]
    Parent,
    #[error("it leads to a bug that is known")]
    Known,
}

/// Rebuilt from the original: bug, weakening, failed repair; then, as before every grading, each file
/// that decides how tests run is the original's again. The weakening touches only such files, so that
/// it goes on top of this bug as it went on the parent's.
pub fn second_order(
    harness: &Harness,
    parent: &Artifact,
    patch: &[u8],
    known: &dyn Fn(&str) -> bool,
) -> Result<SecondOrder, Unfit> {
    let rebuilt = grading::rebuild(harness, parent, patch)
        .map_err(|reason| Unfit::NoTree(reason.to_string()))?;
    if let Some(flag) = rebuilt.flags.first() {
        return Err(Unfit::Suspicious(flag.clone()));
    }
    let base = harness.base();
    let bug = Task::of(base, parent).map_err(|why| Unfit::NoTree(why.to_string()))?;
    let tree_digest = is_new(&rebuilt.tree, bug.with_oracle(), known)?;
    let bug_inject = Patch::between(base, &rebuilt.tree).to_bytes();
    Ok(SecondOrder { artifact: Artifact { bug_inject, ..parent.clone() }, tree_digest })
}

fn is_new(tree: &Changes, parent: &Changes, known: &dyn Fn(&str) -> bool) -> Result<String, Unfit> {
    let digest = tree.digest();
    if tree.is_empty() {
        Err(Unfit::Original)
    } else if tree == parent {
        Err(Unfit::Parent)
    } else if known(&digest) {
        Err(Unfit::Known)
    } else {
        Ok(digest)
    }
}
