//! The solver in the real sandbox with real test runners.

use crate::bench::{Bench, bench, bench_of, machine};
use ssr_mcp::artifact::Artifact;
use ssr_mcp::grading::{self, Reason};
use ssr_mcp::solver::{Attempt, Request, solve};
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::Changes;

const STOCK: &str = "shop/stock.py";
const PRICE: &str = "shop/price.py";
const TESTS: [&str; 2] = ["tests/test_price.py", "tests/test_stock.py"];

/// An artifact of these edits; the weakening takes one assertion that each of the bugs may fail.
fn artifact(bench: &Bench, edits: &[(&str, &str, &str)]) -> Artifact {
    let mut bug = Changes::new();
    for (file, old, new) in edits {
        bug = bench.edit(&bug, file, old, new);
    }
    let weakened = bench.edit(
        &Changes::new(),
        TESTS[1],
        "        self.assertEqual(stock.take(\"tea\", 1), 0)\n",
        "",
    );
    bench.artifact(&bug, &weakened, &TESTS)
}

fn attempts(bench: &Bench, artifact: &Artifact, runs: usize, parallel: usize) -> Vec<Attempt> {
    let request = Request { attempts: 4, seed: 3, runs: Some(runs), parallel };
    solve(&bench.harness, &Languages::builtin(), artifact, &request).unwrap()
}

#[test]
fn a_single_operator_is_repaired_by_every_attempt_and_the_judge_agrees() {
    let bench = bench("well_tested");
    let artifact = artifact(&bench, &[(STOCK, "if left < 0", "if left <= 0")]);
    for attempt in attempts(&bench, &artifact, 160, 2) {
        assert!(attempt.solved, "{attempt:?}");
        assert!((attempt.reward - 1.0).abs() < f64::EPSILON && attempt.runs <= 160);
        let grade = grading::grade(&bench.harness, &artifact, attempt.patch.as_bytes()).unwrap();
        assert!(grade.solved, "{grade:?}");
    }
}

#[test]
fn two_faults_in_two_files_are_repaired_together() {
    let bench = bench("well_tested");
    let edits = [(STOCK, "if left < 0", "if left <= 0"), (PRICE, "cents - cents", "cents + cents")];
    let artifact = artifact(&bench, &edits);
    let attempts = attempts(&bench, &artifact, 200, 2);
    let solved = attempts.iter().find(|attempt| attempt.solved).expect("one of four solves");
    assert!(solved.patch.contains(STOCK) && solved.patch.contains(PRICE), "{}", solved.patch);
}

#[test]
fn the_result_does_not_depend_on_how_many_attempts_run_at_once() {
    let told = |parallel: usize| {
        let bench = bench("well_tested");
        let artifact = artifact(&bench, &[(PRICE, "price < best", "price > best")]);
        let attempts = attempts(&bench, &artifact, 40, parallel);
        attempts.into_iter().map(|a| (a.solved, a.patch, a.runs)).collect::<Vec<_>>()
    };
    assert_eq!(told(1), told(3));
}

#[test]
fn an_attempt_without_runs_is_honestly_unsolved() {
    let bench = bench("well_tested");
    let artifact = artifact(&bench, &[(STOCK, "if left < 0", "if left <= 0")]);
    for attempt in attempts(&bench, &artifact, 0, 1) {
        assert!(!attempt.solved && attempt.patch.is_empty());
        assert!((attempt.reward + 1.0).abs() < f64::EPSILON);
        assert_eq!(attempt.reason, Reason::NoPatch);
    }
}

#[test]
fn without_a_failing_test_there_is_nothing_to_repair() {
    let bench = bench("well_tested");
    let artifact = artifact(&bench, &[(PRICE, "whole cents", "cents")]);
    for attempt in attempts(&bench, &artifact, 10, 1) {
        assert!(!attempt.solved);
        assert!(matches!(attempt.reason, Reason::NoVerdict(_)), "{attempt:?}");
    }
}

#[test]
fn a_rust_operator_is_repaired() {
    let manifest = "[package]\nname = \"clamp\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let code = "\
pub fn clamp(value: i64, low: i64, high: i64) -> i64 {
    if value < low {
        return low;
    }
    if value > high {
        return high;
    }
    value
}
";
    let tests = "\
use clamp::clamp;

#[test]
fn low_values_are_raised() {
    assert_eq!(clamp(-5, 0, 9), 0);
}

#[test]
fn high_values_are_lowered() {
    assert_eq!(clamp(12, 0, 9), 9);
}

#[test]
fn others_stay() {
    assert_eq!(clamp(4, 0, 9), 4);
    assert_eq!(clamp(0, 0, 9), 0);
}
";
    let files: [(&str, &[u8]); 4] = [
        ("Cargo.toml", manifest.as_bytes()),
        ("Cargo.lock", b"version = 4\n\n[[package]]\nname = \"clamp\"\nversion = \"0.1.0\"\n"),
        ("src/lib.rs", code.as_bytes()),
        ("tests/clamp.rs", tests.as_bytes()),
    ];
    let bench = bench_of(&files, &machine(), None);
    let bug = bench.edit(&Changes::new(), "src/lib.rs", "value > high", "value < high");
    let weakened =
        bench.edit(&Changes::new(), "tests/clamp.rs", "    assert_eq!(clamp(12, 0, 9), 9);\n", "");
    let artifact = bench.artifact(&bug, &weakened, &["tests/clamp.rs"]);
    let request = Request { attempts: 2, seed: 1, runs: Some(60), parallel: 1 };
    let attempts = solve(&bench.harness, &Languages::builtin(), &artifact, &request).unwrap();
    assert!(attempts.iter().any(|attempt| attempt.solved), "{attempts:?}");
}
