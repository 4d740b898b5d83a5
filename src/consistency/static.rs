//! Checks that need no run: separation of code and tests, the test files, the scope.

use super::Finding;
use super::case::Case;
use crate::tree::{RelPath, Tree};
use std::collections::BTreeSet;

/// The patches parse and apply; the bug touches no test file and nothing that is restored before
/// grading; the weakening touches nothing but listed test files.
pub(super) fn separation(case: &mut Case<'_>) -> Finding {
    let listed: BTreeSet<&RelPath> = case.artifact.test_files.iter().collect();
    let (bug, bugged) =
        case.apply("bug_inject.diff", &case.artifact.bug_inject, &crate::tree::Changes::new())?;
    for path in bug.paths() {
        if listed.contains(&path) {
            return Err(format!("bug_inject.diff changes the listed test file {path}"));
        }
        if case.harness.runner().sways(&path) {
            return Err(format!(
                "bug_inject.diff changes {path}, which sways the tests and is restored before every grading"
            ));
        }
        if !case.harness.base().has(&path) && case.harness.runner().shadows(&path) {
            return Err(format!(
                "bug_inject.diff adds {path}, which would be imported in place of another module and is \
                 taken out before every grading"
            ));
        }
    }
    let (weakening, weakened) =
        case.apply("test_weaken.diff", &case.artifact.test_weaken, &bugged)?;
    for path in weakening.paths() {
        if !listed.contains(&path) {
            return Err(format!(
                "test_weaken.diff changes {path}, which test_files.txt does not list"
            ));
        }
    }
    case.units = bug
        .files()
        .iter()
        .map(|file| file.old_path().into_iter().chain(file.new_path()).cloned().collect())
        .collect();
    case.bug = bugged.against(case.harness.base());
    case.bug_and_weakening = weakened.against(case.harness.base());
    if case.bug.is_empty() {
        return Err("bug_inject.diff changes nothing".to_owned());
    }
    if case.bug == case.bug_and_weakening {
        return Err("test_weaken.diff changes nothing".to_owned());
    }
    let (added, removed) = bug.changed_lines();
    Ok(format!("bug +{added} -{removed} lines; weakening touches test files only"))
}

/// Every listed file exists in the original (paper, check 1; that the list covers the weakening is
/// part of `separation`).
pub(super) fn test_files(case: &Case<'_>) -> Finding {
    let missing: Vec<&RelPath> =
        case.artifact.test_files.iter().filter(|path| !case.harness.base().has(path)).collect();
    match missing.first() {
        Some(first) => Err(format!(
            "{} of the {} listed files are not in the original, first {first}",
            missing.len(),
            case.artifact.test_files.len()
        )),
        None => Ok(format!("{} files, all in the original", case.artifact.test_files.len())),
    }
}

/// The bug changes enough files (paper, check 4).
pub(super) fn scope(case: &Case<'_>) -> Finding {
    let (changed, least) = (case.units.len(), case.minima.changed_files);
    let detail = format!("{changed} files changed, at least {least} wanted");
    if changed >= least { Ok(detail) } else { Err(detail) }
}
