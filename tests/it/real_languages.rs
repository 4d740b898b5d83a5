//! Whole rounds on real code in Go and C: Go's own `encoding/csv` as a module by itself, and utf8proc with
//! its `CMake` project. Where they cannot be had, these tests say loudly that they did not run.

use crate::bench::{Bench, bench_at, copy, machine};
use crate::fetch::{did_not_run, go_csv, utf8proc, with_cmake, with_go};
use ssr_mcp::consistency::Minima;
use ssr_mcp::episode::{self, Round, Rules};
use ssr_mcp::injector::{self, Strategy};
use ssr_mcp::reward::Scheme;
use ssr_mcp::runner::Machine;
use ssr_mcp::solver;
use ssr_mcp::syntax::Languages;
use std::path::Path;

fn open(source: &Path, machine: &Machine) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    copy(source, &root);
    bench_at(dir, &root, machine, None)
}

/// A round with one attempt: the bug is valid, and the attempt was graded by the tests.
fn play(bench: &Bench, seed: u64, runs: usize) -> Round {
    let minima = Minima { passing_tests: 4, ..Minima::default() };
    let rules = Rules {
        injector: injector::Request {
            strategy: Strategy::Direct,
            seed,
            target: None,
            changed_files: minima.changed_files,
            failing_tests: minima.failing_tests,
            passing_tests: minima.passing_tests,
            candidates: 40,
            history: None,
        },
        solver: solver::Request { attempts: 1, seed, runs: Some(runs), parallel: 1 },
        minima,
        scheme: Scheme::default(),
    };
    let known = |_: &str| false;
    let round =
        episode::play(&bench.harness, &Languages::builtin(), &rules, &known, &|_| {}).unwrap();
    let report = round.report.as_ref().expect("a bug is found");
    assert!(report.valid, "{}: {report:#?}", round.summary);
    eprintln!("{}: solve rate {:?}", round.summary, round.solve_rate);
    assert!(round.solve_rate.is_some());
    round
}

#[test]
fn a_real_go_module_gives_a_validated_bug() {
    let Some((machine, root)) = with_go(machine()) else { return did_not_run("Go") };
    let bench = open(&go_csv(&root), &machine);
    let baseline = bench.harness.baseline().unwrap();
    assert!(baseline.passing.contains("reader_test.go::TestRead"), "{:?}", baseline.passing);
    assert!(baseline.passing.iter().any(|id| id.starts_with("reader_test.go::TestRead/")));
    let reached: Vec<&str> = baseline.reach.keys().map(ssr_mcp::tree::RelPath::as_str).collect();
    assert_eq!(reached, ["reader.go", "writer.go"]);
    play(&bench, 1, 12);
}

#[test]
fn a_real_cmake_project_gives_a_validated_bug() {
    let Some(machine) = with_cmake(machine()) else { return did_not_run("CMake") };
    let Some(source) = utf8proc() else { return did_not_run("utf8proc") };
    let bench = open(&source, &machine);
    let baseline = bench.harness.baseline().unwrap();
    assert!(baseline.passing.contains("test/misc.c::utf8proc.testmisc"), "{:?}", baseline.passing);
    play(&bench, 4, 4);
}
