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
