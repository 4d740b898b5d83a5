//! What cannot be played on, through the binary: one sentence with what to do, nothing lost, no panic.
#![allow(
    clippy::disallowed_methods,
    reason = "the binary, and what prepares its world, are processes"
)]

use crate::cases::{ARTIFACT, Home};
use crate::support::{git_commit, git_init, without_privileges};
use crate::untouched::{assert_untouched, snapshot};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the command and wants its exit code and, where that is no 0 and no 1, one sentence that holds
/// `words`. The repository must be what it was.
#[track_caller]
pub(crate) fn check(
    home: &Home,
    mut command: Command,
    arguments: &str,
    code: i32,
    words: &[&str],
) -> Output {
    let repo = home.root().join("repo");
    let before = snapshot(&repo);
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    let told = format!("{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        output.status.code(),
        Some(code),
        "{told}{}",
        String::from_utf8_lossy(&output.stdout)
    );
    for fault in ["panicked", "backtrace", "RUST_", "Error {", "fatal runtime"] {
        assert!(!told.contains(fault), "{told}");
    }
    let complaints: Vec<&str> = told
        .lines()
        .filter_map(|line| line.split_once("ssr-mcp: ").map(|(_, said)| said))
        .collect();
    if code < 2 {
        assert!(complaints.is_empty(), "{told}");
    } else {
        assert_eq!(complaints.len(), 1, "{told}");
        assert!(told.trim_end().ends_with(complaints[0]), "the sentence is not the last: {told}");
    }
    let said = complaints.first().map_or(told.as_str(), |said| *said);
    for word in words {
        assert!(said.contains(word), "{word:?} is not in {said:?}");
    }
    eprintln!("{code} {said}");
    assert_untouched(&before, &repo);
    output
}

/// The same for `play`.
#[track_caller]
pub(crate) fn refused(home: &Home, arguments: &str, words: &[&str]) {
    check(home, home.binary(), &format!("play . {arguments}"), 3, words);
}

/// A repository whose tests are for `unittest`.
fn unittest(tests: &str) -> Home {
    let home = Home::new();
    home.write("repo/shop/__init__.py", "");
    home.write("repo/shop/price.py", "def double(n):\n    return n + n\n");
    home.write("repo/tests/__init__.py", "");
    let head = "import unittest\n\nfrom shop.price import double\n\n\nclass PriceTest(unittest.TestCase):\n";
    home.write("repo/tests/test_price.py", &format!("{head}{tests}"));
    home
}

pub(crate) fn ledger() -> Home {
    let home = Home::new();
    home.copy_example("ledger");
    home
}

/// A `PATH` with nothing but the given programs, as they are found on this machine's.
fn path_with(home: &Home, programs: &[&str]) -> PathBuf {
    let dir = home.root().join("path");
    fs::create_dir(&dir).unwrap();
    for program in programs {
        let found = ["/usr/local/bin", "/usr/bin", "/bin"].map(|dir| Path::new(dir).join(program));
        let found = found.iter().find(|file| file.exists()).unwrap();
        symlink(found.canonicalize().unwrap(), dir.join(program)).unwrap();
    }
    dir
}

#[test]
fn a_repository_without_tests_is_told_what_to_add() {
    let home = Home::new();
    home.write("repo/shop.py", "def double(n):\n    return n + n\n");
    refused(&home, "", &["no tests of a known framework were found", "--test-command"]);
    let empty = Home::new();
    refused(&empty, "", &["no tests of a known framework were found"]);
}

#[test]
fn tests_without_their_runner_name_what_to_install() {
    let home = Home::new();
    home.write("repo/shop.py", "def double(n):\n    return n + n\n");
    home.write("repo/tests/test_shop.py", "import pytest\nfrom shop import double\n\n\ndef test_double():\n    assert double(2) == 4\n");
    let venv = home.root().join("venv");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).status();
    assert!(made.unwrap().success());
    let mut command = home.binary();
    command.env("VIRTUAL_ENV", &venv);
    let python = venv.join("bin/python").display().to_string();
    check(&home, command, "play .", 3, &["the tests need pytest", &python, "nstall"]);
}

#[test]
fn a_suite_in_which_every_test_fails_is_refused() {
    let home = unittest(
        "    def test_one(self):\n        self.assertEqual(double(2), 5)\n\n    def test_two(self):\n        raise KeyError\n",
    );
    refused(&home, "", &["none of the 2 tests passes", "--test-command"]);
}

#[test]
fn a_suite_that_hangs_ends_at_its_limit() {
    let home =
        unittest("    def test_hang(self):\n        import signal\n        signal.pause()\n");
    refused(&home, "--timeout 2", &["did not end within 2 s", "--timeout"]);
    check(&home, home.binary(), "inject . --timeout 2", 3, &["did not end within 2 s"]);
}

#[test]
fn a_suite_that_needs_the_network_is_told_that_there_is_none() {
    let home = unittest(
        "    def test_net(self):\n        import socket\n        socket.create_connection(('192.0.2.1', 80), timeout=60)\n",
    );
    refused(&home, "", &["none of the 1 tests passes", "no network"]);
}

#[test]
fn tests_that_are_not_played_with_are_named() {
    let home = ledger();
    home.write(
        "repo/tests/test_net.py",
        "import socket\nimport unittest\n\n\nclass NetTest(unittest.TestCase):\n    def test_net(self):\n        socket.create_connection(('192.0.2.1', 80), timeout=60)\n",
    );
    let words = ["not played with: tests/test_net.py::NetTest::test_net: error before any change"];
    check(&home, home.binary(), "inject . --seed 1", 0, &words);
}

#[test]
fn a_file_of_2_gb_and_links_in_a_loop_are_left_out_and_named() {
    let home = ledger();
    let big = fs::File::create(home.root().join("repo/dump.bin")).unwrap();
    big.set_len(2 << 30).unwrap();
    symlink("loop", home.root().join("repo/loop")).unwrap();
    symlink("two", home.root().join("repo/one")).unwrap();
    symlink("one", home.root().join("repo/two")).unwrap();
    symlink("..", home.root().join("repo/ledger/up")).unwrap();
    check(&home, home.binary(), "inject . --seed 1", 0, &["left out of the copy: dump.bin ("]);
    let status = check(&home, home.binary(), "status . --json", 0, &[]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    let left_out = status["left_out"].as_array().unwrap();
    assert!(left_out.iter().any(|left| left["path"] == "dump.bin"), "{status}");
    let state = home.root().join("home/.local/state/ssr-mcp");
    let kept: u64 =
        snapshot(&state).keys().map(|file| file.symlink_metadata().unwrap().len()).sum();
    assert!(kept < 64 << 20, "{kept} bytes were kept");
}

#[test]
fn a_link_that_leads_back_to_itself_is_no_repository() {
    let home = Home::new();
    symlink("loop", home.root().join("loop")).unwrap();
    for verb in ["play", "inject", "status"] {
        let words = ["leads back to itself", "give the real directory"];
        check(&home, home.binary(), &format!("{verb} ../loop"), 2, &words);
    }
}

#[test]
fn a_plain_folder_and_a_machine_without_git_are_played_on() {
    let home = ledger();
    let path = path_with(&home, &["python3", "bash"]);
    check(&home, home.binary(), "inject . --seed 1", 0, &[]);
    git_init(&home.root().join("repo"));
    git_commit(&home.root().join("repo"));
    home.write("repo/ledger/dirty.py", "DIRTY = True\n");
    let mut command = home.binary();
    command.env("PATH", &path);
    check(&home, command, "inject . --seed 2", 0, &[]);
}

#[test]
fn a_machine_without_python_is_told_to_install_it() {
    let home = ledger();
    let path = path_with(&home, &["bash"]);
    let mut command = home.binary();
    command.env("PATH", &path);
    check(&home, command, "play .", 3, &["no Python 3 was found", "Install Python 3"]);
}

/// The binary with its state on a file system of `size`; 77 says that there is none to be had.
fn on_a_small_disk(home: &Home, size: &str) -> Command {
    let small = home.root().join("small");
    fs::create_dir_all(&small).unwrap();
    let root = rustix::process::geteuid().is_root();
    let mut command = Command::new("unshare");
    command.arg(if root { "-m" } else { "-Urm" }).args(["sh", "-c"]);
    command.arg(format!("mount -t tmpfs -o size={size} none \"$0\" || exit 77; exec \"$@\""));
    command.arg(&small).arg(home.binary().get_program());
    let inner = home.binary();
    command.env_clear().envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.env("SSR_MCP_STATE_DIR", &small).current_dir(home.root().join("repo"));
    command
}

#[test]
fn a_full_disk_is_told_wherever_it_happens() {
    let home = ledger();
    let tried = on_a_small_disk(&home, "1m").arg("--version").output();
    if !tried.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("NOT RUN: a full disk (a small file system cannot be mounted: {tried:?})");
        return;
    }
    let mut codes = Vec::new();
    for size in ["4k", "64k", "160k", "256k", "400k", "600k"] {
        let words = ["free some space"];
        check(&home, on_a_small_disk(&home, size), "inject . --seed 1", 3, &words);
        codes.push(size);
    }
    check(&home, on_a_small_disk(&home, "64m"), "inject . --seed 1", 0, &[]);
}

#[test]
fn a_lack_of_permission_is_told_with_the_path() {
    if !without_privileges("bad_input::a_lack_of_permission_is_told_with_the_path") {
        return;
    }
    let home = ledger();
    let mode = |path: &str, mode| {
        fs::set_permissions(home.root().join(path), Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(home.root().join("closed")).unwrap();
    mode("closed", 0o500);
    let words = ["closed", "Permission denied", "permissions"];
    refused(&home, "--state-dir ../closed", &words);
    refused(&home, "--state-dir ../closed/deeper", &words);
    mode("repo/ledger/money.py", 0o000);
    refused(&home, "", &["ledger/money.py", "cannot be read", "make it readable"]);
    mode("repo/ledger/money.py", 0o644);
    mode("repo/ledger", 0o000);
    refused(&home, "", &["repo/ledger", "cannot be read", "make it readable"]);
    mode("repo/ledger", 0o755);
    mode("repo", 0o000);
    let output = home.binary().current_dir("/").arg("play").arg(home.root().join("repo")).output();
    mode("repo", 0o755);
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("may not be read by this user"), "{said}");
    // The rest of what an ordinary user does works.
    check(&home, home.binary(), "inject . --seed 1", 0, &[]);
}

/// The state directory of the repository, after something has made it.
pub(crate) fn state(home: &Home) -> PathBuf {
    let all = home.root().join("home/.local/state/ssr-mcp");
    let is_one = |path: &PathBuf| path.join("workspace.json").exists();
    fs::read_dir(all).unwrap().map(|entry| entry.unwrap().path()).find(is_one).unwrap()
}

#[test]
fn the_state_of_a_newer_version_is_refused_and_kept() {
    let home = ledger();
    check(&home, home.binary(), "status .", 0, &[]);
    let state = state(&home);
    let database = rusqlite::Connection::open(state.join("state.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let words = ["made by a newer version", "update ssr-mcp"];
    refused(&home, "", &words);
    check(&home, home.binary(), "status .", 3, &words);
    let card = state.join("workspace.json");
    fs::write(&card, r#"{"schema": 99, "more": true}"#).unwrap();
    refused(&home, "", &words);
    assert_eq!(fs::read_to_string(card).unwrap(), r#"{"schema": 99, "more": true}"#);
}

#[test]
fn half_written_state_costs_nothing_but_time() {
    let home = ledger();
    check(&home, home.binary(), "status .", 0, &[]);
    let state = state(&home);
    fs::write(state.join("workspace.json"), "{\"sch").unwrap();
    fs::write(state.join("state.db"), "SQLite for").unwrap();
    for companion in ["state.db-wal", "state.db-shm"] {
        fs::remove_file(state.join(companion)).unwrap_or_default();
    }
    check(&home, home.binary(), "inject . --seed 1", 0, &["was damaged and lies in"]);
    let files: Vec<_> = fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path()).collect();
    let kept = |file: &PathBuf| fs::read(file).is_ok_and(|bytes| bytes == b"SQLite for");
    assert!(files.iter().any(kept), "{files:?}");
}

#[test]
fn a_half_written_artifact_is_named_by_its_part() {
    let home = ledger();
    for (name, content) in ARTIFACT {
        home.write(&format!("bug/{name}"), content);
    }
    for verb in ["check ../bug", "solve ../bug", "grade ../bug ../bug/bug_inject.diff"] {
        let part = home.root().join("bug/test_parser.py");
        fs::write(&part, "").unwrap();
        check(&home, home.binary(), verb, 2, &["test_parser.py is empty"]);
        fs::remove_file(&part).unwrap();
        check(&home, home.binary(), verb, 2, &["test_parser.py", "is missing"]);
        fs::write(&part, ARTIFACT[3].1).unwrap();
    }
    home.write("file.diff", ARTIFACT[0].1);
    // A diff that ends in the middle is no harness error: the artifact is not valid.
    home.write("bug/bug_inject.diff", &ARTIFACT[0].1[..60]);
    let output = check(&home, home.binary(), "check ../bug --json", 1, &[]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["failed_check"], "separation", "{answer}");
    check(&home, home.binary(), "solve ../bug", 2, &["bug_inject.diff"]);
    let graded = check(&home, home.binary(), "grade ../bug ../file.diff --json", 1, &[]);
    let graded: serde_json::Value = serde_json::from_slice(&graded.stdout).unwrap();
    assert_eq!(graded["code"], "unplayable", "{graded}");
}

#[test]
fn a_kept_artifact_whose_folder_was_damaged_is_whole_in_the_store() {
    let home = ledger();
    let output = check(&home, home.binary(), "inject . --seed 1 --json", 0, &[]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = PathBuf::from(answer["out"].as_str().unwrap());
    fs::remove_file(kept.join("test_parser.py")).unwrap();
    fs::write(kept.join("bug_inject.diff"), "diff --git").unwrap();
    let id = answer["artifact"].as_str().unwrap();
    check(&home, home.binary(), &format!("check {}", &id[..10]), 0, &[]);
    check(&home, home.binary(), &format!("check {id}"), 0, &[]);
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let home = ledger();
    home.write("taken/notes.txt", "mine\n");
    home.write("file", "mine\n");
    let words = ["taken exists and is not this artifact", "--out"];
    let output = check(&home, home.binary(), "inject . --out ../taken", 2, &words);
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{output:?}");
    check(&home, home.binary(), "inject . --out ../file/bug", 3, &["cannot be written"]);
    std::os::unix::fs::symlink("repo", home.root().join("link")).unwrap();
    for inside in ["bug", ".", "deep/er/bug", "../link/bug", "../none/../repo/bug"] {
        let words = ["lies in the repository", "--out"];
        check(&home, home.binary(), &format!("inject . --out {inside}"), 2, &words);
    }
    check(&home, home.binary(), "play . --csv ../file/rounds.csv", 2, &["--csv"]);
    check(&home, home.binary(), "play . --csv ../nowhere/rounds.csv", 2, &["--csv"]);
}

#[test]
fn a_game_that_never_begins_leaves_no_csv_file() {
    let home = Home::new();
    home.write("repo/shop.py", "def double(n):\n    return n + n\n");
    refused(&home, "--csv ../rounds.csv", &["no tests"]);
    assert!(!home.root().join("rounds.csv").exists());
}
