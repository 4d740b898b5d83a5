//! From ids and logs to tests and lines.

use super::super::locate::{lines_named, locate, open};
use super::{TEST_MONEY, only, path, tree};
use crate::syntax::Languages;

const OTHER: &str = "\
def test_total():
    assert True


class TestOther:
    def test_pay(self):
        assert True
";

#[track_caller]
fn check(id: &str, expect: Option<&str>) {
    let files = [("test_money.py", TEST_MONEY), ("tests/test_other.py", OTHER)];
    let paths = [path("test_money.py"), path("tests/test_other.py")];
    let open = open(&tree(&files), &only("python"), &paths);
    let found = locate(id, &open).map(|place| {
        let file = &open[place.file];
        format!("{} {}", file.path, file.parsed.tests()[place.test.unwrap()].qualified)
    });
    assert_eq!(found.as_deref(), expect, "{id}");
}

#[test]
fn an_id_names_a_function_of_its_file() {
    check("test_money.py::test_total", Some("test_money.py test_total"));
    check("tests/test_other.py::test_total", Some("tests/test_other.py test_total"));
    check("test_money.py::TestAccount::test_pay", Some("test_money.py TestAccount.test_pay"));
    check(
        "tests/test_other.py::TestOther::test_pay",
        Some("tests/test_other.py TestOther.test_pay"),
    );
}

#[test]
fn parameters_and_subtests_are_one_function() {
    check("test_money.py::test_clamp[1]", Some("test_money.py test_clamp"));
    check("test_money.py::test_clamp[a::b.c (d)]", Some("test_money.py test_clamp"));
    check("test_money.TestAccount.test_pay (i=1)", Some("test_money.py TestAccount.test_pay"));
    check("test_money.py::test_total#2", Some("test_money.py test_total"));
}

#[test]
fn dotted_ids_name_their_module() {
    check("tests.test_other.TestOther.test_pay", Some("tests/test_other.py TestOther.test_pay"));
    check("test_money.TestAccount.test_pay", Some("test_money.py TestAccount.test_pay"));
}

#[test]
fn an_id_of_no_known_test_names_none() {
    check("test_money.py::test_nothing", None);
    check("README.rst::README.rst", None);
    check("", None);
}

#[test]
fn an_id_that_leaves_two_tests_open_names_none() {
    check("test_pay", None);
}

#[test]
fn rust_tests_in_modules_are_found() {
    let rust = only("rust");
    let source = "mod inner {\n    #[test]\n    fn parses() {\n        assert!(true);\n    }\n}\n\n#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n";
    let open = open(&tree(&[("tests/it.rs", source)]), &rust, &[path("tests/it.rs")]);
    let name = |id: &str| {
        locate(id, &open)
            .map(|place| open[place.file].parsed.tests()[place.test.unwrap()].name.clone())
    };
    assert_eq!(name("it::inner::parses").as_deref(), Some("parses"));
    assert_eq!(name("tests/it.rs::adds").as_deref(), Some("adds"));
    assert_eq!(name("adds").as_deref(), Some("adds"));
}

#[test]
fn subtests_behind_a_slash_are_their_test_and_a_program_is_one_test() {
    let languages = Languages::builtin();
    let go = "package a\n\nfunc TestTable(t *testing.T) {\n}\n";
    let c = "#include <assert.h>\nint main(void) {\n    assert(1);\n    return 0;\n}\n";
    let files = [("b/a_test.go", go), ("tests/parse.c", c)];
    let open = open(&tree(&files), &languages, &[path("b/a_test.go"), path("tests/parse.c")]);
    let found = |id: &str| {
        let place = locate(id, &open)?;
        let file = &open[place.file];
        let name = place.test.map_or("", |test| file.parsed.tests()[test].name.as_str());
        Some(format!("{} {name}", file.path))
    };
    assert_eq!(
        found("b/a_test.go::TestTable/two.words/deep").as_deref(),
        Some("b/a_test.go TestTable")
    );
    assert_eq!(found("tests/parse.c::parser.numbers").as_deref(), Some("tests/parse.c "));
    assert_eq!(found("b/a_test.go::TestOther"), None);
    assert_eq!(found("tests/other.c::parser"), None);
}

#[test]
fn a_log_names_the_lines_where_tests_stopped() {
    let log = b"E assert 1 == 2\n\ntest_money.py:9: AssertionError\nx\ntest_money.py:7: in f\ntest_money.py:9:";
    assert_eq!(lines_named(log, &path("test_money.py")), [7, 9]);
    assert!(lines_named(log, &path("other.py")).is_empty());
    let unittest = b"  File \"/home/a/test_money.py\", line 21, in test_pay\n";
    assert_eq!(lines_named(unittest, &path("test_money.py")), [21]);
}
