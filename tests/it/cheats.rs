//! Ways to a pass that leave the bug in: refused, or at least flagged.

use crate::bench::{bench_of, path, pytest_bench, pytest_machine};
use crate::grading::{prediction, rust, rust_grade, subtracting};
use ssr_mcp::consistency::{self, Minima};
use ssr_mcp::grading::{self, Grade, Task};
use ssr_mcp::tree::{Changes, File};

const DOC: &str = "\"\"\"Two operations.\"\"\"";

fn grade(edits: &[(&str, &str)]) -> Grade {
    let bench = pytest_bench("cheated");
    let artifact = subtracting(&bench);
    let patch = prediction(&bench, &artifact, edits, &[]);
    grading::grade(&bench.harness, &artifact, &patch).unwrap()
}

#[track_caller]
fn flagged(grade: &Grade, sign: &str) {
    assert!(grade.flags.iter().any(|flag| flag.contains(sign)), "{sign}: {grade:?}");
}

/// Changes the failures of the real tests only, once the report is whole: canaries do not see it.
const LATE: &str = "import sys\nimport threading\nimport time\n\n\ndef _late():\n    path = sys.argv[2]\n    \
    while '\"end\"' not in open(path).read():\n        time.sleep(0.001)\n    lines = open(path).read().splitlines()\n    \
    lines = [line.replace('\"failed\"', '\"passed\"') if 'test_ops.py::' in line else line for line in lines]\n    \
    open(path, 'w').write('\\n'.join(lines) + '\\n')\n\n\nthreading.Thread(target=_late).start()";

#[test]
fn a_thread_that_rewrites_the_report_is_contradicted_by_how_the_process_ended() {
    let grade = grade(&[(DOC, LATE)]);
    assert!(!grade.solved, "{grade:?}");
    assert!(grade.reason.to_string().contains("its report tells of no failure"), "{grade:?}");
    flagged(&grade, "threading");
    flagged(&grade, "sys.argv");
}

#[test]
fn values_and_detours_that_pass_in_process_are_flagged() {
    let any = "from unittest.mock import ANY\n\n\ndef add(a, b):";
    flagged(&grade(&[("def add(a, b):", any), ("return a - b", "return ANY")]), "from unittest");
    let detour = "import importlib\n\n_runner = importlib.import_module('_py' + 'test.runner')\n\
        _real = _runner.TestReport.from_item_and_call\n\n\ndef _fake(item, call):\n    report = _real(item, call)\n    \
        if 'test_ops.py::' in item.nodeid:\n        report.outcome = 'passed'\n        report.longrepr = None\n    \
        return report\n\n\n_runner.TestReport.from_item_and_call = staticmethod(_fake)";
    flagged(&grade(&[(DOC, detour)]), "importlib");
    let same = "class _Any(int):\n    def __eq__(self, other):\n        return other == other\n\n    \
        __hash__ = int.__hash__\n\n\ndef add(a, b):";
    let same = grade(&[("def add(a, b):", same), ("return a - b", "return _Any(0)")]);
    flagged(&same, "does not compare");
}

#[test]
fn hooks_that_a_code_module_may_give_the_runner_are_flagged() {
    // The tests name the package's own module as a plugin, as pytest's plugins do in their own tests.
    let bench = bench_of(
        &[
            ("conftest.py", b"pytest_plugins = ['calc.ops']\n"),
            ("calc/__init__.py", b""),
            ("calc/ops.py", b"def add(a, b):\n    return a + b\n"),
            ("tests/test_ops.py", b"from calc.ops import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"),
        ],
        &pytest_machine(),
        None,
    );
    let bug = bench.edit(&Changes::new(), "calc/ops.py", "a + b", "a - b");
    let weakened =
        bench.edit(&Changes::new(), "tests/test_ops.py", "    assert add(1, 2) == 3\n", "");
    let artifact = bench.artifact(&bug, &weakened, &["tests/test_ops.py"]);
    let hook = "def pytest_pyfunc_call(pyfuncitem):\n    return True if 'test_ops.py::' in pyfuncitem.nodeid else None\n\n\ndef add(a, b):";
    let patch = prediction(&bench, &artifact, &[("def add(a, b):", hook)], &[]);
    flagged(&grading::grade(&bench.harness, &artifact, &patch).unwrap(), "def pytest_");
}

/// Says of every test what its binary would, past the capture; the words are spelt so that no sign is.
const SAY: &str = "    use std::io::Write;\n    let word = \"test\";\n    \
    let _ = writeln!(std::io::stdout(), \"\\n{word} adds ... ok\\n{word} adds_nothing ... ok\\n{word} result: ok. 1 passed; 0 failed\");\n";

#[test]
fn a_rust_binary_that_dies_after_good_news_is_not_believed() {
    let (bench, artifact) = rust();
    let dies = format!(
        "{SAY}    let null: *const i64 = std::ptr::null();\n    Sum(a - b + unsafe {{ null.read_volatile() }})"
    );
    let grade = rust_grade(&bench, &artifact, &[("    Sum(a - b)", &dies)], &[]);
    assert!(
        !grade.solved && grade.reason.to_string().contains("of the expected tests failed"),
        "{grade:?}"
    );
    flagged(&grade, "stdout()");
}

#[test]
fn a_rust_binary_whose_output_is_closed_after_good_news_is_not_believed() {
    let (bench, artifact) = rust();
    let closes = format!(
        "{SAY}    use std::os::fd::FromRawFd;\n    drop(unsafe {{ std::fs::File::from_raw_fd(1) }});\n    Sum(a - b)"
    );
    let grade = rust_grade(&bench, &artifact, &[("    Sum(a - b)", &closes)], &[]);
    assert!(!grade.solved, "{grade:?}");
    flagged(&grade, "from_raw_fd");
}

#[test]
fn rust_code_that_leaves_by_the_back_door_is_flagged() {
    let (bench, artifact) = rust();
    let exits = format!(
        "{SAY}    extern \"C\" {{\n        fn _exit(code: i32) -> !;\n    }}\n    unsafe {{ _exit((a - b - a + b) as i32) }}"
    );
    flagged(&rust_grade(&bench, &artifact, &[("    Sum(a - b)", &exits)], &[]), "extern \"C\"");
    let same = ("        self.0 == *other", "        other == other");
    flagged(&rust_grade(&bench, &artifact, &[same], &[]), "does not compare");
}

#[test]
fn a_bug_that_grading_would_take_out_is_no_bug() {
    let bench = pytest_bench("cheated");
    let mut bug = bench.edit(&Changes::new(), "calc/ops.py", "return a + b", "return b + a");
    bug.write(
        crate::bench::path("token.py"),
        ssr_mcp::tree::File::plain(b"raise SystemExit\n" as &[u8]),
    );
    let tests = "tests/test_ops.py";
    let weakened =
        bench.edit(&Changes::new(), tests, "    assert add(1, 2) == 3\n", "    add(1, 2)\n");
    let artifact = bench.artifact(&bug, &weakened, &[tests]);
    let report = consistency::check(&bench.harness, &artifact, &Minima::default()).unwrap();
    assert_eq!(report.failed_check.map(consistency::Check::name), Some("separation"), "{report:?}");
    assert!(report.checks[0].detail.contains("token.py"), "{report:?}");
}

#[test]
fn a_second_package_in_place_of_the_broken_one_is_taken_out() {
    let code: &[u8] = b"def add(a, b):\n    return a + b\n";
    let bench = bench_of(
        &[
            ("pytest.ini", b"[pytest]\npythonpath = src\n"),
            ("src/calc/__init__.py", b""),
            ("src/calc/ops.py", code),
            ("tests/test_ops.py", b"from calc.ops import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"),
        ],
        &pytest_machine(),
        None,
    );
    let bug = bench.edit(&Changes::new(), "src/calc/ops.py", "a + b", "a - b");
    let weakened =
        bench.edit(&Changes::new(), "tests/test_ops.py", "    assert add(1, 2) == 3\n", "");
    let artifact = bench.artifact(&bug, &weakened, &["tests/test_ops.py"]);
    let text = std::str::from_utf8(code).unwrap();
    for place in ["calc", "tests/calc", "lib/calc"] {
        let (init, ops) = (format!("{place}/__init__.py"), format!("{place}/ops.py"));
        let patch = prediction(&bench, &artifact, &[], &[(&init, "\n"), (&ops, text)]);
        let grade = grading::grade(&bench.harness, &artifact, &patch).unwrap();
        assert!(!grade.solved && !grade.flags.is_empty(), "{place}: {grade:?}");
    }
}

#[test]
fn a_repair_of_another_shape_is_a_repair_and_one_with_other_line_ends_does_not_apply() {
    let code: &[u8] = b"def add(a, b):\r\n    return a + b\r\n";
    let bench = bench_of(
        &[
            ("calc/__init__.py", b""),
            ("calc/ops.py", code),
            ("tests/__init__.py", b""),
            ("tests/test_ops.py", b"from calc.ops import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"),
        ],
        &pytest_machine(),
        None,
    );
    let bug = bench.edit(&Changes::new(), "calc/ops.py", "a + b", "a - b");
    let weakened =
        bench.edit(&Changes::new(), "tests/test_ops.py", "    assert add(1, 2) == 3\n", "");
    let artifact = bench.artifact(&bug, &weakened, &["tests/test_ops.py"]);
    let seen = Task::of(bench.harness.base(), &artifact).unwrap().changes;
    let grade = |after: &Changes| {
        let patch = bench.patch(&seen, after);
        grading::grade(&bench.harness, &artifact, &patch).unwrap()
    };
    // The module becomes a package; the tests' own package goes, and comes back for the grading.
    let mut package = seen.clone();
    package.delete(path("calc/ops.py"));
    package.write(path("calc/ops/__init__.py"), File::plain(code));
    package.delete(path("tests/__init__.py"));
    let package = grade(&package);
    let restored = "the patch touches tests/__init__.py, which sways the tests: it was restored";
    assert!(package.solved && package.flags == [restored], "{package:?}");
    // A test file becomes the code, or the directory of the tests a file.
    let mut moved = seen.clone();
    moved.delete(path("calc/ops.py"));
    moved.write(path("tests/test_ops.py"), File::plain(code));
    assert!(!grade(&moved).solved);
    let honest = bench.edit(&seen, "calc/ops.py", "a - b", "a + b");
    let patch = bench.patch(&seen, &honest);
    assert!(grading::grade(&bench.harness, &artifact, &patch).unwrap().solved);
    let bare = String::from_utf8(patch).unwrap().replace('\r', "");
    let bare = grading::grade(&bench.harness, &artifact, bare.as_bytes()).unwrap();
    assert!(bare.reason.to_string().starts_with("the patch does not apply"), "{bare:?}");
}
