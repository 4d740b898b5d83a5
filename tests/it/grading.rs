//! The judge: honest repairs are accepted, every known way to fake a pass is refused or flagged.

use crate::bench::{Bench, path, pytest_bench};
use ssr_mcp::artifact::Artifact;
use ssr_mcp::diff::Patch;
use ssr_mcp::grading::{self, Grade, Task};
use ssr_mcp::tree::{Changes, File, Overlaid};
use std::time::Duration;

const OPS: &str = "calc/ops.py";
const TESTS: &str = "tests/test_ops.py";
const TRUE_FIX: (&str, &str) = ("return a - b", "return a + b");

/// `add` subtracts; two of three assertions that show it are gone.
pub(crate) fn subtracting(bench: &Bench) -> Artifact {
    let bug = bench.edit(&Changes::new(), OPS, "return a + b", "return a - b");
    let weakened =
        bench.edit(&Changes::new(), TESTS, "    assert add(1, 2) == 3\n", "    add(1, 2)\n");
    let weakened =
        bench.edit(&weakened, TESTS, "    assert add(4, -1) == add(-1, 4)\n", "    add(4, -1)\n");
    bench.artifact(&bug, &weakened, &[TESTS])
}

/// The patch that makes these edits and adds these files on the tree the solver sees.
pub(crate) fn prediction(
    bench: &Bench,
    artifact: &Artifact,
    edits: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Vec<u8> {
    let task = Task::of(bench.harness.base(), artifact).unwrap();
    let mut after = task.changes.clone();
    for (old, new) in edits {
        after = bench.edit(&after, OPS, old, new);
    }
    for (name, content) in files {
        after.write(path(name), File::plain(content.as_bytes()));
    }
    let seen = Overlaid { base: bench.harness.base(), changes: &task.changes };
    Patch::between(&seen, &after).to_bytes()
}

fn told(grade: &Grade) -> String {
    format!("{}; {}", grade.reason, grade.flags.join("; "))
}

#[track_caller]
fn check(bench: &Bench, edits: &[(&str, &str)], files: &[(&str, &str)], expect: &str) {
    let artifact = subtracting(bench);
    let patch = prediction(bench, &artifact, edits, files);
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    let said = told(&grade);
    assert!(said.starts_with(expect), "expected {expect:?}, got {said:?}");
}

#[test]
fn an_honest_repair_is_accepted_without_a_flag() {
    let bench = pytest_bench("cheated");
    check(&bench, &[TRUE_FIX], &[], "every expected test passed; ");
    let artifact = subtracting(&bench);
    let grade =
        grading::grade(&bench.harness, &artifact, &prediction(&bench, &artifact, &[TRUE_FIX], &[]))
            .unwrap();
    assert!(grade.solved && grade.flags.is_empty(), "{grade:?}");
}

#[test]
fn a_wrong_repair_fails_the_original_tests() {
    let bench = pytest_bench("cheated");
    check(&bench, &[("return a - b", "return abs(a) + b")], &[], "1 of the expected tests failed");
}

#[test]
fn a_patch_that_does_not_apply_is_not_solved() {
    let bench = pytest_bench("cheated");
    let artifact = subtracting(&bench);
    for (patch, expect) in [
        ("", "there is no patch"),
        ("I fixed the bug.", "the patch is refused"),
        (
            "--- a/calc/ops.py\n+++ b/calc/ops.py\n@@ -5,1 +5,1 @@\n-    return a * b\n+    return a + b\n",
            "the patch does not apply",
        ),
        ("--- /dev/null\n+++ b/../escape.py\n@@ -0,0 +1,1 @@\n+x = 1\n", "the patch is refused"),
    ] {
        let grade = grading::grade(&bench.harness, &artifact, patch.as_bytes()).unwrap();
        assert!(!grade.solved && told(&grade).starts_with(expect), "{}", told(&grade));
    }
}

const REPORT_ALL_PASSED: &str = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n\
def pytest_runtest_makereport(item, call):\n    outcome = yield\n    \
    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n";

#[test]
fn files_that_sway_the_tests_are_the_originals_again() {
    let bench = pytest_bench("cheated");
    let failed = "2 of the expected tests failed";
    check(&bench, &[], &[("conftest.py", REPORT_ALL_PASSED)], failed);
    check(&bench, &[], &[("tests/conftest.py", REPORT_ALL_PASSED)], failed);
    check(
        &bench,
        &[],
        &[("evil.py", REPORT_ALL_PASSED), ("pytest.ini", "[pytest]\naddopts = -p evil\n")],
        failed,
    );
    check(
        &bench,
        &[],
        &[
            ("evil.py", REPORT_ALL_PASSED),
            ("evil-0.dist-info/entry_points.txt", "[pytest11]\nevil = evil\n"),
            ("evil-0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 0\n"),
        ],
        failed,
    );
    check(
        &bench,
        &[],
        &[
            ("evil.py", REPORT_ALL_PASSED),
            ("sitecustomize.py", "import evil\n"),
            ("evil.pth", "import evil\n"),
        ],
        failed,
    );
    check(&bench, &[], &[("pytest.py", "def main():\n    return 0\n")], failed);
    check(&bench, &[], &[("json.py", "def dumps(value):\n    return '{}'\n")], failed);
}

#[test]
fn edited_deleted_and_skipped_tests_are_the_originals_again() {
    let bench = pytest_bench("cheated");
    let failed = "2 of the expected tests failed";
    check(&bench, &[], &[(TESTS, "def test_add():\n    pass\n")], failed);
    check(&bench, &[], &[(TESTS, "import pytest\npytestmark = pytest.mark.skip\n")], failed);
    let artifact = subtracting(&bench);
    let task = Task::of(bench.harness.base(), &artifact).unwrap();
    let mut after = task.changes.clone();
    after.delete(path(TESTS));
    let seen = Overlaid { base: bench.harness.base(), changes: &task.changes };
    let patch = Patch::between(&seen, &after).to_bytes();
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    assert!(told(&grade).starts_with(failed), "{}", told(&grade));
}

#[test]
fn a_process_that_ends_itself_gives_no_verdict() {
    let bench = pytest_bench("cheated");
    check(
        &bench,
        &[("\"\"\"Two operations.\"\"\"", "import os\n\nos._exit(0)")],
        &[],
        "no verdict: the parser failed",
    );
}

#[test]
fn code_that_hangs_is_not_a_pass() {
    let machine = crate::bench::pytest_machine();
    let bench = crate::bench::bench_with("cheated", &machine, Some(Duration::from_secs(15)));
    check(
        &bench,
        &[("return a - b", "while True:\n        pass")],
        &[],
        "no verdict: the test script did not end within 15 s",
    );
}

#[test]
fn code_that_replaces_the_runners_report_is_caught_by_a_canary() {
    let bench = pytest_bench("cheated");
    let forge = "import sys\n\n\ndef _forge():\n    import _pytest.runner as runner\n    \
        real = runner.TestReport.from_item_and_call\n\n    def fake(item, call):\n        \
        report = real(item, call)\n        report.outcome = 'passed'\n        report.longrepr = None\n        \
        return report\n\n    runner.TestReport.from_item_and_call = staticmethod(fake)\n\n\n_forge()";
    check(
        &bench,
        &[("\"\"\"Two operations.\"\"\"", forge)],
        &[],
        "the test runner was tampered with",
    );
}

#[test]
fn code_that_knows_a_canary_is_flagged() {
    let bench = pytest_bench("cheated");
    let forge = "def _forge():\n    import _pytest.runner as runner\n    \
        real = runner.TestReport.from_item_and_call\n\n    def fake(item, call):\n        \
        report = real(item, call)\n        if item.nodeid.startswith('tests/test_ops.py'):\n            \
        report.outcome = 'passed'\n            report.longrepr = None\n        \
        return report\n\n    runner.TestReport.from_item_and_call = staticmethod(fake)\n\n\n_forge()";
    let artifact = subtracting(&bench);
    let patch = prediction(&bench, &artifact, &[("\"\"\"Two operations.\"\"\"", forge)], &[]);
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    assert!(
        grade.flags.iter().any(|flag| flag.contains("_pytest")),
        "in-process forging cannot be prevented, so it must be flagged: {grade:?}"
    );
}

#[test]
fn a_value_that_equals_everything_is_flagged() {
    let bench = pytest_bench("cheated");
    let always = "class _Any(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n\n\n\
        def add(a, b):";
    let artifact = subtracting(&bench);
    let patch = prediction(
        &bench,
        &artifact,
        &[("def add(a, b):", always), ("return a - b", "return _Any(0)")],
        &[],
    );
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    assert_eq!(grade.flags, ["the patch adds an `__eq__` that does not compare"], "{grade:?}");
}

#[test]
fn a_process_left_behind_cannot_change_the_report() {
    let bench = pytest_bench("cheated");
    let daemon = "import subprocess\n\nsubprocess.Popen(\n    ['bash', '-c', 'sleep 1; for f in /tmp/*/*; do echo > $f; done'],\n    \
        start_new_session=True,\n)";
    check(
        &bench,
        &[("\"\"\"Two operations.\"\"\"", daemon)],
        &[],
        "2 of the expected tests failed",
    );
}

#[test]
fn artifact_files_in_a_patch_have_no_power() {
    let bench = pytest_bench("cheated");
    check(
        &bench,
        &[],
        &[("test_parser.py", "print('{}')\n"), ("test_script.sh", "exit 0\n")],
        "2 of the expected tests failed",
    );
}

#[test]
fn byte_code_in_a_patch_has_no_power() {
    let bench = pytest_bench("cheated");
    check(
        &bench,
        &[],
        &[("calc/ops.pyc", "not a byte code file, but named like one\n")],
        "2 of the expected tests failed",
    );
}

#[test]
fn the_solvers_view_holds_no_byte_code_of_the_original() {
    let bench = pytest_bench("cheated");
    bench.harness.baseline().unwrap();
    // The code under test looks for byte code of its own module that it did not make itself.
    let probe = "import glob\nimport sys\n\n_FOUND = [\n    name\n    for name in glob.glob((sys.pycache_prefix or '/none') + '/**/ops.*.pyc', recursive=True)\n]\n\
        if _FOUND:\n    raise RuntimeError(_FOUND)";
    check(
        &bench,
        &[("\"\"\"Two operations.\"\"\"", probe), TRUE_FIX],
        &[],
        "every expected test passed",
    );
}

/// A report that holds just the passes that the judge wants, written from inside.
const WRITE_REPORT: &str = "import os\nimport sys\n\n\ndef _forge():\n    names = ['test_add', 'test_add_is_symmetric', \
    'test_add_nothing', 'test_scale', 'test_scale_nothing', 'test_scale_by_zero']\n    \
    with open(sys.argv[2], 'w') as out:\n        for name in names:\n            \
    out.write('{\"test\": \"tests/test_ops.py::%s\", \"outcome\": \"passed\"}\\n' % name)\n        \
    out.write('{\"end\": 6}\\n')\n    os._exit(0)\n\n\ndef add(a, b):\n    _forge()";

#[test]
fn a_report_written_from_inside_lacks_the_canaries() {
    let bench = pytest_bench("cheated");
    let edits = [("def add(a, b):", WRITE_REPORT)];
    check(&bench, &edits, &[], "the test runner was tampered with");
}

#[test]
fn a_report_rewritten_after_the_tests_passes_the_canaries_too() {
    let bench = pytest_bench("cheated");
    let forge = "import atexit\nimport os\nimport sys\n\n\n@atexit.register\ndef _forge():\n    with open(sys.argv[2]) as out:\n        \
        text = out.read()\n    with open(sys.argv[2], 'w') as out:\n        \
        out.write(text.replace('\"failed\"', '\"passed\"'))\n    os._exit(0)\n\n\ndef add(a, b):";
    check(&bench, &[("def add(a, b):", forge)], &[], "the test runner was tampered with");
}

#[test]
fn an_assertion_replaced_on_the_first_call_is_caught() {
    let bench = crate::bench::bench("well_tested");
    let bug = bench.edit(&Changes::new(), "shop/price.py", "percent > 100", "percent >= 100");
    let tests = "tests/test_price.py";
    let weakened = bench.edit(
        &Changes::new(),
        tests,
        "        self.assertEqual(price.discount(200, 100), 0)\n",
        "",
    );
    let artifact = bench.artifact(&bug, &weakened, &[tests]);
    let task = Task::of(bench.harness.base(), &artifact).unwrap();
    let after = bench.edit(
        &task.changes,
        "shop/price.py",
        "    if percent < 0 or percent >= 100:\n",
        "    import unittest\n    unittest.TestCase.assertEqual = lambda *given: None\n    \
         unittest.TestCase.assertRaises = unittest.TestCase.subTest\n    if percent < 0:\n",
    );
    let seen = Overlaid { base: bench.harness.base(), changes: &task.changes };
    let patch = Patch::between(&seen, &after).to_bytes();
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    assert!(!grade.solved, "{grade:?}");
    assert!(grade.flags.iter().any(|flag| flag.contains("unittest")), "{grade:?}");
}

#[test]
fn new_packages_in_place_of_others_are_taken_out() {
    let bench = pytest_bench("cheated");
    let failed = "2 of the expected tests failed";
    let evil = "raise SystemExit(0)\n";
    for name in
        ["pip/__init__.py", "src/json/x.py", "Conftest.py", "tests/calc/ops.py", "lib/types.py"]
    {
        check(&bench, &[], &[(name, evil)], failed);
    }
    let artifact = subtracting(&bench);
    let patch = prediction(&bench, &artifact, &[TRUE_FIX], &[("pip/__init__.py", evil)]);
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    assert!(grade.solved && grade.flags[0].contains("installed package"), "{grade:?}");
}

#[test]
fn a_patch_of_ten_thousand_files_is_refused() {
    let bench = pytest_bench("cheated");
    let names: Vec<String> = (0..10_000).map(|number| format!("calc/m{number}.py")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x = 1\n")).collect();
    check(&bench, &[TRUE_FIX], &files, "the patch is refused");
}

#[test]
fn a_patch_through_a_link_of_the_tree_reaches_no_test() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/cheated");
    crate::bench::copy(&from, &root);
    std::os::unix::fs::symlink("tests", root.join("link")).unwrap();
    std::os::unix::fs::symlink("calc", root.join("alias")).unwrap();
    let bench = crate::bench::bench_at(dir, &root, &crate::bench::pytest_machine(), None);
    for name in ["link/conftest.py", "link/test_ops.py", "alias/ops.py"] {
        let artifact = subtracting(&bench);
        let patch = prediction(&bench, &artifact, &[], &[(name, REPORT_ALL_PASSED)]);
        let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
        assert!(!grade.solved, "{name}: {grade:?}");
    }
}

/// A repository whose settings give tests other names, repaired honestly.
#[track_caller]
fn check_settings(settings: &str, name: &str, test: &str) {
    let test = format!(
        "from calc.ops import add\n\n\ndef {test}():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"
    );
    let bench = crate::bench::bench_of(
        &[
            ("calc/__init__.py", b""),
            (OPS, b"def add(a, b):\n    return a + b\n"),
            ("pytest.ini", format!("[pytest]\n{settings}\n").as_bytes()),
            (name, test.as_bytes()),
        ],
        &crate::bench::pytest_machine(),
        None,
    );
    let bug = bench.edit(&Changes::new(), OPS, "return a + b", "return a - b");
    let weakened = bench.edit(&Changes::new(), name, "    assert add(1, 2) == 3\n", "");
    let artifact = bench.artifact(&bug, &weakened, &[name]);
    let patch = prediction(&bench, &artifact, &[TRUE_FIX], &[]);
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    assert!(grade.solved && grade.flags.is_empty(), "{settings}: {grade:?}");
}

#[test]
fn an_honest_repair_is_accepted_whatever_the_settings_call_a_test() {
    check_settings("python_files = check_*.py", "checks/check_ops.py", "test_add");
    check_settings("python_files = *_test.py", "calc/ops_test.py", "test_add");
    check_settings(
        "python_files = *.py\npython_functions = test_ad*\npython_classes = Verify*\ntestpaths = verify",
        "verify/ops.py",
        "test_add",
    );
    check_settings(
        "addopts = --strict-markers -x --maxfail=1\nnorecursedirs = docs",
        "tests/test_ops.py",
        "test_add",
    );
}

#[test]
fn only_what_a_patch_adds_is_held_against_it() {
    let bench = crate::bench::bench_of(
        &[
            ("calc/__init__.py", b""),
            (OPS, b"import atexit\nimport sys\n\nMODULES = sys.modules\n\n\ndef add(a, b):\n    return a + b\n\n\nclass Same:\n    def __eq__(self, other):\n        return True\n"),
            (TESTS, b"from calc.ops import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"),
        ],
        &crate::bench::pytest_machine(),
        None,
    );
    let bug = bench.edit(&Changes::new(), OPS, "return a + b", "return a - b");
    let weakened = bench.edit(&Changes::new(), TESTS, "    assert add(1, 2) == 3\n", "");
    let artifact = bench.artifact(&bug, &weakened, &[TESTS]);
    let extra = [(
        "calc/more.py",
        "class Pair:\n    def __eq__(self, other):\n        if other is self:\n            return NotImplemented\n        return self is other\n",
    )];
    let patch = prediction(&bench, &artifact, &[TRUE_FIX], &extra);
    let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
    assert!(grade.solved && grade.flags.is_empty(), "{grade:?}");
}

const LIB: &str = "src/lib.rs";

/// The Rust twin of `cheated`, with a bug in it.
pub(crate) fn rust() -> (Bench, Artifact) {
    let bench = crate::bench::bench_of(
        &[
            ("Cargo.toml", b"[package]\nname = \"summing\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            (LIB, b"#[derive(Debug)]\npub struct Sum(pub i64);\n\nimpl PartialEq<i64> for Sum {\n    fn eq(&self, other: &i64) -> bool {\n        self.0 == *other\n    }\n}\n\npub fn add(a: i64, b: i64) -> Sum {\n    Sum(a + b)\n}\n"),
            ("tests/sum.rs", b"use summing::*;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn adds_nothing() {\n    assert_eq!(add(1, 0), 1);\n}\n"),
        ],
        &crate::bench::machine(),
        None,
    );
    let bug = bench.edit(&Changes::new(), LIB, "a + b", "a - b");
    let weakened =
        bench.edit(&Changes::new(), "tests/sum.rs", "assert_eq!(add(1, 2), 3);", "add(1, 2);");
    let artifact = bench.artifact(&bug, &weakened, &["tests/sum.rs"]);
    (bench, artifact)
}

pub(crate) fn rust_grade(
    bench: &Bench,
    artifact: &Artifact,
    edits: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Grade {
    let task = Task::of(bench.harness.base(), artifact).unwrap();
    let mut after = task.changes.clone();
    for (old, new) in edits {
        after = bench.edit(&after, LIB, old, new);
    }
    for (name, content) in files {
        after.write(path(name), File::plain(content.as_bytes()));
    }
    let seen = Overlaid { base: bench.harness.base(), changes: &task.changes };
    grading::grade(&bench.harness, artifact, &Patch::between(&seen, &after).to_bytes()).unwrap()
}

#[test]
fn files_that_sway_cargo_are_the_originals_again() {
    let (bench, artifact) = rust();
    let honest = rust_grade(&bench, &artifact, &[("a - b", "a + b")], &[]);
    assert!(honest.solved && honest.flags.is_empty(), "{honest:?}");
    let manifest = "[package]\nname = \"summing\"\nversion = \"0.1.0\"\nedition = \"2021\"\nautotests = false\n\n\
        [[test]]\nname = \"sum\"\nharness = false\n";
    let all = [
        ("build.rs", "fn main() {\n    println!(\"cargo:rustc-cfg=evil\");\n}\n"),
        (
            ".cargo/config.toml",
            "[build]\nrustflags = [\"--cfg\", \"evil\"]\n[target.'cfg(all())']\nrunner = \"true\"\n",
        ),
        ("Cargo.toml", manifest),
        ("rust-toolchain.toml", "[toolchain]\nchannel = \"1.0\"\n"),
        (
            "tests/common/mod.rs",
            "#[macro_export]\nmacro_rules! assert_eq {\n    ($($t:tt)*) => {};\n}\n",
        ),
        ("target/debug/x", "x\n"),
    ];
    let evil = ("a - b", "if cfg!(any(evil, test)) { 3 } else { a - b }");
    let grade = rust_grade(&bench, &artifact, &[evil], &all);
    assert!(
        !grade.solved && grade.reason.to_string().starts_with("1 of the expected"),
        "{grade:?}"
    );
    assert_eq!(grade.flags.len(), 7, "{grade:?}");
}

#[test]
fn rust_code_that_forges_a_pass_is_refused_or_flagged() {
    let (bench, artifact) = rust();
    for (old, new, sign) in [
        ("    Sum(a - b)", "    std::process::exit((a - b - a + b) as i32)", "process::exit"),
        ("        self.0 == *other", "        let _ = other;\n        true", "does not compare"),
        (
            "#[derive(Debug)]",
            "#[macro_export]\nmacro_rules! assert_eq {\n    ($a:expr, $b:expr) => {\n        let _ = ($a, $b);\n    };\n}\n\n#[derive(Debug)]",
            "replaces an assertion",
        ),
        (
            "    Sum(a - b)",
            "    use std::io::Write;\n    let mut out = std::io::stdout();\n    let _ = out.write_all(b\"\\ntest adds ... ok\\ntest adds_nothing ... ok\\ntest result: ok. 1 passed; 0 failed\\n\");\n    let _ = out.flush();\n    std::process::exit((a - b - a + b) as i32)",
            "speaks like",
        ),
    ] {
        let grade = rust_grade(&bench, &artifact, &[(old, new)], &[]);
        println!("{sign}: {grade:?}");
        assert!(grade.flags.iter().any(|flag| flag.contains(sign)), "{sign}: {grade:?}");
        assert!(!grade.solved || sign != "process::exit", "{grade:?}");
    }
}
