//! Runs of `play`: the same command goes on, batches are as good as one after another.
#![allow(clippy::disallowed_methods, reason = "the binary is a process")]

use crate::bench::copy;
use crate::cases::Home;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};

fn shop() -> Home {
    let home = Home::new();
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/well_tested");
    copy(&tree, &home.root().join("repo"));
    home
}

fn run(home: &Home, arguments: &str) -> Output {
    home.binary().args(arguments.split_whitespace()).output().unwrap()
}

/// The rounds that a command told.
#[track_caller]
fn rounds(home: &Home, arguments: &str) -> Vec<Value> {
    let output = run(home, &format!("{arguments} --json"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(rounds: &[Value]) -> Vec<u64> {
    rounds.iter().map(|round| round["round"].as_u64().unwrap()).collect()
}

#[track_caller]
fn runs(home: &Home) -> Vec<(String, u64)> {
    let output = run(home, "status --json");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    let line =
        |run: &Value| (run["state"].as_str().unwrap().to_owned(), run["played"].as_u64().unwrap());
    status["runs"].as_array().unwrap().iter().map(line).collect()
}

const PLAY: &str = "play --seed 3 --strategy direct --attempts 1 --runs 0 --rounds 3";

/// Plays [`PLAY`] and more arguments until the first round is told, and interrupts it.
fn interrupted(home: &Home, more: &str) {
    let mut child = home
        .binary()
        .args(format!("{PLAY} {more} --json").split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["round"], 1);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{rest:?}");
    // Its second round may have been kept before the signal came; its third begins later.
    assert!(rest.len() <= 2 && rest.last().unwrap().contains("cancelled"), "{rest:?}");
}

#[test]
fn the_same_command_goes_on_and_a_finished_run_begins_anew() {
    let home = shop();
    interrupted(&home, "");
    let before = runs(&home);
    assert_eq!((before.len(), before[0].0.as_str()), (1, "open"));
    let played = before[0].1;
    let output = run(&home, &format!("{PLAY} --json"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&format!("{played} of 3 rounds of it are played")), "{said}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told.lines().count() as u64, 3 - played, "{told}");
    assert_eq!(runs(&home), [("finished".to_owned(), 3)]);
    assert_eq!(numbers(&rounds(&home, PLAY)), [1, 2, 3]);
    assert_eq!(runs(&home).len(), 2);
}

#[test]
fn another_command_a_changed_tree_or_new_begin_another_run() {
    let home = shop();
    interrupted(&home, "");
    // Other settings: the interrupted run stays as it is.
    assert_eq!(numbers(&rounds(&home, "play --seed 3 --attempts 1 --runs 0")), [1]);
    assert_eq!(runs(&home)[1].0, "open");
    assert_eq!(numbers(&rounds(&home, &format!("{PLAY} --new"))), [1, 2, 3]);
    let states: Vec<String> = runs(&home).into_iter().map(|(state, _)| state).collect();
    assert_eq!(states, ["finished", "finished", "left"]);
    interrupted(&home, "");
    home.write("repo/shop/extra.py", "EXTRA = 1\n");
    let output = run(&home, &format!("{PLAY} --json"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("another state of the repository"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 3);
    let states: Vec<String> = runs(&home).into_iter().map(|(state, _)| state).collect();
    assert_eq!(states[..2], ["finished", "left"]);
}

#[test]
fn a_run_that_another_process_plays_is_not_taken_over() {
    let home = shop();
    let mut child = home
        .binary()
        .args(format!("{PLAY} --json").split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let beside = rounds(&home, PLAY);
    assert_eq!(numbers(&beside), [1, 2, 3]);
    assert_ne!(beside[0]["run"], first["run"]);
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!((child.wait().unwrap().code(), rest.len()), (Some(0), 2));
    let told = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    assert!(rest.iter().all(|line| told(line)["run"] == first["run"]), "{rest:?}");
    assert_eq!(runs(&home), [("finished".to_owned(), 3), ("finished".to_owned(), 3)]);
}

#[test]
fn a_run_with_a_time_begins_no_round_after_it() {
    let home = shop();
    let told = rounds(&home, "play --seed 3 --attempts 1 --runs 0 --until 1s --strategy direct");
    assert!(!told.is_empty() && told.len() < 9, "{}", told.len());
    assert_eq!(runs(&home), [("finished".to_owned(), told.len() as u64)]);
    let told = rounds(&home, "play --seed 9 --attempts 1 --runs 0 --until 1h --rounds 1");
    assert_eq!(told.len(), 1);
    for wrong in ["8", "h", "0s", "1w", "-1s", "1.5h", "99999999999999999999s"] {
        assert_eq!(run(&home, &format!("play --until={wrong}")).status.code(), Some(2), "{wrong}");
    }
}

/// What a bug came to, whatever its place.
fn outcome(bug: &Value) -> String {
    let told = |key: &str| bug[key].to_string();
    ["seed", "artifact", "valid", "inject_reward", "solve_rate", "solve_rewards"]
        .map(told)
        .join(" ")
}

/// Runs what it is given where processes may use one core only.
fn on_one_core<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    std::thread::scope(|scope| {
        let alone = scope.spawn(|| {
            let all = sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)).unwrap();
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).unwrap();
            work()
        });
        alone.join().unwrap()
    })
}

#[test]
fn a_batch_comes_to_the_same_as_its_bugs_one_after_another() {
    let played = |rounds_: usize, batch: usize| {
        let home = shop();
        let arguments = format!(
            "play --seed 3 --strategy direct --attempts 2 --runs 8 --second-order 0 --rounds {rounds_} \
             --batch {batch} --csv ../rounds.csv"
        );
        let bugs = rounds(&home, &arguments);
        let text = std::fs::read_to_string(home.root().join("rounds.csv")).unwrap();
        let places: Vec<String> = text
            .lines()
            .skip(1)
            .map(|line| line.rsplit(',').take(2).collect::<Vec<_>>().join("."))
            .collect();
        let places: Vec<String> = places
            .iter()
            .map(|place| place.split('.').rev().collect::<Vec<_>>().join("."))
            .collect();
        (bugs.iter().map(outcome).collect::<Vec<_>>(), places)
    };
    let (serial, one) = played(4, 1);
    assert_eq!(one, ["1.1", "2.1", "3.1", "4.1"]);
    assert_eq!(serial.iter().collect::<BTreeSet<_>>().len(), 4, "four bugs: {serial:?}");
    let (pairs, two) = played(2, 2);
    assert_eq!(two, ["1.1", "1.2", "2.1", "2.2"]);
    assert_eq!(pairs, serial);
    let (all, four) = played(1, 4);
    assert_eq!(four, ["1.1", "1.2", "1.3", "1.4"]);
    assert_eq!(all, serial);
    assert_eq!(on_one_core(|| played(1, 4)).0, serial);
}

#[test]
fn rounds_of_nothing_or_of_too_much_are_refused() {
    let home = shop();
    for wrong in ["--rounds 0", "--batch 0", "--attempts 0", "--batch 65", "--second-order -1"] {
        let output = run(&home, &format!("play {wrong}"));
        assert_eq!(output.status.code(), Some(2), "{wrong}: {output:?}");
    }
}

fn prune(home: &Home, budget: &str) -> (Value, Option<i32>) {
    let output = run(home, &format!("state prune --budget {budget} --json"));
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_prune_keeps_the_budget_and_what_the_wrong_book_needs() {
    let home = shop();
    let (nothing, code) = prune(&home, "0");
    assert_eq!((&nothing["before"], code), (&0.into(), Some(0)), "{nothing}");
    // Two bugs that are failed, and one that is only injected.
    let failed = rounds(&home, "play --seed 3 --strategy direct --attempts 1 --runs 0 --rounds 2");
    let injected = rounds(&home, "inject --seed 9 --strategy direct").pop().unwrap();
    let folder = |bug: &Value| home.root().join(bug.as_str().unwrap());
    let spare = folder(&injected["out"]);
    let needed: Vec<_> = failed.iter().map(|round| folder(&round["folder"])).collect();
    let (all, code) = prune(&home, "1T");
    assert_eq!((&all["artifacts"], &all["bases"], code), (&0.into(), &0.into(), Some(0)), "{all}");
    assert!(spare.is_dir());
    let (none, code) = prune(&home, "0");
    assert_eq!((&none["within"], code), (&false.into(), Some(1)), "{none}");
    let removed = ["bases", "caches", "artifacts"].map(|kind| none[kind].as_u64().unwrap());
    assert_eq!(removed, [1, 1, 1], "{none}");
    assert!(none["after"].as_u64() < none["before"].as_u64(), "{none}");
    assert!(!spare.exists() && needed.iter().all(|folder| folder.is_dir()));
    // Everything goes on: the tree is frozen anew, failures are attempted, the lost artifact is named.
    let id = injected["artifact"].as_str().unwrap();
    let lost = run(&home, &format!("check {id} --json"));
    assert_eq!(lost.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&lost.stdout).contains("removed by `ssr-mcp state prune`"));
    let again = run(&home, "wrong-book replay --attempts 1 --runs 0 --json");
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["replayed"].as_array().unwrap().len(), 2, "{again}");
    for wrong in ["", "2X", "G", "-1", "99999999T"] {
        let output = run(&home, &format!("state prune --budget={wrong}"));
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_prune_leaves_what_a_running_process_uses() {
    let home = shop();
    let mut child = home
        .binary()
        .args(format!("{PLAY} --json").split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let (pruned, _) = prune(&home, "0");
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!((child.wait().unwrap().code(), rest.len()), (Some(0), 2), "{pruned} {rest:?}");
    assert_eq!((&pruned["bases"], &pruned["caches"]), (&0.into(), &0.into()), "{pruned}");
}

#[test]
fn two_processes_that_prune_while_two_play_cost_no_round() {
    let home = shop();
    let play = |seed: u32| {
        home.binary()
            .args(
                format!(
                    "play --seed {seed} --strategy direct --attempts 1 --runs 0 --rounds 3 --json"
                )
                .split(' '),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let playing = std::sync::atomic::AtomicBool::new(true);
    let (played, pruned) = std::thread::scope(|scope| {
        let prune = || {
            let mut codes = Vec::new();
            while playing.load(std::sync::atomic::Ordering::Relaxed) {
                codes.push(run(&home, "state prune --budget 0 --json"));
            }
            codes
        };
        let pruning = [scope.spawn(prune), scope.spawn(prune)];
        let players = [play(3), play(40)].map(|child| child.wait_with_output().unwrap());
        playing.store(false, std::sync::atomic::Ordering::Relaxed);
        let pruned: Vec<_> = pruning.into_iter().flat_map(|done| done.join().unwrap()).collect();
        (players, pruned)
    });
    for output in played {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3, "{output:?}");
    }
    assert!(pruned.len() > 2, "{}", pruned.len());
    for output in pruned {
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    }
    // What the wrong-book needs is there, and is played again.
    let again = run(&home, "wrong-book replay --attempts 1 --runs 0 --json");
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert!(!again["replayed"].as_array().unwrap().is_empty(), "{again}");
}
