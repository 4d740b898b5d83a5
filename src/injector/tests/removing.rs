//! Functions removed with their callers mended.

use super::super::Strategy;
use super::{Repository, python, text};
use crate::text::apply_edits;

/// What is left of `a.py` once the function named is removed with its callers mended; `None` where
/// that is not offered.
fn removed(source: &str, others: &[(&str, &str)], name: &str) -> Option<String> {
    let code = [&[("a.py", source)][..], others].concat();
    let repository = Repository::new("python", &code, &[("test_a.py", "import a\n")]);
    let mut code = repository.survey(Strategy::Removal, None).expect("code");
    let index = code.files().iter().position(|file| file.path.as_str() == "a.py")?;
    let opened = code.open(index);
    let site = opened.sites.iter().find(|site| {
        site.family == "function_removed"
            && site.function.is_some_and(|at| opened.parsed.functions()[at].name == name)
    })?;
    let bytes = apply_edits(opened.parsed.source(), &site.edits).expect("no overlap");
    Some(String::from_utf8(bytes).expect("UTF-8"))
}

#[track_caller]
fn check(source: &str, expect: &str) {
    assert_eq!(removed(source, &[], "gone").as_deref(), Some(expect));
}

#[test]
fn a_removed_function_gives_way_to_its_first_argument() {
    check(
        "def gone(a, b=1):\n    return a + b\n\n\ndef kept(x):\n    return gone(x, b=2) * 2\n",
        "def kept(x):\n    return x * 2\n",
    );
}

#[test]
fn a_call_without_arguments_gives_way_to_null() {
    check(
        "def kept():\n    y = gone()\n    return y\n\n\ndef gone():\n    return 1\n",
        "def kept():\n    y = None\n    return y\n",
    );
}

#[test]
fn a_call_for_its_effect_goes_with_its_statement() {
    check(
        "def gone(x):\n    print(x)\n\n\ndef kept(x):\n    gone(x)\n    return x\n",
        "def kept(x):\n    return x\n",
    );
}

#[test]
fn a_method_that_only_its_class_calls_can_go() {
    let source = "class A:\n    def kept(self, x):\n        return self.gone(x)\n\n    def gone(self, x):\n        return -x\n";
    let left = removed(source, &[], "gone").expect("offered");
    assert!(left.contains("return x"), "{left}");
    assert!(!left.contains("gone"), "{left}");
}

#[test]
fn a_function_that_another_file_names_stays() {
    let source = "def gone(x):\n    return -x\n\n\ndef kept(x):\n    return x\n";
    assert!(removed(source, &[("b.py", "from a import gone\n")], "gone").is_none());
    assert!(removed(source, &[("b.py", "x = 1\n")], "gone").is_some());
}

#[test]
fn a_function_that_is_passed_on_as_a_value_stays() {
    let source = "def gone(x):\n    return -x\n\n\ndef kept(xs):\n    return map(gone, xs)\n";
    assert!(removed(source, &[], "gone").is_none());
    let listed =
        "__all__ = ['gone']\n\n\ndef gone(x):\n    return -x\n\n\ndef kept():\n    return 1\n";
    assert!(removed(listed, &[], "gone").is_none());
}

#[test]
fn a_small_file_can_lose_its_whole_content() {
    let repository = Repository::money();
    let mut code = repository.survey(Strategy::Removal, None).expect("code");
    let opened = code.open(0);
    let site = opened.sites.iter().find(|site| site.family == "content_removed").expect("small");
    let bytes = apply_edits(opened.parsed.source(), &site.edits).expect("no overlap");
    let left = String::from_utf8(bytes).expect("UTF-8");
    assert!(left.contains("def clamp(value, low=0, high=LIMIT):"), "{left}");
    assert!(!left.contains("result += "), "{left}");
    assert_eq!(python().syntax_errors(left.as_bytes()), 0);
}

#[test]
fn removals_take_code_away() {
    let repository = Repository::money();
    for draft in repository.drafts(Strategy::Removal, None, 3, 30) {
        let left = text(&draft.file);
        assert!(left.len() < super::MONEY.len(), "{left}");
        assert!(!left.contains('#'), "a removal leaves no comment: {left}");
    }
}
