//! Where functions, tests, bugs and edits stand, also while the text moves.

use crate::diff::Patch;
use crate::lsp::bugs::{Marks, Standing};
use crate::lsp::outline::Outline;
use crate::lsp::state::{Home, Known, KnownBug};
use crate::lsp::tests_of;
use crate::session::Bug;
use crate::syntax::Languages;
use crate::tree::{Changes, File, RelPath};
use std::path::PathBuf;

fn path(name: &str) -> RelPath {
    RelPath::parse(name.as_bytes()).unwrap()
}

fn outline(name: &str, text: &str) -> Outline {
    let languages = Languages::builtin();
    let language = languages.for_path(&path(name)).unwrap();
    Outline::of(language, text.as_bytes().to_vec(), language.is_test_path(&path(name)))
}

#[track_caller]
fn check_test(file: &str, text: &str, id: &str, expect: Option<&str>) {
    let outline = outline(file, text);
    let found = tests_of::place(id, &path(file), &outline);
    assert_eq!(found.map(|place| place.qualified.as_str()), expect);
}

const PYTHON: &str = "\
class One:
    def test_a(self):
        assert f(1)

class Two:
    def test_a(self):
        assert f(2)

def test_b():
    assert f(3)
";

#[test]
fn a_tests_id_means_the_test_in_its_class() {
    check_test("tests/test_x.py", PYTHON, "tests/test_x.py::One::test_a", Some("One.test_a"));
    check_test("tests/test_x.py", PYTHON, "tests/test_x.py::Two::test_a", Some("Two.test_a"));
    check_test("tests/test_x.py", PYTHON, "tests/test_x.py::test_b[1-a::b/c]", Some("test_b"));
}

#[test]
fn a_tests_id_means_no_test_of_another_file_and_none_with_a_longer_name() {
    check_test("tests/test_x.py", PYTHON, "tests/test_y.py::test_b", None);
    check_test("tests/test_x.py", PYTHON, "tests/test_x.py::other_test_b", None);
}

#[test]
fn a_go_subtest_is_of_its_test() {
    let text = "package a\n\nimport \"testing\"\n\nfunc TestT(t *testing.T) {\n\tt.Fatal(1)\n}\n";
    check_test("a_test.go", text, "a_test.go::TestT/one/two", Some("TestT"));
}

#[test]
fn the_innermost_function_is_the_one_at_a_line() {
    let outline = outline("m.py", "def f():\n    def g():\n        return 1\n    return g\n");
    assert_eq!(outline.function_at(2).map(|place| place.qualified.as_str()), Some("f.g"));
    assert_eq!(outline.function_at(3).map(|place| place.qualified.as_str()), Some("f"));
    assert_eq!(outline.function_at(9), None);
}

#[test]
fn places_move_with_the_lines_before_them() {
    let mut outline = outline("m.py", "def f():\n    return 1\n\ndef g():\n    return 2\n");
    outline.shift(1, 2);
    let lines: Vec<(u32, u32)> =
        outline.functions.iter().map(|place| (place.first, place.last)).collect();
    assert_eq!(lines, [(0, 3), (5, 6)]);
    outline.shift(0, -9);
    assert!(outline.functions.iter().all(|place| place.first <= place.last));
}

fn known() -> Known {
    let mut before = Changes::new();
    before.write(path("m.py"), File::plain(*b"def f(a):\n    return a + 1\n"));
    let mut after = Changes::new();
    after.write(path("m.py"), File::plain(*b"def f(a):\n    return a - 1\n"));
    let patch = Patch::between(&before, &after);
    let bug = Bug {
        artifact: "abc".to_owned(),
        strategy: "direct".to_owned(),
        order: 1,
        created: 0,
        failing: Vec::new(),
        attempts: 0,
        solved: 0,
        wrong: 0,
        rating: None,
        hidden: false,
        bug: patch.to_bytes(),
        weakening: Vec::new(),
        repair: None,
    };
    let bugs = vec![KnownBug { bug, patch, weakening: Patch::default() }];
    Known { bugs, ..Known::default() }
}

#[track_caller]
fn check_standing(text: &str, expect: Option<(Standing, u32)>) {
    let home = Home { folder: PathBuf::from("/r"), file: path("m.py") };
    let marks = Marks::of(&home, text.as_bytes(), None, &known());
    let found: Vec<_> = marks.bugs.iter().map(|mark| (mark.standing, mark.first)).collect();
    assert_eq!(found, expect.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_bug_fits_the_original_is_made_in_the_buggy_text_and_stands_nowhere_else() {
    check_standing("def f(a):\n    return a + 1\n", Some((Standing::Fits, 1)));
    check_standing("def f(a):\n    return a - 1\n", Some((Standing::Made, 1)));
    check_standing("# new\n\ndef f(a):\n    return a - 1\n", Some((Standing::Made, 3)));
    check_standing("def f(a):\n    return a * 1\n", None);
}
