//! The five parts of what somebody else did to a tree, be it a model or an agent that calls.

use crate::agent::Sources;
use crate::artifact::{Artifact, Malformed};
use crate::consistency::Minima;
use crate::diff::Patch;
use crate::harness::{Error, Harness};
use crate::tree::{Changes, Overlaid, RelPath, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Parts that an injector gives itself; those of the runner where `None`.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub test_script: Option<String>,
    pub test_parser: Option<String>,
    pub test_files: Option<BTreeSet<RelPath>>,
}

/// The artifact, and its bug as changes over the base; why there is none otherwise.
pub fn artifact_of(
    harness: &Harness,
    sources: &Sources,
    given: &Given,
) -> Result<Result<(Artifact, Changes), Malformed>, Error> {
    let (base, runner) = (harness.base(), harness.runner());
    let (tests, bug) = split(harness, sources);
    let chosen = match &given.test_files {
        Some(given) => given.clone(),
        None => affected(harness, &tests, &bug)?,
    };
    let (listed, script) = super::script_for(harness, &chosen, Minima::default().passing_tests)?;
    let listed = match (&given.test_files, &given.test_script) {
        // A script of the player's own runs what it says that it runs.
        (Some(_), Some(_)) => chosen.into_iter().collect(),
        _ => listed,
    };
    let names: Vec<&str> = listed.iter().map(RelPath::as_str).collect();
    let own =
        |text: &Option<String>, usual: Vec<u8>| text.clone().map_or(usual, String::into_bytes);
    let files = BTreeMap::from([
        ("bug_inject.diff".to_owned(), Patch::between(base, &bug).to_bytes()),
        ("test_weaken.diff".to_owned(), Patch::between(base, &tests).to_bytes()),
        ("test_script.sh".to_owned(), own(&given.test_script, script)),
        ("test_parser.py".to_owned(), own(&given.test_parser, runner.parser())),
        ("test_files.txt".to_owned(), (names.join("\n") + "\n").into_bytes()),
    ]);
    Ok(Artifact::from_files(&files).map(|artifact| (artifact, bug)))
}

/// What was changed in test files, and in all others. Test files that are new count as such: the checks say
/// what is wrong with them.
pub(super) fn split(harness: &Harness, sources: &Sources) -> (Changes, Changes) {
    let (base, runner) = (harness.base(), harness.runner());
    let after = Overlaid { base, changes: &sources.changes };
    let known = runner.test_files(base).into_iter().chain(runner.test_files(&after)).collect();
    sources.split(&known)
}

/// The original's test files that were changed, and those whose tests may execute what was changed.
pub(super) fn affected(
    harness: &Harness,
    tests: &Changes,
    bug: &Changes,
) -> Result<BTreeSet<RelPath>, Error> {
    let baseline = harness.baseline()?;
    let reached = bug.paths().filter_map(|path| baseline.reach.get(path)).flatten();
    let changed = tests.paths().filter(|path| harness.base().has(path));
    Ok(reached.chain(changed).cloned().collect())
}
