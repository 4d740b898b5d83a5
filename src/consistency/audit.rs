//! The audit of the fast ways: one injected bug in so many is checked wholly by plain runs once more, each in
//! processes and a sandbox of its own, and by a plain run of the whole suite. Where that says something
//! else, the plain word counts.

use super::case::{Case, Runs, Seen};
use super::{Check, CheckResult, Minima, ORDER, Report, report, run};
use crate::artifact::Artifact;
use crate::dice::Dice;
use crate::harness::{Error, Harness, NoVerdict};
use crate::tree::{Changes, Overlaid};
use crate::verdict::{Outcome, TestId, Verdicts};
use std::collections::BTreeSet;

/// One bug in so many.
const EVERY: usize = 20;

/// Whether a bug was checked by plain runs of the whole suite as well, and what they said.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
pub enum Audited {
    #[default]
    #[serde(rename = "false")]
    No,
    #[serde(rename = "true")]
    Agrees,
    #[serde(rename = "differs")]
    Differs,
}

/// Whether a bug is to be audited: by seed and content alone, whatever was played before or beside it.
pub fn is_due(seed: u64, artifact: &str) -> bool {
    Dice::new(seed).fork("audit").fork(artifact).below(EVERY) == 0
}

/// What plain runs say of one bug.
struct Plain {
    report: Report,
    /// All test files, where the bug's own script gives verdicts.
    everything: Option<Result<Verdicts, NoVerdict>>,
}

/// Judges a bug anew that the fast ways have judged.
pub(super) fn audit(
    harness: &Harness,
    artifact: &Artifact,
    minima: &Minima,
    fast: Report,
) -> Result<Report, Error> {
    let before = fast.cpu_seconds;
    let first = plain(harness, artifact, minima)?;
    let Some(difference) = difference(harness, artifact, &fast, &first)? else {
        let cpu_seconds = before + first.report.cpu_seconds;
        return Ok(Report { audited: Audited::Agrees, cpu_seconds, ..fast });
    };
    // A bug of which plain runs do not say the same twice shows nothing about the ways.
    let second = plain(harness, artifact, minima)?;
    let cpu_seconds = before + first.report.cpu_seconds + second.report.cpu_seconds;
    if !same(&first, &second) {
        let unstable = unstable([first.report, second.report]);
        return Ok(Report { audited: Audited::Agrees, cpu_seconds, ..unstable });
    }
    tracing::debug!(difference, "the fast ways differ");
    let difference = Some(difference);
    Ok(Report { audited: Audited::Differs, difference, cpu_seconds, ..first.report })
}

fn plain(harness: &Harness, artifact: &Artifact, minima: &Minima) -> Result<Plain, Error> {
    let mut report = report(Case::new(harness, artifact, minima, Runs::Fresh), &ORDER, run)?;
    let everything = if report.seen.states.contains_key(BUG) {
        let run = harness.run_everything(&bug(harness, artifact))?;
        report.cpu_seconds += run.cpu.as_secs_f64();
        Some(run.verdicts)
    } else {
        None
    };
    Ok(Plain { report, everything })
}

/// The state of which the whole suite is asked, too.
pub(super) const BUG: &str = "with the bug";

/// The bug has been applied before.
fn bug(harness: &Harness, artifact: &Artifact) -> Changes {
    let nothing = Changes::new();
    let tree = Overlaid { base: harness.base(), changes: &nothing };
    let patch = crate::diff::Patch::parse(&artifact.bug_inject).ok();
    patch.and_then(|patch| patch.apply(&tree).ok()).unwrap_or_default()
}

/// What the fast ways said otherwise than plain runs, in one sentence.
fn difference(
    harness: &Harness,
    artifact: &Artifact,
    fast: &Report,
    plain: &Plain,
) -> Result<Option<String>, Error> {
    if let Some(difference) = of_states(&fast.seen, &plain.report.seen) {
        return Ok(Some(difference));
    }
    if fast.failed_check != plain.report.failed_check {
        let word = |check: Option<Check>| match check {
            None => "every check passed".to_owned(),
            Some(check) => format!("the check `{}` failed", check.name()),
        };
        let (fast, plain) = (word(fast.failed_check), word(plain.report.failed_check));
        return Ok(Some(format!("{fast} the fast way, {plain} plainly")));
    }
    let (Some(everything), Some(own)) = (&plain.everything, plain.report.seen.states.get(BUG))
    else {
        return Ok(None);
    };
    let everything = match everything {
        Ok(everything) => everything,
        Err(problem) => {
            return Ok(Some(format!("{BUG}, the whole suite gives no verdict: {problem}")));
        }
    };
    let original = &plain.report.seen.original;
    let left_out = harness.runner().own_script(&artifact.test_script);
    let left_out: BTreeSet<TestId> =
        left_out.map(|chosen| chosen.excluded.into_iter().collect()).unwrap_or_default();
    let baseline = harness.baseline()?;
    Ok(of_suite(original, own, everything, |id| {
        baseline.passing.contains(id) && !left_out.contains(id)
    })
    .or_else(|| {
        let outside = |id: &&TestId| original.of(id) == Outcome::Missing && !left_out.contains(*id);
        let not = |id: &&TestId| everything.of(id) != Outcome::Passed;
        let told: Vec<&TestId> = baseline.passing.iter().filter(outside).filter(not).collect();
        let first = told.first()?;
        Some(format!(
            "{BUG}, {} outside of the chosen test files, too, no longer pass (first: {first})",
            tests(told.len())
        ))
    }))
}

/// The first state in which a test has two outcomes.
fn of_states(fast: &Seen, plain: &Seen) -> Option<String> {
    let restored = fast.restored.iter().map(|(state, fast)| (state, fast, &plain.restored));
    let states = fast.states.iter().map(|(state, fast)| (state, fast, &plain.states));
    states.chain(restored).find_map(|(state, fast, plain)| {
        let plain = plain.get(state)?;
        disagreement(fast, plain, |_| true).map(|(id, many)| {
            format!(
                "{state}, {id} is {} the fast way and {} plainly ({} in all)",
                fast.of(id).as_str(),
                plain.of(id).as_str(),
                tests(many)
            )
        })
    })
}

/// Tests of the bug's own script that say something else when the whole suite runs.
fn of_suite(
    original: &Verdicts,
    own: &Verdicts,
    everything: &Verdicts,
    counts: impl Fn(&TestId) -> bool,
) -> Option<String> {
    let counts = |id: &TestId| original.of(id) == Outcome::Passed && counts(id);
    disagreement(own, everything, counts).map(|(id, many)| {
        format!(
            "{BUG}, {id} is {} among the chosen test files and {} in the whole suite ({} in all)",
            own.of(id).as_str(),
            everything.of(id).as_str(),
            tests(many)
        )
    })
}

/// The first id with two outcomes, and how many there are.
fn disagreement<'v>(
    one: &'v Verdicts,
    other: &'v Verdicts,
    counts: impl Fn(&TestId) -> bool,
) -> Option<(&'v TestId, usize)> {
    let ids: BTreeSet<&TestId> = one.iter().chain(other.iter()).map(|(id, _)| id).collect();
    let mut differing = ids.into_iter().filter(|id| counts(id) && one.of(id) != other.of(id));
    let first = differing.next()?;
    Some((first, differing.count() + 1))
}

fn tests(many: usize) -> String {
    if many == 1 { "1 test".to_owned() } else { format!("{many} tests") }
}

fn same(one: &Plain, other: &Plain) -> bool {
    one.report.failed_check == other.report.failed_check
        && one.report.seen.states == other.report.seen.states
        && one.report.seen.restored == other.report.seen.restored
        && one.everything == other.everything
}

/// Of two plain reports that do not say the same: not valid.
fn unstable([first, second]: [Report; 2]) -> Report {
    let mut report = if first.valid { second } else { first };
    if report.valid {
        report.valid = false;
        report.failed_check = Some(Check::Stability);
        let detail =
            "checked twice by plain runs of the whole suite, the bug is not the same".to_owned();
        let (check, passed, millis) = (Check::Stability, false, 0);
        report.checks.retain(|result| result.check != check);
        report.checks.push(CheckResult { check, passed, detail, millis });
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(text: &str) -> Verdicts {
        let outcome = |word: &str| Outcome::from_status(word).unwrap();
        let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        pairs.map(|(id, word)| (id.to_owned(), outcome(word))).collect()
    }

    fn seen(states: &[(&str, &str)]) -> Seen {
        let states = states.iter().map(|(name, text)| ((*name).to_owned(), verdicts(text)));
        let (restored, states) = states.partition(|(name, _)| name.ends_with("restored"));
        Seen { states, restored, original: Verdicts::default() }
    }

    #[test]
    fn one_bug_in_twenty_is_due_by_seed_and_content_alone() {
        let due = (0..4000).filter(|seed| is_due(*seed, "a")).count();
        assert!((150..250).contains(&due), "{due}");
        let by_content = (0..4000).filter(|n| is_due(7, &n.to_string())).count();
        assert!((150..250).contains(&by_content), "{by_content}");
        assert!((0..99).all(|seed| is_due(seed, "a") == is_due(seed, "a")));
    }

    #[track_caller]
    fn check(fast: &[(&str, &str)], plain: &[(&str, &str)], expect: Option<&str>) {
        assert_eq!(of_states(&seen(fast), &seen(plain)).as_deref(), expect);
    }

    #[test]
    fn every_state_that_both_have_seen_is_compared() {
        let both = [("with the bug", "a=failed b=passed"), ("with only x restored", "a=passed")];
        check(&both, &both, None);
        check(&both, &both[..1], None);
        check(
            &both,
            &[("with the bug", "a=failed b=passed"), ("with only x restored", "a=failed")],
            Some(
                "with only x restored, a is passed the fast way and failed plainly (1 test in all)",
            ),
        );
        check(
            &[("with the bug", "a=failed b=passed c=passed")],
            &[("with the bug", "a=failed b=failed")],
            Some("with the bug, b is passed the fast way and failed plainly (2 tests in all)"),
        );
    }

    #[test]
    fn the_whole_suite_is_asked_for_the_tests_that_passed_on_the_original() {
        let original = verdicts("a=passed b=passed c=failed");
        let own = verdicts("a=failed b=passed c=failed");
        let told = |everything: &str| of_suite(&original, &own, &verdicts(everything), |_| true);
        assert_eq!(told("a=failed b=passed c=passed d=failed"), None);
        assert_eq!(
            told("a=failed b=failed").as_deref(),
            Some(
                "with the bug, b is passed among the chosen test files and failed in the whole suite (1 test \
                 in all)"
            )
        );
    }

    #[test]
    fn a_bug_that_plain_runs_do_not_judge_the_same_twice_is_not_stable() {
        let report = |failed: Option<Check>| Report {
            valid: failed.is_none(),
            failed_check: failed,
            checks: Vec::new(),
            fail_to_pass: Vec::new(),
            pass_to_pass: Vec::new(),
            sandbox: crate::sandbox::Tier::A,
            flags: Vec::new(),
            cpu_seconds: 0.0,
            audited: Audited::No,
            difference: None,
            seen: Seen::default(),
        };
        for (first, second, expect) in [
            (None, None, Check::Stability),
            (None, Some(Check::Bug), Check::Bug),
            (Some(Check::Weakening), None, Check::Weakening),
        ] {
            let judged = unstable([report(first), report(second)]);
            assert_eq!((judged.valid, judged.failed_check), (false, Some(expect)));
        }
    }
}
