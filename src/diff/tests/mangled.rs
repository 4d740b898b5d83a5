//! Patches that went wrong on the way: refused or read, never a panic, and what is read means one thing.

use crate::dice::mangled;
use crate::diff::Patch;
use crate::tree::{Changes, File, RelPath};

const SEEDS: [&[u8]; 7] = [
    // Printed, the second header once ran into the first.
    b"diff --git a/d/x.py b/d/e.py\nrename from d/x.py\nrename to d/e.py\n\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    b"diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@ def f():\n x\n-y\n+z\n w\n",
    b"diff --git a/new.py b/new.py\nnew file mode 100755\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
    b"diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    b"diff --git \"a/d/\\303\\251.py\" b/d/e.py\nsimilarity index 90%\nrename from \"d/\\303\\251.py\"\nrename to d/e.py\n--- \"a/d/\\303\\251.py\"\n+++ b/d/e.py\n@@ -1,2 +1,2 @@\n-a\r\n+b\r\n c\r\n",
    b"--- a.py\t2020-01-01\n+++ a.py\t2020-01-02\n@@ -1,0 +2 @@\n+x\n@@ -3,2 +5 @@\n-p\n q\n",
    b"diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n",
];

const WORDS: [&[u8]; 22] = [
    b"diff --git ",
    b"--- a/",
    b"+++ b/",
    b"@@ -1 +1 @@\n",
    b"@@ -0,0 +1,99999999999 @@",
    b"/dev/null",
    b"rename from ",
    b"rename to ",
    b"copy from ",
    b"new file mode 120000\n",
    b"GIT binary patch\n",
    b"../",
    b".git/config",
    b".GIT",
    b"\"",
    b"\\",
    b"\r\n",
    b"\0",
    b"\\ No newline at end of file\n",
    b"160000",
    b" ",
    b"-",
];

#[test]
fn a_mangled_patch_is_refused_or_means_one_thing() {
    let text = |name: &str, text: &str| {
        (RelPath::parse(name.as_bytes()).unwrap(), Some(File::plain(text.as_bytes().to_vec())))
    };
    let tree: Changes =
        [text("a.py", "x\ny\nw\n"), text("old.py", "a\n"), text("d/\u{e9}.py", "a\r\nc\r\n")]
            .into_iter()
            .collect();
    mangled::check("patch", &SEEDS, &WORDS, &|input| {
        let Ok(patch) = Patch::parse(input) else { return };
        let again = Patch::parse(&patch.to_bytes()).expect("what is printed can be read");
        assert_eq!(again, patch);
        assert_eq!(patch.reversed().reversed(), patch);
        if let Ok(changes) = patch.apply(&tree) {
            for path in changes.paths() {
                assert!(!path.as_str().split('/').any(|part| part == ".." || part == ".git"));
                assert!(patch.paths().contains(path), "{path} is not of the patch");
            }
        }
    });
}

/// What a patch that was written by hand comes to removes no line that it does not name, and leads nowhere else
/// than it says.
#[test]
fn a_mangled_patch_by_hand_removes_nothing_that_it_does_not_name() {
    let source = "def f(a):\n    if a:\n        return a\n    return 0\n\n\ndef g(a):\n    if a:\n        return a\n    return 1\n";
    let name = RelPath::parse(b"a.py").unwrap();
    let tree: Changes =
        [(name, Some(File::plain(source.as_bytes().to_vec())))].into_iter().collect();
    let good: [&[u8]; 4] = [
        b"```diff\n--- a/a.py\n+++ b/a.py\n@@ @@\n def g(a):\n     if a:\n-        return a\n+        return -a\n     return 1\n```\n",
        b"--- a.py\n+++ a.py\n@@ -1,9 +1,2 @@\n def f(a):\n-    if a:\n-        return a\n     return 0\n\n\n def g(a):\n+    a += 1\n     if a:\n",
        b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -90 +90 @@ x\n-    return 1\n+    return 2",
        b"--- a/b.py\n+++ b/b.py\n@@ -0,0 +1 @@\n+x\n-- \n2.40\n",
    ];
    mangled::check("written", &good, &WORDS, &|input| {
        let Ok(patch) = Patch::written(input, &tree) else { return };
        let changes = patch.apply(&tree).expect("it was made for this tree");
        assert!(!changes.is_empty());
        let marked: Vec<&[u8]> =
            crate::text::lines(input).filter_map(|line| line.strip_prefix(b"-")).collect();
        let named =
            |text: &[u8]| marked.iter().any(|line| line.trim_ascii_end() == text.trim_ascii_end());
        for line in
            patch.files().iter().flat_map(super::FilePatch::hunks).flat_map(super::Hunk::lines)
        {
            if let super::Line::Removed(text) = line {
                assert!(named(text), "{:?} is removed", text.escape_ascii().to_string());
            }
        }
    });
}
