//! The store under several processes, under `kill -9`, and where it may not write.

use crate::support::{in_a_process, role, without_privileges};
use ssr_mcp::store::{Attempt, Error, Group, Played, Round, Store};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn round(step: u32) -> Round {
    Round {
        run: None,
        step,
        item: 0,
        kind: "bug".to_owned(),
        bug_order: 1,
        artifact: Some("artifact".to_owned()),
        strategy: "direct".to_owned(),
        seed: 0,
        inject_reward: Some(1.0),
        solve_rate: Some(0.5),
        solver_rewards: vec![1.0, -1.0],
        seconds: 0.0,
        detail: "{}".to_owned(),
    }
}

fn attempts_of(count: usize) -> Vec<Attempt> {
    let attempt = |number| Attempt {
        number,
        solved: number == 0,
        reason: "x".repeat(2000),
        patch: vec![0xff; 2000],
        runs: 1,
        flags: "[]".to_owned(),
        player: None,
        sitting: None,
        policy: None,
    };
    (0u32..).map(attempt).take(count).collect()
}

fn keep(store: &Store, step: u32, attempts: usize) {
    let group = Group {
        artifact: "artifact".to_owned(),
        base: String::new(),
        bug_order: 1,
        attempts: attempts_of(attempts),
        failures: Vec::new(),
        kinds: Vec::new(),
    };
    let round = round(step);
    let played = Played {
        round: &round,
        artifact: None,
        group: Some(&group),
        fed: &[],
        difference: None,
        kinds: &[],
    };
    store.commit_round(None, &[played]).unwrap();
}

#[test]
fn four_processes_of_a_hundred_rounds_lose_nothing() {
    if let Some(dir) = role() {
        let store = Store::open(Path::new(&dir)).unwrap();
        for step in 1..=100 {
            keep(&store, step, 1);
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let name = "store::four_processes_of_a_hundred_rounds_lose_nothing";
    let started: Vec<_> =
        (0..4).map(|_| in_a_process(name, dir.path().to_str().unwrap()).spawn().unwrap()).collect();
    for process in started {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let store = Store::open(dir.path()).unwrap();
    let rounds = store.rounds(1000).unwrap();
    assert_eq!((rounds.len(), store.counts().unwrap().attempts), (400, 400));
    for step in 1..=100 {
        assert_eq!(rounds.iter().filter(|kept| kept.round.step == step).count(), 4);
    }
}

#[test]
fn kill_9_amid_writes_leaves_whole_rounds_only() {
    if let Some(dir) = role() {
        let store = Store::open(Path::new(&dir)).unwrap();
        for step in 1.. {
            keep(&store, step, 8);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let name = "store::kill_9_amid_writes_leaves_whole_rounds_only";
    let mut seen = 0;
    for _ in 0..5 {
        let mut process = in_a_process(name, dir.path().to_str().unwrap()).spawn().unwrap();
        let before = Store::open(dir.path()).unwrap();
        while before.counts().unwrap().rounds < seen + 20 && process.try_wait().unwrap().is_none() {
        }
        process.kill().unwrap();
        process.wait().unwrap();
        drop(before);
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(store.moved_aside(), None);
        let counts = store.counts().unwrap();
        assert!(counts.rounds >= seen + 20, "{counts:?}");
        assert_eq!(counts.attempts, counts.rounds * 8, "a round and its attempts are one");
        seen = counts.rounds;
    }
}

#[test]
fn a_directory_that_may_not_be_written_is_told_in_one_sentence() {
    if !without_privileges("store::a_directory_that_may_not_be_written_is_told_in_one_sentence") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mode = |mode| fs::set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error}");
    assert!(error.to_string().contains("check the permissions"), "{error}");
    mode(0o700);
    drop(Store::open(dir.path()).unwrap());
    fs::set_permissions(dir.path().join("state.db"), Permissions::from_mode(0o400)).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error}");
}
