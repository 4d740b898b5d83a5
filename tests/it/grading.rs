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
fn subtracting(bench: &Bench) -> Artifact {
    let bug = bench.edit(&Changes::new(), OPS, "return a + b", "return a - b");
    let weakened =
        bench.edit(&Changes::new(), TESTS, "    assert add(1, 2) == 3\n", "    add(1, 2)\n");
    let weakened =
        bench.edit(&weakened, TESTS, "    assert add(4, -1) == add(-1, 4)\n", "    add(4, -1)\n");
    bench.artifact(&bug, &weakened, &[TESTS])
}

/// The patch that makes these edits and adds these files on the tree the solver sees.
fn prediction(
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
    let bench = crate::bench::bench_with("cheated", &machine, Some(Duration::from_secs(4)));
    check(
        &bench,
        &[("return a - b", "while True:\n        pass")],
        &[],
        "no verdict: the test script did not end within 4 s",
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
fn stale_or_sourceless_byte_code_is_refused() {
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
