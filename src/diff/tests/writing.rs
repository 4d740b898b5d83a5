//! Patches as models write them: what is meant is done, in exactly one place, and what is wrong is never done.

use super::*;

/// Twenty lines: two functions whose bodies are alike.
const FILE: &str = "\
import math


def area(r):
    if r < 0:
        raise ValueError(\"r\")
    result = math.pi * r * r
    return result


def volume(r, h):
    if r < 0:
        raise ValueError(\"r\")
    result = area(r) * h
    return result


class Box:
    def size(self):
        return 1
";

/// Line 6 with another text, hunk by hunk as it should be.
const GOOD: &str = "\
--- a/x
+++ b/x
@@ -4,5 +4,5 @@
 def area(r):
     if r < 0:
         raise ValueError(\"r\")
-    result = math.pi * r * r
+    result = math.tau * r * r
     return result
";

fn wanted() -> String {
    FILE.replace("math.pi", "math.tau")
}

fn written(before: &str, patch: &str) -> Result<String, Unplaced> {
    let base = tree(&[("x", before.as_bytes())]);
    let patch = Patch::written(patch.as_bytes(), &base)?;
    // What comes out is exact: it says the same when it is read again.
    assert_eq!(Patch::parse(&patch.to_bytes()).as_ref(), Ok(&patch));
    let changes = patch.apply(&base).expect("it was made for this tree");
    let file = changes.read(&path("x")).expect("the file is written");
    Ok(String::from_utf8_lossy(&file.bytes).into_owned())
}

#[track_caller]
fn check(patch: &str, expect: &str) {
    assert_eq!(written(FILE, patch).as_deref(), Ok(expect), "{patch}");
}

#[track_caller]
fn refused(patch: &str, expect: &str) {
    let why = written(FILE, patch).expect_err("it must be refused").to_string();
    assert!(why.contains(expect), "{why}");
}

#[test]
fn a_correct_patch_is_done() {
    check(GOOD, &wanted());
}

#[test]
fn wrong_lines_and_counts_are_put_right() {
    for header in
        ["@@ -94,5 +94,5 @@", "@@ -4,9 +4,2 @@", "@@ -77,1 +99,12 @@", "@@ @@", "@@ ... @@", "@@"]
    {
        check(&GOOD.replace("@@ -4,5 +4,5 @@", header), &wanted());
    }
}

#[test]
fn fences_prose_and_a_missing_last_newline_do_not_matter() {
    check(&format!("I found it.\n\n```diff\n{GOOD}```\n\n- this is no line of it\n"), &wanted());
    check(&format!("```\n{GOOD}\n```"), &wanted());
    check(&format!("```diff\n{GOOD}"), &wanted());
    check(GOOD.trim_end(), &wanted());
    check(&format!("{GOOD}-- \n2.47.3\n"), &wanted());
    let other = "```python\nx = 1\n```\n";
    check(&format!("{other}```diff\n{GOOD}```\n{other}"), &wanted());
}

#[test]
fn blank_context_may_lack_its_space_and_context_its_trailing_white_space() {
    let hunk = "@@ -8,6 +8,6 @@\n     return result\n\n\n def volume(r, h):\n-    if r < 0:\n+    if r <= 0:\n         raise ValueError(\"r\")\n";
    let patch = format!("--- a/x\n+++ b/x\n{hunk}");
    let expect = FILE.replacen("h):\n    if r < 0", "h):\n    if r <= 0", 1);
    check(&patch, &expect);
    check(&patch.replace("    return result\n", "    return result   \n"), &expect);
}

#[test]
fn one_line_of_context_may_lack_or_be_another_one() {
    // A line that lacks.
    check(&GOOD.replace("     if r < 0:\n", ""), &wanted());
    // A stale one.
    check(&GOOD.replace("     if r < 0:", "     if r <= 0:"), &wanted());
    // One that is not there.
    check(&GOOD.replace(" def area(r):\n", " @cache\n def area(r):\n"), &wanted());
    // Three are too many.
    let stale = GOOD.replace("area(r)", "surface(r)").replace("if r < 0", "if r < 1");
    refused(&stale.replace("ValueError", "TypeError"), "fits nowhere");
}

#[test]
fn a_removed_line_must_be_there() {
    refused(
        &GOOD.replace("-    result = math.pi * r * r", "-    result = math.pi * r ** 2"),
        "nearest at line 4",
    );
    refused(&GOOD.replace("-    result", "-  result"), "copy the lines of the file exactly");
    refused(&GOOD.replace("math.pi * r * r", "math.pi * r * r "), "fits nowhere");
}

#[test]
fn tabs_for_spaces_are_never_taken() {
    refused(&GOOD.replace("    ", "\t"), "begins with none of");
    refused(&GOOD.replace("     ", " \t").replace("-    ", "-\t"), "fits nowhere");
}

#[test]
fn of_several_places_none_is_guessed() {
    let patch = |header: &str| {
        format!(
            "--- a/x\n+++ b/x\n{header}\n     if r < 0:\n-        raise ValueError(\"r\")\n+        raise TypeError(\"r\")\n"
        )
    };
    refused(&patch("@@ @@"), "several places (lines 5, 12)");
    refused(&patch("@@ -8,2 +8,2 @@"), "several places");
    // The stated line decides where it is one of them.
    let second = FILE.replacen(
        "h):\n    if r < 0:\n        raise ValueError",
        "h):\n    if r < 0:\n        raise TypeError",
        1,
    );
    check(&patch("@@ -12,2 +12,2 @@"), &second);
    let bare = "--- a/x\n+++ b/x\n@@ @@\n-    return result\n+    return 0\n";
    refused(bare, "several places");
    let alone = "--- a/x\n+++ b/x\n@@ @@\n-        return 1\n+        return 2\n";
    check(alone, &FILE.replace("return 1", "return 2"));
}

#[test]
fn lines_that_are_only_added_need_a_certain_neighbour() {
    let patch = |context: &str| {
        format!("--- a/x\n+++ b/x\n@@ @@\n{context}+    r = abs(r)\n     if r < 0:\n")
    };
    let expect = FILE.replacen("area(r):\n", "area(r):\n    r = abs(r)\n", 1);
    check(&patch(" def area(r):\n"), &expect);
    refused("--- a/x\n+++ b/x\n@@ @@\n+import os\n", "several places");
    // On which side of the line that the hunk lacks?
    refused(
        "--- a/x\n+++ b/x\n@@ @@\n def area(r):\n+    r = abs(r)\n         raise ValueError(\"r\")\n     result = math.pi * r * r\n",
        "fits nowhere",
    );
}

#[test]
fn hunks_may_come_in_any_order_but_not_over_each_other() {
    let second = "@@ @@\n class Box:\n     def size(self):\n-        return 1\n+        return 2\n";
    let (head, first) = GOOD.split_once("@@").expect("it has a hunk");
    let expect = wanted().replace("return 1", "return 2");
    check(&format!("{head}{second}@@{first}"), &expect);
    let twice = format!("{GOOD}@@{}", first.replace("tau", "e"));
    refused(&twice, "that another hunk changes, too");
}

#[test]
fn a_hunk_must_be_marked_line_by_line() {
    refused(&GOOD.replace(" def area(r):\n", "def area(r):\n"), "begins with none of space");
    let same = GOOD.replace("-    result", "     result").replace("+    result", "     result");
    refused(&same, "adds and removes nothing");
    refused("I changed the sign.", "holds no file change");
    refused(&GOOD.replace("math.tau", "math.pi"), "changes nothing");
}

#[test]
fn files_are_made_and_deleted_without_their_dev_null() {
    let base = tree(&[("x", b"1\n")]);
    let made = Patch::written(b"--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+1\n", &base);
    assert_eq!(made.map(|patch| patch.paths()), Ok(vec![path("new")]));
    let made = Patch::written(b"--- /dev/null\n+++ b/new\n@@ -0,0 +1,9 @@\n+1\n+2", &base);
    assert!(made.is_ok(), "{made:?}");
    let gone = Patch::written(b"--- a/x\n+++ /dev/null\n@@ @@\n-1\n", &base);
    assert!(gone.is_ok_and(|patch| patch.apply(&base).is_ok_and(|changes| changes.len() == 1)));
    let missing = Patch::written(b"--- a/y\n+++ b/y\n@@ @@\n-1\n+2\n", &base);
    assert!(missing.is_err_and(|why| why.to_string().contains("no such file")));
    let over = Patch::written(b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+1\n", &base);
    assert!(over.is_err_and(|why| why.to_string().contains("there already")));
}

#[test]
fn no_patch_leads_out_of_the_tree() {
    for name in ["../x", "/etc/passwd", ".git/config", "a/../../x"] {
        let patch = format!("--- {name}\n+++ {name}\n@@ @@\n-1\n+2\n");
        let why = Patch::written(patch.as_bytes(), &tree(&[("x", b"1\n")]));
        assert!(matches!(why, Err(Unplaced::Refused(Refusal::Path { .. }))), "{name}: {why:?}");
    }
}

#[test]
fn ends_of_lines_are_the_files() {
    let (before, after) = (FILE.replace('\n', "\r\n"), wanted().replace('\n', "\r\n"));
    assert_eq!(written(&before, GOOD), Ok(after));
    let last = "--- a/x\n+++ b/x\n@@ @@\n a\n-b\n+c\n";
    assert_eq!(written("a\nb", last).as_deref(), Ok("a\nc\n"));
    let kept = "--- a/x\n+++ b/x\n@@ @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n";
    assert_eq!(written("a\nb", kept).as_deref(), Ok("a\nc"));
}

#[test]
fn a_hunk_of_a_million_lines_is_placed_or_refused_in_a_moment() {
    let removed = "-x\n".repeat(400_000);
    let added = "+y\n".repeat(400_000);
    let hunk = format!("--- a/x\n+++ b/x\n@@ @@\n z\n{removed}{added} end\n");
    let before = format!("z\n{}end\n", "x\n".repeat(400_000));
    let after = format!("z\n{}end\n", "y\n".repeat(400_000));
    assert!(written(&before, &hunk) == Ok(after));
    // Lines that are all alike, and one that is not there.
    let before = "x\n".repeat(200_000);
    let hunk = format!("--- a/x\n+++ b/x\n@@ @@\n{}-y\n", " x\n".repeat(100_000));
    let refused = written(&before, &hunk).map(|_| ());
    assert!(
        matches!(&refused, Err(Unplaced::Nowhere { nowhere: Nowhere::Alike, .. })),
        "{refused:?}"
    );
    let hunk = format!("--- a/x\n+++ b/x\n@@ @@\n{}-y\n", " x\n".repeat(900));
    let refused = written(&before[..20_000], &hunk).map(|_| ());
    assert!(matches!(&refused, Err(Unplaced::Nowhere { .. })), "{refused:?}");
}
