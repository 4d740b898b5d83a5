//! What one fully checked bug costs: CPU seconds of injecting it (failed candidates included) and of
//! all its checks, for each of several bugs, beside the floor.
//!
//! `cargo bench --bench checked_bug -- REPO [BUGS] [FILES]`, e.g.
//! `VIRTUAL_ENV=/path/to/venv cargo bench --bench checked_bug -- boltons-26.2.0 12 2`.
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

use ssr_mcp::consistency::{self, Minima};
use ssr_mcp::harness::{Harness, How, Program, Setup};
use ssr_mcp::injector::{self, Strategy};
use ssr_mcp::runner::{Machine, Overrides, Runner};
use ssr_mcp::sandbox::{Cancel, Sandbox};
use ssr_mcp::store::Store;
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::Changes;
use ssr_mcp::workspace::Workspace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    let harness = open(repo, scratch)?;
    let start = cpu_seconds();
    let baseline = harness.baseline()?;
    println!(
        "{}: {} passing tests, {} excluded; baseline, controls and reach: {:.2} CPU s, once a tree",
        repo.display(),
        baseline.passing.len(),
        baseline.excluded.len(),
        cpu_seconds() - start
    );
    let languages = Languages::builtin();
    let minima = Minima { changed_files: files, ..Minima::default() };
    let mut known = BTreeSet::new();
    let mut rows = Vec::new();
    println!("{:>8} {:>8} {:>8} {:>8} {:>6}  bug", "inject", "check", "total", "floor", "tests");
    for seed in 0..bugs as u64 {
        let request = injector::Request {
            strategy: Strategy::Mixed,
            seed,
            target: None,
            changed_files: minima.changed_files,
            failing_tests: minima.failing_tests,
            passing_tests: minima.passing_tests,
            candidates: 60,
        };
        let start = cpu_seconds();
        let injected =
            injector::inject(&harness, &languages, &request, &|digest| known.contains(digest))?;
        let inject = cpu_seconds() - start;
        let Ok(injected) = injected else {
            println!("{inject:8.2} {:>8} seed {seed}: no bug", "-");
            continue;
        };
        known.insert(injected.tree_digest.clone());
        let start = cpu_seconds();
        let report = consistency::check(&harness, &injected.artifact, &minima)?;
        let check = cpu_seconds() - start;
        if !report.valid {
            println!("{inject:8.2} {check:8.2} seed {seed}: invalid, {:?}", report.failed_check);
            continue;
        }
        let floor = floor(&harness, &injected.artifact, files)?;
        let total = inject + check;
        println!(
            "{inject:8.2} {check:8.2} {total:8.2} {floor:8.2} {:>6}  {}",
            report.fail_to_pass.len() + report.pass_to_pass.len(),
            injected.summary
        );
        rows.push((inject, check, total, floor));
    }
    for (name, pick) in [
        ("inject", (|row: &(f64, f64, f64, f64)| row.0) as fn(&_) -> f64),
        ("check", |row| row.1),
        ("total", |row| row.2),
        ("floor", |row| row.3),
    ] {
        let mut figures: Vec<f64> = rows.iter().map(pick).collect();
        figures.sort_by(f64::total_cmp);
        if let (Some(least), Some(most)) = (figures.first(), figures.last()) {
            println!(
                "{name}: median {:.2} CPU s ({least:.2} to {most:.2}), {} bugs",
                figures[figures.len() / 2],
                figures.len()
            );
        }
    }
    Ok(())
}

/// CPU seconds of the tests alone times the runs that the checks need.
fn floor(
    harness: &Harness,
    artifact: &ssr_mcp::artifact::Artifact,
    files: usize,
) -> anyhow::Result<f64> {
    let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
    let run = harness.run(&Changes::new(), program, How::CHECK, false)?;
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

fn open(repo: &Path, scratch: &Path) -> anyhow::Result<Harness> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let machine = Machine {
        path: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
        home: variable("HOME").unwrap_or_default(),
        virtual_env: variable("VIRTUAL_ENV"),
        cargo_home: variable("CARGO_HOME"),
        rustup_home: variable("RUSTUP_HOME"),
    };
    let workspace = Workspace::open(repo, scratch)?;
    let sandbox = Sandbox::probe_with(Path::new(env!("CARGO_BIN_EXE_ssr-mcp")), &workspace.state)?;
    let base = Arc::new(workspace.freeze(sandbox.owner())?);
    let runner =
        Arc::new(Runner::detect(&*base, &workspace.root, &machine, &Overrides::default())?);
    Ok(Harness::open(Setup {
        sandbox,
        base,
        runner,
        store: Arc::new(Store::open(&workspace.state)?),
        state: workspace.state.clone(),
        cancel: Cancel::new(),
        time_limit: None,
        memory: 2 << 30,
    })?)
}

/// User and system time of this process and of every child that ended.
fn cpu_seconds() -> f64 {
    let of = |who| {
        // SAFETY: `getrusage` fills the struct it is given.
        #[allow(unsafe_code, reason = "getrusage has no safe wrapper in our dependencies")]
        let usage = unsafe {
            let mut usage = std::mem::zeroed::<libc::rusage>();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}
