//! Versions and probes in one text.

use crate::runner::weave;
use crate::runner::{Piece, Switch};
use crate::syntax::Languages;
use crate::tree::{Changes, File, RelPath};
use std::collections::BTreeSet;

fn switch() -> Switch {
    let text = r#"
        program = "p"
        support = "s"
        begin = "{ match on() {"
        version = " @N@ => "
        rest = " _ => "
        end = " } }"
        probe = "hit(@N@); "
        open = "{ "
        close = " }"
        never = ["const fn"]
    "#;
    toml::from_str(text).unwrap()
}

fn file(text: &str) -> Changes {
    let mut changes = Changes::new();
    changes.write(RelPath::parse(b"src/lib.rs").unwrap(), File::plain(text.as_bytes()));
    changes
}

fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| String::from_utf8_lossy(&piece.text).into_owned()).collect()
}

/// What is woven of candidates, each a whole text, and the places of those that are left alone.
#[track_caller]
fn weaves(old: &str, candidates: &[&str], woven: &str, alone: &[usize]) {
    let candidates: Vec<Changes> = candidates.iter().map(|text| file(text)).collect();
    let result = weave::versions(&file(old), &Languages::builtin(), &switch(), &candidates);
    assert_eq!(result.alone, alone);
    let all: String = result.woven.files.values().map(|pieces| text(pieces)).collect();
    assert_eq!(all, woven);
}

#[track_caller]
fn probes(source: &str, woven: &str, lines: &[&[u32]]) {
    let paths = BTreeSet::from([RelPath::parse(b"src/lib.rs").unwrap()]);
    let (result, probes) = weave::probes(&file(source), &Languages::builtin(), &switch(), &paths);
    let all: String = result.files.values().map(|pieces| text(pieces)).collect();
    assert_eq!(all, woven);
    let found: Vec<&[u32]> = probes.iter().map(|probe| probe.lines.as_slice()).collect();
    assert_eq!(found, lines);
}

#[test]
fn bodies_become_versions_and_equal_ones_share_one() {
    weaves(
        "fn f() -> u8 { 1 }\nfn g() -> u8 { 5 }\n",
        &[
            "fn f() -> u8 { 2 }\nfn g() -> u8 { 5 }\n",
            "fn f() -> u8 { 2 }\nfn g() -> u8 { 6 }\n",
            "fn f() -> u8 { 3 }\nfn g() -> u8 { 5 }\n",
        ],
        "fn f() -> u8 { match on() { 1 | 2 => { 2 } 3 => { 3 } _ => { 1 } } }\n\
         fn g() -> u8 { match on() { 2 => { 6 } _ => { 5 } } }\n",
        &[],
    );
}

#[test]
fn what_differs_outside_of_bodies_or_in_code_for_build_time_is_left_alone() {
    weaves(
        "const A: u8 = 1;\nconst fn c() -> u8 { 1 }\nfn f() -> u8 { 1 }\n",
        &[
            "const A: u8 = 2;\nconst fn c() -> u8 { 1 }\nfn f() -> u8 { 1 }\n",
            "const A: u8 = 1;\nconst fn c() -> u8 { 2 }\nfn f() -> u8 { 1 }\n",
            "const A: u8 = 1;\nconst fn c() -> u8 { 1 }\nfn f() -> u16 { 1 }\n",
            "const A: u8 = 1;\nconst fn c() -> u8 { 1 }\nfn f() -> u8 { 2 }\n",
        ],
        "const A: u8 = 1;\nconst fn c() -> u8 { 1 }\n\
         fn f() -> u8 { match on() { 4 => { 2 } _ => { 1 } } }\n",
        &[0, 1, 2],
    );
}

#[test]
fn a_nested_function_is_part_of_the_one_around_it() {
    weaves(
        "fn f() { fn g() { a(); } g() }\n",
        &["fn f() { fn g() { b(); } g() }\n"],
        "fn f() { match on() { 1 => { fn g() { b(); } g() } _ => { fn g() { a(); } g() } } }\n",
        &[],
    );
}

#[test]
fn a_group_that_is_left_out_takes_its_versions_with_it() {
    let old = file("fn f() -> u8 { 1 }\n");
    let candidates = [file("fn f() -> u8 { 2 }\n"), file("fn f() -> u8 { 3 }\n")];
    let result = weave::versions(&old, &Languages::builtin(), &switch(), &candidates);
    let [whole, first, second] = result.woven.parents[..] else { panic!("three groups") };
    assert_eq!((whole, first, second), (None, Some(0), Some(0)));
    assert_eq!(result.numbers, [(1, vec![1]), (2, vec![2])]);
}

#[test]
fn statements_and_values_of_cases_have_probes() {
    probes(
        "fn f(n: u8) -> u8 {\n    a();\n    match n {\n        1 => g(\n            n),\n        _ => { b(); 2 }\n    }\n}\n",
        "fn f(n: u8) -> u8 {\n    hit(0); a();\n    hit(1); match n {\n        1 => { hit(2); g(\n            n) },\n        _ => { hit(3); b(); hit(4); 2 }\n    }\n}\n",
        &[&[2], &[3], &[4, 5], &[6], &[6]],
    );
}

#[test]
fn code_for_build_time_and_for_tests_has_no_probes() {
    probes(
        "const fn c() -> u8 { 1 }\nfn f() { if x {\n a(); } }\n#[test]\nfn t() { b(); }\n",
        "const fn c() -> u8 { 1 }\nfn f() { hit(0); if x {\n hit(1); a(); } }\n#[test]\nfn t() { b(); }\n",
        &[&[2], &[3]],
    );
}

/// What is woven of edits whose calls are noted, and the places of the edits that are versions.
#[track_caller]
fn watches(old: &str, edits: &[&str], woven: &str, versions: &[usize]) {
    let notes = r#"
        program = "p"
        support = "s"
        nothing = "()"
        value = "@V@;"
        writer = "Formatter"
        written = "SHOWN;"
        before = "<@F@ @NAME@(@ARGUMENTS@) @RETURNS@ "
        after = " lent @LENT@>"
    "#;
    let switch = Switch { notes: Some(toml::from_str(notes).unwrap()), ..switch() };
    let edits: Vec<Changes> = edits.iter().map(|text| file(text)).collect();
    let path = RelPath::parse(b"src/lib.rs").unwrap();
    let languages = Languages::builtin();
    let result = weave::watched(&file(old), &languages, &switch, &path, &edits).unwrap();
    let all: String = result.woven.files.values().map(|pieces| text(pieces)).collect();
    assert_eq!(all, woven);
    assert_eq!(result.functions.keys().copied().collect::<Vec<_>>(), versions);
}

#[test]
fn calls_of_every_function_and_of_its_versions_are_noted() {
    watches(
        "fn f(n: &mut u8, m: u8) -> u8 { 1 }\nfn g() {}\nconst A: u8 = 1;\n",
        &[
            "fn f(n: &mut u8, m: u8) -> u8 { 2 }\nfn g() {}\nconst A: u8 = 1;\n",
            "fn f(n: &mut u8, m: u8) -> u8 { 1 }\nfn g() {}\nconst A: u8 = 2;\n",
        ],
        "fn f(n: &mut u8, m: u8) -> u8 { match on() { 1 => <0 f(n;m;) u8 { 2 } lent n;> \
         _ => <0 f(n;m;) u8 { 1 } lent n;> } }\n\
         fn g() { match on() { _ => <1 g() () {} lent > } }\nconst A: u8 = 1;\n",
        &[0],
    );
}

#[test]
fn what_a_result_may_borrow_from_is_not_looked_at_afterwards() {
    watches(
        "impl A { fn f(&mut self) -> &u8 { &self.0 } fn g(self: Box<Self>) {} }\n",
        &[],
        "impl A { fn f(&mut self) -> &u8 { match on() { _ => <0 A::f(self;) &u8 { &self.0 } lent > } } \
         fn g(self: Box<Self>) { match on() { _ => <1 A::g(self;) () {} lent > } } }\n",
        &[],
    );
}

#[test]
fn what_is_written_to_a_formatter_is_what_its_value_is_shown_as() {
    watches(
        "impl Display for A { fn fmt(&self, f: &mut Formatter<'_>) -> Result { g() } }\n",
        &[],
        "impl Display for A { fn fmt(&self, f: &mut Formatter<'_>) -> Result { match on() { _ => \
         <0 A::fmt(self;f;) Result { g() } lent SHOWN;> } } }\n",
        &[],
    );
}
