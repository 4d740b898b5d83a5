//! Whether the fast ways say what plain runs say: single edits drawn by seed, each told by a run in a process
//! that is there already, of the test files chosen by what they reach, and by a plain run of the whole
//! suite. A test that passes in the whole suite and fails among the chosen files, both on the original, hangs
//! on its neighbours: no bug's script holds it, and it is left out here, too.
//!
//! Where code is built, also half as many bugs of two edits in two files each: the bug, and the bug less one
//! file, of the build that holds all of them, beside plain runs of the same script.
//!
//! `cargo bench --bench verdicts -- REPO [EDITS] [SEED]`, e.g.
//! `VIRTUAL_ENV=/path/to/venv cargo bench --bench verdicts -- boltons-26.2.0 25`. Ends with 1 where they
//! differ.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures and reads the environment that it is run in"
)]

use ssr_mcp::dice::Dice;
use ssr_mcp::harness::{Harness, How, Program};
use ssr_mcp::injector::{Editable, Singles};
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::{Changes, RelPath};
use ssr_mcp::verdict::{Outcome, TestId, Verdicts};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

#[path = "common/open.rs"]
mod open;

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [repo, rest @ ..] = arguments.as_slice() else {
        println!("usage: cargo bench --bench verdicts -- REPO [EDITS] [SEED]");
        return Ok(ExitCode::SUCCESS);
    };
    let number = |at: usize, default| rest.get(at).and_then(|n| n.parse().ok()).unwrap_or(default);
    let scratch = std::env::temp_dir().join(format!("ssr-mcp-bench-{}", std::process::id()));
    let result = compare(Path::new(repo), &scratch, number(0, 25), number(1, 1));
    std::fs::remove_dir_all(&scratch).ok();
    Ok(if result? == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many of so many edits are told differently.
fn compare(repo: &Path, scratch: &Path, edits: u64, seed: u64) -> anyhow::Result<usize> {
    let (harness, _) = open::open(repo, scratch)?;
    let passing = harness.baseline()?.passing.len();
    println!("{}: {passing} passing tests", repo.display());
    let languages = Languages::builtin();
    let singles = Singles::survey(&harness, &languages, None)?.map_err(anyhow::Error::msg)?;
    let mut dice = Dice::new(seed).fork("verdicts");
    let mut order = singles.order(&mut dice);
    // One more of the larger files than of the others.
    order.extend(order.clone().into_iter().take(order.len() / 2));
    let (mut drawn, mut at, mut differing) = (BTreeSet::new(), 0, 0);
    let (mut noticed, mut silent, mut unstable) = (0, 0, 0);
    let (mut fast, mut plain) = (Duration::ZERO, Duration::ZERO);
    let mut idle = 0;
    while (drawn.len() as u64) < edits && idle < 1000 {
        let file = singles.open(&harness, order[at % order.len()])?;
        (at, idle) = (at + 1, idle + 1);
        let Some((place, changes)) = draw(&file, &mut dice) else { continue };
        if !drawn.insert(changes.digest()) {
            continue;
        }
        idle = 0;
        let told = told(&harness, &changes, &file.told_by(place))?;
        fast += told.fast_cpu;
        plain += told.plain_cpu;
        match (&told.fast, &told.plain) {
            (Some(fast), Some(plain)) if fast == plain => noticed += usize::from(!fast.is_empty()),
            (None, None) => silent += 1,
            // Tests that plain runs do not judge the same twice say nothing of the ways.
            _ if told_again(&harness, &changes, &file.told_by(place))? != told.plain => {
                unstable += 1;
                println!("not counted, plain runs of it differ: {}", file.describe(place));
            }
            _ => {
                differing += 1;
                println!(
                    "DIFFERENCE {}: {}",
                    file.describe(place),
                    why(&harness, &changes, &told)?
                );
            }
        }
    }
    let spent = harness.spent();
    println!(
        "{} edits, {noticed} of them noticed, {silent} without a verdict either way, {unstable} not stable \
         plainly: {differing} differences; \
         {} of {} runs warm; CPU s of all edits: {:.1} the fast way, {:.1} plainly",
        drawn.len(),
        spent.warm,
        spent.runs,
        fast.as_secs_f64(),
        plain.as_secs_f64()
    );
    let in_one = in_one_build(&harness, &singles, &order, edits / 2, &mut dice)?;
    Ok(differing + in_one)
}

/// How many states of bugs that share a build are told differently.
fn in_one_build(
    harness: &Harness,
    singles: &Singles,
    order: &[usize],
    bugs: u64,
    dice: &mut Dice,
) -> anyhow::Result<usize> {
    if harness.switch().is_none() {
        return Ok(0);
    }
    let (mut made, mut tries, mut states, mut noticed, mut differing) = (0, 0, 0, 0, 0);
    while made < bugs && tries < 1000 {
        tries += 1;
        let pair = [dice.below(order.len()), dice.below(order.len())];
        let [one, other] = pair.map(|at| singles.open(harness, order[at]));
        let (one, other) = (one?, other?);
        if one.path() == other.path() {
            continue;
        }
        let (Some((at, first)), Some((place, second))) = (draw(&one, dice), draw(&other, dice))
        else {
            continue;
        };
        let mut files = one.told_by(at);
        files.extend(other.told_by(place));
        if files.is_empty() {
            continue;
        }
        let (script, parser) = program(harness, &files.into_iter().collect::<Vec<_>>())?;
        let program = Program { script: &script, parser: &parser };
        let bug = first.then(&second);
        let units: Vec<BTreeSet<RelPath>> = bug.paths().map(|path| [path.clone()].into()).collect();
        let before = harness.spent().together;
        harness.prepare(&bug, &units, program)?;
        if harness.spent().together == before {
            continue;
        }
        made += 1;
        for state in [&bug, &first, &second] {
            let kept = harness.run_warm(state, program, None)?.verdicts;
            let plain = harness.run(state, program, How::CHECK, true)?.verdicts;
            states += 1;
            noticed += usize::from(plain.as_ref().is_ok_and(|said| !said.failing().is_empty()));
            if kept != plain {
                differing += 1;
                println!(
                    "DIFFERENCE in one build: {} and {}",
                    one.describe(at),
                    other.describe(place)
                );
            }
        }
    }
    println!(
        "{made} bugs in one build each, {} not: of {states} states, {noticed} of them noticed, {differing} \
         differences",
        harness.spent().apart
    );
    Ok(differing)
}

/// An edit of the file that parses.
fn draw(file: &Editable, dice: &mut Dice) -> Option<(usize, Changes)> {
    if file.is_empty() {
        return None;
    }
    let place = dice.below(file.len());
    let edited = file.edited(place)?;
    let errors = file.language().syntax_errors(&edited.bytes);
    let changes: Changes = [(file.path().clone(), Some(edited))].into_iter().collect();
    (errors <= file.parsed().syntax_errors()).then_some((place, changes))
}

/// The passing tests that no longer pass; `None` without a verdict.
struct Told {
    fast: Option<BTreeSet<TestId>>,
    plain: Option<BTreeSet<TestId>>,
    fast_cpu: Duration,
    plain_cpu: Duration,
    files: Vec<RelPath>,
}

fn told(harness: &Harness, changes: &Changes, files: &BTreeSet<RelPath>) -> anyhow::Result<Told> {
    let files: Vec<RelPath> = files.iter().cloned().collect();
    let baseline = harness.baseline()?;
    let (plain, plain_cpu) = plainly(harness, changes)?;
    if files.is_empty() {
        // That no test file enters the function says that no test can tell.
        let (fast, fast_cpu) = (Some(BTreeSet::new()), Duration::ZERO);
        return Ok(Told { fast, plain, fast_cpu, plain_cpu, files });
    }
    let (script, parser) = program(harness, &files)?;
    let program = Program { script: &script, parser: &parser };
    let before = harness.run_warm(&Changes::new(), program, None)?;
    let own: BTreeSet<TestId> = before
        .verdicts
        .map_err(|problem| anyhow::anyhow!("on the original: {problem}"))?
        .with(Outcome::Passed)
        .into_iter()
        .filter(|id| baseline.passing.contains(id))
        .collect();
    let run = harness.run_warm(changes, program, None)?;
    let is_chosen = |id: &TestId| {
        let file = id.split_once("::").map_or("", |(file, _)| file);
        files.iter().any(|path| path.as_str() == file)
    };
    let judged = |id: &TestId| own.contains(id) || !is_chosen(id);
    let plain = plain.map(|ids| ids.into_iter().filter(judged).collect());
    Ok(Told {
        fast: run.verdicts.ok().map(|verdicts| not_passing(&verdicts, &own)),
        plain,
        fast_cpu: run.cpu,
        plain_cpu,
        files,
    })
}

/// What another plain run says of the same.
fn told_again(
    harness: &Harness,
    changes: &Changes,
    files: &BTreeSet<RelPath>,
) -> anyhow::Result<Option<BTreeSet<TestId>>> {
    Ok(told(harness, changes, files)?.plain)
}

/// What the whole suite says.
fn plainly(
    harness: &Harness,
    changes: &Changes,
) -> anyhow::Result<(Option<BTreeSet<TestId>>, Duration)> {
    let passing = &harness.baseline()?.passing;
    let run = harness.run_everything(changes)?;
    Ok((run.verdicts.ok().map(|verdicts| not_passing(&verdicts, passing)), run.cpu))
}

fn not_passing(verdicts: &Verdicts, ids: &BTreeSet<TestId>) -> BTreeSet<TestId> {
    ids.iter().filter(|id| verdicts.of(id) != Outcome::Passed).cloned().collect()
}

/// The script over these files, less what is excluded in them, and its parser.
fn program(harness: &Harness, files: &[RelPath]) -> anyhow::Result<(Vec<u8>, Vec<u8>)> {
    let baseline = harness.baseline()?;
    let excluded: Vec<TestId> = baseline.excluded.keys().cloned().collect();
    let runner = harness.runner();
    Ok((runner.script(files, &excluded), runner.parser()))
}

/// Where a difference comes from.
fn why(harness: &Harness, changes: &Changes, told: &Told) -> anyhow::Result<String> {
    let (Some(fast), Some(plain)) = (&told.fast, &told.plain) else {
        let word = |one: &Option<_>| if one.is_some() { "a verdict" } else { "no verdict" };
        return Ok(format!("{} the fast way, {} plainly", word(&told.fast), word(&told.plain)));
    };
    let first = fast.symmetric_difference(plain).next().map_or("", TestId::as_str);
    let (script, parser) = program(harness, &told.files)?;
    let program = Program { script: &script, parser: &parser };
    let again = harness.run(changes, program, How::CHECK, true)?;
    let same = again.verdicts.is_ok_and(|verdicts| {
        fast.iter().all(|id| verdicts.of(id) != Outcome::Passed)
            && verdicts.failing().iter().all(|id| fast.contains(id))
    });
    Ok(format!(
        "{} tests do not pass the fast way, {} plainly, first {first}; a plain run of the {} chosen files says \
         what {} says",
        fast.len(),
        plain.len(),
        told.files.len(),
        if same { "the fast run" } else { "neither, or the plain run," }
    ))
}
