//! What several topics need: files, git repositories that no user's configuration touches, and a
//! test run in a process of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A temporary directory with a place for a repository and one for state, both absent at first.
pub(crate) struct Ground {
    dir: TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::with_prefix("ssr-mcp-").unwrap() }
    }

    /// A ground with an empty git repository on branch `main`.
    pub(crate) fn with_git() -> Self {
        let ground = Self::new();
        git_init(&ground.repo());
        ground
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path().join("repo")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// Writes a file of the repository, and the directories above it.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        write(&self.repo().join(path), content);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.repo(), arguments)
    }

    /// Commits everything that is not ignored.
    pub(crate) fn commit(&self) {
        git_commit(&self.repo());
    }
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn git_init(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    git(dir, &["init", "--quiet", "--initial-branch=main"]);
}

pub(crate) fn git_commit(dir: &Path) {
    git(dir, &["add", "--all"]);
    git(dir, &["commit", "--quiet", "--allow-empty", "--message=state"]);
}

/// Runs git with one fixed author and date and no configuration but the repository's. Panics with
/// what git said if it fails.
#[track_caller]
#[allow(clippy::disallowed_methods, reason = "tests may start processes")]
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "protocol.file.allow=always", "-c", "core.autocrlf=false"])
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null());
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "A")
            .env(format!("GIT_{who}_EMAIL"), "a@example.org")
            .env(format!("GIT_{who}_DATE"), "2020-01-01T00:00:00Z");
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

const ROLE: &str = "SSR_MCP_TEST_ROLE";

/// A command that runs the test `name` (its full path) of this binary in a process of its own, with
/// `role` for `role()` to find.
#[allow(clippy::disallowed_methods, reason = "tests may start processes")]
pub(crate) fn in_a_process(name: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(ROLE, role);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// What `in_a_process` gave this process to do; `None` in the test run itself.
#[allow(clippy::disallowed_methods, reason = "tests may read the environment")]
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Runs the calling test as a user whom permissions bind. True in that process: go on; false in the
/// test run itself, which is root's: the other process has done the work.
#[track_caller]
pub(crate) fn without_privileges(name: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let scratch = tempfile::tempdir().unwrap();
    if role().is_some() || scratch.path().metadata().unwrap().uid() != 0 {
        return true;
    }
    let output = in_a_process(name, "nobody").uid(65534).gid(65534).current_dir("/").output();
    match output {
        Ok(output) => {
            let text =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
        }
        Err(error) => eprintln!("NOT RUN: {name} (as another user: {error})"),
    }
    false
}
