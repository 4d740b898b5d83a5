//! What one fully checked bug costs: CPU seconds of injecting it (failed candidates included) and of
//! all its checks, for each of several bugs, beside the floor.
//!
//! `cargo bench --bench checked_bug -- REPO [BUGS] [FILES]`, e.g.
//! `VIRTUAL_ENV=/path/to/venv cargo bench --bench checked_bug -- boltons-26.2.0 12 2`.
//!
//! Most runs of the checks were made while the bug was looked for; `alone` is what all its checks take where
//! nothing is remembered: by another harness, which has its baseline and its processes.
//!
//! The share is that of the bug's wall time, on one worker, in which the processes of its scripts ran.
//!
//! The floor is the CPU time of the tests of the bug's own script, without interpreter start,
//! collection, compilation or sandbox, times the runs that the checks need: original, bug, bug twice
//! again, weakened, one a changed file.

#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures and reads the environment that it is run in"
)]

use ssr_mcp::consistency::{self, Audited, Minima};
use ssr_mcp::harness::{Harness, Program};
use ssr_mcp::injector::{self, Strategy};
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::Changes;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

#[path = "common/open.rs"]
mod open;
#[path = "common/start.rs"]
mod start;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [repo, rest @ ..] = arguments.as_slice() else {
        println!("usage: cargo bench --bench checked_bug -- REPO [BUGS] [FILES]");
        return Ok(());
    };
    let number =
        |at: usize, default: usize| rest.get(at).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (bugs, files) = (number(0, 10), number(1, 1));
    let scratch = std::env::temp_dir().join(format!("ssr-mcp-bench-{}", std::process::id()));
    let result = measure(Path::new(repo), &scratch, bugs, files);
    std::fs::remove_dir_all(&scratch).ok();
    result
}

fn measure(repo: &Path, scratch: &Path, bugs: usize, files: usize) -> anyhow::Result<()> {
    let (harness, sandbox) = open::open(repo, scratch)?;
    let (_, sandbox) = start::sandbox_seconds(&sandbox, harness.base())?;
    let start = cpu_seconds(&harness, sandbox);
    let baseline = harness.baseline()?;
    println!("a sandbox that runs `true`: {:.1} ms", sandbox * 1e3);
    println!(
        "{}: {} passing tests, {} excluded; baseline, controls and reach: {:.2} CPU s, once a tree",
        repo.display(),
        baseline.passing.len(),
        baseline.excluded.len(),
        cpu_seconds(&harness, sandbox) - start
    );
    let (other, _) = open::open(repo, &scratch.join("other"))?;
    let languages = Languages::builtin();
    let minima = Minima { changed_files: files, ..Minima::default() };
    warm_up(&other, &languages, &minima)?;
    let mut known = BTreeSet::new();
    let mut rows = Vec::new();
    println!(
        "{:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6} {:>6}  bug",
        "inject", "check", "total", "alone", "floor", "tests", "warm", "share"
    );
    for seed in 0..bugs as u64 {
        let request = request(&minima, seed);
        let (start, runs) = (cpu_seconds(&harness, sandbox), harness.spent());
        let begun = Instant::now();
        let injected =
            injector::inject(&harness, &languages, &request, &|digest| known.contains(digest))?;
        let inject = cpu_seconds(&harness, sandbox) - start;
        let Ok(injected) = injected else {
            println!("{inject:8.2} {:>8} seed {seed}: no bug", "-");
            continue;
        };
        known.insert(injected.tree_digest.clone());
        let start = cpu_seconds(&harness, sandbox);
        let report = consistency::check_injected(&harness, &injected.artifact, &minima, seed)?;
        let check = cpu_seconds(&harness, sandbox) - start;
        let testing = harness.spent().testing.saturating_sub(runs.testing);
        let share = testing.as_secs_f64() / begun.elapsed().as_secs_f64();
        if !report.valid {
            println!("{inject:8.2} {check:8.2} seed {seed}: invalid, {:?}", report.failed_check);
            continue;
        }
        let (made, warm) = (harness.spent().runs - runs.runs, harness.spent().warm - runs.warm);
        let start = cpu_seconds(&other, sandbox);
        let again = consistency::check_injected(&other, &injected.artifact, &minima, seed)?;
        let alone = cpu_seconds(&other, sandbox) - start;
        anyhow::ensure!(
            again.valid,
            "seed {seed}: checked again, the bug is not valid: {:?}",
            again.failed_check
        );
        let floor = floor(&harness, &injected.artifact, files)?;
        let total = inject + check;
        println!(
            "{inject:8.2} {check:8.2} {total:8.2} {alone:8.2} {floor:8.2} {:>6} {:>6} {:>5.0}%  {}{}",
            report.fail_to_pass.len() + report.pass_to_pass.len(),
            format!("{warm}/{made}"),
            share * 100.0,
            if report.audited == Audited::No { "" } else { "(audited) " },
            injected.summary
        );
        rows.push([inject, check, total, alone, floor, share * 100.0]);
    }
    for (at, name) in [
        "inject, CPU s",
        "check, CPU s",
        "total, CPU s",
        "alone, CPU s",
        "floor, CPU s",
        "share, %",
    ]
    .iter()
    .enumerate()
    {
        let mut figures: Vec<f64> = rows.iter().map(|row| row[at]).collect();
        figures.sort_by(f64::total_cmp);
        if let (Some(least), Some(most)) = (figures.first(), figures.last()) {
            println!(
                "{name}: median {:.2} ({least:.2} to {most:.2}), {} bugs",
                figures[figures.len() / 2],
                figures.len()
            );
        }
    }
    let (one, other) = (harness.spent(), other.spent());
    println!(
        "states in one build: {} of {} bugs that were not known, and {} of {} alone",
        one.together,
        one.together + one.apart,
        other.together,
        other.together + other.apart
    );
    Ok(())
}

fn request(minima: &Minima, seed: u64) -> injector::Request {
    injector::Request {
        strategy: Strategy::Mixed,
        seed,
        target: None,
        changed_files: minima.changed_files,
        failing_tests: minima.failing_tests,
        passing_tests: minima.passing_tests,
        candidates: 60,
        history: None,
    }
}

/// Checks some other bug, for the processes that this starts.
fn warm_up(harness: &Harness, languages: &Languages, minima: &Minima) -> anyhow::Result<()> {
    for seed in 1000..1003 {
        let injected = injector::inject(harness, languages, &request(minima, seed), &|_| false)?;
        if let Ok(injected) = injected {
            consistency::check_injected(harness, &injected.artifact, minima, seed)?;
            return Ok(());
        }
    }
    anyhow::bail!("no bug came of three seeds")
}

/// CPU seconds of the tests alone times the runs that the checks need.
fn floor(
    harness: &Harness,
    artifact: &ssr_mcp::artifact::Artifact,
    files: usize,
) -> anyhow::Result<f64> {
    let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
    let run = harness.run_warm(&Changes::new(), program, None)?;
    let ids: Vec<String> = run
        .verdicts
        .map_err(|problem| anyhow::anyhow!("{problem}"))?
        .iter()
        .map(|(id, _)| id.clone())
        .collect();
    let seconds = harness
        .baseline()?
        .durations
        .iter()
        .filter(|(id, _)| ids.contains(id))
        .map(|(_, s)| s)
        .sum::<f64>();
    Ok(seconds * (5 + files) as f64)
}

/// CPU seconds so far: our own process, the runs, and for each sandbox the least wall time that one takes to
/// start and end (an upper bound: its own CPU time cannot be read from outside).
fn cpu_seconds(harness: &Harness, sandbox: f64) -> f64 {
    let mut own = std::mem::MaybeUninit::<libc::rusage>::uninit();
    #[expect(unsafe_code, reason = "getrusage has no safe wrapper in our dependencies")]
    // SAFETY: `getrusage` fills the struct, and cannot fail for the process itself.
    let own = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, own.as_mut_ptr());
        own.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let spent = harness.spent();
    seconds(own.ru_utime)
        + seconds(own.ru_stime)
        + spent.cpu.as_secs_f64()
        + sandbox * spent.sandboxes as f64
}
