//! Which paths are refused, and changes laid over a base.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn refused(path: impl AsRef<[u8]>, expect: PathRefusal) {
    let path = path.as_ref();
    assert_eq!(RelPath::parse(path), Err(expect), "{:?}", String::from_utf8_lossy(path));
}

#[track_caller]
fn accepted(path: &str) {
    assert_eq!(RelPath::parse(path.as_bytes()).map(|path| path.to_string()), Ok(path.to_owned()));
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text.as_bytes()).expect("a valid path")
}

fn file(text: &str) -> File {
    File::plain(text.as_bytes())
}

fn changes(entries: &[(&str, Option<&str>)]) -> Changes {
    entries.iter().map(|(name, text)| (path(name), text.map(file))).collect()
}

#[test]
fn ordinary_paths_are_taken_as_they_are() {
    for name in
        ["a", "src/a.py", "with space/x y", " lead", "trail ", "-dash", "quo\"te'", "caf\u{e9}"]
    {
        accepted(name);
    }
    for name in
        ["...", "a..b", "..a", "a.", ".github/x", ".gitignore", "git", "a.git", ".gitx", "digit~1"]
    {
        accepted(name);
    }
    accepted(&"x".repeat(4096));
}

#[test]
fn paths_that_leave_the_tree_are_refused() {
    for name in ["..", "../x", "a/..", "a/../b", "a/../../b"] {
        refused(name, PathRefusal::Leaves);
    }
    for name in ["/", "/etc/passwd", "//x"] {
        refused(name, PathRefusal::Absolute);
    }
}

#[test]
fn paths_with_a_second_spelling_are_refused() {
    for name in [".", "./x", "a/.", "a//b", "a/", "a/./b"] {
        refused(name, PathRefusal::NotNormalised);
    }
    for name in ["a\\b", "c:x", "a:stream", "a\nb", "a\tb", "a\r", "\0", "a\u{7f}", "a\u{85}"] {
        refused(name, PathRefusal::BadCharacter);
    }
}

#[test]
fn empty_long_and_undecodable_paths_are_refused() {
    refused("", PathRefusal::Empty);
    refused("x".repeat(4097), PathRefusal::TooLong);
    refused(b"caf\xe9", PathRefusal::NotUtf8);
}

#[test]
fn version_control_is_refused_in_every_spelling() {
    for name in [
        ".git",
        ".GIT",
        ".Git",
        ".git.",
        ".git ",
        ".git. .",
        "git~1",
        "GIT~1",
        "git~27",
        ".g\u{200c}it",
        "\u{feff}.git",
    ] {
        refused(name, PathRefusal::VersionControl);
        refused(format!("sub/{name}/hooks/x"), PathRefusal::VersionControl);
    }
    for name in
        [".gitattributes", ".GitAttributes", "gitatt~1", ".gitmodules", ".GITMODULES ", "GITMOD~1"]
    {
        refused(name, PathRefusal::VersionControl);
        refused(format!("sub/{name}"), PathRefusal::VersionControl);
    }
}

#[test]
fn a_path_knows_its_parts() {
    let parts = |text: &str| {
        let path = path(text);
        [path.parent(), path.file_name(), path.extension()].map(str::to_owned)
    };
    assert_eq!(parts("src/a/b.test.py"), ["src/a", "b.test.py", "py"]);
    assert_eq!(parts("Makefile"), ["", "Makefile", ""]);
    assert_eq!(parts("a.b/c"), ["a.b", "c", ""]);
}

#[test]
fn a_deleted_file_is_not_an_unchanged_one() {
    let changes = changes(&[("gone", None), ("new", Some("n"))]);
    assert_eq!(changes.get(&path("gone")), Some(None));
    assert_eq!(changes.get(&path("other")), None);
    assert_eq!(changes.get(&path("new")), Some(Some(&file("n"))));
    assert_eq!((changes.len(), changes.is_empty(), Changes::new().is_empty()), (2, false, true));
    assert_eq!(Tree::paths(&changes), [path("new")]);
    assert_eq!(changes.read(&path("gone")), None);
    assert!(changes.has(&path("new")) && !changes.has(&path("gone")));
}

#[test]
fn an_overlay_shows_changes_and_else_the_base() {
    let base = changes(&[("kept", Some("1")), ("gone", Some("2")), ("edited", Some("3"))]);
    let over =
        changes(&[("gone", None), ("edited", Some("4")), ("added", Some("5")), ("never", None)]);
    let all = Overlaid { base: &base, changes: &over };
    assert_eq!(all.paths(), ["added", "edited", "kept"].map(path));
    for (name, expect) in [
        ("kept", Some("1")),
        ("gone", None),
        ("edited", Some("4")),
        ("added", Some("5")),
        ("none", None),
    ] {
        assert_eq!(all.read(&path(name)), expect.map(file), "{name}");
        assert_eq!(all.has(&path(name)), expect.is_some(), "{name}");
    }
}

#[test]
fn a_restored_path_shows_the_base_again() {
    let base = changes(&[("x", Some("1"))]);
    let mut over = Changes::new();
    over.delete(path("x"));
    assert!(!Overlaid { base: &base, changes: &over }.has(&path("x")));
    over.restore(&path("x"));
    assert!(Overlaid { base: &base, changes: &over }.has(&path("x")));
    assert_eq!(over, Changes::new());
}

#[test]
fn changes_that_say_what_the_base_says_are_left_out() {
    let base = changes(&[
        ("same", Some("1")),
        ("edited", Some("2")),
        ("gone", Some("3")),
        ("mode", Some("4")),
    ]);
    let mut over =
        changes(&[("same", Some("1")), ("edited", Some("x")), ("gone", None), ("never", None)]);
    over.write(path("mode"), File { executable: true, ..file("4") });
    let left: Vec<_> = over.against(&base).paths().cloned().collect();
    assert_eq!(left, ["edited", "gone", "mode"].map(path));
}

#[test]
fn a_digest_tells_path_content_mode_and_deletion_apart() {
    let mut all = std::collections::BTreeSet::new();
    let executable = File { executable: true, ..file("1") };
    let mut with_mode = Changes::new();
    with_mode.write(path("a"), executable);
    let different = [
        Changes::new(),
        changes(&[("a", Some("1"))]),
        changes(&[("b", Some("1"))]),
        changes(&[("a", Some("2"))]),
        changes(&[("a", Some(""))]),
        changes(&[("a", None)]),
        changes(&[("a", Some("1")), ("b", Some("1"))]),
        with_mode,
    ];
    for changes in &different {
        assert!(all.insert(changes.digest()), "{changes:?}");
    }
    assert_eq!(
        changes(&[("b", None), ("a", Some("1"))]).digest(),
        changes(&[("a", Some("1")), ("b", None)]).digest()
    );
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Changes::new().digest(), empty);
}

#[test]
fn hexadecimal_is_lower_case_with_two_digits_a_byte() {
    assert_eq!(hex(&[0, 10, 171, 255]), "000aabff");
}

fn some_changes() -> impl Strategy<Value = Changes> {
    let entry = ("[abc]", proptest::option::of("[xy]{0,2}"));
    proptest::collection::vec(entry, 0..4).prop_map(|entries| {
        entries.iter().map(|(name, text)| (path(name), text.as_deref().map(file))).collect()
    })
}

fn is_below_root(path: &str) -> bool {
    let parts: Vec<_> = std::path::Path::new(path).components().collect();
    !parts.is_empty() && parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)))
}

proptest! {
    #[test]
    fn an_accepted_path_stays_below_the_root(text in "[a.~/\\\\: \u{e9}GIT1git]{0,12}") {
        if let Ok(path) = RelPath::parse(text.as_bytes()) {
            prop_assert!(is_below_root(path.as_str()));
            let rest = path.as_str().to_lowercase();
            prop_assert!(!rest.split('/').any(|part| part.trim_end_matches(['.', ' ']) == ".git"));
        }
    }

    #[test]
    fn any_bytes_are_a_path_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(path) = RelPath::parse(&bytes) {
            prop_assert_eq!(path.as_str().as_bytes(), &bytes[..]);
            prop_assert!(is_below_root(path.as_str()));
        }
    }

    #[test]
    fn later_changes_lie_on_top(base in some_changes(), first in some_changes(), second in some_changes()) {
        let under = Overlaid { base: &base, changes: &first };
        let twice = Overlaid { base: &under, changes: &second };
        let joined = first.then(&second);
        let once = Overlaid { base: &base, changes: &joined };
        prop_assert_eq!(twice.paths(), once.paths());
        for path in once.paths() {
            prop_assert_eq!(twice.read(&path), once.read(&path));
        }
    }

    #[test]
    fn needless_changes_change_nothing(base in some_changes(), over in some_changes()) {
        let needed = over.against(&base);
        let (all, less) = (Overlaid { base: &base, changes: &over }, Overlaid { base: &base, changes: &needed });
        prop_assert_eq!(all.paths(), less.paths());
        for path in all.paths() {
            prop_assert_eq!(all.read(&path), less.read(&path));
        }
    }
}
