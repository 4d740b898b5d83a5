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
use ssr_mcp::harness::{Harness, Program, Setup};
use ssr_mcp::injector::{self, Strategy};
use ssr_mcp::runner::{Machine, Overrides, Runner};
use ssr_mcp::sandbox::{Cancel, Limits, Sandbox, Step, View};
use ssr_mcp::store::Store;
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::Changes;
use ssr_mcp::workspace::Workspace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    let (harness, sandbox) = open(repo, scratch)?;
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
    let languages = Languages::builtin();
    let minima = Minima { changed_files: files, ..Minima::default() };
    let mut known = BTreeSet::new();
    let mut rows = Vec::new();
    println!(
        "{:>8} {:>8} {:>8} {:>8} {:>6} {:>6}  bug",
        "inject", "check", "total", "floor", "tests", "warm"
    );
    for seed in 0..bugs as u64 {
        let request = injector::Request {
            strategy: Strategy::Mixed,
            seed,
            target: None,
            changed_files: minima.changed_files,
            failing_tests: minima.failing_tests,
            passing_tests: minima.passing_tests,
            candidates: 60,
            history: None,
        };
        let (start, runs) = (cpu_seconds(&harness, sandbox), harness.spent());
        let injected =
            injector::inject(&harness, &languages, &request, &|digest| known.contains(digest))?;
        let inject = cpu_seconds(&harness, sandbox) - start;
        let Ok(injected) = injected else {
            println!("{inject:8.2} {:>8} seed {seed}: no bug", "-");
            continue;
        };
        known.insert(injected.tree_digest.clone());
        let start = cpu_seconds(&harness, sandbox);
        let report = consistency::check_injected(&harness, &injected.artifact, &minima)?;
        let check = cpu_seconds(&harness, sandbox) - start;
        if !report.valid {
            println!("{inject:8.2} {check:8.2} seed {seed}: invalid, {:?}", report.failed_check);
            continue;
        }
        let (made, warm) = (harness.spent().runs - runs.runs, harness.spent().warm - runs.warm);
        let floor = floor(&harness, &injected.artifact, files)?;
        let total = inject + check;
        println!(
            "{inject:8.2} {check:8.2} {total:8.2} {floor:8.2} {:>6} {:>6}  {}",
            report.fail_to_pass.len() + report.pass_to_pass.len(),
            format!("{warm}/{made}"),
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

fn open(repo: &Path, scratch: &Path) -> anyhow::Result<(Harness, f64)> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let machine = Machine {
        path: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
        home: variable("HOME").unwrap_or_default(),
        virtual_env: variable("VIRTUAL_ENV"),
        cargo_home: variable("CARGO_HOME"),
        rustup_home: variable("RUSTUP_HOME"),
        ..Machine::default()
    };
    let workspace = Workspace::open(repo, scratch)?;
    let sandbox = Sandbox::probe_with(Path::new(env!("CARGO_BIN_EXE_ssr-mcp")), &workspace.state)?;
    let base = Arc::new(workspace.freeze(sandbox.owner())?);
    let runner =
        Arc::new(Runner::detect(&*base, &workspace.root, &machine, &Overrides::default())?);
    let seconds = sandbox_seconds(&sandbox, &base)?;
    let harness = Harness::open(Setup {
        sandbox,
        base,
        runner,
        store: Arc::new(Store::open(&workspace.state)?),
        state: workspace.state.clone(),
        cancel: Cancel::new(),
        time_limit: None,
        memory: 2 << 30,
        parallel: 2,
    })?;
    Ok((harness, seconds))
}

/// CPU seconds so far: our own process, the runs, and for each sandbox the wall time that one takes to
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

/// Median wall seconds of a sandbox that runs `true`.
fn sandbox_seconds(sandbox: &Sandbox, base: &ssr_mcp::workspace::Base) -> anyhow::Result<f64> {
    let view = View {
        layers: vec![base.dir.clone()],
        root: base.root.clone(),
        changes: Changes::new(),
        mounts: Vec::new(),
        limits: Limits {
            memory: 1 << 30,
            processes: 64,
            disk: 64 << 20,
            keep_head: 4096,
            keep_tail: 4096,
            output: 1 << 20,
        },
    };
    let step = Step {
        argv: vec!["true".into()],
        env: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        cwd: PathBuf::new(),
        stdin: Vec::new(),
        merge_stderr: false,
        deadline: Duration::from_secs(10),
        files: Vec::new(),
        changes: Changes::new(),
        collect: Vec::new(),
        collect_limit: 0,
    };
    let mut times = Vec::new();
    for _ in 0..21 {
        let start = Instant::now();
        sandbox.run(&view, &step, &Cancel::new())?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
