//! `kill -9` on a dirty repository, at moments spread over a round.
#![allow(
    clippy::disallowed_methods,
    reason = "the binary is a process, and its children are looked for"
)]

use crate::cases::Home;
use crate::support::{git, git_commit, git_init};
use crate::untouched::{assert_untouched, snapshot};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How long something is waited for; reached only when something is wrong.
const PATIENCE: Duration = Duration::from_mins(2);

/// A process by its id and when it started, so that a new one with an old id is another.
type Process = (u32, String);

fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    // A zombie runs nothing; who reaps it is not ours to say.
    (!matches!(fields.next()?, "Z" | "X")).then(|| fields.nth(18).map(str::to_owned))?
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

fn descendants(pid: u32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut todo = children(pid);
    while let Some(child) = todo.pop() {
        todo.extend(children(child));
        found.extend(started(child).map(|at| (child, at)));
    }
    found
}

/// Living processes with `place` in their arguments, their environment or their mounts.
fn around(place: &Path) -> Vec<Process> {
    let place = place.as_os_str().as_encoded_bytes();
    let names = |pid: u32, file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes.windows(place.len()).any(|window| window == place)
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| ["cmdline", "environ", "mountinfo"].iter().any(|file| names(*pid, file)))
        .filter_map(|pid| Some((pid, started(pid)?)))
        .collect()
}

/// Starts `play`, waits for its `line`th line on standard error and, where `inside`, for a process
/// that it has started then, and kills it. Gives that line.
fn killed_at(home: &Home, line: usize, inside: bool) -> String {
    let mut child = home
        .binary()
        .args(["play", ".", "--seed", "1", "--attempts", "2"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let at = lines.nth(line - 1).expect("play says more").unwrap();
    let deadline = Instant::now() + PATIENCE;
    while inside && children(child.id()).is_empty() && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "nothing was started after {at:?}");
        std::thread::yield_now();
    }
    let started_then = descendants(child.id());
    assert!(!around(&home.root()).is_empty(), "the search finds not even play itself");
    assert!(child.try_wait().unwrap().is_none(), "play ended before {at:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let still = |(pid, at): &Process| started(*pid).as_ref() == Some(at);
    loop {
        let mut left: Vec<Process> =
            started_then.iter().filter(|child| still(child)).cloned().collect();
        left.extend(around(&home.root()));
        if left.is_empty() {
            return at;
        }
        assert!(Instant::now() < deadline, "after {at:?} these still run: {left:?}");
        std::thread::yield_now();
    }
}

/// Staged, unstaged, untracked and ignored changes over a commit.
fn dirty() -> Home {
    let home = Home::new();
    home.copy_example("ledger");
    let repo = home.root().join("repo");
    home.write("repo/.gitignore", "secret.txt\n");
    git_init(&repo);
    git_commit(&repo);
    let edit = |path: &str, text: &str| {
        let old = fs::read_to_string(repo.join(path)).unwrap();
        fs::write(repo.join(path), old + text).unwrap();
    };
    edit("ledger/money.py", "\n\nSTAGED = True\n");
    git(&repo, &["add", "ledger/money.py"]);
    edit("ledger/money.py", "UNSTAGED = True\n");
    edit("ledger/report.py", "\n\nUNSTAGED = True\n");
    home.write("repo/ledger/untracked.py", "UNTRACKED = True\n");
    home.write("repo/secret.txt", "mine\n");
    fs::set_permissions(repo.join("ledger/periods.py"), fs::Permissions::from_mode(0o755)).unwrap();
    home
}

#[test]
fn kill_9_at_any_moment_leaves_the_tree_and_no_process_and_the_next_round_is_played() {
    let home = dirty();
    let repo = home.root().join("repo");
    let before = snapshot(&repo);
    let status = git(&repo, &["status", "--porcelain"]);
    let before_status = snapshot(&repo);
    let mut moments = Vec::new();
    for (line, inside) in [(1, false), (2, true), (4, true), (5, false), (6, true), (7, true)] {
        moments.push(killed_at(&home, line, inside));
        assert_untouched(&before_status, &repo);
    }
    eprintln!("killed at {moments:?}");
    for moment in [
        "taking a copy",
        "running the tests",
        "looking for a bug",
        "a bug to check",
        "checking",
        "every check passed",
    ] {
        assert!(moments.iter().any(|at| at.starts_with(moment)), "{moment}: {moments:?}");
    }
    let output = home
        .binary()
        .args(["play", ".", "--seed", "1", "--attempts", "1", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let round: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&round["valid"], &round["round"]), (&true.into(), &1.into()), "{round}");
    assert_untouched(&before_status, &repo);
    // Git itself writes its index when asked for the status; the files are what they were.
    assert_eq!(git(&repo, &["status", "--porcelain"]), status);
    let kept = |path: &&std::path::PathBuf| !path.starts_with(repo.join(".git"));
    assert!(before.keys().filter(kept).eq(snapshot(&repo).keys().filter(kept)));
    let left: Vec<_> = fs::read_dir(home.root().join("tmp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
