//! Where a bug is and what is broken, from diffs of small files.

use crate::practice::{Rung, behaviours, clues};
use crate::syntax::Languages;
use crate::tree::{Changes, File, RelPath};

const MONEY: &str = "def half(cents):\n    if cents <= 0:\n        return 0\n    cents = cents + 1\n    return cents // 2\n";
const TESTS: &str = "from money import half\n\n\ndef test_half():\n    assert half(4) == 2\n    assert half(0) == 0\n\n\ndef test_odd():\n    assert half(5) == 3\n";

fn tree(files: &[(&str, &str)]) -> Changes {
    let path = |path: &str| RelPath::parse(path.as_bytes()).expect("a path");
    files.iter().map(|(name, text)| (path(name), Some(File::plain(text.as_bytes())))).collect()
}

fn of(buggy: &str) -> crate::practice::Clues {
    let base = tree(&[("money.py", MONEY)]);
    clues(&base, &tree(&[("money.py", buggy)]), &Languages::builtin(), "direct")
}

/// Family and hints of one edit of `MONEY`.
#[track_caller]
fn check(old: &str, new: &str, family: &str, line: u32) {
    assert_eq!(MONEY.matches(old).count(), 1, "{old}");
    let clues = of(&MONEY.replacen(old, new, 1));
    assert_eq!(clues.families(), [format!("direct/{family}")], "{clues:?}");
    assert_eq!(clues.places.len(), 1, "{clues:?}");
    assert_eq!(clues.places[0].line, line);
    assert_eq!(clues.places[0].function.as_deref(), Some("half"));
}

#[test]
fn an_edit_that_an_operator_makes_has_its_family() {
    check("cents <= 0", "cents < 0", "comparison_boundary", 2);
    check("cents + 1", "cents - 1", "arithmetic", 4);
    check("    cents = cents + 1\n", "", "remove_assignment", 4);
    check("    if cents <= 0:\n        return 0\n", "", "branch_removed", 2);
}

#[test]
fn an_edit_that_none_makes_is_told_by_its_shape() {
    check("return cents // 2", "return divmod(cents, 2)[1]", "lines_rewritten", 5);
    check("    return cents // 2\n", "    cents += 7\n    return cents // 2\n", "lines_added", 5);
}

#[test]
fn several_edits_of_a_file_have_a_family_each() {
    let clues = of(&MONEY.replace("<= 0", "< 0").replace("// 2", "// 3"));
    assert_eq!(clues.families(), ["direct/comparison_boundary", "direct/constant"]);
}

#[test]
fn the_ladder_tells_file_function_line_and_family_of_a_bug() {
    let clues = of(&MONEY.replace("<= 0", "< 0"));
    let told: Vec<String> = Rung::ALL.iter().map(|rung| rung.tell(&clues)).collect();
    let expect = [
        "look in money.py",
        "look at half in money.py",
        "look at line 2 of money.py, as it was shown",
        "at line 2 of money.py, a comparison includes or excludes its limit wrongly (`<` for `<=`)",
    ];
    assert_eq!(told, expect);
}

#[test]
fn a_file_that_is_gone_and_one_of_no_language_have_clues_too() {
    let base = tree(&[("a.unknown", "1\n2\n")]);
    let mut gone = Changes::new();
    gone.delete(RelPath::parse(b"a.unknown").expect("a path"));
    let clues = clues(&base, &gone, &Languages::builtin(), "removal");
    assert_eq!(clues.families(), ["removal/lines_removed"]);
    assert_eq!(clues.places[0].was, ["1", "2"]);
}

/// What is told where the visible tests are `weak`.
#[track_caller]
fn check_broken(weak: &str, expect: &[(&str, &[&str], &[&str])]) {
    let base = tree(&[("test_money.py", TESTS)]);
    let told = behaviours(
        &base,
        &tree(&[("test_money.py", weak)]),
        &Changes::new(),
        &Languages::builtin(),
    );
    let told: Vec<_> = told
        .iter()
        .map(|told| {
            let lines = |lines: &[String]| {
                lines.iter().map(|line| line.trim().to_owned()).collect::<Vec<_>>()
            };
            (told.text.as_str(), lines(&told.missing), lines(&told.instead))
        })
        .collect();
    let expect: Vec<_> = expect
        .iter()
        .map(|(text, missing, instead)| {
            let lines =
                |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
            (*text, lines(missing), lines(instead))
        })
        .collect();
    assert_eq!(told, expect);
}

#[test]
fn what_is_broken_is_told_by_test_and_lines() {
    check_broken(
        &TESTS.replace("    assert half(0) == 0\n", ""),
        &[(
            "what test_half in test_money.py checks is broken: these lines were taken out",
            &["assert half(0) == 0"],
            &[],
        )],
    );
    check_broken(
        &TESTS.replace("half(5) == 3", "half(5) > 0"),
        &[(
            "what test_odd in test_money.py checks is broken: these lines were weakened",
            &["assert half(5) == 3"],
            &["assert half(5) > 0"],
        )],
    );
    check_broken(TESTS, &[]);
}

#[test]
fn a_test_that_was_taken_out_whole_is_said_to_be() {
    let weak = TESTS.replace("\n\ndef test_odd():\n    assert half(5) == 3\n", "");
    let base = tree(&[("test_money.py", TESTS)]);
    let told = behaviours(
        &base,
        &tree(&[("test_money.py", &weak)]),
        &Changes::new(),
        &Languages::builtin(),
    );
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].text.ends_with("the whole test was taken out"), "{told:?}");
}
