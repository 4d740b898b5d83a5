//! Rust: the states of one bug in one build, each beside what a plain run of it says.

use crate::bench::{Bench, bench_of, machine, path};
use ssr_mcp::harness::{How, Program, Spent};
use ssr_mcp::tree::{Changes, File, RelPath};
use ssr_mcp::verdict::Verdicts;
use std::collections::BTreeSet;

const MANIFEST: &str = "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LIB: &str = "\
#![no_std]
#![deny(missing_docs)]
//! Sums.
mod deep;
/// Adds.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}
/// Doubles.
pub fn double(a: i32) -> i32 {
    deep::twice(a)
}
/// Always three.
pub const fn three() -> i32 {
    3
}
";
const DEEP: &str = "pub(crate) fn twice(a: i32) -> i32 {\n    a * 2\n}\n";
const TESTS: &str = "\
#[test]
fn adds() {
    assert_eq!(sum::add(1, 2), sum::three());
}
#[test]
fn doubles() {
    assert_eq!(sum::double(2), 4);
}
#[test]
fn both() {
    assert_eq!(sum::add(1, sum::double(1)), 3);
}
";
const TEST_FILE: &str = "tests/sums.rs";

fn rust(lib: &str, tests: &str) -> Bench {
    let tree = [
        ("Cargo.toml", MANIFEST.as_bytes()),
        ("src/lib.rs", lib.as_bytes()),
        ("src/deep.rs", DEEP.as_bytes()),
        (TEST_FILE, tests.as_bytes()),
    ];
    let bench = bench_of(&tree, &machine(), None);
    bench.harness.baseline().unwrap();
    bench
}

fn writing(file: &str, content: &str) -> Changes {
    let mut changes = Changes::new();
    changes.write(path(file), File::plain(content.as_bytes().to_vec()));
    changes
}

fn replaced(file: &str, text: &str, old: &str, new: &str) -> Changes {
    assert_eq!(text.matches(old).count(), 1, "{old}");
    writing(file, &text.replace(old, new))
}

fn with<T>(
    bench: &Bench,
    run: impl FnOnce(Program<'_>) -> Result<T, ssr_mcp::harness::Error>,
) -> T {
    let runner = bench.harness.runner();
    let (script, parser) = (runner.script(&[path(TEST_FILE)], &[]), runner.parser());
    run(Program { script: &script, parser: &parser }).unwrap()
}

fn units(bug: &Changes) -> Vec<BTreeSet<RelPath>> {
    bug.paths().map(|path| [path.clone()].into()).collect()
}

/// What the kept place says of each state, made ready together: as plain runs say, and at no further run.
fn check_states(bench: &Bench, bug: &Changes) -> Vec<Verdicts> {
    let units = units(bug);
    with(bench, |program| bench.harness.prepare(bug, &units, program));
    let mut states = vec![bug.clone()];
    for unit in &units {
        let mut state = bug.clone();
        for path in unit {
            state.restore(path);
        }
        states.push(state);
    }
    let mut told = Vec::new();
    for state in &states {
        let kept = with(bench, |program| bench.harness.run_warm(state, program, None));
        let plain = with(bench, |program| bench.harness.run(state, program, How::CHECK, true));
        assert_eq!(kept.verdicts, plain.verdicts, "{}", String::from_utf8_lossy(&kept.log));
        told.push(kept.verdicts.unwrap_or_default());
    }
    told
}

fn both_files(lib: &str, old: &str, new: &str) -> Changes {
    let deep = replaced("src/deep.rs", DEEP, "a * 2", "a * 3");
    replaced("src/lib.rs", lib, old, new).then(&deep)
}

fn spent(bench: &Bench) -> (u64, u64) {
    let Spent { together, apart, .. } = bench.harness.spent();
    (together, apart)
}

#[test]
fn the_states_of_a_bug_share_a_build_and_say_what_each_says_alone() {
    let bench = rust(LIB, TESTS);
    let bug = both_files(LIB, "a + b", "{\n        // Lines move.\n        a - b\n    }");
    let failing: Vec<_> = check_states(&bench, &bug).iter().map(Verdicts::failing).collect();
    let id = |name: &str| format!("{TEST_FILE}::{name}");
    // With both, with `src/deep.rs` restored by its path's order, with `src/lib.rs` restored.
    assert_eq!(failing[0], [id("adds"), id("both"), id("doubles")]);
    assert_eq!(failing[1], [id("adds"), id("both")]);
    assert_eq!(failing[2], [id("both"), id("doubles")]);
    assert_eq!(spent(&bench), (1, 0));
    // The repeats were made, too; and weakened tests run on the same build.
    let before = bench.harness.spent();
    let twice = with(&bench, |program| bench.harness.run_twice(&bug, program, [1, 2], true));
    assert_eq!(bench.harness.spent().runs, before.runs);
    assert!(twice.iter().all(|run| run.verdicts.as_ref().unwrap().failing() == failing[0]));
    let weakened = bug.then(&replaced(
        TEST_FILE,
        TESTS,
        "    assert_eq!(sum::double(2), 4);\n",
        "    sum::double(2);\n",
    ));
    let kept = with(&bench, |program| bench.harness.run_warm(&weakened, program, None));
    let plain = with(&bench, |program| bench.harness.run(&weakened, program, How::CHECK, true));
    assert_eq!(kept.verdicts, plain.verdicts);
    assert_eq!(kept.verdicts.unwrap().failing(), [id("adds"), id("both")]);
}

/// Where states are built each by itself, what is told is the same.
#[track_caller]
fn check_apart(bench: &Bench, bug: &Changes) {
    check_states(bench, bug);
    assert_eq!(spent(bench), (0, 1));
}

#[test]
fn states_are_built_apart_where_a_build_of_all_might_tell_something_else() {
    // A warning that only the bug by itself gives is an error.
    let strict = LIB.replace("deny(missing_docs)", "deny(missing_docs, dead_code)");
    check_apart(&rust(&strict, TESTS), &both_files(&strict, "deep::twice(a)", "a * 4"));
    // The edit stands in what the compiler evaluates, or outside of bodies.
    check_apart(&rust(LIB, TESTS), &both_files(LIB, "    3\n", "    4\n"));
    check_apart(&rust(LIB, TESTS), &both_files(LIB, "(a: i32, b", "(b: i32, a"));
    // The tests look at the code's text.
    let nosy = format!(
        "{TESTS}#[test]\nfn is_as_it_was_written() {{\n    \
         assert!(!include_str!(\"../src/lib.rs\").contains(\"match\"));\n}}\n"
    );
    check_apart(&rust(LIB, &nosy), &both_files(LIB, "a + b", "a - b"));
}

#[test]
fn a_version_that_does_not_compile_is_told_as_such() {
    let bench = rust(LIB, TESTS);
    check_apart(&bench, &both_files(LIB, "a + b", "a - c"));
}
