//! pytest: hostile ids, outcomes, reports that tests try to fake.

use super::*;
use crate::fetch::{boltons, did_not_run};
use Outcome::{Error as Errored, Failed, Passed, Skipped};

const HOSTILE: &str = include_str!("hostile_ids.py");

#[test]
fn every_hostile_id_is_reported_exactly() {
    let repository = Repository::with(&[("tests/test_ids.py", HOSTILE)]);
    let ran = run(repository.root());
    check(
        &ran,
        &[
            ("tests/test_ids.py::TestA::TestB::test_nested", Passed),
            ("tests/test_ids.py::TestA::test_method", Failed),
            ("tests/test_ids.py::TestU::test_subs", Failed),
            ("tests/test_ids.py::TestU::test_subs_pass", Passed),
            ("tests/test_ids.py::test_class_skip", Skipped),
            ("tests/test_ids.py::test_p[ lead]", Passed),
            ("tests/test_ids.py::test_p[1 + 1]", Passed),
            ("tests/test_ids.py::test_p[0]", Passed),
            ("tests/test_ids.py::test_p[PASSED x]", Failed),
            ("tests/test_ids.py::test_p[a - b]", Failed),
            ("tests/test_ids.py::test_p[a::b]", Passed),
            ("tests/test_ids.py::test_p[new\\nline]", Passed),
            ("tests/test_ids.py::test_p[quote'\"`$(x)]", Passed),
            ("tests/test_ids.py::test_p[tab\\t]", Passed),
            ("tests/test_ids.py::test_p[\\u0436\\xef]", Passed),
            ("tests/test_ids.py::test_p[]]>&<x/>]", Passed),
            ("tests/test_ids.py::test_p[]", Passed),
            ("tests/test_ids.py::test_prints_a_report", Passed),
            ("tests/test_ids.py::test_same[x0]", Passed),
            ("tests/test_ids.py::test_same[x1]", Failed),
            ("tests/test_ids.py::test_setup_error", Errored),
            ("tests/test_ids.py::test_skipped", Skipped),
            ("tests/test_ids.py::test_strict_xpass", Failed),
            ("tests/test_ids.py::test_teardown_error", Errored),
            ("tests/test_ids.py::test_unicode_ж", Passed),
            ("tests/test_ids.py::test_writes_to_the_descriptor", Passed),
            ("tests/test_ids.py::test_xfail", Skipped),
            ("tests/test_ids.py::test_xpass", Skipped),
        ],
    );
    assert!(ran.ours.unwrap().duplicates().is_empty());
}

#[test]
fn options_of_the_project_change_no_verdict() {
    let two = "def test_a():\n    assert 0\ndef test_b():\n    assert 0\n";
    let repository = Repository::with(&[
        (
            "pytest.ini",
            "[pytest]\naddopts = --color=yes -x --lf -v -rA --doctest-modules --tb=long\n",
        ),
        ("tests/test_a.py", two),
        ("pkg.py", "def f():\n    '''\n    >>> 1\n    2\n    '''\n"),
    ]);
    let expected = [("tests/test_a.py::test_a", Failed), ("tests/test_a.py::test_b", Failed)];
    check(&run(repository.root()), &expected);
}

#[test]
fn a_process_that_leaves_at_import_gives_no_report() {
    let repository = Repository::with(&[
        ("pkg.py", "import os\nos._exit(0)\n"),
        ("tests/test_a.py", "def test_a():\n    import pkg\ndef test_b():\n    pass\n"),
        ("tests/test_b.py", "def test_a():\n    pass\n"),
    ]);
    let refusal = run(repository.root()).refusal();
    assert!(refusal.contains("ended with status 0") || refusal.contains("died"), "{refusal}");
}

#[test]
fn a_process_that_leaves_during_a_test_gives_no_report() {
    let repository = Repository::with(&[(
        "test_a.py",
        "import os\ndef test_a():\n    pass\ndef test_b():\n    os._exit(0)\ndef test_c():\n    assert 0\n",
    )]);
    let refusal = run(repository.root()).refusal();
    assert!(refusal.contains("died before its end"), "{refusal}");
}

#[test]
fn a_stopped_session_gives_no_report() {
    let repository = Repository::with(&[(
        "test_a.py",
        "import pytest\ndef test_a():\n    pytest.exit('enough', 0)\ndef test_b():\n    assert 0\n",
    )]);
    assert!(run(repository.root()).refusal().contains("incomplete"));
}

#[test]
fn a_file_that_cannot_be_collected_is_an_error_and_the_others_run() {
    let repository = Repository::with(&[
        ("pytest.ini", "[pytest]\n"),
        ("tests/test_a.py", "import no_such_module\ndef test_a():\n    pass\n"),
        ("tests/test_b.py", "def test_b():\n    pass\n"),
        (
            "tests/test_c.py",
            "import pytest\npytest.skip('no', allow_module_level=True)\ndef test_c(): pass\n",
        ),
    ]);
    check(
        &run(repository.root()),
        &[
            ("tests/test_a.py", Errored),
            ("tests/test_b.py::test_b", Passed),
            ("tests/test_c.py", Skipped),
        ],
    );
}

#[test]
fn an_excluded_id_is_left_out_and_its_namesakes_are_not() {
    let repository = Repository::with(&[(
        "tests/test_a.py",
        "import pytest\ndef test_a():\n    pass\ndef test_ab():\n    pass\n@pytest.mark.parametrize('x', [1, 11])\ndef test_p(x):\n    pass\n",
    )]);
    let ran =
        run_less(repository.root(), &["tests/test_a.py::test_a", "tests/test_a.py::test_p[1]"]);
    check(&ran, &[("tests/test_a.py::test_ab", Passed), ("tests/test_a.py::test_p[11]", Passed)]);
}

#[test]
fn only_the_given_files_run() {
    let repository = Repository::with(&[
        ("test_root.py", "def test_r():\n    pass\n"),
        ("tests/test_a.py", "def test_a():\n    pass\n"),
        ("tests/deep/test_b.py", "def test_b():\n    pass\n"),
        ("tests/deep/test_c.py", "def test_c():\n    pass\n"),
    ]);
    let runner = detect(repository.root()).unwrap();
    let files = ["test_root.py", "tests/deep/test_c.py", "tests/gone/test_x.py"];
    let files = files.map(|path| RelPath::parse(path.as_bytes()).unwrap());
    let ran = run_script(&runner, repository.root(), &runner.script(&files, &[]));
    check(&ran, &[("test_root.py::test_r", Passed), ("tests/deep/test_c.py::test_c", Passed)]);
}

#[test]
fn bytecode_beside_the_source_is_not_trusted() {
    let repository = Repository::with(&[
        ("mod.py", "def f():\n    return 1 < 2\n"),
        ("test_mod.py", "import mod\ndef test_f():\n    assert mod.f()\n"),
    ]);
    let root = repository.root();
    let python = crate::fetch::pytest_venv().join("bin/python");
    let compiled = Command::new(python)
        .args(["-c", "import mod"])
        .current_dir(root)
        .env_clear()
        .status()
        .unwrap();
    assert!(compiled.success() && root.join("__pycache__").is_dir(), "there is stale bytecode");
    // The same size in the same second, to the nanosecond.
    let before = std::fs::metadata(root.join("mod.py")).unwrap().modified().unwrap();
    std::fs::write(root.join("mod.py"), "def f():\n    return 1 > 2\n").unwrap();
    std::fs::File::options()
        .write(true)
        .open(root.join("mod.py"))
        .unwrap()
        .set_modified(before)
        .unwrap();
    check(&run(root), &[("test_mod.py::test_f", Failed)]);
}

#[test]
fn modules_of_the_tree_cannot_pose_as_the_framework() {
    let repository = Repository::with(&[
        ("pytest.py", "raise SystemExit(0)\n"),
        ("pluggy.py", "raise SystemExit(0)\n"),
        ("evil-0.dist-info/entry_points.txt", "[pytest11]\nevil = evil\n"),
        ("evil-0.dist-info/METADATA", "Name: evil\nVersion: 0\n"),
        ("evil.py", "import os\nos._exit(0)\n"),
        ("tests/test_a.py", "def test_a():\n    assert 0\n"),
    ]);
    check(&run(repository.root()), &[("tests/test_a.py::test_a", Failed)]);
}

#[test]
fn a_process_left_behind_does_not_hold_the_script() {
    let repository = Repository::with(&[(
        "test_a.py",
        "import subprocess\ndef test_a():\n    p = subprocess.Popen(['sleep', '30'], start_new_session=True)\n    open('pid', 'w').write(str(p.pid))\n",
    )]);
    let begin = std::time::Instant::now();
    let ran = run(repository.root());
    let pid = std::fs::read_to_string(repository.root().join("pid")).unwrap();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success(), "it was still there");
    assert!(begin.elapsed().as_secs() < 30);
    check(&ran, &[("test_a.py::test_a", Passed)]);
}

#[test]
fn a_log_without_its_end_is_refused() {
    let repository = Repository::with(&[("test_a.py", "def test_a():\n    pass\n")]);
    let runner = detect(repository.root()).unwrap();
    let log = run(repository.root()).log;
    let marker = b"--- report end ---";
    let end = log.windows(marker.len()).rposition(|part| part == marker).unwrap();
    for cut in [end + 5, end, end - 20, 40, 0] {
        assert!(runner.read_log(&log[..cut]).is_err(), "cut at {cut}");
        assert!(parse(&runner, &log[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn all_519_tests_of_boltons_are_found_each_time() {
    let Some(place) = boltons() else { return did_not_run("boltons 26.2.0") };
    let (first, second) = (run(&place).verdicts(), run(&place).verdicts());
    assert_eq!(first.len(), 519);
    similar(&first, &second);
}
