//! Finds a weakening under which failing tests of a bug pass again and nothing new fails.

use super::bench::{Bench, Plan};
use super::history::Within;
use super::locate::Place;
use super::weaken::{Cut, Weakener};
use crate::harness::Error;
use crate::syntax::Languages;
use crate::tree::{Changes, Overlaid};
use crate::verdict::{Outcome, TestId};
use std::collections::{BTreeMap, BTreeSet};

/// Runs with bug and weakening before a bug is given up.
const RUNS: usize = 4;

/// A bug whose tests are to be weakened.
pub(super) struct Exposed<'a> {
    pub changes: &'a Changes,
    pub failing: &'a BTreeSet<TestId>,
    /// Of the run in which they failed.
    pub log: &'a [u8],
}

/// The weakened test files, laid over the base; `None` where no weakening was found. `laid`: what has been
/// made of them so far.
pub(super) fn hide(
    bench: &Bench<'_>,
    languages: &Languages,
    plan: &Plan,
    bug: &Exposed<'_>,
    laid: &Changes,
) -> Result<Option<Changes>, Error> {
    let tree = Overlaid { base: bench.harness().base(), changes: laid };
    let weakener = Weakener::new(&tree, languages, &plan.test_files, bug.failing, bug.log);
    if weakener.failing().is_empty() {
        return Ok(None);
    }
    let mut cuts = guessed(&weakener);
    for _ in 0..RUNS {
        let Some(changes) = weakener.changes(&cuts) else { return Ok(None) };
        let changes = laid.then(&changes);
        let run = bench.run(&bug.changes.then(&changes), plan)?;
        let Ok(verdicts) = run.verdicts else { return Ok(None) };
        let failing: BTreeSet<TestId> = verdicts.failing().into_iter().collect();
        if !failing.is_subset(bug.failing) {
            return Ok(None);
        }
        let healed = bug.failing.iter().any(|id| verdicts.of(id) == Outcome::Passed);
        let next = further(&weakener, &cuts, &failing, healed);
        if healed && next == cuts {
            return Ok(Some(changes));
        }
        if next == cuts {
            return Ok(None);
        }
        cuts = next;
    }
    Ok(None)
}

/// The failing tests as they were once, where that heals some: those that still fail are cut. The rest of
/// their files stays as it is.
pub(super) fn hide_by_older(
    bench: &Bench<'_>,
    languages: &Languages,
    plan: &Plan,
    bug: &Exposed<'_>,
    older: &dyn Fn(Within<'_>) -> Option<Changes>,
) -> Result<Option<Changes>, Error> {
    let tree = bench.harness().base();
    let weakener = Weakener::new(tree, languages, &plan.test_files, bug.failing, bug.log);
    let Some(older) = older(&|path, range| weakener.is_within(path, range)) else {
        return Ok(None);
    };
    let run = bench.run(&bug.changes.then(&older), plan)?;
    let Ok(verdicts) = run.verdicts else { return Ok(None) };
    let failing: BTreeSet<TestId> = verdicts.failing().into_iter().collect();
    let healed = bug.failing.iter().any(|id| verdicts.of(id) == Outcome::Passed);
    if !failing.is_subset(bug.failing) || !healed {
        return Ok(None);
    }
    if failing.is_empty() {
        return Ok(Some(older));
    }
    let rest = Exposed { changes: bug.changes, failing: &failing, log: &run.log };
    Ok(hide(bench, languages, plan, &rest, &older)?.or(Some(older)))
}

/// Whether these test files hide the bug: a failing test passes again, nothing new fails, and every
/// test that the bug leaves passing still runs and passes.
pub(super) fn hides(
    bench: &Bench<'_>,
    plan: &Plan,
    bug: &Exposed<'_>,
    tests: &Changes,
) -> Result<bool, Error> {
    let Ok(verdicts) = bench.run(&bug.changes.then(tests), plan)?.verdicts else {
        return Ok(false);
    };
    let passes = |id: &TestId| verdicts.of(id) == Outcome::Passed;
    let failing: BTreeSet<TestId> = verdicts.failing().into_iter().collect();
    Ok(failing.is_subset(bug.failing)
        && bug.failing.iter().any(passes)
        && plan.passing.difference(bug.failing).all(passes))
}

/// The least cut that is likely to be enough, by where the test stopped: in an assertion, that one
/// and those after it; elsewhere, what follows; unknown, all assertions.
pub(super) fn guessed(weakener: &Weakener) -> BTreeMap<Place, Cut> {
    let guess = |place: Place| {
        let cuts = match (weakener.has_stop(place), weakener.stopped_in_assertion(place)) {
            (true, true) => [Cut::Later, Cut::Rest],
            (true, false) => [Cut::Rest, Cut::Assertions],
            (false, _) => [Cut::Assertions, Cut::Rest],
        };
        cuts.into_iter().find(|cut| weakener.can(place, *cut)).unwrap_or(Cut::Test)
    };
    let mut cuts: BTreeMap<Place, Cut> =
        weakener.failing().keys().map(|place| (*place, guess(*place))).collect();
    // A test of which nothing would be left goes as a whole, but for one that stays to pass again.
    let emptied = |(place, cut): &(&Place, &Cut)| **cut == Cut::Rest && weakener.empties(**place);
    let mut empty: Vec<Place> = cuts.iter().filter(emptied).map(|(place, _)| *place).collect();
    if empty.len() == cuts.len() {
        empty.pop();
    }
    cuts.extend(empty.into_iter().map(|place| (place, Cut::Test)));
    cuts
}

/// Tests that still fail are cut further: away, once some other test passes again; else to what runs
/// before the failure, for at least one failing test has to stay and pass.
fn further(
    weakener: &Weakener,
    cuts: &BTreeMap<Place, Cut>,
    failing: &BTreeSet<TestId>,
    healed: bool,
) -> BTreeMap<Place, Cut> {
    let all_gone = !healed && cuts.values().all(|cut| *cut == Cut::Test);
    cuts.iter()
        .map(|(place, cut)| {
            let stuck = weakener.failing()[place].iter().any(|id| failing.contains(id));
            let next = match cut {
                Cut::Test if all_gone && weakener.can(*place, Cut::Rest) => Cut::Rest,
                _ if !stuck => *cut,
                Cut::Rest | Cut::Test => Cut::Test,
                Cut::Later if place.test.is_none() => Cut::Assertions,
                _ if healed || !weakener.can(*place, Cut::Rest) => Cut::Test,
                _ => Cut::Rest,
            };
            (*place, next)
        })
        .collect()
}
