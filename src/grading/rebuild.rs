//! The tree that is graded: original, bug, weakening, prediction; then every file that decides how
//! tests run is the original's again.

use super::{Reason, Task, scan};
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::harness::Harness;
use crate::tree::{Changes, Overlaid, RelPath, Tree};
use std::collections::BTreeSet;

pub struct Rebuilt {
    /// Over the base.
    pub tree: Changes,
    /// What looks suspicious about the patch.
    pub flags: Vec<String>,
}

/// The tree that a patch leads to, or why there is none to grade.
pub fn rebuild(harness: &Harness, artifact: &Artifact, patch: &[u8]) -> Result<Rebuilt, Reason> {
    let task = Task::of(harness.base(), artifact)
        .map_err(|problem| Reason::Unplayable(problem.to_string()))?;
    if patch.trim_ascii().is_empty() {
        return Err(Reason::NoPatch);
    }
    let patch = Patch::parse(patch).map_err(|refusal| Reason::PatchRefused(refusal.to_string()))?;
    let seen = Overlaid { base: harness.base(), changes: &task.changes };
    let prediction =
        patch.apply(&seen).map_err(|failure| Reason::DoesNotApply(failure.to_string()))?;
    let mut flags = scan::suspicious(&patch, harness.base());
    let mut tree = task.changes.then(&prediction);
    let test_files: BTreeSet<&RelPath> = task.test_files.iter().collect();
    let touched: Vec<RelPath> = tree.paths().cloned().collect();
    for path in touched {
        if let Some(why) = decides_tests(harness, &test_files, &path) {
            tree.restore(&path);
            if prediction.get(&path).is_some() && !test_files.contains(&path) {
                flags.push(format!("the patch touches {path}, {why}: it was restored"));
            }
        }
    }
    Ok(Rebuilt { tree: tree.against(harness.base()), flags })
}

/// Why a path is the original's again before grading, whatever a patch does to it; `None` for ordinary
/// code.
pub fn restored(harness: &Harness, artifact: &Artifact, path: &RelPath) -> Option<&'static str> {
    decides_tests(harness, &artifact.test_files.iter().collect(), path)
}

/// Why a path is restored before grading; `None` for ordinary code.
fn decides_tests(
    harness: &Harness,
    test_files: &BTreeSet<&RelPath>,
    path: &RelPath,
) -> Option<&'static str> {
    if test_files.contains(path) {
        Some("a listed test file")
    } else if harness.runner().sways(path) {
        Some("which sways the tests")
    } else if !harness.base().has(path) && harness.runner().shadows(path) {
        Some(
            "a new file that would be imported in place of the test runner, the standard library, an \
             installed package or another module of the repository",
        )
    } else {
        None
    }
}
