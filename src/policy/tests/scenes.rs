//! Edits as features.

use crate::policy::{OptionsBuilder, Past, Role, Scene};
use crate::syntax::Languages;
use crate::text::Edit;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Loaded once: the queries take longer to compile than all of these tests.
static LANGUAGES: LazyLock<Languages> = LazyLock::new(Languages::builtin);

const CODE: &str = "\
LIMIT = 10


def find(items, wanted, unused):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        low = middle + 1
    return -1
";

/// The features of putting `new` where `old` stands first behind `anchor`, and the names that come and go.
fn features(anchor: &str, old: &str, new: &str) -> (BTreeSet<String>, Vec<String>, Vec<String>) {
    let parsed = LANGUAGES.by_name("python").unwrap().parse(CODE.as_bytes());
    let from = CODE.find(anchor).expect("the anchor is there");
    let at = from + CODE[from..].find(old).expect("the old text is there");
    let edit = Edit::new(at..at + old.len(), new.as_bytes());
    let mut builder = OptionsBuilder::new();
    builder.option();
    let names = Scene::new(&parsed).describe("kind", &[edit], &mut builder);
    let options = builder.finish();
    let features = options.named(0).map(|(name, _)| name.to_owned()).collect();
    (features, names.added.into_iter().collect(), names.removed.into_iter().collect())
}

#[track_caller]
fn check(anchor: &str, (old, new): (&str, &str), wanted: &[&str], unwanted: &[&str]) {
    let (features, _, _) = features(anchor, old, new);
    for name in wanted {
        assert!(features.contains(*name), "no {name} in {features:#?}");
    }
    for name in unwanted {
        assert!(!features.contains(*name), "{name} in {features:#?}");
    }
}

#[test]
fn an_edit_of_a_part_of_a_token_is_one_of_the_token() {
    check("while", ("=", ""), &["change=<=><", "grown=none"], &["change==>nothing"]);
    check("wanted:", ("ed", ""), &["change=name>name"], &[]);
    check("+ 1", ("1", "12"), &["change=1>number", "kind*new=kind*number"], &[]);
}

#[test]
fn an_edit_is_described_by_what_it_stands_in() {
    check(
        "while",
        ("<=", "<"),
        &["statement=Loop", "expression=Comparison", "in=Comparison.Operator", "depth=1"],
        &["assigned", "top_level"],
    );
    check(
        "return middle",
        ("middle", "low"),
        &["statement=Return", "expression=Name", "in=Return.Value", "depth=3", "only_statement"],
        &[],
    );
    check("LIMIT", ("10", "11"), &["top_level", "depth=0"], &["head", "quarter=0"]);
    check("def find", ("wanted", "other"), &["head"], &["top_level"]);
    check("    return -1", ("return", "yield"), &["last_statement", "quarter=3"], &[]);
}

#[test]
fn variables_that_come_into_use_and_go_out_of_it_are_told() {
    check("wanted:", ("wanted", "unused"), &["revives_unused", "kind*revives_unused=kind"], &[]);
    check("return middle", ("middle", "low"), &["adds_variable"], &["revives_unused"]);
    check("return middle", ("middle", "LIMIT"), &["adds_foreign_name"], &["adds_variable"]);
    check("wanted:", ("wanted", "low"), &["forgets_variable"], &["adds_foreign_name"]);
}

#[test]
fn keywords_are_no_names() {
    let (_, added, removed) = features("return -1", "return -1", "return None if low else self.a");
    assert_eq!((added, removed), (vec!["a".to_owned(), "low".to_owned()], vec![]));
}

#[test]
fn sizes_are_told_by_doublings_and_growth() {
    check("middle + 1", (" + 1", ""), &["grown=less", "old_size=2", "edits=1"], &[]);
    let longer = "middle + 1 + (low * high) - len(items)";
    check("low = middle + 1", ("middle + 1", longer), &["grown=much"], &["grown=some"]);
    check("    return -1", ("    return -1\n", ""), &["grown=less", "new=nothing"], &[]);
}

#[test]
fn edits_at_the_ends_of_a_file_and_of_none_are_described() {
    check("return -1", ("1\n", "1"), &["kind=kind"], &[]);
    check("LIMIT", ("LIMIT", ""), &["new=nothing", "in=Assignment.Target"], &[]);
    let parsed = LANGUAGES.by_name("python").unwrap().parse(&b""[..]);
    let mut builder = OptionsBuilder::new();
    builder.option();
    let scene = Scene::new(&parsed);
    scene.describe("kind", &[], &mut builder);
    scene.describe("kind", &[Edit::new(0..0, *b"x = 1\n")], &mut builder);
    assert!(builder.finish().named(0).count() > 5);
}

#[test]
fn a_kind_that_works_oftener_than_others_has_an_advantage() {
    let mut past = Past::default();
    let of = |past: &Past, kind: &str| past.advantage(Role::Solver, kind);
    assert!(of(&past, "a").abs() < 1e-12);
    past.note(Role::Solver, "a", (60, 20));
    past.note(Role::Solver, "a", (40, 30));
    past.note(Role::Solver, "b", (100, 10));
    // What the other role does is another matter.
    past.note(Role::Injector, "c", (1000, 1000));
    assert!(of(&past, "a") > 0.3 && of(&past, "b") < -0.3);
    assert!(of(&past, "new").abs() < 1e-12, "nothing is known of it");
    let text = serde_json::to_string(&past).unwrap();
    assert_eq!(text, r#"{"injector":{"c":[1000,1000]},"solver":{"a":[100,50],"b":[100,10]}}"#);
    assert_eq!(serde_json::from_str::<Past>(&text).unwrap(), past);
}
