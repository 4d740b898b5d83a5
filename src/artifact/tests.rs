//! The five parts: reading, refusing, writing, id.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn files() -> BTreeMap<String, Vec<u8>> {
    let files: [(&str, &[u8]); 5] = [
        ("bug_inject.diff", b"bug\r\n"),
        ("test_weaken.diff", b"caf\xe9\n"),
        ("test_script.sh", b"pytest -rA"),
        ("test_parser.py", b"import json\n"),
        ("test_files.txt", b"tests/test_a.py\ntests/test b.py\n"),
    ];
    files.map(|(name, content)| (name.to_owned(), content.to_vec())).into()
}

/// What becomes of the good files with some of them replaced (`None`: taken away).
fn changed(changes: &[(&str, Option<&[u8]>)]) -> Result<Artifact, Malformed> {
    let mut files = files();
    for (name, content) in changes {
        match content {
            None => drop(files.remove(*name)),
            Some(content) => drop(files.insert((*name).to_owned(), content.to_vec())),
        }
    }
    Artifact::from_files(&files)
}

fn good() -> Artifact {
    changed(&[]).expect("the good files")
}

#[track_caller]
fn check(changes: &[(&str, Option<&[u8]>)], expect: Malformed) {
    assert_eq!(changed(changes), Err(expect));
}

#[test]
fn files_are_read_and_written_byte_for_byte() {
    let written: BTreeMap<_, _> =
        good().to_files().into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
    assert_eq!(written, files());
}

#[test]
fn other_files_are_ignored() {
    assert_eq!(changed(&[("README.md", Some(b"x"))]), Ok(good()));
}

#[test]
fn each_missing_part_is_named() {
    for part in Part::ALL {
        check(&[(part.name(), None)], Malformed::Missing(part));
        assert!(Malformed::Missing(part).to_string().starts_with(part.name()));
    }
}

#[test]
fn each_empty_part_is_named() {
    for part in Part::ALL {
        check(&[(part.name(), Some(b""))], Malformed::Empty(part));
        check(&[(part.name(), Some(b" \r\n\n"))], Malformed::Empty(part));
    }
}

#[test]
fn the_names_of_the_papers_prompts_are_taken() {
    let aliases = [
        ("bug_inject.diff", "bug_patch.diff"),
        ("test_weaken.diff", "test_patch.diff"),
        ("test_parser.py", "parse_test_output.py"),
    ];
    for (name, alias) in aliases {
        let content = files()[name].clone();
        assert_eq!(changed(&[(name, None), (alias, Some(&content))]), Ok(good()), "{alias}");
        assert_eq!(changed(&[(alias, Some(&content))]), Ok(good()), "{alias} beside its name");
        let part = Part::from_name(name).expect("a part");
        assert_eq!(Part::from_name(alias), Some(part));
        check(&[(alias, Some(b"other"))], Malformed::Conflict(part));
    }
    assert_eq!(Part::from_name("test_files.txt.bak"), None);
}

#[test]
fn test_files_may_have_carriage_returns_and_blank_lines() {
    let text: &[u8] = b"\r\ntests/test_a.py\r\n\n  \ntests/test b.py";
    assert_eq!(changed(&[("test_files.txt", Some(text))]), Ok(good()));
}

#[test]
fn test_files_keep_their_order() {
    let artifact = changed(&[("test_files.txt", Some(b"b\na\n"))]).unwrap();
    assert_eq!(artifact.content(Part::TestFiles), b"b\na\n");
}

#[test]
fn a_test_file_outside_the_tree_is_refused_with_its_line() {
    let cases: [(&[u8], usize, &str, PathRefusal); 4] = [
        (b"a\n../b\n", 2, "../b", PathRefusal::Leaves),
        (b"\n\n/etc/passwd\n", 3, "/etc/passwd", PathRefusal::Absolute),
        (b".GIT/config", 1, ".GIT/config", PathRefusal::VersionControl),
        (b"caf\xe9", 1, "caf\u{fffd}", PathRefusal::NotUtf8),
    ];
    for (text, line, path, reason) in cases {
        let expect = Malformed::TestFile { line, path: path.to_owned(), reason };
        check(&[("test_files.txt", Some(text))], expect);
    }
}

#[test]
fn a_test_file_named_twice_is_refused() {
    let path = RelPath::parse(b"a").unwrap();
    check(
        &[("test_files.txt", Some(b"a\nb\na\r\n"))],
        Malformed::DuplicateTestFile { line: 3, path },
    );
}

#[test]
fn json_is_text_where_it_can_be_and_base64_elsewhere() {
    let json = good().to_json();
    assert_eq!(json["bug_inject.diff"], "bug\r\n");
    assert_eq!(json["test_weaken.diff"], json!({"base64": "Y2Fm6Qo="}));
    assert_eq!(Artifact::from_json(&json), Ok(good()));
}

#[test]
fn json_that_is_no_artifact_is_refused() {
    assert_eq!(Artifact::from_json(&json!([])), Err(Malformed::NotAnObject));
    let with = |value: Value| {
        let mut json = good().to_json();
        json["test_script.sh"] = value;
        Artifact::from_json(&json)
    };
    let name = || "test_script.sh".to_owned();
    for value in
        [json!(1), json!(null), json!({}), json!({"base64": 1}), json!({"base64": "", "x": 1})]
    {
        assert_eq!(with(value), Err(Malformed::NotText { name: name() }));
    }
    assert!(matches!(with(json!({"base64": "?"})), Err(Malformed::Base64 { .. })));
    assert_eq!(with(json!("")), Err(Malformed::Empty(Part::TestScript)));
    assert_eq!(with(json!({"base64": "cHl0ZXN0IC1yQQ=="})), Ok(good()));
}

#[test]
fn the_id_is_a_fixed_function_of_the_content() {
    assert_eq!(good().id(), "ac6e6da531d4d0342ee847fde34fafa2b8fcf3acd7b202048cd4bd8e01794669");
    assert_eq!(Artifact::from_json(&good().to_json()).unwrap().id(), good().id());
}

#[test]
fn every_part_counts_in_the_id() {
    for part in Part::ALL {
        let other = changed(&[(part.name(), Some(b"other"))]).unwrap();
        assert_ne!(other.id(), good().id(), "{part}");
    }
    let moved = changed(&[
        ("test_script.sh", Some(&files()["test_parser.py"])),
        ("test_parser.py", Some(&files()["test_script.sh"])),
    ]);
    assert_ne!(moved.unwrap().id(), good().id());
}

proptest! {
    #[test]
    fn any_artifact_survives_files_and_json(
        parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 4),
        names in proptest::collection::btree_set("[a-z \u{e9}]{1,6}[a-z]", 1..5),
    ) {
        let part = |n: usize| [b"x".as_slice(), &parts[n]].concat();
        let artifact = Artifact {
            bug_inject: part(0),
            test_weaken: part(1),
            test_script: part(2),
            test_parser: part(3),
            test_files: names.iter().map(|name| RelPath::parse(name.as_bytes()).unwrap()).collect(),
        };
        let files = artifact.to_files().into_iter().map(|(name, content)| (name.to_owned(), content));
        prop_assert_eq!(Artifact::from_files(&files.collect()), Ok(artifact.clone()));
        prop_assert_eq!(Artifact::from_json(&artifact.to_json()), Ok(artifact));
    }
}

#[test]
fn a_mangled_artifact_is_malformed_or_comes_back_as_it_is() {
    let good = good().to_json().to_string();
    let words: [&[u8]; 9] = [
        b"\"bug_patch.diff\"",
        b"\"test_files.txt\":",
        b"null",
        b"../x",
        b"/etc/passwd\\n",
        b"\\ud800",
        b"{",
        b"\\u0000",
        b"\",",
    ];
    crate::dice::mangled::check("artifact", &[good.as_bytes()], &words, &|input| {
        let Ok(json) = serde_json::from_slice(input) else { return };
        if let Ok(artifact) = Artifact::from_json(&json) {
            let again = Artifact::from_json(&artifact.to_json()).expect("what is written is read");
            assert_eq!(again.id(), artifact.id());
            assert_eq!(again, artifact);
        }
    });
}
