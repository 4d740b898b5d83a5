//! Where suspicion falls.

use super::{most, outcomes, path, tree};
use crate::solver::evidence::Evidence;
use crate::solver::source::Source;
use crate::solver::{hints, reach, words};
use crate::syntax::Languages;
use std::collections::{BTreeMap, BTreeSet};

const CODE: &str = "\
def first(a):
    return a + 1


def second(a):
    b = a * 2
    return b


LIMIT = 10


def third(a):
    return a > LIMIT
";
const TESTS: &str = "\
from code import first, second, third

def test_first():
    assert first(1) == 2

def test_second():
    assert second(2) == 4

def test_third():
    assert third(11)
";

fn sources(files: &[(&str, &str)]) -> Vec<Source> {
    let tree = tree(files);
    let languages = Languages::builtin();
    files.iter().map(|(name, _)| Source::open(&tree, &languages, &path(name)).unwrap()).collect()
}

#[test]
fn a_line_that_only_failing_tests_execute_is_the_most_suspicious() {
    let lines =
        |lines: &[u32]| BTreeMap::from([(path("code.py"), lines.iter().copied().collect())]);
    let coverage = BTreeMap::from([
        ("t::a".to_owned(), lines(&[2, 6])),
        ("t::b".to_owned(), lines(&[2])),
        ("t::c".to_owned(), lines(&[2, 13])),
    ]);
    let failing = BTreeSet::from(["t::a".to_owned()]);
    let evidence = Evidence::measured(&coverage, &failing, &|_| true);
    let suspicion = evidence.suspicion(&failing, &sources(&[("code.py", CODE)]));
    let at = |line| most(&suspicion, &path("code.py"), line);
    assert!(at(6) > at(2) && at(2) > at(13), "{} {} {}", at(6), at(2), at(13));
    assert!((at(2) - 1.0 / 3.0_f64.sqrt()).abs() < 1e-9, "Ochiai: {}", at(2));
}

#[test]
fn without_coverage_the_functions_that_a_failing_test_names_are_suspicious() {
    let code = sources(&[("code.py", CODE)]);
    let tests = sources(&[("test_code.py", TESTS)]);
    let outcomes = outcomes(
        &["test_code.py::test_third"],
        &["test_code.py::test_first", "test_code.py::test_second"],
    );
    let evidence = reach::guessed(&code, &tests, &outcomes);
    let failing = BTreeSet::from(["test_code.py::test_third".to_owned()]);
    let suspicion = evidence.suspicion(&failing, &code);
    let at = |line| most(&suspicion, &path("code.py"), line);
    assert!(at(14) > at(2) && at(14) > at(6));
    assert!(at(10) > at(2), "a constant is as suspicious as what names it, a little less");
}

#[test]
fn a_log_hints_at_places_in_the_tree() {
    #[track_caller]
    fn check(log: &str, expected: &[(&str, u32)]) {
        let tree = tree(&[("pkg/x.py", ""), ("src/eval.rs", "")]);
        let found: Vec<_> = hints::places(log.as_bytes(), &tree).into_keys().collect();
        let expected: Vec<_> = expected.iter().map(|(name, line)| (path(name), *line)).collect();
        assert_eq!(found, expected);
    }
    check("  File \"/root/repo/pkg/x.py\", line 12, in f\n", &[("pkg/x.py", 12)]);
    check("  File &quot;pkg/x.py&quot;, line 3\n", &[("pkg/x.py", 3)]);
    check("thread 'a' panicked at src/eval.rs:7:5:\nboom", &[("src/eval.rs", 7)]);
    check("  --> src/eval.rs:9:1\n", &[("src/eval.rs", 9)]);
    check("pkg/x.py:5: TypeError\n", &[("pkg/x.py", 5)]);
    check("elsewhere/y.py:5: no\n12:30:11 nothing\n", &[]);
}

#[test]
fn free_names_are_no_members_no_strings_and_no_keywords_of_calls() {
    let names: Vec<_> = words::free_names(b"f(a.b, key=c, \"d\") == 'e' + g").into_iter().collect();
    assert_eq!(names, ["a", "c", "f", "g"]);
}

#[test]
fn parts_of_names_do_not_depend_on_their_style() {
    for name in ["read_next", "readNext", "ReadNext", "_read_next"] {
        let parts: Vec<_> = words::parts(name).into_iter().collect();
        assert_eq!(parts, ["next", "read"], "{name}");
    }
}
