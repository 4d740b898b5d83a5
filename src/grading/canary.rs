//! A second look at a green run: our own script runs the same tests beside canary tests that must
//! fail. A process in which everything passes has had its runner replaced.
//!
//! Necessary, not sufficient: code that shares the process with the tests can always forge a report,
//! if it knows what a canary looks like. Names hang on the patch's own bytes, so that no patch can
//! know them.

use super::Reason;
use crate::artifact::Artifact;
use crate::harness::{Error, Harness, How, Program};
use crate::tree::{Changes, File};
use crate::verdict::{Outcome, Verdicts};
use sha2::{Digest, Sha256};

/// `Some` if the run shows tampering.
pub(super) fn sing(
    harness: &Harness,
    artifact: &Artifact,
    patch: &[u8],
    tree: &Changes,
    expected: &Verdicts,
) -> Result<Option<Reason>, Error> {
    let digest = Sha256::new().chain_update(artifact.id()).chain_update(patch).finalize();
    let seed = digest.iter().take(8).fold(0u64, |seed, byte| (seed << 8) | u64::from(*byte));
    let runner = harness.runner();
    let tests = runner.test_files(harness.base());
    let ours: Vec<_> =
        artifact.test_files.iter().filter(|path| tests.contains(path)).cloned().collect();
    let Some(canary) = runner.canary(seed, &ours) else { return Ok(None) };
    let mut files = ours;
    // In the middle of the order: neither first nor last.
    files.insert(files.len() / 2, canary.path.clone());
    let mut tree = tree.clone();
    tree.write(canary.path.clone(), File::plain(canary.content.clone()));
    let excluded: Vec<_> = harness.baseline()?.excluded.keys().cloned().collect();
    let (script, parser) = (runner.script(&files, &excluded), runner.parser());
    let program = Program { script: &script, parser: &parser };
    let verdicts = match harness.run(&tree, program, How::SOLVER, true)?.verdicts {
        Ok(verdicts) => verdicts,
        Err(problem) => return Ok(Some(Reason::Tampered(format!("a second run gave {problem}")))),
    };
    for id in &canary.must_fail {
        if verdicts.of(id) != Outcome::Failed {
            return Ok(Some(Reason::Tampered(format!(
                "{id} must fail and was {:?}",
                verdicts.of(id)
            ))));
        }
    }
    if let Some(id) = canary.must_pass.iter().find(|id| verdicts.of(id) != Outcome::Passed) {
        return Ok(Some(Reason::Tampered(format!("{id} must pass and was {:?}", verdicts.of(id)))));
    }
    let disagrees = expected
        .with(Outcome::Passed)
        .into_iter()
        .find(|id| !matches!(verdicts.of(id), Outcome::Passed | Outcome::Missing));
    Ok(disagrees.map(|id| Reason::TestsFailed(vec![id])))
}
