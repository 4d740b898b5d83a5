//! Rust: runs in a place that keeps what was built, which functions tests enter, and candidates that
//! share a build, each beside what plain runs say.

use crate::bench::{Bench, bench_of, machine, path};
use ssr_mcp::harness::{How, NoVerdict, Program, ScriptRun};
use ssr_mcp::runner::weave;
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::{Changes, File};
use std::collections::BTreeSet;
use std::time::Duration;

const MANIFEST: &str = "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LIB: &str = "\
#![no_std]
#![deny(warnings)]
extern crate std;
mod deep;
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}
pub fn double(a: i32) -> i32 {
    match a {
        0 => 0,
        _ => deep::twice(a),
    }
}
pub const fn three() -> i32 {
    3
}
pub fn idle(a: i32) -> i32 {
    a - 1
}
pub fn odd<'a>(words: &'a [&'a str]) -> impl Iterator<Item = &'a str> + 'a {
    words.iter().copied().filter(|word| word.len() % 2 == 1)
}
";
const DEEP: &str = "pub(crate) fn twice(a: i32) -> i32 {\n    a * 2\n}\n";
const TEST_ADD: &str = "\
#[test]
fn adds() {
    assert_eq!(sum::add(1, 2), sum::three());
}
#[test]
fn filters() {
    assert_eq!(sum::odd(&[\"a\", \"bb\"]).count(), 1);
}
";
const TEST_DOUBLE: &str = "\
mod inner {
    #[test]
    fn doubles() {
        assert_eq!(sum::double(0), 0);
        assert_eq!(sum::double(2), 4);
    }
    #[test]
    #[should_panic]
    fn panics() {
        assert_eq!(sum::double(3), 7);
    }
}
";
const FILES: [&str; 2] = ["tests/add.rs", "tests/double.rs"];

fn rust() -> Bench {
    let tree = [
        ("Cargo.toml", MANIFEST.as_bytes()),
        ("src/lib.rs", LIB.as_bytes()),
        ("src/deep.rs", DEEP.as_bytes()),
        ("tests/add.rs", TEST_ADD.as_bytes()),
        ("tests/double.rs", TEST_DOUBLE.as_bytes()),
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

fn edited(old: &str, new: &str) -> Changes {
    assert_eq!(LIB.matches(old).count(), 1, "{old}");
    writing("src/lib.rs", &LIB.replace(old, new))
}

fn with<T>(
    bench: &Bench,
    run: impl FnOnce(Program<'_>) -> Result<T, ssr_mcp::harness::Error>,
) -> T {
    let runner = bench.harness.runner();
    let (script, parser) = (runner.script(&FILES.map(path), &[]), runner.parser());
    run(Program { script: &script, parser: &parser }).unwrap()
}

/// The run in the kept place and the plain one say the same.
#[track_caller]
fn check_same(bench: &Bench, changes: &Changes) -> ScriptRun {
    let before = bench.harness.spent().warm;
    let kept = with(bench, |program| bench.harness.run_warm(changes, program, None));
    assert_eq!(bench.harness.spent().warm, before + 1, "the run was not in the kept place");
    let plain = with(bench, |program| bench.harness.run(changes, program, How::CHECK, true));
    assert_eq!(kept.verdicts, plain.verdicts, "{}", String::from_utf8_lossy(&kept.log));
    kept
}

#[test]
fn a_place_that_keeps_what_was_built_says_what_a_fresh_one_says() {
    let bench = rust();
    let failing = |changes: &Changes| check_same(&bench, changes).verdicts.unwrap().failing().len();
    assert_eq!(failing(&edited("a + b", "a - b")), 1);
    // Of equal size and soon after: told apart all the same.
    assert_eq!(failing(&edited("a + b", "b + a")), 0);
    assert_eq!(failing(&edited("0 => 0", "0 => 9")), 1);
    let both = edited("a + b", "a * b")
        .then(&writing("src/deep.rs", "pub(crate) fn twice(a: i32) -> i32 {\n    a + 4\n}\n"));
    assert_eq!(failing(&both), 3, "both files' faults; 3 + 4 is 7");
    // The other file is as it was again.
    assert_eq!(failing(&edited("a + b", "a * b")), 1);
    // A test file that is gone reports nothing, one that does not compile is one failure.
    let mut gone = edited("a + b", "a - b");
    gone.delete(path("tests/add.rs"));
    assert_eq!(failing(&gone), 0);
    assert_eq!(failing(&writing("tests/add.rs", "#[test] fn adds() { no }")), 1);
    assert_eq!(failing(&edited("a + b", "a - b - b")), 1);
    let run = check_same(&bench, &edited("a + b", "no"));
    assert!(matches!(run.verdicts, Err(NoVerdict::ParserFailed(_))), "{run:?}");
}

#[test]
fn a_run_that_leaves_something_behind_does_not_sway_the_next() {
    let bench = rust();
    for places in [
        ["/tmp/left", "left.rs"],
        // What tests are given to write to, and settings that every later build would read.
        ["/tmp/ssr/target/tmp/left", "/home/u/.cargo/left"],
    ] {
        let [one, other] = places;
        let leaving = format!(
            "{{ let _ = std::fs::write(\"{one}\", \"\"); let _ = std::fs::write(\"{other}\", \"\"); a + b }}"
        );
        check_same(&bench, &edited("    a + b", &format!("    {leaving}")));
        let seeing = format!(
            "if std::path::Path::new(\"{one}\").exists() || std::path::Path::new(\"{other}\").exists() {{ 0 }} else {{ a + b }}"
        );
        let run = check_same(&bench, &edited("    a + b", &format!("    {seeing}")));
        assert_eq!(run.verdicts.unwrap().failing(), Vec::<String>::new());
    }
}

#[test]
fn the_functions_that_a_test_file_enters_are_known() {
    let bench = rust();
    let baseline = bench.harness.baseline().unwrap();
    let line = |text: &str| {
        u32::try_from(LIB[..LIB.find(text).unwrap()].matches('\n').count()).unwrap() + 1
    };
    let bodies = &baseline.entered[&path("src/lib.rs")];
    let by = |text: &str| {
        let tests = bodies.get(&line(text));
        tests.map(|tests| tests.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(by("pub fn add"), Some(vec!["tests/add.rs".to_owned()]));
    assert_eq!(by("pub fn double"), Some(vec!["tests/double.rs".to_owned()]));
    assert_eq!(by("pub fn idle"), Some(Vec::new()));
    assert_eq!(by("pub fn odd"), Some(vec!["tests/add.rs".to_owned()]));
    // It may run while the tests are built: any of them may tell.
    assert_eq!(by("pub const fn three"), None);
    let deep: Vec<_> = baseline.entered[&path("src/deep.rs")].values().collect();
    assert_eq!(deep, [&BTreeSet::from([path("tests/double.rs")])]);
    // Every file counts for every test file all the same.
    assert_eq!(baseline.reach[&path("src/lib.rs")].len(), 2);
    assert_eq!(baseline.durations.len(), 4);
}

#[test]
fn candidates_that_share_a_build_do_what_each_does_alone() {
    let bench = rust();
    let state = edited("a + b", "a - b").then(&writing("src/deep.rs", &DEEP.replace("* 2", "* 3")));
    let candidates: Vec<Changes> = [
        edited("a + b", "a * b"),
        // Does not compile; nor, in another way, does the next.
        edited("a + b", "a + c"),
        edited("    a + b", "    let x = std::vec![1]; drop(x); drop(x); a + b"),
        // Repairs one of the two, in two places.
        edited("a + b", "a - b + 2 * b"),
        edited("a + b", "a - b").then(&writing("src/deep.rs", DEEP)),
        // What it returns has a type of its own in each version.
        edited("a + b", "a - b").then(&edited("% 2 == 1", "% 2 == 0")),
        // Repairs both.
        edited("a + b", "b + a").then(&writing("src/deep.rs", &DEEP.replace("a * 2", "a + a"))),
    ]
    .into();
    let switch = bench.harness.runner().switch().unwrap();
    let tree = ssr_mcp::tree::Overlaid { base: bench.harness.base(), changes: &state };
    let versions = weave::versions(&tree, &Languages::builtin(), switch, &candidates);
    assert_eq!(versions.alone, Vec::<usize>::new());
    let tests: Vec<String> =
        ["tests/add.rs::adds", "tests/double.rs::inner::doubles", "tests/double.rs::inner::panics"]
            .map(str::to_owned)
            .into();
    let second = Duration::from_secs(1);
    let together = bench
        .harness
        .try_versions(&state, &versions.woven, versions.numbers.clone(), &tests, second)
        .unwrap()
        .unwrap();
    let passed = |number: usize| {
        let tried = together.tried.iter().find(|tried| tried.number == number);
        tried.map(|tried| tried.passed.iter().cloned().collect::<Vec<_>>())
    };
    for (number, candidate) in (1..).zip(&candidates) {
        let plain = with(&bench, |program| {
            bench.harness.run(&state.then(candidate), program, How::SOLVER, true)
        });
        let verdicts = plain.verdicts.unwrap_or_default();
        let alone: Vec<_> = tests
            .iter()
            .filter(|id| verdicts.of(id) == ssr_mcp::verdict::Outcome::Passed)
            .cloned()
            .collect();
        match passed(number) {
            Some(passed) => assert_eq!(passed, alone, "{number}"),
            // It does not compile, or what it returns has no common type.
            None => assert!(alone.is_empty() || number == 6, "{number}: {alone:?}"),
        }
    }
    assert_eq!(passed(7).unwrap(), tests);
    assert_eq!((passed(2), passed(3)), (None, None));
}
