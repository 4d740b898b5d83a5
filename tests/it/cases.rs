//! Case files: what goes in and what must come out, as text. `UPDATE_EXPECT=1` rewrites what comes
//! out; read the difference before it is committed.
#![allow(clippy::disallowed_methods, reason = "tests may start processes and read the environment")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A place where the binary runs with nothing of this machine's user around it.
pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { dir: TempDir::with_prefix("ssr-mcp-").unwrap() };
        for dir in ["home", "tmp", "repo"] {
            fs::create_dir(home.root().join(dir)).unwrap();
        }
        home
    }

    /// Canonical.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A copy of an example as the repository.
    pub(crate) fn copy_example(&self, name: &str) {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
        copy(&example, &self.root().join("repo"));
    }

    /// The binary, in `repo`, with a cleared environment.
    pub(crate) fn binary(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssr-mcp"));
        command
            .env_clear()
            .env("HOME", self.root().join("home"))
            .env("TMPDIR", self.root().join("tmp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.root().join("repo"));
        command
    }

    /// What differs from run to run, replaced.
    pub(crate) fn normalised(&self, text: &str) -> String {
        let text = text
            .replace(env!("CARGO_BIN_EXE_ssr-mcp"), "$BINARY")
            .replace(&self.root().display().to_string(), "$ROOT")
            .replace(env!("CARGO_PKG_VERSION"), "$VERSION");
        // A workspace's state directory is named by 16 digits of a digest of its root.
        let mut parts = text.split("/state/ssr-mcp/");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |done, part| {
            done + "/state/ssr-mcp/$KEY" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit())
        })
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}

/// An artifact whose parser reads lines of `id status`. Its patches are not for any repository.
pub(crate) const ARTIFACT: [(&str, &str); 5] = [
    (
        "bug_inject.diff",
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n",
    ),
    (
        "test_weaken.diff",
        "diff --git a/test_a.py b/test_a.py\n--- a/test_a.py\n+++ b/test_a.py\n@@ -1 +1 @@\n-assert x\n+pass\n",
    ),
    ("test_script.sh", "python3 -m pytest -v\n"),
    (
        "test_parser.py",
        "import sys\n\
         pairs = [line.rsplit(' ', 1) for line in sys.stdin.read().splitlines()]\n\
         print('{' + ', '.join('\"%s\": \"%s\"' % (a, b) for a, b in pairs) + '}')\n",
    ),
    ("test_files.txt", "test_a.py\n"),
];

/// The case files of a face, by name.
pub(crate) fn of(face: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(face);
    let mut cases: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "there are no cases of {face}");
    cases
}

/// Compares a case file with what it is now, or rewrites it.
#[track_caller]
pub(crate) fn settle(case: &Path, now: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(case, now).unwrap();
        return;
    }
    let expected = fs::read_to_string(case).unwrap();
    if expected == now {
        return;
    }
    let at = expected.lines().zip(now.lines()).take_while(|(a, b)| a == b).count();
    panic!(
        "{} differs at line {}:\n  expected {:?}\n  got      {:?}\n\
         run with UPDATE_EXPECT=1 and read the difference",
        case.display(),
        at + 1,
        expected.lines().nth(at),
        now.lines().nth(at)
    );
}
