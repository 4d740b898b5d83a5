//! Checks that run the artifact's script and parser.

use super::audit::BUG;
use super::case::{Case, Second};
use super::{Finding, Parent};
use crate::harness::{Audience, Error, How};
use crate::tree::Changes;
use crate::verdict::{Outcome, TestId, Verdicts};
use std::collections::BTreeSet;

const WEAKENED: &str = "with bug and weakening";

/// On the original, the parser turns the script's log into a map from ids to known statuses
/// (paper, check 2).
pub(super) fn parser(case: &mut Case<'_>) -> Result<Finding, Error> {
    case.prepare()?;
    Ok(match case.run(&Changes::new())? {
        Ok(verdicts) => {
            let detail = format!("{} tests reported on the original", verdicts.len());
            case.seen.original = verdicts;
            Ok(detail)
        }
        Err(problem) => Err(format!("on the original: {problem}")),
    })
}

/// Every chosen test passes on the original, and there are enough of them (paper, check 3).
pub(super) fn test_script(case: &Case<'_>) -> Finding {
    let failing = case.seen.original.failing();
    if let Some(first) = failing.first() {
        return Err(format!(
            "{} chosen tests fail on the original, first {first}: no repair could pass them",
            failing.len()
        ));
    }
    let (passing, least) =
        (case.seen.original.with(Outcome::Passed).len(), case.minima.passing_tests);
    let detail = format!("{passing} tests pass on the original, at least {least} wanted");
    if passing >= least { Ok(detail) } else { Err(detail) }
}

/// Enough originally passing tests fail with the bug (paper, check 5).
pub(super) fn bug(case: &mut Case<'_>) -> Result<Finding, Error> {
    let bug = case.bug.clone();
    let verdicts = match case.run(&bug)? {
        Ok(verdicts) => verdicts,
        Err(problem) => return Ok(Err(format!("{BUG}: {problem}"))),
    };
    case.seen.states.insert(BUG.to_owned(), verdicts.clone());
    case.failing = case.broken_by(&verdicts);
    case.still_passing = passing_in_both(&case.seen.original, &verdicts);
    let missing = gone(&case.seen.original, &verdicts).len();
    let (failing, least) = (case.failing.len(), case.minima.failing_tests);
    let detail = format!(
        "{failing} passing tests fail, {missing} no longer report, at least {least} failing wanted"
    );
    if failing < least {
        return Ok(Err(detail));
    }
    Ok(match unseen_by_us(case)? {
        None => Ok(detail),
        Some(problem) => Err(format!("{detail}; {problem}")),
    })
}

/// Some test that the parent's bug fails still fails, and each test that it passed still reports.
pub(super) fn second_order(case: &mut Case<'_>, parent: &Parent) -> Result<Finding, Error> {
    let bug = case.bug.clone();
    let verdicts = match case.run(&bug)? {
        Ok(verdicts) => verdicts,
        Err(problem) => return Ok(Err(format!("with bug and failed repair: {problem}"))),
    };
    case.failing = case.broken_by(&verdicts);
    case.still_passing = passing_in_both(&case.seen.original, &verdicts);
    Ok(still_the_bug(parent, &case.failing, &verdicts))
}

fn still_the_bug(parent: &Parent, failing: &BTreeSet<TestId>, verdicts: &Verdicts) -> Finding {
    let silent = |id: &&TestId| verdicts.of(id) == Outcome::Missing;
    if let Some(first) = parent.pass_to_pass.iter().find(silent) {
        return Err(format!("{first} passed with the parent's bug and no longer reports"));
    }
    let still = parent.fail_to_pass.iter().filter(|id| failing.contains(*id)).count();
    let detail = format!(
        "{still} of the parent's {} failing tests still fail, {} in all, at least 1 of them wanted",
        parent.fail_to_pass.len(),
        failing.len()
    );
    if still > 0 { Ok(detail) } else { Err(detail) }
}

/// A script and a parser may print what they like, so the runner's own script runs the listed test
/// files, too: where each of their tests passes with the bug as without it, the artifact's script looks
/// at something else than the code's behaviour. Silent where our script finds no passing test in them.
fn unseen_by_us(case: &mut Case<'_>) -> Result<Option<String>, Error> {
    let harness = case.harness;
    let runner = harness.runner();
    let known = runner.test_files(harness.base());
    let files: Vec<_> =
        case.artifact.test_files.iter().filter(|path| known.contains(path)).cloned().collect();
    if files.is_empty() {
        return Ok(None);
    }
    let (script, parser) = (runner.script(&files, &[]), runner.parser());
    let theirs = &case.artifact.test_script;
    let ours = || runner.own_script(theirs).is_some_and(|chosen| chosen.files == files);
    if parser == case.artifact.test_parser && (*theirs == script || ours()) {
        return Ok(None);
    }
    let mut second = Second::new(script, parser);
    let without = case.run_of(&Changes::new(), second.program())?;
    let bug = case.bug.clone();
    let with = case.run_of(&bug, second.program())?;
    let Ok(before) = without else { return Ok(None) };
    let passing = before.with(Outcome::Passed);
    let Ok(after) = with else { return Ok(None) };
    if passing.is_empty() {
        return Ok(None);
    }
    let fails = |id: &TestId| matches!(after.of(id), Outcome::Failed | Outcome::Error);
    second.failing = passing.iter().filter(|id| fails(id)).cloned().collect();
    if passing.iter().all(|id| after.of(id) == Outcome::Passed) {
        return Ok(Some(format!(
            "but when {} itself runs the listed test files, all {} tests pass with the bug: the test script \
             does not tell what the tests say",
            runner.framework(),
            passing.len()
        )));
    }
    case.second = Some(second);
    Ok(None)
}

/// The same look at a state in which the artifact's script says that failing tests pass again: some must
/// when the framework itself runs them.
fn unhealed_by_us(case: &mut Case<'_>, changes: &Changes) -> Result<Option<String>, Error> {
    let Some(second) = case.second.clone().filter(|second| !second.failing.is_empty()) else {
        return Ok(None);
    };
    let Ok(verdicts) = case.run_of(changes, second.program())? else { return Ok(None) };
    let healed = second.failing.iter().any(|id| verdicts.of(id) == Outcome::Passed);
    Ok((!healed).then(|| {
        format!(
            "when {} itself runs the listed test files, none of the {} failing tests passes again: the test \
             script does not tell what the tests say",
            case.harness.runner().framework(),
            second.failing.len()
        )
    }))
}

/// With the weakening, some failing tests pass again and nothing else fails (paper, check 6).
pub(super) fn weakening(case: &mut Case<'_>) -> Result<Finding, Error> {
    let weakened = case.bug_and_weakening.clone();
    let verdicts = match case.run(&weakened)? {
        Ok(verdicts) => verdicts,
        Err(problem) => return Ok(Err(format!("{WEAKENED}: {problem}"))),
    };
    case.seen.states.insert(WEAKENED.to_owned(), verdicts.clone());
    let failing: BTreeSet<TestId> = verdicts.failing().into_iter().collect();
    if let Some(new) = failing.iter().find(|id| !case.failing.contains(*id)) {
        return Ok(Err(format!("{new} fails only once the tests are weakened")));
    }
    let again = case.failing.iter().filter(|id| verdicts.of(id) == Outcome::Passed).count();
    let removed = case.failing.iter().filter(|id| verdicts.of(id) == Outcome::Missing).count();
    let detail = format!(
        "of {} failing tests {again} pass again, {removed} are removed, {} still fail",
        case.failing.len(),
        failing.len()
    );
    if again == 0 {
        return Ok(Err(format!("{detail}: none passes again")));
    }
    Ok(match unhealed_by_us(case, &weakened)? {
        None => Ok(detail),
        Some(problem) => Err(format!("{detail}; but {problem}")),
    })
}

/// Every changed file is needed: with only that file restored, some failing test passes again
/// (paper, check 7).
pub(super) fn inverse_mutation(case: &mut Case<'_>) -> Result<Finding, Error> {
    let units = case.units.clone();
    let mut healed = Vec::new();
    for unit in &units {
        let mut changes = case.bug.clone();
        for path in unit {
            changes.restore(path);
        }
        let name = unit.first().map(ToString::to_string).unwrap_or_default();
        let verdicts = match case.run_failing(&changes)? {
            Ok(verdicts) => verdicts,
            Err(problem) => {
                return Ok(Err(format!("with only {name} restored: {problem}")));
            }
        };
        case.seen.restored.insert(format!("with only {name} restored"), verdicts.clone());
        let passing = case.failing.iter().filter(|id| verdicts.of(id) == Outcome::Passed).count();
        if passing == 0 {
            return Ok(Err(format!(
                "{name} is not needed: with only that file restored none of the {} failing tests passes",
                case.failing.len()
            )));
        }
        if let Some(problem) = unhealed_by_us(case, &changes)? {
            return Ok(Err(format!(
                "{name} is not needed: with only that file restored, {problem}"
            )));
        }
        healed.push(format!("{name} {passing}"));
    }
    Ok(Ok(format!("tests that pass again a restored file: {}", healed.join(", "))))
}

/// Repeated runs in fresh processes with other hash seeds agree: with the bug twice, and once on the
/// original unless the baseline, which ran twice, vouches for every test already.
pub(super) fn stability(case: &mut Case<'_>) -> Result<Finding, Error> {
    let bug = case.bug.clone();
    for run in case.run_twice(&bug, [1, 2])? {
        let failing = match run {
            Ok(verdicts) => case.broken_by(&verdicts),
            Err(problem) => return Ok(Err(format!("with the bug, run again: {problem}"))),
        };
        if let Some(id) = failing.symmetric_difference(&case.failing).next() {
            return Ok(Err(format!("{id} fails in some runs of the same bug and not in others")));
        }
    }
    let baseline = case.harness.baseline()?;
    if case.seen.original.iter().all(|(id, _)| baseline.passing.contains(id)) {
        return Ok(
            Ok("3 runs with the bug agree, the baseline's 2 of the original too".to_owned()),
        );
    }
    let how = How { hash_seed: 1, audience: Audience::Check };
    Ok(match case.run_fresh(&Changes::new(), how)? {
        Ok(verdicts) if verdicts == case.seen.original => {
            Ok("3 runs with the bug agree, and 2 of the original".to_owned())
        }
        Ok(_) => Err("two runs of the original do not agree".to_owned()),
        Err(problem) => Err(format!("on the original, run again: {problem}")),
    })
}

fn passing_in_both(original: &Verdicts, bugged: &Verdicts) -> Vec<TestId> {
    crate::verdict::compare(original, bugged).pass_to_pass
}

fn gone(original: &Verdicts, bugged: &Verdicts) -> Vec<TestId> {
    crate::verdict::compare(original, bugged).went_missing
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `failing` and `passing` are what the second-order bug's run reports.
    #[track_caller]
    fn check(failing: &[&str], passing: &[&str], expect: Result<(), &str>) {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let parent = Parent { fail_to_pass: ids(&["a", "b"]), pass_to_pass: ids(&["c", "d"]) };
        let failed = ids(failing).into_iter().map(|id| (id, Outcome::Failed));
        let passed = ids(passing).into_iter().map(|id| (id, Outcome::Passed));
        let verdicts: Verdicts = failed.chain(passed).collect();
        let found = still_the_bug(&parent, &ids(failing).into_iter().collect(), &verdicts);
        match (found, expect) {
            (Ok(_), Ok(())) => {}
            (Err(said), Err(expect)) if said.contains(expect) => {}
            (found, expect) => panic!("{found:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn a_second_order_bug_still_fails_a_test_of_its_parent() {
        check(&["a", "b"], &["c", "d"], Ok(()));
        check(&["b"], &["a", "c", "d"], Ok(()));
        check(&["b", "c"], &["a", "d"], Ok(()));
        check(&["c"], &["a", "b", "d"], Err("0 of the parent's 2 failing tests still fail"));
    }

    #[test]
    fn a_test_that_passed_with_the_parent_may_fail_but_not_go_missing() {
        check(&["a", "d"], &["c"], Ok(()));
        check(&["a"], &["c"], Err("d passed with the parent's bug and no longer reports"));
        check(&["a"], &["b", "c", "d"], Ok(()));
    }
}
