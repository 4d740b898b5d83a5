//! Where hunks go, and every way not to fit.

use super::*;

const NUMBERS: &[u8] = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Applies hunks to the file `x`.
fn applied(before: &[u8], hunks: &str) -> Result<String, ApplyFailure> {
    let patch =
        Patch::parse(format!("--- a/x\n+++ b/x\n{hunks}").as_bytes()).expect("a good patch");
    let changes = patch.apply(&tree(&[("x", before)]))?;
    let file = changes.read(&path("x")).expect("the file is written");
    Ok(String::from_utf8_lossy(&file.bytes).into_owned())
}

#[track_caller]
fn check(before: &[u8], hunks: &str, expect: &str) {
    assert_eq!(applied(before, hunks).as_deref(), Ok(expect));
}

#[track_caller]
fn fails(before: &[u8], hunks: &str, expect: ApplyFailure) {
    assert_eq!(applied(before, hunks), Err(expect));
}

fn context(hunk: usize, line: usize, expected: &str, found: Option<&str>) -> ApplyFailure {
    let (expected, found) = (expected.to_owned(), found.map(str::to_owned));
    ApplyFailure::Context { path: path("x"), hunk, line, expected, found }
}

/// Applies a whole patch to a tree.
fn outcome(patch: &str, files: &[(&str, &[u8])]) -> Result<Changes, ApplyFailure> {
    Patch::parse(patch.as_bytes()).expect("a good patch").apply(&tree(files))
}

#[test]
fn hunks_apply_at_their_stated_lines() {
    check(NUMBERS, "@@ -4,2 +4,2 @@\n 4\n-5\n+five\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
    let two = "@@ -1,2 +1,3 @@\n+0\n 1\n 2\n@@ -8,2 +9,1 @@\n 8\n-9\n";
    check(NUMBERS, two, "0\n1\n2\n3\n4\n5\n6\n7\n8\n");
    check(b"", "@@ -0,0 +1 @@\n+a\n", "a\n");
    check(b"a\n", "@@ -1 +0,0 @@\n-a\n", "");
}

#[test]
fn a_hunk_with_context_moves_to_the_only_place_where_it_fits() {
    check(NUMBERS, "@@ -90,2 +90,2 @@\n 4\n-5\n+five\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
    check(NUMBERS, "@@ -1,2 +1,2 @@\n-8\n+eight\n 9\n", "1\n2\n3\n4\n5\n6\n7\neight\n9\n");
}

#[test]
fn of_several_places_the_stated_one_wins_and_none_other_is_guessed() {
    let file = b"a\nb\na\nb\n";
    check(file, "@@ -3,2 +3,2 @@\n a\n-b\n+c\n", "a\nb\na\nc\n");
    check(file, "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc\na\nb\n");
    let expect = ApplyFailure::Ambiguous { path: path("x"), hunk: 1, first: 1, second: 3 };
    fails(file, "@@ -2,2 +2,2 @@\n a\n-b\n+c\n", expect.clone());
    fails(file, "@@ -90,2 +90,2 @@\n a\n-b\n+c\n", expect);
    let overlapping = ApplyFailure::Ambiguous { path: path("x"), hunk: 1, first: 2, second: 3 };
    fails(b"x\na\na\na\n", "@@ -1,2 +1,1 @@\n a\n-a\n", overlapping);
}

#[test]
fn a_hunk_without_context_never_moves() {
    check(NUMBERS, "@@ -5 +5 @@\n-5\n+five\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
    check(NUMBERS, "@@ -9,0 +10 @@\n+10\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    fails(NUMBERS, "@@ -4 +4 @@\n-5\n+five\n", context(1, 4, "5\n", Some("4\n")));
    fails(NUMBERS, "@@ -10,0 +11 @@\n+10\n", context(1, 11, "", None));
}

#[test]
fn context_is_matched_byte_for_byte() {
    fails(b"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", context(1, 1, "a\n", Some("a\r\n")));
    fails(b"a \nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", context(1, 1, "a\n", Some("a \n")));
    fails(b"a\nB\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", context(1, 2, "b\n", Some("B\n")));
    fails(b"a\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", context(1, 2, "b\n", None));
    fails(b"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", context(1, 2, "b\n", Some("b")));
    let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \u{feff}a\r\n-b\r\n+c\r\n";
    let changes = outcome(text, &[("x", "\u{feff}a\r\nb\r\nlone\r".as_bytes())]).expect("it fits");
    assert_eq!(&*changes.read(&path("x")).unwrap().bytes, "\u{feff}a\r\nc\r\nlone\r".as_bytes());
    fails(b"\xe9\n", "@@ -1 +1 @@\n-e\n+f\n", context(1, 1, "e\n", Some("\u{fffd}\n")));
}

#[test]
fn a_later_hunk_that_does_not_fit_names_itself() {
    let hunks = "@@ -1 +1 @@\n-1\n+one\n@@ -5 +5 @@\n-x\n+y\n";
    fails(NUMBERS, hunks, context(2, 5, "x\n", Some("5\n")));
}

#[test]
fn hunks_that_move_keep_their_order() {
    let hunks = "@@ -5,2 +5,2 @@\n-5\n+five\n 6\n@@ -8,2 +8,2 @@\n-2\n+two\n 3\n";
    fails(NUMBERS, hunks, ApplyFailure::Order { path: path("x"), hunk: 2 });
    let same = "@@ -5,2 +5,2 @@\n-5\n+five\n 6\n@@ -8,2 +8,2 @@\n 6\n-7\n+seven\n";
    fails(NUMBERS, same, ApplyFailure::Order { path: path("x"), hunk: 2 });
}

#[test]
fn the_last_newline_is_part_of_the_content() {
    const MARK: &str = "\\ No newline at end of file\n";
    check(b"a", &format!("@@ -1 +1 @@\n-a\n{MARK}+a\n"), "a\n");
    check(b"a\n", &format!("@@ -1 +1 @@\n-a\n+a\n{MARK}"), "a");
    check(b"a\nb", &format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{MARK}"), "A\nb");
    fails(b"a\n", &format!("@@ -1 +1 @@\n-a\n{MARK}+b\n"), context(1, 1, "a", Some("a\n")));
}

#[test]
fn no_line_inside_a_file_loses_its_newline() {
    const MARK: &str = "\\ No newline at end of file\n";
    let expect = |hunk| ApplyFailure::NoNewline { path: path("x"), hunk };
    fails(NUMBERS, &format!("@@ -1 +1 @@\n-1\n+one\n{MARK}"), expect(1));
    fails(b"a\nb", "@@ -2,0 +3 @@\n+c\n", expect(1));
}

#[test]
fn files_are_made_deleted_renamed_and_change_their_mode() {
    let patch = "diff --git a/new b/new\nnew file mode 100755\n\
                 diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n\
                 diff --git a/old b/sub/name\nold mode 100644\nnew mode 100755\nrename from old\nrename to sub/name\n\
                 --- a/old\n+++ b/sub/name\n@@ -1 +1 @@\n-o\n+O\n\
                 diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n";
    let changes =
        outcome(patch, &[("gone", b"g\n"), ("old", b"o\n"), ("mode", b"m"), ("other", b"")])
            .expect("it fits");
    let executable = |bytes: &[u8]| File { bytes: bytes.into(), executable: true };
    let mut expect = Changes::new();
    expect.write(path("new"), executable(b""));
    expect.delete(path("gone"));
    expect.delete(path("old"));
    expect.write(path("sub/name"), executable(b"O\n"));
    expect.write(path("mode"), executable(b"m"));
    assert_eq!(changes, expect);
}

#[test]
fn a_modified_file_keeps_a_mode_that_the_patch_does_not_name() {
    let mut base = Changes::new();
    base.write(path("x"), File { bytes: b"a\n".as_slice().into(), executable: true });
    let patch = Patch::parse(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    assert!(patch.apply(&base).unwrap().read(&path("x")).unwrap().executable);
    let deleted = Patch::parse(b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").unwrap();
    assert_eq!(deleted.apply(&base).unwrap().get(&path("x")), Some(None));
}

#[test]
fn two_files_may_swap_their_names() {
    let patch = "diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/y b/x\nrename from y\nrename to x\n";
    let changes = outcome(patch, &[("x", b"1"), ("y", b"2")]).expect("it fits");
    assert_eq!(changes, tree(&[("x", b"2"), ("y", b"1")]));
}

#[test]
fn a_file_that_is_not_there_is_missing() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let missing = || Err(ApplyFailure::Missing { path: path("x") });
    assert_eq!(outcome(&format!("--- a/x\n+++ b/x\n{hunk}"), &[]), missing());
    assert_eq!(outcome("diff --git a/x b/x\ndeleted file mode 100644\n", &[]), missing());
    assert_eq!(outcome("diff --git a/x b/y\nrename from x\nrename to y\n", &[]), missing());
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let exists = |name| Err(ApplyFailure::Exists { path: path(name) });
    let new = "diff --git a/x b/x\nnew file mode 100644\n";
    assert_eq!(outcome(new, &[("x", b"")]), exists("x"));
    let rename = "diff --git a/x b/y\nrename from x\nrename to y\n";
    assert_eq!(outcome(rename, &[("x", b""), ("y", b"")]), exists("y"));
}

#[test]
fn a_stated_mode_must_be_the_files() {
    let differs =
        ApplyFailure::ModeDiffers { path: path("x"), stated: Mode::Executable, found: Mode::Plain };
    let change = "diff --git a/x b/x\nold mode 100755\nnew mode 100644\n";
    assert_eq!(outcome(change, &[("x", b"")]), Err(differs.clone()));
    let delete = "diff --git a/x b/x\ndeleted file mode 100755\n";
    assert_eq!(outcome(delete, &[("x", b"")]), Err(differs));
}

#[test]
fn deleting_a_file_takes_all_its_lines() {
    let left = || Err(ApplyFailure::ContentLeft { path: path("x") });
    assert_eq!(outcome("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", &[("x", b"a\nb\n")]), left());
    assert_eq!(outcome("diff --git a/x b/x\ndeleted file mode 100644\n", &[("x", b"a")]), left());
}

#[test]
fn a_file_and_a_directory_cannot_share_a_name() {
    let new = |name: &str| format!("diff --git a/{name} b/{name}\nnew file mode 100644\n");
    let clash = |file, inner| Err(ApplyFailure::InTheWay { path: path(file), other: path(inner) });
    assert_eq!(outcome(&new("x/y/z"), &[("x", b"")]), clash("x", "x/y/z"));
    assert_eq!(outcome(&new("x"), &[("x/y", b"")]), clash("x", "x/y"));
    assert_eq!(outcome(&(new("x") + &new("x/y")), &[]), clash("x", "x/y"));
    let replaced = "diff --git a/x b/x\ndeleted file mode 100644\n".to_owned() + &new("x/y");
    assert!(outcome(&replaced, &[("x", b"")]).is_ok());
    assert!(outcome(&new("x/y"), &[("x-y", b""), ("x/z", b"")]).is_ok());
}

#[test]
fn nothing_changes_where_one_file_does_not_fit() {
    let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
    let failure = outcome(patch, &[("x", b"a\n"), ("y", b"z\n")]);
    assert!(matches!(failure, Err(ApplyFailure::Context { path, .. }) if path.as_str() == "y"));
}

#[test]
fn failures_say_what_is_there() {
    let text = context(2, 5, "x\n", Some("5\n")).to_string();
    assert_eq!(text, "x: hunk 2 does not fit: line 5 should be \"x\\n\" and is \"5\\n\"");
    assert!(context(1, 9, "x\n", None).to_string().ends_with("and is past the end of the file"));
}

#[test]
fn a_made_patch_is_gits_format_with_three_lines_of_context() {
    let base = tree(&[("b c", NUMBERS), ("gone", b"x"), ("same", b"s")]);
    let mut changes =
        tree(&[("b c", b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n"), ("same", b"s"), ("\u{e9}\"", b"")]);
    changes.delete(path("gone"));
    changes.delete(path("never there"));
    let expect = "diff --git \"a/b c\" \"b/b c\"\n--- a/b c\t\n+++ b/b c\t\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n\
                  diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n\
                  diff --git \"a/\u{e9}\\\"\" \"b/\u{e9}\\\"\"\nnew file mode 100644\n";
    let patch = Patch::between(&base, &changes);
    assert_eq!(String::from_utf8(patch.to_bytes()).unwrap(), expect);
}

#[test]
fn a_file_that_differs_almost_everywhere_is_replaced_as_one_piece() {
    let many =
        |word: &str| (0..30_000).map(|n| format!("{word} {n}\n")).collect::<Vec<_>>().concat();
    let (old, new) = (many("old"), many("new"));
    let around = |middle: &str| format!("1\n2\n3\n4\n{middle}5\n6\n7\n8\n");
    let (base, changes) =
        (tree(&[("x", around(&old).as_bytes())]), tree(&[("x", around(&new).as_bytes())]));
    let patch = Patch::between(&base, &changes);
    assert_eq!(patch.files()[0].hunks().len(), 1);
    assert_eq!(patch.changed_lines(), (30_000, 30_000));
    assert_eq!(patch.files()[0].hunks()[0].lines().len(), 60_006);
    assert_eq!(patch.apply(&base), Ok(changes));
    assert_eq!(Patch::parse(&patch.to_bytes()), Ok(patch));
}

#[test]
fn two_small_edits_of_a_long_file_are_two_small_hunks() {
    let line = |n: usize| format!("line {}\n", if n.is_multiple_of(3) { 0 } else { n });
    let old: Vec<_> = (0..60_000).map(line).collect();
    let mut new = old.clone();
    new[10] = "changed\n".to_owned();
    new.insert(59_980, "added\n".to_owned());
    let base = tree(&[("x", old.concat().as_bytes())]);
    let changes = tree(&[("x", new.concat().as_bytes())]);
    let patch = Patch::between(&base, &changes);
    let places: Vec<_> = patch.files()[0].hunks().iter().map(Hunk::lines_before).collect();
    assert_eq!((places, patch.changed_lines()), (vec![7, 59_977], (2, 1)));
    assert_eq!(patch.apply(&base), Ok(changes));
}

#[test]
fn a_long_file_in_another_order_is_still_compared() {
    let old: Vec<_> = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let mut new = old.clone();
    crate::dice::Dice::new(1).shuffle(&mut new);
    let base = tree(&[("x", old.concat().as_bytes())]);
    let changes = tree(&[("x", new.concat().as_bytes())]);
    let patch = Patch::between(&base, &changes);
    assert_eq!(patch.apply(&base), Ok(changes));
    assert!(patch.changed_lines().0 < 20_000, "some lines are kept");
}
