//! What a small model (`SmolLM2` of 135 million parameters) wrote when it was asked for patches of toy bugs, as it wrote
//! it: it shows the old code where the change should be, repeats its task, and forgets the marks. Refused, each with
//! what to do about it, and nothing is guessed.

use super::*;

const ADD: &str = "def add(a, b):\n    return a - b\n";
const LAST: &str =
    "def last(words):\n    if not words:\n        return None\n    return words[0]\n";

#[track_caller]
fn refused(name: &str, before: &str, text: &str, expect: &str) {
    let path = RelPath::parse(name.as_bytes()).unwrap();
    let tree: Changes =
        [(path, Some(File::plain(before.as_bytes().to_vec())))].into_iter().collect();
    let told = Patch::written(text.as_bytes(), &tree).expect_err(text).to_string();
    assert!(told.contains(expect), "{text}\n{told}");
}

#[test]
fn old_code_without_marks_changes_nothing() {
    let text = "--- a/calc.py\n+++ b/calc.py\n@@ -1,5 +1 +1,5 @@\n def add(a, b):\n    return a + b\n\
        The test `add(2, 3) == 5` fails. The patch that repairs it:\n--- a/calc.py\n+++ b/calc.py\n@@ -1,5 +";
    refused("calc.py", ADD, text, "line 3 of the patch: the hunk adds and removes nothing");
    let text = "--- a/text.py\n+++ b/text.py\n@@ -1,1 +1,1 @@\n def last(words):\n    if not words:\n        \
        return None\n    return words[0]\nThe test `last(['a', 'b']) == 'b'` fails. The patch that repairs it:\n\
        --- a/text.py\n+++ b/text.py\n\n";
    refused("text.py", LAST, text, "the hunk adds and removes nothing");
    let text = "```diff\n--- a/text.py\n+++ b/text.py\n@@ -1,5 +1,5 @@\ndef last(words):\n    if not words:\n        \
        return None\n    return words[-1]\nThe test `last(['a', 'b']) == 'b'` fails. The patch that repairs it:\n\
        ```\n\nThe patch that repairs the patch:\n```\n+\n";
    refused("text.py", LAST, text, "the hunk adds and removes nothing");
}

#[test]
fn a_line_that_is_there_already_is_not_put_in_beside_code_that_is_not() {
    let text = "```diff\n--- a/calc.py\n+++ b/calc.py\n@@ -3,17 +3,18 @\"\\n\"\n+def add(a, b):\n    return a - b\n\
        The test `add(2, 3) == 5` fails. The patch that repairs it:\n```diff\n--- a/calc.py\n+++ b/calc.py\n";
    refused("calc.py", ADD, text, "calc.py: hunk 1 ");
}

#[test]
fn a_header_and_words_are_no_patch() {
    let text = "diff --git a/calc.py b/calc.py\ngit: creating new file 'calc.py' (using 'git add')...\n\
        diff --git a/calc.py b/calc.py\ngit: creating new file 'calc.py' (using 'git add')...\n\
        -# This commit has already been made.\n# This commit has already been made.\n";
    refused("calc.py", ADD, text, "the patch");
    let text = "diff --git a/rank.py b/rank.py\n\u{fffd}itive:\n+ on thread a/rank.py\n+ on thread b/rank.py\n";
    refused("rank.py", "best = 0\n", text, "the patch");
    let text = "diff --git a/shop.py b/shop.py\nindex 1d08f7b2f71f2f0a92d9f244428f2f2b4c2f34812f6f0000000000000000000";
    refused("shop.py", "cents = 0\n", text, "the patch");
}

#[test]
fn a_whole_file_in_a_fence_is_no_patch() {
    let text = "```python\nimport patch\n\ndef last(words):\n    if not words:\n        return None\n    return \
        words[-1]\n```\n\nThis patch will patch the `text.py` file and return `None` for the `assert` statement.";
    refused("text.py", LAST, text, "the patch is refused");
    let text = "```python\n# a/text.py\ndef last(words):\n    return max(words, max(words, max))\n```\n\n```python\n# \
        b/text.py\ndef last(words):\n    return max(words)\n```\n";
    refused("text.py", LAST, text, "the patch is refused");
    let text = "I'm sorry for your loss. I'm here to help you with your project.";
    refused("text.py", LAST, text, "the patch is refused");
}
