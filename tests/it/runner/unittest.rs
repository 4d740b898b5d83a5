//! unittest: every outcome, fixtures, file and class names.

use super::*;
use Outcome::{Error as Errored, Failed, Passed, Skipped};

#[test]
fn every_outcome_has_an_id_of_file_class_and_method() {
    let ran =
        run(Repository::with(&[("tests/test_all.py", include_str!("unittest_all.py"))]).root());
    check(
        &ran,
        &[
            ("tests/test_all.py::TestAll::test_error", Errored),
            ("tests/test_all.py::TestAll::test_expected", Skipped),
            ("tests/test_all.py::TestAll::test_fail", Failed),
            ("tests/test_all.py::TestAll::test_leaves", Errored),
            ("tests/test_all.py::TestAll::test_pass", Passed),
            ("tests/test_all.py::TestAll::test_prints", Passed),
            ("tests/test_all.py::TestAll::test_skip", Skipped),
            ("tests/test_all.py::TestAll::test_subs", Failed),
            ("tests/test_all.py::TestAll::test_subs_skip", Passed),
            ("tests/test_all.py::TestAll::test_unexpected", Failed),
            ("tests/test_all.py::TestDown::test_down", Errored),
            ("tests/test_all.py::TestSkipped::test_one", Skipped),
            ("tests/test_all.py::setUpClass (test_all.TestClass)", Errored),
        ],
    );
}

#[test]
fn files_of_one_name_and_files_that_do_not_import_are_told_apart() {
    let case = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(VALUE)\n";
    let repository = Repository::with(&[
        ("pkg.py", "VALUE = 1\n"),
        ("a/test_x.py", &format!("from pkg import VALUE\n{case}")),
        ("b/test_x.py", &format!("VALUE = 0\n{case}")),
        ("c/__init__.py", ""),
        ("c/test_x.py", &format!("from c.help import VALUE\n{case}")),
        ("c/help.py", "VALUE = 2\n"),
        ("d/test_y.py", &format!("import no_such_module\n{case}")),
        ("d/test_z.py", &format!("import sys\nsys.exit(0)\n{case}")),
    ]);
    let expected = [
        ("a/test_x.py::T::test_a", Passed),
        ("b/test_x.py::T::test_a", Failed),
        ("c/test_x.py::T::test_a", Passed),
        ("d/test_y.py", Errored),
        ("d/test_z.py", Errored),
    ];
    check(&run(repository.root()), &expected);
    let less = run_less(repository.root(), &["a/test_x.py::T::test_a", "d/test_y.py"]);
    assert!(!less.verdicts().contains_key("a/test_x.py::T::test_a"));
}

#[test]
fn unittest_needs_nothing_that_is_not_in_the_standard_library() {
    let repository = Repository::with(&[(
        "test_a.py",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n",
    )]);
    let runner = detect(repository.root()).unwrap();
    assert_eq!((runner.framework(), runner.languages()), ("unittest", &["python".to_owned()][..]));
}
