//! What is read, and every reason to refuse.

use super::*;
use crate::diff::refusal::{HeaderFault, HunkFault};
use crate::tree::PathRefusal;

const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";

/// The files of a patch, one a line: kind, paths, modes, then the counts of its lines.
fn summary(patch: &Patch) -> String {
    let mode = |mode: &Option<Mode>| mode.map_or("-", Mode::as_str);
    let modes = |modes: &Option<ModeChange>| {
        modes.map_or(String::new(), |change| format!(" {}>{}", change.old, change.new))
    };
    let one = |file: &FilePatch| {
        let head = match file.kind() {
            Kind::Added { path, mode: m } => format!("A {path} {}", mode(m)),
            Kind::Deleted { path, mode: m } => format!("D {path} {}", mode(m)),
            Kind::Modified { path, modes: m } => format!("M {path}{}", modes(m)),
            Kind::Renamed { from, to, modes: m } => format!("R {from}>{to}{}", modes(m)),
        };
        let (added, removed) = file.changed_lines();
        format!("{head} +{added}-{removed}")
    };
    patch.files().iter().map(one).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(text: impl AsRef<[u8]>, expect: &str) {
    let patch = Patch::parse(text.as_ref()).expect("a good patch");
    assert_eq!(summary(&patch), expect);
    assert_eq!(Patch::parse(&patch.to_bytes()), Ok(patch), "it reads back");
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, expect: Refusal) {
    assert_eq!(Patch::parse(text.as_ref()), Err(expect));
}

#[track_caller]
fn bad_header(text: impl AsRef<[u8]>, line: usize, reason: HeaderFault) {
    refused(text, Refusal::Header { line, reason });
}

#[track_caller]
fn bad_hunk(text: impl AsRef<[u8]>, line: usize, reason: HunkFault) {
    refused(text, Refusal::Hunk { line, reason });
}

fn plain(hunks: &str) -> String {
    format!("--- a/x\n+++ b/x\n{hunks}")
}

#[test]
fn git_patches_are_read() {
    check(
        format!("diff --git a/x b/x\nindex 123..456 100644\n--- a/x\n+++ b/x\n{HUNK}"),
        "M x +1-1",
    );
    check("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "M x 100644>100755 +0-0");
    check("diff --git a/x b/x\nnew file mode 100755\nindex 000..e69\n", "A x 100755 +0-0");
    check("diff --git a/x b/x\ndeleted file mode 100644\nindex e69..000\n", "D x 100644 +0-0");
    check(
        "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
        "A x 100644 +1-0",
    );
    check(
        "diff --git a/x b/x\ndeleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
        "D x 100755 +0-2",
    );
    let rename = "diff --git a/x b/d/y z\nsimilarity index 90%\nrename from x\nrename to d/y z\n";
    check(rename, "R x>d/y z +0-0");
    check(format!("{rename}--- a/x\n+++ b/d/y z\t\n{HUNK}"), "R x>d/y z +1-1");
    check(
        "diff --git a/x b/y\nold mode 100755\nnew mode 100644\nrename from x\nrename to y\n",
        "R x>y 100755>100644 +0-0",
    );
}

#[test]
fn a_mode_that_does_not_change_is_no_change() {
    let same = "diff --git a/x b/x\nold mode 100755\nnew mode 100755\n";
    bad_header(same, 1, HeaderFault::NoChange);
    check(format!("{same}--- a/x\n+++ b/x\n{HUNK}"), "M x +1-1");
}

#[test]
fn plain_patches_are_read() {
    check(plain(HUNK), "M x +1-1");
    check(format!("--- a/x\t2020-01-01 00:00:00 +0000\n+++ b/x\t2020-01-02\n{HUNK}"), "M x +1-1");
    check("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "A x - +1-0");
    check("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", "D x - +0-1");
    check(format!("{}--- a/y\n+++ b/y\n{HUNK}", plain(HUNK)), "M x +1-1\nM y +1-1");
}

#[test]
fn a_git_header_may_lack_the_mode_of_a_new_file() {
    check("diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "A x - +1-0");
}

#[test]
fn prefixes_are_dropped_only_in_pairs() {
    check(format!("--- x\n+++ x\n{HUNK}"), "M x +1-1");
    check(format!("--- a/x\n+++ a/x\n{HUNK}"), "M a/x +1-1");
    check(format!("--- b/x\n+++ a/x\n{HUNK}"), "M x +1-1");
    check("--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+b\n", "A x - +1-0");
    check("diff --git a/x a/x\nold mode 100644\nnew mode 100755\n", "M a/x 100644>100755 +0-0");
    check("diff --git b/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "A b/x - +1-0");
    check("diff --git a/x y\nrename from a/x\nrename to y\n", "R a/x>y +0-0");
    check(
        format!("diff --git x y\nrename from x\nrename to y\n--- x\n+++ y\n{HUNK}"),
        "R x>y +1-1",
    );
}

#[test]
fn names_are_read_as_git_writes_them() {
    check(
        format!("--- \"a/caf\\303\\251.py\"\n+++ \"b/caf\\303\\251.py\"\n{HUNK}"),
        "M café.py +1-1",
    );
    check(
        "diff --git \"a/\\\"q\\\"\" \"b/\\\"q\\\"\"\nnew file mode 100644\n",
        "A \"q\" 100644 +0-0",
    );
    check("diff --git a/x b/x b/x b/x\nnew file mode 100644\n", "A x b/x 100644 +0-0");
    check("diff --git a/a b b/a b\nnew file mode 100644\n", "A a b 100644 +0-0");
    check(format!("--- a/a b\t\n+++ b/a b\t\n{HUNK}"), "M a b +1-1");
    check(
        "diff --git a/x \"b/\\303\\251\"\nrename from x\nrename to \"\\303\\251\"\n",
        "R x>é +0-0",
    );
    for broken in ["\"a/x", "\"a/\\8\"", "\"a/\\12\"", "\"a/x\"y", "\"a/\\777\"", "\"a/\\"] {
        bad_header(format!("--- {broken}\n+++ b/x\n{HUNK}"), 1, HeaderFault::Quoting);
    }
}

#[test]
fn text_around_patches_is_skipped() {
    check(format!("Here is the fix:\n```diff\n{}```\n- it works\n", plain(HUNK)), "M x +1-1");
    check(
        format!("From 123\nSubject: x\n\n---\n x | 2 +-\n\n{}-- \n2.47.3\n\n", plain(HUNK)),
        "M x +1-1",
    );
    check(format!("{}\n\n--- a/y\n+++ b/y\n{HUNK}", plain(HUNK)), "M x +1-1\nM y +1-1");
    check("", "");
    check("\n \n", "");
    refused("just words\n", Refusal::NothingFound);
    refused("--- a divider\n\n", Refusal::NothingFound);
}

#[test]
fn header_lines_may_end_in_carriage_returns() {
    let text = "diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n";
    let patch = Patch::parse(text.as_bytes()).expect("a good patch");
    let lines = [Line::Removed(b"a\r\n".to_vec()), Line::Added(b"b\r\n".to_vec())];
    assert_eq!(patch.files()[0].hunks()[0].lines(), lines);
}

#[test]
fn a_last_line_cut_short_has_its_newline() {
    let cut = Patch::parse(plain(HUNK).trim_end().as_bytes());
    assert_eq!(cut, Patch::parse(plain(HUNK).as_bytes()));
}

#[test]
fn an_empty_context_line_may_lack_its_space() {
    let bare = Patch::parse(plain("@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n").as_bytes());
    assert_eq!(bare, Patch::parse(plain("@@ -1,3 +1,3 @@\n a\n \n-b\n+c\n").as_bytes()));
    assert!(bare.is_ok());
}

#[test]
fn start_lines_of_the_new_side_are_worked_out_again() {
    let patch =
        Patch::parse(plain("@@ -1 +7,2 @@ fn x()\n-a\n+b\n+c\n@@ -9 +1 @@\n-d\n+e\n").as_bytes());
    let text = patch.expect("a good patch").to_bytes();
    let expect = format!(
        "diff --git a/x b/x\n{}",
        plain("@@ -1 +1,2 @@\n-a\n+b\n+c\n@@ -9 +10 @@\n-d\n+e\n")
    );
    assert_eq!(String::from_utf8(text).unwrap(), expect);
}

#[test]
fn paths_outside_the_policy_are_refused() {
    let cases = [
        ("/etc/passwd", PathRefusal::Absolute),
        ("a/../../x", PathRefusal::Leaves),
        ("../x", PathRefusal::Leaves),
        (".git/hooks/post-checkout", PathRefusal::VersionControl),
        (".GIT/config", PathRefusal::VersionControl),
        ("src/git~1/x", PathRefusal::VersionControl),
        (".git. /x", PathRefusal::VersionControl),
        (".gitattributes", PathRefusal::VersionControl),
        ("sub/.gitmodules", PathRefusal::VersionControl),
        ("x//y", PathRefusal::NotNormalised),
        ("./x", PathRefusal::NotNormalised),
        ("c:x", PathRefusal::BadCharacter),
    ];
    for (name, reason) in cases {
        let refusal = |line| Refusal::Path { line, path: name.to_owned(), reason };
        refused(format!("--- a/{name}\n+++ b/{name}\n{HUNK}"), refusal(1));
        refused(format!("diff --git a/{name} b/{name}\nnew file mode 100644\n"), refusal(1));
        refused(format!("diff --git a/x b/y\nrename from x\nrename to {name}\n"), refusal(1));
        refused(format!("diff --git a/x b/y\nrename from {name}\nrename to y\n"), refusal(1));
    }
    let path = |path: &str, reason| Refusal::Path { line: 1, path: path.to_owned(), reason };
    refused(format!("--- /etc/x\n+++ /etc/x\n{HUNK}"), path("/etc/x", PathRefusal::Absolute));
    refused(format!("--- a/\n+++ b/\n{HUNK}"), path("", PathRefusal::Empty));
    refused(
        format!("--- \"a/\\001\"\n+++ \"b/\\001\"\n{HUNK}"),
        path("\u{1}", PathRefusal::BadCharacter),
    );
    refused(
        format!("--- \"a/\\377\"\n+++ \"b/\\377\"\n{HUNK}"),
        path("\u{fffd}", PathRefusal::NotUtf8),
    );
    let long = "x".repeat(4097);
    refused(format!("--- a/{long}\n+++ b/{long}\n{HUNK}"), path(&long, PathRefusal::TooLong));
}

#[test]
fn links_submodules_and_other_modes_are_refused() {
    let path = || "x".to_owned();
    for word in ["new file mode", "deleted file mode", "old mode", "new mode", "index 123..456"] {
        let text =
            |mode: &str| format!("diff --git a/x b/x\n{word} {mode}\n--- a/x\n+++ b/x\n{HUNK}");
        // Where the word and `---` contradict each other that is said first.
        if word.contains("file") {
            continue;
        }
        refused(text("120000"), Refusal::Symlink { line: 2, path: path() });
        refused(text("160000"), Refusal::Gitlink { line: 2, path: path() });
        for mode in ["104755", "100600", "644", "", "100644 "] {
            refused(text(mode), Refusal::Mode { line: 2, path: path(), mode: mode.to_owned() });
        }
    }
    for word in ["new", "deleted"] {
        let text = |mode: &str| format!("diff --git a/x b/x\n{word} file mode {mode}\n");
        refused(text("120000"), Refusal::Symlink { line: 2, path: path() });
        refused(text("160000"), Refusal::Gitlink { line: 2, path: path() });
        let expect = Refusal::Mode { line: 2, path: path(), mode: "040000".to_owned() };
        refused(text("040000"), expect);
    }
    let link = "diff --git a/x b/x\nold mode 100644\nnew mode 120000\n";
    refused(link, Refusal::Symlink { line: 3, path: path() });
}

#[test]
fn binary_changes_and_copies_are_refused() {
    let header = "diff --git a/x b/x\nindex 123..456 100644\n";
    refused(format!("{header}GIT binary patch\nliteral 1\n"), Refusal::Binary { line: 3 });
    refused(format!("{header}Binary files a/x and b/x differ\n"), Refusal::Binary { line: 3 });
    refused("Binary files a/x and b/x differ\n", Refusal::Binary { line: 1 });
    refused("diff --git a/x b/y\ncopy from x\ncopy to y\n", Refusal::Copy { line: 2 });
}

#[test]
fn large_patches_are_refused() {
    let bytes = MAX_BYTES + 1;
    refused(vec![b' '; bytes], Refusal::TooLarge { bytes });
    assert_eq!(Patch::parse(&vec![b' '; MAX_BYTES]), Ok(Patch::default()));
    let many = |count: usize| {
        (0..count)
            .map(|n| format!("diff --git a/{n} b/{n}\nnew file mode 100644\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    refused(many(MAX_FILES + 1), Refusal::TooManyFiles);
    assert_eq!(Patch::parse(many(MAX_FILES).as_bytes()).unwrap().files().len(), MAX_FILES);
}

#[test]
fn a_file_may_stand_once_on_each_side() {
    let x = || path("x");
    refused(plain(HUNK) + &plain(HUNK), Refusal::Duplicate { line: 6, path: x() });
    let rename = "diff --git a/y b/x\nrename from y\nrename to x\n";
    refused(plain(HUNK) + rename, Refusal::Duplicate { line: 6, path: x() });
    let swap = "diff --git a/x b/y\nrename from x\nrename to y\n";
    check(format!("{rename}{swap}"), "R y>x +0-0\nR x>y +0-0");
    check(plain(HUNK) + &plain(HUNK).replace('x', "X"), "M x +1-1\nM X +1-1");
}

#[test]
fn broken_headers_are_refused() {
    bad_header("diff --cc x\n", 1, HeaderFault::Combined);
    bad_header(format!("words\n--- a/x\n{HUNK}"), 2, HeaderFault::NoNewName);
    bad_header(format!("diff --git a/x b/x\n--- a/x\n{HUNK}"), 3, HeaderFault::NoNewName);
    bad_header(format!("--- a/x\n+++ b/y\n{HUNK}"), 1, HeaderFault::NamesDiffer);
    bad_header(format!("--- x.orig\n+++ x\n{HUNK}"), 1, HeaderFault::NamesDiffer);
    bad_header(
        "diff --git a/x b/y\nold mode 100644\nnew mode 100755\n",
        1,
        HeaderFault::NamesDiffer,
    );
    bad_header("diff --git a/x y z\nnew file mode 100644\n", 1, HeaderFault::NamesDiffer);
    bad_header(
        format!("diff --git a/x b/x\n--- a/y\n+++ b/y\n{HUNK}"),
        1,
        HeaderFault::Contradiction,
    );
    bad_header(format!("--- /dev/null\n+++ /dev/null\n{HUNK}"), 1, HeaderFault::NoFile);
    bad_header("diff --git a/x b/x\nwords\n", 1, HeaderFault::NoChange);
    bad_header("diff --git a/x b/x\nold mode 100644\n", 1, HeaderFault::Contradiction);
    bad_header("diff --git a/x b/x\nnew mode 100644\n", 1, HeaderFault::Contradiction);
    bad_header("diff --git a/x b/y\nrename from x\n", 1, HeaderFault::Contradiction);
    bad_header("diff --git a/x b/x\nrename from x\nrename to x\n", 1, HeaderFault::Contradiction);
    let twice = "diff --git a/x b/x\nnew file mode 100644\nnew file mode 100644\n";
    bad_header(twice, 3, HeaderFault::Repeated);
    let both = "diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n";
    bad_header(both, 1, HeaderFault::Contradiction);
    let new_and_mode =
        "diff --git a/x b/x\nnew file mode 100644\nold mode 100644\nnew mode 100755\n";
    bad_header(new_and_mode, 1, HeaderFault::Contradiction);
    let new_and_renamed = "diff --git a/x b/y\nnew file mode 100644\nrename from x\nrename to y\n";
    bad_header(new_and_renamed, 1, HeaderFault::Contradiction);
    for word in ["new", "deleted"] {
        let text = format!("diff --git a/x b/x\n{word} file mode 100644\n--- a/x\n+++ b/x\n{HUNK}");
        bad_header(text, 1, HeaderFault::Contradiction);
    }
    let other = "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/z\n";
    bad_header(format!("{other}{HUNK}"), 1, HeaderFault::Contradiction);
}

#[test]
fn broken_hunks_are_refused_with_their_line() {
    bad_hunk(HUNK, 1, HunkFault::NoFile);
    bad_hunk(format!("words\n@@ ... @@\n{}", plain(HUNK)), 2, HunkFault::NoFile);
    for header in
        ["@@ @@", "@@ ... @@", "@@ -1 @@", "@@ -1 +1", "@@ -0 +1 @@", "@@ -1 +0 @@", "@@ -a +b @@"]
    {
        bad_hunk(plain(&format!("{header}\n-a\n+b\n")), 3, HunkFault::Header);
    }
    for header in
        ["@@ -+1 +1 @@", "@@ -1,,1 +1 @@", "@@ -99999999999 +1 @@", "@@@ -1 -1 +1 @@@", "words"]
    {
        bad_hunk(plain(&format!("{header}\n-a\n+b\n")), 3, HunkFault::Header);
    }
    bad_hunk(plain(""), 3, HunkFault::Header);
    bad_hunk(plain("@@ -1,2 +1 @@\n-a\n+b\n"), 6, HunkFault::Ends);
    bad_hunk(plain("@@ -1,2 +1,2 @@\n-a\n+b\n*c\n"), 6, HunkFault::BadLine);
    bad_hunk(plain("@@ -1 +1 @@\n-a\n-b\n+b\n"), 5, HunkFault::TooMany);
    bad_hunk(plain("@@ -1 +1 @@\n-a\n+b\n+c\n"), 6, HunkFault::TooMany);
    bad_hunk(plain("@@ -1 +1 @@\n-a\n+b\n c\n"), 6, HunkFault::TooMany);
    bad_hunk(plain("@@ -1 +1 @@\n-a\n+b\n\n-c\n"), 7, HunkFault::TooMany);
    bad_hunk(plain("@@ -1 +1 @@\n-a\n+b\n--- c\n"), 6, HunkFault::TooMany);
    bad_hunk(plain("@@ -1 +1 @@\n a\n"), 3, HunkFault::NoChange);
    bad_hunk(plain("@@ -0,0 +0,0 @@\n"), 3, HunkFault::NoChange);
    bad_hunk(plain("@@ -3 +3 @@\n-a\n+b\n@@ -3 +3 @@\n-a\n+b\n"), 6, HunkFault::Order);
    bad_hunk(plain("@@ -1 +1 @@\n-a\n+b\n@@ bad\n"), 6, HunkFault::Header);
}

#[test]
fn lines_without_newline_stand_only_at_the_end() {
    const MARK: &str = "\\ No newline at end of file\n";
    check(plain(&format!("@@ -1 +1 @@\n-a\n{MARK}+b\n{MARK}")), "M x +1-1");
    check(plain(&format!("@@ -1 +1,2 @@\n-a\n{MARK}+a\n+b\n")), "M x +2-1");
    check(plain(&format!("@@ -1,2 +1 @@\n-a\n b\n{MARK}")), "M x +0-1");
    for (hunk, line) in [
        (format!("@@ -1 +1 @@\n{MARK}-a\n+b\n"), 4),
        (format!("@@ -1,2 +1 @@\n-a\n{MARK}-b\n+b\n"), 5),
        (format!("@@ -1,2 +1,2 @@\n a\n{MARK}-b\n+b\n"), 5),
        (format!("@@ -1,2 +1 @@\n a\n{MARK}-b\n"), 5),
        (format!("@@ -1 +1,2 @@\n a\n{MARK}+b\n"), 5),
        (format!("@@ -1 +1 @@\n-a\n{MARK}{MARK}+b\n"), 6),
        (format!("@@ -1 +1 @@\n-\n{MARK}+b\n"), 5),
        (format!("@@ -1 +1 @@\n-a\n+b\n{MARK}@@ -3 +3 @@\n-a\n+b\n"), 7),
    ] {
        bad_hunk(plain(&hunk), line, HunkFault::NoNewline);
    }
}

#[test]
fn new_and_deleted_files_have_one_hunk_of_one_kind() {
    let new = "--- /dev/null\n+++ b/x\n";
    bad_hunk(format!("{new}{HUNK}"), 1, HunkFault::WholeFile);
    bad_hunk(format!("{new}@@ -3,0 +4 @@\n+b\n"), 1, HunkFault::WholeFile);
    bad_hunk(format!("{new}@@ -0,0 +1 @@\n+b\n@@ -0,0 +2 @@\n+b\n"), 1, HunkFault::WholeFile);
    bad_hunk(format!("--- a/x\n+++ /dev/null\n{HUNK}"), 1, HunkFault::WholeFile);
}

#[test]
fn changed_lines_and_paths_cover_all_files() {
    let rename = "diff --git a/z b/m\nrename from z\nrename to m\n";
    let patch = Patch::parse((plain("@@ -1 +1,2 @@\n-a\n+b\n+c\n") + rename).as_bytes()).unwrap();
    assert_eq!(patch.changed_lines(), (2, 1));
    assert_eq!(patch.paths(), [path("m"), path("x"), path("z")]);
    assert!(!patch.is_empty() && Patch::default().is_empty());
}
