//! `kill -9` on a dirty repository, at moments spread over a round.
#![allow(
    clippy::disallowed_methods,
    reason = "the binary is a process, and its children are looked for"
)]

use crate::cases::Home;
use crate::processes::{Process, around, children, descendants, started};
use crate::support::{git, git_commit, git_init};
use crate::untouched::{assert_untouched, snapshot};
use ssr_mcp::dice::Dice;
use ssr_mcp::store::{Kept, RunState, Store};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long something is waited for; reached only when something is wrong.
const PATIENCE: Duration = Duration::from_mins(2);

/// Starts `play`, waits until it tells of a moment on standard error and, where `inside`, for a process
/// that it has started then, and kills it.
fn killed_at(home: &Home, moment: &str, inside: bool) {
    let mut child = home
        .binary()
        .args(["play", ".", "--seed", "1", "--attempts", "2", "--new"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let at = lines.find(|line| line.starts_with(moment)).expect(moment);
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
    assert_none_left(&home.root(), &started_then, &at);
}

/// Waits until what a killed process had started is gone, and all else of that place with it.
#[track_caller]
fn assert_none_left(place: &Path, started_then: &[Process], at: &str) {
    let deadline = Instant::now() + PATIENCE;
    let still = |(pid, at): &Process| started(*pid).as_ref() == Some(at);
    loop {
        let mut left: Vec<Process> =
            started_then.iter().filter(|child| still(child)).cloned().collect();
        left.extend(around(place));
        if left.is_empty() {
            return;
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
    for (moment, inside) in [
        ("taking a copy", false),
        ("running the tests", true),
        ("reading the history", false),
        ("looking for a bug", true),
        ("a bug to check", false),
        ("checking", true),
        ("every check passed", true),
    ] {
        killed_at(&home, moment, inside);
        assert_untouched(&before_status, &repo);
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

/// A run of three rounds, the second one on the wrong-book.
const RUN: &str = "play . --seed 1 --rounds 3 --attempts 1 --runs 4 --strategy direct \
                   --second-order 2 --csv ../rounds.csv --json";

/// How a process of [`RUN`] ended.
enum End {
    Killed,
    /// By itself, with what it wrote to standard output.
    Finished,
}

/// Starts the run, or goes on with it, and kills it after `life`, unless it ends before. Gives the
/// rounds that it told, too.
fn played_for(home: &Home, life: Duration) -> (End, Vec<u64>) {
    let mut child = home
        .binary()
        .args(RUN.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (tell, told) = channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        stdout.lines().map_while(Result::ok).for_each(|line| tell.send(line).unwrap_or_default());
    });
    let (deadline, mut rounds) = (Instant::now() + life, Vec::new());
    let mut keep = |line: String| {
        let round: serde_json::Value = serde_json::from_str(&line).unwrap();
        rounds.push(round["round"].as_u64().unwrap_or_else(|| panic!("{line}")));
    };
    let end = loop {
        match told.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(told_line) => keep(told_line),
            Err(RecvTimeoutError::Disconnected) => break End::Finished,
            Err(RecvTimeoutError::Timeout) => break End::Killed,
        }
    };
    match end {
        End::Finished => assert_eq!(child.wait().unwrap().code(), Some(0)),
        End::Killed => {
            let started_then = descendants(child.id());
            child.kill().unwrap();
            child.wait().unwrap();
            assert_none_left(&home.root(), &started_then, &format!("{life:?}"));
            told.iter().for_each(keep);
        }
    }
    reader.join().unwrap();
    (end, rounds)
}

fn state_of(home: &Home) -> Option<PathBuf> {
    let states = fs::read_dir(home.root().join("home/.local/state/ssr-mcp")).ok()?.flatten();
    let mut states = states.map(|entry| entry.path()).filter(|path| !path.ends_with("scratch"));
    states.find(|state| state.join("state.db").is_file())
}

/// The rounds that are kept, which must be those from the first to the one before the run's next.
#[track_caller]
fn whole_rounds(home: &Home) -> Vec<Kept> {
    let Some(state) = state_of(home) else { return Vec::new() };
    let store = Store::open(&state).unwrap();
    assert_eq!(store.moved_aside(), None);
    let runs = store.runs(9).unwrap();
    let Some(run) = runs.first() else { return Vec::new() };
    assert_eq!(runs.len(), 1, "the same command went on with its run");
    let kept = store.rounds_of(&run.id).unwrap();
    let steps: Vec<u32> = kept.iter().map(|kept| kept.round.step).collect();
    assert_eq!(steps, (1..run.next).collect::<Vec<_>>(), "{run:?}");
    assert_eq!(store.counts().unwrap().rounds, kept.len() as u64);
    assert_eq!(store.counts().unwrap().attempts, kept.len() as u64, "one attempt a round");
    kept
}

/// The lines of the CSV file that are whole, less the seconds and the run's name; each bug once.
#[track_caller]
fn csv_lines(home: &Home) -> Vec<String> {
    let text = fs::read_to_string(home.root().join("rounds.csv")).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let header: Vec<&str> = whole.lines().next().unwrap_or_default().split(',').collect();
    let same = |(at, _): &(usize, &str)| !["seconds", "run"].contains(&header[*at]);
    let lines: Vec<String> = whole
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), header.len(), "{line}");
            let kept = cells.into_iter().enumerate().filter(same);
            kept.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
        })
        .collect();
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len(), "{lines:?}");
    lines
}

/// Everything in the state directory that tells one finished run from another: names below it, less
/// those of the frozen tree's files and of the caches' content.
fn kept_names(home: &Home) -> BTreeSet<String> {
    let root = home.root().join("home/.local/state/ssr-mcp");
    let state = state_of(home).unwrap();
    let mut names = BTreeSet::new();
    for path in snapshot(&root).into_keys() {
        let name = path.strip_prefix(&state).or_else(|_| path.strip_prefix(&root)).unwrap();
        let name = name.to_string_lossy().into_owned();
        let content = name.contains("/tree/") || name.matches('/').count() > 2;
        if !content && Some(path.as_path()) != Some(&state) {
            names.insert(name);
        }
    }
    names
}

/// `SSR_MCP_TEST_KILLS=200` kills so many times.
fn wanted_kills() -> usize {
    let wanted = std::env::var("SSR_MCP_TEST_KILLS").ok();
    wanted.map_or(8, |wanted| wanted.parse().expect("SSR_MCP_TEST_KILLS is a number"))
}

#[test]
fn kill_9_at_random_moments_loses_no_round_and_counts_none_twice() {
    let whole = dirty();
    let began = Instant::now();
    let (end, told) = played_for(&whole, PATIENCE * 5);
    assert!(matches!(end, End::Finished));
    assert_eq!(told, [1, 2, 3]);
    let round = began.elapsed() / 3;
    let expected = csv_lines(&whole);
    assert_eq!(expected.len(), 4);
    let names = kept_names(&whole);
    assert!(!names.iter().any(|name| name.contains("tmp") || name.contains(".new")), "{names:?}");

    let mut dice = Dice::new(u64::from(began.elapsed().subsec_nanos()));
    let (mut kills, wanted, mut moments) = (0, wanted_kills(), Vec::new());
    while kills < wanted {
        let home = dirty();
        let repo = home.root().join("repo");
        let before = snapshot(&repo);
        let (mut told, mut kept) = (Vec::new(), 0);
        loop {
            let life = if kills < wanted { round.mul_f64(dice.unit() * 1.5) } else { PATIENCE * 5 };
            let (end, rounds) = played_for(&home, life);
            told.extend(rounds);
            assert_untouched(&before, &repo);
            let now = whole_rounds(&home);
            assert!(now.len() >= kept && told.len() <= now.len(), "{told:?} of {}", now.len());
            kept = now.len();
            assert!(csv_lines(&home).len() <= kept + 1);
            match end {
                End::Finished => break,
                End::Killed => {
                    kills += 1;
                    moments.push((life, kept));
                }
            }
        }
        assert!(told.is_sorted_by(|one, next| one < next), "told twice: {told:?}");
        assert_eq!(csv_lines(&home), expected, "killed after {moments:?}");
        assert_eq!(kept_names(&home), names, "killed after {moments:?}");
        let store = Store::open(&state_of(&home).unwrap()).unwrap();
        assert_eq!(store.runs(9).unwrap()[0].state, RunState::Finished);
        drop(store);
        let left: Vec<_> = fs::read_dir(home.root().join("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
    eprintln!("killed {kills} times, after (life, rounds kept) {moments:?}");
}
