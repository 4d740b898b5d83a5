//! Sources that are neither UTF-8 nor ended by line feeds alone: bugs in them, byte for byte.
#![allow(clippy::disallowed_methods, reason = "the binary and git are processes")]

use crate::cases::Home;
use crate::support::git;
use crate::untouched::{assert_untouched, snapshot};
use serde_json::Value;
use std::fs;
use std::path::Path;

const E_GRAVE: u8 = 0xe8;

/// Every line of every module ends with CR LF.
fn with_crlf(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            with_crlf(&entry.path());
        } else if entry.path().extension().is_some_and(|extension| extension == "py") {
            let text = fs::read_to_string(entry.path()).unwrap();
            fs::write(entry.path(), text.replace('\n', "\r\n")).unwrap();
        }
    }
}

/// A cookie, and a latin-1 comment after each `return`.
fn in_latin_1(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let mut bytes = b"# -*- coding: latin-1 -*-\n".to_vec();
    for line in text.lines() {
        assert!(line.is_ascii(), "{line} has another meaning in latin-1");
        bytes.extend(line.as_bytes());
        if line.trim_start().starts_with("return ") {
            bytes.extend([b"  # r".as_slice(), &[E_GRAVE], b"gle"].concat());
        }
        bytes.push(b'\n');
    }
    fs::write(path, bytes).unwrap();
}

/// The last line of standard output.
#[track_caller]
fn answer(home: &Home, arguments: &str) -> Value {
    let output = home.binary().args(arguments.split_whitespace()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{arguments}: {error}: {output:?}"))
}

/// Injects into the file, and wants: valid; git applies the diffs to the very tree and takes them back
/// to the very bytes; the reversed bug is graded a repair. Gives the bug's diff.
#[track_caller]
fn check(home: &Home, file: &str, out: &str) -> Vec<u8> {
    let repo = home.root().join("repo");
    let before = snapshot(&repo);
    let injected =
        answer(home, &format!("inject . --seed 3 --target {file} --out ../{out} --json"));
    assert_eq!(injected["valid"], true, "{file}: {injected}");
    let parts = home.root().join(out);
    let bug = fs::read(parts.join("bug_inject.diff")).unwrap();
    assert!(bug.windows(file.len()).any(|window| window == file.as_bytes()));
    let copy = home.root().join(format!("copy-of-{out}"));
    crate::bench::copy(&repo, &copy);
    for part in ["bug_inject.diff", "test_weaken.diff"] {
        let patch = parts.join(part).display().to_string();
        git(&copy, &["apply", "--whitespace=nowarn", &patch]);
    }
    let edited = fs::read(copy.join(file)).unwrap();
    assert_ne!(edited, fs::read(repo.join(file)).unwrap());
    for part in ["test_weaken.diff", "bug_inject.diff"] {
        let patch = parts.join(part).display().to_string();
        git(&copy, &["apply", "--whitespace=nowarn", "--reverse", &patch]);
    }
    for path in before.keys().filter(|path| path.is_file()) {
        let same = copy.join(path.strip_prefix(&repo).unwrap());
        assert_eq!(fs::read(same).unwrap(), fs::read(path).unwrap(), "{}", path.display());
    }
    let repair = ssr_mcp::diff::Patch::parse(&bug).unwrap().reversed().to_bytes();
    fs::write(home.root().join("repair.diff"), repair).unwrap();
    let graded = answer(home, &format!("grade ../{out} ../repair.diff --json"));
    assert_eq!(graded["code"], "solved", "{file}: {graded}");
    assert_untouched(&before, &repo);
    // What the edits left alone kept its ends; what they wrote has the file's.
    let original = fs::read(repo.join(file)).unwrap();
    let bare = |bytes: &[u8]| {
        bytes
            .iter()
            .enumerate()
            .filter(|(at, byte)| **byte == b'\n' && (*at == 0 || bytes[at - 1] != b'\r'))
            .count()
    };
    if bare(&original) == 0 {
        assert_eq!(bare(&edited), 0, "{file} has line feeds without carriage returns now");
    }
    bug
}

#[test]
fn bugs_in_crlf_and_latin_1_sources_are_byte_exact() {
    let home = Home::new();
    home.copy_example("ledger");
    let rules = home.root().join("repo/ledger/rules.py");
    in_latin_1(&rules);
    let bug = check(&home, "ledger/rules.py", "latin");
    assert!(bug.contains(&E_GRAVE), "the diff shows no latin-1 line");
    assert!(!fs::read(home.root().join("latin/bug_inject.diff")).unwrap().is_ascii());

    let home = Home::new();
    home.copy_example("ledger");
    with_crlf(&home.root().join("repo"));
    let bug = check(&home, "ledger/budget.py", "crlf");
    let changed = |line: &&[u8]| {
        matches!(line.first(), Some(b'+' | b'-'))
            && !line.starts_with(b"---")
            && !line.starts_with(b"+++")
    };
    for line in bug.split(|byte| *byte == b'\n').filter(changed) {
        assert!(line.ends_with(b"\r"), "{}", String::from_utf8_lossy(line));
    }
}
