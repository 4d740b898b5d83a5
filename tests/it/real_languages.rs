//! Whole rounds on real code in Go and C: Go's own `encoding/csv` as a module by itself, and utf8proc with
//! its `CMake` project. Where they cannot be had, these tests say loudly that they did not run.

use crate::bench::{Bench, bench_at, copy, machine, write_tree};
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
    let passing_tests = bench.harness.baseline().unwrap().passing.len().min(4);
    let minima = Minima { passing_tests, ..Minima::default() };
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

/// Bugs of these seeds until an attempt repairs one: the judge, not the solver, says so.
#[track_caller]
fn solves(bench: &Bench, seeds: &[u64]) {
    let solved = |seed: &u64| play(bench, *seed, 160).solve_rate.is_some_and(|rate| rate > 0.0);
    assert!(seeds.iter().any(solved), "none of the bugs of {seeds:?} was repaired");
}

#[test]
fn a_bug_of_a_real_go_module_is_repaired() {
    let Some((machine, root)) = with_go(machine()) else { return did_not_run("Go") };
    solves(&open(&go_csv(&root), &machine), &[12, 13]);
}

const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.21)
project(money C)
enable_testing()
add_library(money src/money.c)
target_include_directories(money PUBLIC src)
foreach(name round words)
    add_executable(test_${name} tests/test_${name}.c)
    target_link_libraries(test_${name} money)
    add_test(NAME ${name} COMMAND test_${name})
endforeach()
";

const MONEY: &str = r#"#include "money.h"

/* Rounds a tenth half up. */
long money_round(long tenths)
{
    long whole = tenths / 10;
    if (tenths % 10 >= 5) {
        whole += 1;
    }
    return whole;
}

int money_words(const char *text)
{
    int count = 0;
    int inside = 0;
    for (; *text; text++) {
        if (*text == ' ') {
            inside = 0;
        } else if (!inside) {
            inside = 1;
            count++;
        }
    }
    return count;
}

long money_clamp(long value, long least, long most)
{
    if (value < least) {
        return least;
    }
    return value > most ? most : value;
}
"#;

/// A program that checks with assertions of its own.
fn c_test(checks: &str) -> String {
    format!(
        "#undef NDEBUG\n#include <assert.h>\n#include \"money.h\"\n\nint main(void)\n{{\n{checks}    return 0;\n}}\n"
    )
}

#[test]
fn a_bug_of_a_cmake_project_is_repaired() {
    let Some(machine) = with_cmake(machine()) else { return did_not_run("CMake") };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    let header = "long money_round(long);\nint money_words(const char *);\nlong money_clamp(long, long, long);\n";
    let round = c_test(
        "    assert(money_round(14) == 1);\n    assert(money_round(15) == 2);\n    assert(money_round(0) == 0);\n",
    );
    let words = c_test(
        "    assert(money_words(\"one two\") == 2);\n    assert(money_words(\"\") == 0);\n    \
         assert(money_clamp(5, 0, 3) == 3);\n    assert(money_clamp(2, 0, 3) == 2);\n    \
         assert(money_clamp(-1, 0, 3) == 0);\n",
    );
    let files: &[(&str, &[u8])] = &[
        ("CMakeLists.txt", CMAKE.as_bytes()),
        ("src/money.c", MONEY.as_bytes()),
        ("src/money.h", header.as_bytes()),
        ("tests/test_round.c", round.as_bytes()),
        ("tests/test_words.c", words.as_bytes()),
    ];
    write_tree(&root, files);
    let bench = bench_at(dir, &root, &machine, None);
    solves(&bench, &[1, 2, 3, 4]);
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
