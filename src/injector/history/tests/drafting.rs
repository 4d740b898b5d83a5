//! From commits to drafts.

use crate::dice::Dice;
use crate::injector::Strategy;
use crate::injector::code::{Code, Ground};
use crate::injector::draft::Draft;
use crate::injector::history::{Drawn, Undoing};
use crate::syntax::Languages;
use crate::tree::{Changes, File, RelPath};
use crate::workspace::{Commit, Gone, History, Revision};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

static PYTHON: LazyLock<Languages> =
    LazyLock::new(|| Languages::builtin().only(&["python".to_owned()]).unwrap());

fn path(name: &str) -> RelPath {
    RelPath::parse(name.as_bytes()).unwrap()
}

/// Newest first: message, file, old, new.
type Commits<'a> = &'a [(&'a str, &'a str, &'a str, &'a str)];

fn history(commits: Commits<'_>) -> Arc<History> {
    let commit = |(at, (message, file, old, new)): (usize, &(&str, &str, &str, &str))| Commit {
        id: format!("{at:040x}"),
        summary: (*message).to_owned(),
        message: (*message).to_owned(),
        touched: 1,
        added_tests: false,
        wrote: false,
        files: vec![Revision {
            path: path(file),
            old: old.as_bytes().into(),
            new: new.as_bytes().into(),
        }],
        gone: Vec::new(),
    };
    let looked_at = commits.len();
    let commits = commits.iter().enumerate().map(commit).collect();
    Arc::new(History { commits, looked_at, shallow: false })
}

/// Every draft of these commits on today's files, which one test file reaches.
fn drafts(seed: u64, today: &[(&str, &str)], commits: Commits<'_>) -> Vec<Draft> {
    drafts_of(seed, today, history(commits))
}

fn drafts_of(seed: u64, today: &[(&str, &str)], history: Arc<History>) -> Vec<Draft> {
    let test = path("test_it.py");
    let mut tree = Changes::new();
    let mut reach = BTreeMap::new();
    for (name, text) in today {
        tree.write(path(name), File::plain(text.as_bytes().to_vec()));
        reach.insert(path(name), BTreeSet::from([test.clone()]));
    }
    tree.write(test.clone(), File::plain(b"def test_it(): pass\n".to_vec()));
    let test_files = BTreeSet::from([test]);
    let ground = Ground {
        tree: &tree,
        languages: &PYTHON,
        entered: &std::collections::BTreeMap::new(),
        reach: &reach,
        test_files: &test_files,
        sways: &|_| false,
    };
    let mut code = Code::survey(&ground, Strategy::History, None).unwrap();
    let mut undoing = Undoing::new(history, &code);
    let (mut dice, mut drafts) = (Dice::new(seed), Vec::new());
    loop {
        match undoing.draw(&mut dice, &mut code) {
            Drawn::Draft(draft) => drafts.push(draft),
            Drawn::Nothing => {}
            Drawn::End => return drafts,
        }
    }
}

fn text(draft: &Draft) -> &str {
    std::str::from_utf8(&draft.file.bytes).unwrap()
}

/// The texts that one commit of one file leads to.
#[track_caller]
fn check(old: &str, new: &str, today: &str, expect: &[&str]) {
    let drafts = drafts(1, &[("a.py", today)], &[("Fix", "a.py", old, new)]);
    let texts: BTreeSet<&str> = drafts.iter().map(text).collect();
    assert_eq!(texts, expect.iter().copied().collect());
}

#[test]
fn hunks_come_back_one_by_one_and_together() {
    let new = "def f(a):\n    return a + 1\n\n\n\n\ndef g(a):\n    return a * 2\n";
    let one = new.replace("a + 1", "a - 1");
    let other = new.replace("a * 2", "a / 2");
    let both = one.replace("a * 2", "a / 2");
    check(&both, new, new, &[&one, &other, &both]);
}

#[test]
fn comments_documentation_and_white_space_are_no_bug() {
    let new = "def f(a):\n    \"\"\"New.\"\"\"\n    # New.\n    return [a,\n            1]\n";
    let old = "def f(a):\n    \"\"\"Old.\"\"\"\n    # Old.\n    return [ a, 1 ]  # one\n\n";
    check(old, new, new, &[]);
    check(
        "def f(a):\n    return 'a b'\n",
        "def f(a):\n    return 'a  b'\n",
        "def f(a):\n    return 'a  b'\n",
        &["def f(a):\n    return 'a b'\n"],
    );
}

#[test]
fn old_code_takes_todays_names() {
    let new = "def f(a):\n    return fmt(a)\n\n\ndef fmt(a):\n    return str(a)\n";
    let old = new.replace("return fmt(a)", "return fmt(a + 1)");
    let today = new.replace("fmt", "show");
    check(&old, new, &today, &[&old.replace("fmt", "show")]);
}

#[test]
fn names_that_another_file_changed_since_are_followed() {
    // The repair took the call away before the function got its new name, then another.
    let new = "def f(a):\n    return str(a)\n";
    let old = "from b import fmt\n\n\ndef f(a):\n    return fmt(a)\n";
    let named = |name: &str| format!("def {name}(a):\n    return '%s' % a\n");
    let (first, second, last) = (named("fmt"), named("show"), named("text"));
    let commits = [
        ("rename", "b.py", &*second, &*last),
        ("rename", "b.py", &*first, &*second),
        ("Fix", "a.py", old, new),
    ];
    let drafts = drafts(1, &[("a.py", new), ("b.py", &last)], &commits);
    let texts: Vec<&str> = drafts.iter().map(text).collect();
    assert_eq!(texts, ["from b import text\n\n\ndef f(a):\n    return text(a)\n"]);
}

#[test]
fn an_import_that_old_code_needs_comes_back() {
    let new = "import os\n\n\n\n\nX = 1\n\n\ndef f(a):\n    return os.path.join(a, 'b')\n";
    let old = new.replace("import os\n", "import os\nimport re\n");
    let old = old.replace("os.path.join(a, 'b')", "re.sub('x', 'b', a)");
    let today = new.replace("import os\n", "import os\nimport sys\n");
    let expect = today
        .replace("import sys\n", "import sys\nimport re\n")
        .replace("os.path.join(a, 'b')", "re.sub('x', 'b', a)");
    // The import alone is no bug.
    check(&old, new, &today, &[&expect]);
}

#[test]
fn a_function_that_old_code_needs_comes_back_with_it() {
    let old = "def half(a):\n    return a // 2\n\n\n\n\ndef f(a):\n    return half(a)\n";
    let new = "def f(a):\n    return a / 2\n";
    check(old, new, new, &[old]);
}

#[test]
fn a_name_that_is_still_used_stays() {
    // Undoing the first commit alone would take away what the second one's code needs.
    let new = "LIMIT = 3\n\n\n\n\ndef f(a):\n    return min(a, LIMIT)\n";
    let old = "def f(a):\n    return min(a, 4)\n";
    let today = new.replace("min(a, LIMIT)", "min(a, LIMIT, 9)");
    for draft in drafts(1, &[("a.py", &today)], &[("Fix", "a.py", old, new)]) {
        assert!(text(&draft).contains("LIMIT = 3") || !text(&draft).contains("LIMIT"), "{draft:?}");
    }
    // Nor what another file does.
    let user = ("b.py", "from a import LIMIT\n");
    assert!(
        drafts(1, &[("a.py", new), user], &[("Fix", "a.py", old, new)])
            .iter()
            .all(|draft| text(draft).contains("LIMIT = 3"))
    );
}

#[test]
fn a_signature_stays_as_callers_know_it() {
    let new = "def f(a, b):\n    return a + b\n\n\nprint(f(1, 2))\n";
    let old = "def f(a):\n    return a + 1\n\n\nprint(f(1, 2))\n";
    check(old, new, new, &["def f(a, b):\n    return a + 1\n\n\nprint(f(1, 2))\n"]);
}

#[test]
fn a_rename_is_not_undone_but_a_call_of_something_else_is() {
    let new = "def g(a):\n    return a\n";
    check("def f(a):\n    return a\n", new, new, &[]);
    let new = "from math import ceil\n\n\ndef f(a):\n    return ceil(a)\n";
    let old = new.replace("ceil", "floor");
    check(&old, new, new, &[&old]);
}

#[test]
fn two_commits_of_one_file_are_undone_together_now_and_then() {
    let today = "def f(a):\n    return a + 1\n\n\n\n\ndef g(a):\n    return a * 2\n";
    let before = today.replace("a * 2", "a / 2");
    let first = before.replace("a + 1", "a - 1");
    let commits = [("Fix g", "a.py", &*before, today), ("Fix f", "a.py", &*first, &*before)];
    let both = |draft: &Draft| draft.commits == [0, 1] && text(draft) == first;
    let found = (0..40).any(|seed| drafts(seed, &[("a.py", today)], &commits).iter().any(both));
    assert!(found);
}

#[test]
fn the_same_seed_draws_the_same() {
    let new = "def f(a):\n    return a + 1\n\n\n\n\ndef g(a):\n    return a * 2\n";
    let old = new.replace("a + 1", "a - 1").replace("a * 2", "a / 2");
    let commits = [("Fix", "a.py", &*old, new), ("Add", "a.py", &*old, new)];
    let drawn = |seed| drafts(seed, &[("a.py", new)], &commits);
    assert_eq!(drawn(7), drawn(7));
    assert!((0..20).any(|seed| drawn(seed) != drawn(7)));
    // What repairs comes first more often.
    let repairs = (0..200).filter(|seed| drawn(*seed)[0].commits.contains(&0)).count();
    assert!((130..200).contains(&repairs), "{repairs}");
}

/// Files that are gone, newest commit first: message, file, old, new (empty: deleted).
fn with_gone(commits: Commits<'_>, gone: Commits<'_>) -> Arc<History> {
    let mut history = Arc::unwrap_or_clone(history(commits));
    for (at, (message, file, old, new)) in gone.iter().enumerate() {
        history.commits.push(Commit {
            id: format!("{:040x}", 100 + at),
            summary: (*message).to_owned(),
            message: (*message).to_owned(),
            touched: 1,
            added_tests: false,
            wrote: false,
            files: Vec::new(),
            gone: vec![Gone {
                path: path(file),
                old: old.as_bytes().into(),
                new: (!new.is_empty()).then(|| new.as_bytes().into()),
            }],
        });
    }
    Arc::new(history)
}

const MOVED: &str = "\
import math


class Pages:
    def count(self, lines, page):
        if page <= 0:
            raise ValueError('no page')
        whole = math.ceil(lines / page)
        return whole
";

#[test]
fn a_function_that_moved_to_another_file_is_undone_there() {
    let new = "import math\n\n\ndef count(lines, page):\n    if page <= 0:\n        raise ValueError('no page')\n    whole = math.ceil(lines / page)\n    return whole\n";
    let old = new.replace("math.ceil(lines / page)", "lines // page");
    let expect = MOVED.replace("math.ceil(lines / page)", "lines // page");
    // Out of a file that is gone.
    let history = with_gone(&[], &[("Fix the last page", "old.py", &old, new)]);
    let found = drafts_of(1, &[("pages.py", MOVED)], history);
    assert_eq!(found.iter().map(text).collect::<Vec<_>>(), [&expect]);
    assert!(found[0].summary[0].contains("in pages.py: Pages.count"), "{:?}", found[0].summary);
    // Out of one that is still there, and under another name.
    let renamed = MOVED.replace("def count(", "def number(");
    let today = [("old.py", "import math\n"), ("pages.py", &*renamed)];
    let found = drafts(1, &today, &[("Fix the last page", "old.py", &old, new)]);
    let expect = expect.replace("def count(", "def number(");
    assert_eq!(found.iter().map(text).collect::<Vec<_>>(), [&expect]);
}

#[test]
fn a_function_that_only_looks_a_little_alike_is_another() {
    let new = "def count(lines, page):\n    return math.ceil(lines / page)\n";
    let old = new.replace("math.ceil(lines / page)", "lines // page");
    let today = "def count(things):\n    return len(things)\n";
    let history = with_gone(&[], &[("Fix", "old.py", &old, new)]);
    assert_eq!(drafts_of(1, &[("a.py", today)], history), []);
}

#[test]
fn what_old_code_needs_and_was_deleted_since_comes_back() {
    let new = "def f(a):\n    return a / 2\n";
    let helper = "def half(a):\n    return a // 2\n";
    // Out of a file that was deleted with its import.
    let old = "from halves import half\n\n\ndef f(a):\n    return half(a)\n";
    let history =
        with_gone(&[("Fix", "a.py", old, new)], &[("drop halves", "halves.py", helper, "")]);
    let found = drafts_of(1, &[("a.py", new)], history);
    let expect = "def half(a):\n    return a // 2\n\n\ndef f(a):\n    return half(a)\n";
    assert_eq!(found.iter().map(text).collect::<Vec<_>>(), [expect]);
    // What is still there is imported.
    let commits = [("Fix", "a.py", old, new)];
    let user = ("halves.py", helper);
    let found = drafts(1, &[("a.py", new), user], &commits);
    assert_eq!(found.iter().map(text).collect::<Vec<_>>(), [old]);
}

#[test]
fn a_function_that_a_later_commit_deleted_comes_back() {
    let old = "def half(a):\n    return a // 2\n\n\ndef f(a):\n    return half(a)\n";
    let between = old.replace("return half(a)", "return a / 2");
    let new = "def f(a):\n    return a / 2\n";
    let commits = [("drop half", "a.py", &*between, new), ("Fix", "a.py", old, &*between)];
    let found = drafts(1, &[("a.py", new)], &commits);
    assert!(found.iter().any(|draft| text(draft) == old && draft.commits == [1]), "{found:#?}");
}

#[test]
fn a_method_that_old_code_calls_and_nobody_has_comes_back() {
    let old = "class A:\n    def f(self, a):\n        return self._half(a)\n\n    def _half(self, a):\n        return a // 2\n";
    let between = old.replace("self._half(a)", "a / 2");
    let new = "class A:\n    def f(self, a):\n        return a / 2\n";
    let commits = [("drop it", "a.py", &*between, new), ("Fix", "a.py", old, &*between)];
    let found = drafts(1, &[("a.py", new)], &commits);
    assert!(found.iter().any(|draft| text(draft) == old && draft.commits == [1]), "{found:#?}");
}
