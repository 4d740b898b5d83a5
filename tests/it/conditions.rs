//! Repositories that break such tools: what the baseline says of each.

use crate::bench::{Bench, bench_of, machine, pytest_machine};
use ssr_mcp::harness::{Error, How, Program};
use ssr_mcp::tree::{Changes, RelPath, Tree};
use std::process::Command;

const CODE: &[u8] = b"def double(n):\n    return n + n\n";
const TEST: &[u8] =
    b"from pkg.code import double\n\n\ndef test_double():\n    assert double(2) == 4\n";

/// A pytest tree: a good test beside the given file.
fn with(file: (&str, &str)) -> Bench {
    let (name, content) = file;
    bench_of(
        &[
            ("pkg/__init__.py", b""),
            ("pkg/code.py", CODE),
            ("tests/test_good.py", TEST),
            (name, content.as_bytes()),
        ],
        &pytest_machine(),
        None,
    )
}

#[track_caller]
fn check_excluded(bench: &Bench, expect: &[&str]) {
    let baseline = bench.harness.baseline().unwrap();
    assert!(baseline.passing.contains("tests/test_good.py::test_double"), "{baseline:?}");
    let reasons: Vec<&str> = baseline.excluded.values().map(String::as_str).collect();
    assert_eq!(reasons, expect);
}

#[track_caller]
fn check_refused(result: Result<impl std::fmt::Debug, Error>, expect: &str) {
    let said = result.unwrap_err().to_string();
    assert!(said.contains(expect), "expected {expect:?} in {said:?}");
}

#[test]
fn tests_that_fail_already_are_excluded_and_named() {
    let bench = with(("tests/test_bad.py", "def test_bad():\n    assert 1 == 2\n"));
    check_excluded(&bench, &["tests/test_bad.py::test_bad: failed before any change"]);
}

#[test]
fn skipped_and_expected_failures_are_excluded_and_named() {
    let bench = with((
        "tests/test_odd.py",
        "import pytest\n\n\n@pytest.mark.skip\ndef test_skip():\n    pass\n\n\n@pytest.mark.xfail\n\
         def test_xfail():\n    assert 0\n",
    ));
    check_excluded(
        &bench,
        &[
            "tests/test_odd.py::test_skip: skipped before any change",
            "tests/test_odd.py::test_xfail: skipped before any change",
        ],
    );
}

#[test]
fn a_test_that_hangs_on_the_hash_seed_is_unstable() {
    let hash = Command::new("python3")
        .args(["-c", "print(hash('tea'))"])
        .env("PYTHONHASHSEED", "0")
        .output()
        .unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    let test = format!("def test_luck():\n    assert hash('tea') == {}\n", hash.trim());
    let bench = with(("tests/test_luck.py", &test));
    check_excluded(&bench, &["tests/test_luck.py::test_luck: unstable, passed then failed"]);
}

#[test]
fn a_test_that_is_red_only_in_the_copy_is_excluded_and_the_rest_is_played() {
    let bench = with((
        "tests/test_git.py",
        "import subprocess\n\n\ndef test_history():\n    subprocess.run(['git', 'rev-parse', '--show-toplevel'], check=True)\n",
    ));
    check_excluded(&bench, &["tests/test_git.py::test_history: failed before any change"]);
}

#[test]
fn a_test_that_wants_the_network_fails_at_once_and_is_excluded() {
    let bench = with((
        "tests/test_net.py",
        "import socket\n\n\ndef test_net():\n    socket.create_connection(('192.0.2.1', 80), timeout=60)\n",
    ));
    check_excluded(&bench, &["tests/test_net.py::test_net: failed before any change"]);
}

#[test]
fn hostile_ids_survive() {
    let bench = with((
        "tests/test_ids.py",
        "import pytest\n\n\n@pytest.mark.parametrize('v', [1, 2, 3, 4], ids=['1 + 1', 'a - b', 'PASSED x', ' lead'])\n\
         def test_p(v):\n    print('PASSED tests/test_ids.py::test_fake')\n    assert v\n",
    ));
    let baseline = bench.harness.baseline().unwrap();
    let ids: Vec<&str> = baseline.passing.iter().map(String::as_str).collect();
    assert_eq!(
        ids,
        [
            "tests/test_good.py::test_double",
            "tests/test_ids.py::test_p[ lead]",
            "tests/test_ids.py::test_p[1 + 1]",
            "tests/test_ids.py::test_p[PASSED x]",
            "tests/test_ids.py::test_p[a - b]",
        ]
    );
}

#[test]
fn a_test_that_leaves_a_child_leaves_nothing() {
    let bench = with((
        "tests/test_child.py",
        "import subprocess\n\n\ndef test_child():\n    subprocess.Popen(['sleep', '300.0625'], start_new_session=True)\n",
    ));
    bench.harness.baseline().unwrap();
    let alive = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.starts_with(b"sleep\x00300.0625"));
    assert!(!alive, "the test's child outlived its run");
}

#[test]
fn an_edit_of_the_same_size_in_the_same_second_is_seen() {
    let bench = with((
        "tests/test_less.py",
        "from pkg.code import double\n\n\ndef test_less():\n    assert double(3) == 6\n",
    ));
    bench.harness.baseline().unwrap();
    let runner = bench.harness.runner();
    let script = runner.script(&runner.test_files(bench.harness.base()), &[]);
    let parser = runner.parser();
    let program = Program { script: &script, parser: &parser };
    let edited = bench.edit(&Changes::new(), "pkg/code.py", "n + n", "n - n");
    for changes in [&edited, &Changes::new(), &edited] {
        let run = bench.harness.run(changes, program, How::CHECK, true).unwrap();
        let failing = run.verdicts.unwrap().failing().len();
        assert_eq!(failing, if changes.is_empty() { 0 } else { 2 });
    }
}

#[test]
fn a_suite_in_which_nothing_passes_is_refused() {
    let bench = bench_of(
        &[
            ("pkg.py", CODE),
            ("tests/test_bad.py", b"import pkg\n\n\ndef test_bad():\n    assert 0\n"),
        ],
        &pytest_machine(),
        None,
    );
    check_refused(bench.harness.baseline(), "none of the 1 tests passes in the copy");
}

#[test]
fn code_that_the_tests_take_from_another_copy_is_not_played_on() {
    // The tests put another copy of the package first on the path: edits of the repository's own
    // copy take no effect.
    let bench = bench_of(
        &[
            ("pkg/__init__.py", b""),
            ("pkg/code.py", CODE),
            ("installed/pkg/__init__.py", b""),
            ("installed/pkg/code.py", CODE),
            ("tests/conftest.py", b"import os, sys\n\nhere = os.path.dirname(__file__)\nsys.path.insert(0, os.path.join(here, '..', 'installed'))\n"),
            ("tests/test_good.py", b"import runpy, os\nfrom pkg.code import double\n\n\ndef test_double():\n    assert double(2) == 4\n"),
        ],
        &pytest_machine(),
        None,
    );
    let baseline = bench.harness.baseline().unwrap();
    let reached: Vec<&str> = baseline.reach.keys().map(RelPath::as_str).collect();
    assert!(!reached.contains(&"pkg/code.py"), "{reached:?}");
}

#[test]
fn a_suite_that_hangs_is_refused_within_its_limit() {
    let bench = bench_of(
        &[
            ("pkg.py", CODE),
            (
                "tests/test_hang.py",
                b"import pkg\n\n\ndef test_hang():\n    while True:\n        pass\n",
            ),
        ],
        &pytest_machine(),
        Some(std::time::Duration::from_secs(3)),
    );
    check_refused(bench.harness.baseline(), "did not end within 3 s");
}

#[test]
fn the_solvers_tree_has_no_history() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    crate::bench::write_tree(
        &root,
        &[
            ("pkg/__init__.py", b"".as_slice()),
            ("pkg/code.py", CODE),
            ("tests/test_good.py", TEST),
            ("tests/test_leak.py", b"import glob\n\n\ndef test_leak():\n    assert not glob.glob('**/.git', recursive=True, include_hidden=True)\n    assert not glob.glob('**/*.orig', recursive=True)\n"),
            ("pkg/code.py.orig", b"the answer\n"),
        ],
    );
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=t", "-c", "user.email=t@t.invalid", "commit", "-qm", "the answer"],
    ] {
        crate::fetch::succeed(
            Command::new("git").args(args).current_dir(&root).env("GIT_CONFIG_GLOBAL", "/dev/null"),
        );
    }
    let bench = crate::bench::bench_at(dir, &root, &pytest_machine(), None);
    let baseline = bench.harness.baseline().unwrap();
    assert!(baseline.passing.contains("tests/test_leak.py::test_leak"), "{baseline:?}");
    assert!(bench.harness.base().paths().iter().all(|path| !path.as_str().contains(".git/")));
}

#[test]
fn unittest_needs_nothing_but_python() {
    let bench = bench_of(
        &[
            ("pkg.py", CODE),
            ("test_pkg.py", b"import unittest\n\nimport pkg\n\n\nclass TestDouble(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(pkg.double(2), 4)\n"),
        ],
        &machine(),
        None,
    );
    let baseline = bench.harness.baseline().unwrap();
    let ids: Vec<&str> = baseline.passing.iter().map(String::as_str).collect();
    assert_eq!(ids, ["test_pkg.py::TestDouble::test_double"]);
}
