//! A second look at a green run: our own script runs the same tests beside canary tests that must
//! fail. A process in which everything passes has had its runner replaced.
//!
//! Necessary, not sufficient: code that shares the process with the tests can always forge a report,
//! if it knows what a canary looks like. Names hang on the patch's own bytes, so that no patch can
//! know them.

use super::Reason;
use crate::artifact::Artifact;
use crate::harness::{Baseline, Error, Harness, How, Program};
use crate::runner::Canary;
use crate::tree::{Changes, File, Tree};
use crate::verdict::{Outcome, TestId, Verdicts};
use sha2::{Digest, Sha256};

/// What the second look found.
#[derive(Default)]
pub(super) struct Song {
    /// Why the green run does not count.
    pub(super) reason: Option<Reason>,
    pub(super) flags: Vec<String>,
}

impl Song {
    fn against(reason: Reason) -> Self {
        Self { reason: Some(reason), flags: Vec::new() }
    }
}

/// Runs the tests again beside canaries. Where the canaries do not behave on the original either
/// (settings of the project leave them out), they say nothing of the patch.
pub(super) fn sing(
    harness: &Harness,
    artifact: &Artifact,
    patch: &[u8],
    tree: &Changes,
    expected: &Verdicts,
) -> Result<Song, Error> {
    let digest = Sha256::new().chain_update(artifact.id()).chain_update(patch).finalize();
    let seed = digest.iter().take(8).fold(0u64, |seed, byte| (seed << 8) | u64::from(*byte));
    let runner = harness.runner();
    let tests = runner.test_files(harness.base());
    let ours: Vec<_> =
        artifact.test_files.iter().filter(|path| tests.contains(path)).cloned().collect();
    let Some(canary) = runner.canary(seed, &ours) else { return Ok(Song::default()) };
    if harness.base().has(&canary.path) {
        return Ok(Song::default());
    }
    let mut files = ours;
    // In the middle of the order: neither first nor last.
    files.insert(files.len() / 2, canary.path.clone());
    let baseline = harness.baseline()?;
    let excluded: Vec<_> = baseline.excluded.keys().cloned().collect();
    let (script, parser) = (runner.script(&files, &excluded), runner.parser());
    let program = Program { script: &script, parser: &parser };
    // Beside the neighbour's own text first: there the canaries see what it loads, and what that does to
    // the runner. Where they do not behave there on the original, by themselves.
    let before = [canary.continues.as_ref().and_then(|path| harness.base().read(path)), None];
    for (_, text) in before.iter().enumerate().filter(|(at, text)| *at == 1 || text.is_some()) {
        let beside = |tree: &Changes| {
            let mut tree = tree.clone();
            tree.write(canary.path.clone(), File::plain(content(&canary, text.as_ref())));
            tree
        };
        let run = harness.run(&beside(tree), program, How::SOLVER, true)?.verdicts;
        let accusation = match &run {
            Ok(verdicts) => misbehaves(&canary, verdicts).map(Reason::Tampered),
            Err(problem) => Some(Reason::NoVerdict(format!("run again, {problem}"))),
        };
        let Some(reason) = accusation else {
            let verdicts = run.unwrap_or_default();
            return Ok(second_opinion(expected, &verdicts, &baseline));
        };
        let control = harness.run(&beside(&Changes::new()), program, How::CHECK, false)?.verdicts;
        if control.is_ok_and(|verdicts| misbehaves(&canary, &verdicts).is_none()) {
            return Ok(Song::against(reason));
        }
    }
    Ok(Song::default())
}

/// The canaries, behind the text of the test file that they continue. What switches the checks of types
/// off must stand at the beginning of a file, behind a comment that gives a framework its settings.
fn content(canary: &Canary, before: Option<&File>) -> Vec<u8> {
    let Some(before) = before else { return canary.content.clone() };
    let head: &[u8] = match canary.path.extension() {
        "ts" | "tsx" | "mts" | "cts" => b"// @ts-nocheck\n",
        _ => b"",
    };
    let comment = before
        .bytes
        .starts_with(b"/*")
        .then(|| before.bytes.windows(2).position(|end| end == b"*/").map_or(0, |at| at + 2));
    let (settings, rest) = before.bytes.split_at(comment.unwrap_or(0));
    let line: &[u8] = if settings.is_empty() { b"" } else { b"\n" };
    [settings, line, head, rest, b"\n;\n", &canary.content].concat()
}

/// How the canaries' outcomes differ from what they must be.
fn misbehaves(canary: &Canary, verdicts: &Verdicts) -> Option<String> {
    let differs =
        |ids: &[TestId], outcome| ids.iter().find(|id| verdicts.of(id) != outcome).cloned();
    let said = |id: TestId, must: &str| format!("{id} must {must} and was {:?}", verdicts.of(&id));
    differs(&canary.must_fail, Outcome::Failed)
        .map(|id| said(id, "fail"))
        .or_else(|| differs(&canary.must_pass, Outcome::Passed).map(|id| said(id, "pass")))
}

/// An expected test that fails when run again is no pass. One that the artifact's script does not
/// name is for the reader to judge.
fn second_opinion(expected: &Verdicts, verdicts: &Verdicts, baseline: &Baseline) -> Song {
    let passed = expected.with(Outcome::Passed);
    let fails = |id: &&TestId| !matches!(verdicts.of(id), Outcome::Passed | Outcome::Missing);
    if let Some(id) = passed.iter().find(fails) {
        return Song::against(Reason::TestsFailed(vec![id.clone()]));
    }
    let broken: Vec<_> =
        verdicts.failing().into_iter().filter(|id| baseline.passing.contains(id)).collect();
    let flag = broken.first().map(|first| {
        format!(
            "{} tests beside those of the test script no longer pass, first {first}",
            broken.len()
        )
    });
    Song { reason: None, flags: flag.into_iter().collect() }
}
