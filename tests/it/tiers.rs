//! The weaker tiers as a user meets them: rounds are played in them, results and `doctor` say so, and what
//! a tier cannot do is refused by name.

use crate::cases::Home;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user of tier C, who is not root.
const USER: u32 = 12_350;

pub(crate) fn not_run(why: &str) {
    eprintln!("NOT RUN: {why}");
}

/// The last line of standard output, and what standard error said.
fn answer(command: &mut Command) -> (Value, String) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_default();
    (last, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A directory that an ordinary user may work in, with the program; not below `/tmp`, which is private in
/// a run.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// `None` where another user cannot be become.
    pub(crate) fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            not_run("tier C as another user: this test run is no root's");
            return None;
        }
        let open = fs::Permissions::from_mode(0o755);
        let dir = tempfile::Builder::new().permissions(open).tempdir_in("/var/tmp").unwrap();
        fs::copy(env!("CARGO_BIN_EXE_ssr-mcp"), dir.path().join("ssr-mcp")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        Some(Self { dir })
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("home/repo")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        give(&self.dir.path().join("home"));
        let mut command = Command::new(self.dir.path().join("ssr-mcp"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.dir.path().join("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.dir.path().join("home"))
            .uid(USER)
            .gid(USER);
        command
    }
}

fn give(path: &Path) {
    std::os::unix::fs::lchown(path, Some(USER), Some(USER)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
    chown(path, Some(USER), Some(USER)).unwrap_or_default();
}

#[test]
fn the_same_bug_is_made_in_every_tier_and_its_result_says_which() {
    let arguments = ["inject", ".", "--seed", "7", "--strategy", "removal", "--json", "--sandbox"];
    let home = Home::new();
    home.copy_example("ledger");
    // Each with a state of its own: a bug that is known is not made again.
    let inject = |tier| {
        answer(
            home.binary().args(arguments).arg(tier).arg("--state-dir").arg(home.root().join(tier)),
        )
        .0
    };
    let first = inject("A");
    assert_eq!((&first["valid"], &first["report"]["sandbox"]), (&true.into(), &"A".into()));
    if Path::new("/usr/bin/bwrap").exists() {
        let second = inject("B");
        assert_eq!(second["report"]["sandbox"], "B", "{second}");
        assert_eq!(second["artifact"], first["artifact"], "{second}");
    } else {
        not_run("tier B: bubblewrap is not on this machine");
    }
    let Some(place) = Place::new() else { return };
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ledger"), &place.repo());
    let command = [&arguments[..], &["C"]].concat();
    let command: Vec<&str> =
        command.iter().map(|word| if *word == "." { "repo" } else { *word }).collect();
    let (third, told) = answer(&mut place.command(&command));
    assert_eq!(third["report"]["sandbox"], "C", "{third} {told}");
    assert_eq!(third["artifact"], first["artifact"], "{third}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn doctor_says_what_a_tier_lacks_and_why_no_better_one_is_there() {
    let home = Home::new();
    let doctor = |arguments: &[&str]| answer(home.binary().args(arguments)).0["sandbox"].clone();
    let best = doctor(&["doctor", "--json"]);
    assert_eq!(best["tier"], "A", "{best}");
    assert_eq!((&best["lacks"], &best["better"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    let Some(place) = Place::new() else { return };
    let third = answer(&mut place.command(&["doctor", "--json", "--sandbox", "C"])).0;
    let lacks = third["sandbox"]["lacks"].as_array().unwrap().clone();
    assert!(lacks.iter().any(|lack| lack.as_str().unwrap().contains("no network")), "{third}");
    let refused = doctor(&["doctor", "--json", "--sandbox", "C"]);
    let why = refused["refusal"].as_str().unwrap().to_owned();
    assert!(
        refused["tier"].is_null() && why.contains("start ssr-mcp as an ordinary user"),
        "{why}"
    );
}

/// Its tests would go as tests that always failed.
#[test]
fn a_suite_that_needs_a_network_is_refused_where_there_is_none() {
    let Some(place) = Place::new() else { return };
    let ledger = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ledger");
    copy(&ledger, &place.repo());
    let test = "import socket, unittest
class T(unittest.TestCase):
    def test_serves(self):
        socket.create_server(('127.0.0.1', 0)).close()
";
    fs::write(place.repo().join("tests/test_serves.py"), test).unwrap();
    let (told, _) = answer(&mut place.command(&["inject", "repo", "--json", "--sandbox", "C"]));
    let error = told["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.contains("tier C does not have") && error.contains("test_serves"), "{told}");
    assert!(error.contains("1 of them fail"), "{error}");
}
