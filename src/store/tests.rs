//! The store under many writers, kills and damage.

use super::open::MIGRATIONS;
use super::{Artifact, Attempt, Counts, Error, Round, Store};
use std::fs;
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    (dir, store)
}

fn artifact(id: &str) -> Artifact {
    Artifact {
        id: id.to_owned(),
        bug_inject: b"caf\xe9\r\n\0".to_vec(),
        test_weaken: b"w".to_vec(),
        test_script: b"s".to_vec(),
        test_parser: b"p".to_vec(),
        test_files: Vec::new(),
        strategy: "direct".to_owned(),
        seed: u64::MAX,
        base: "base".to_owned(),
        tree_digest: format!("tree of {id}"),
        created: 7,
        valid: true,
        failed_check: None,
        report: "{}".to_owned(),
    }
}

fn round(artifact: Option<&str>) -> Round {
    Round {
        artifact: artifact.map(str::to_owned),
        step: 1,
        strategy: "mixed".to_owned(),
        seed: 1 << 63,
        inject_reward: -0.8,
        solve_rate: Some(0.125),
        solver_rewards: vec![1.0, -1.0],
        seconds: 0.5,
        detail: "{}".to_owned(),
    }
}

fn attempt(number: u32, solved: bool) -> Attempt {
    Attempt {
        number,
        solved,
        reason: "passed".to_owned(),
        patch: b"\xff".to_vec(),
        runs: 3,
        flags: "[]".to_owned(),
    }
}

#[test]
fn what_is_saved_comes_back_as_it_was() {
    let (dir, store) = store();
    store.save_artifact(&artifact("a")).unwrap();
    let attempts = [attempt(0, true), attempt(1, false)];
    let id = store.record_round(&round(Some("a")), &attempts).unwrap();
    store.record_attempts("a", &attempts[..1]).unwrap();
    store.save_baseline("key", "{\"passing\": []}").unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.moved_aside(), None);
    assert_eq!(store.artifact("a").unwrap(), Some(artifact("a")));
    assert_eq!(store.artifact("b").unwrap(), None);
    assert_eq!(store.rounds(9).unwrap(), [(id, round(Some("a")))]);
    assert_eq!(store.attempts("a").unwrap().len(), 3);
    assert_eq!(store.attempts("a").unwrap()[1], attempts[1]);
    assert_eq!(store.baseline("key").unwrap().as_deref(), Some("{\"passing\": []}"));
    store.record_attempts("b", &attempts[..1]).unwrap();
    assert_eq!(store.artifacts_with_failures().unwrap(), 1, "nobody failed at b");
    let counts = Counts { artifacts: 1, valid: 1, rounds: 1, attempts: 4, solved: 3 };
    assert_eq!(store.counts().unwrap(), counts);
}

#[test]
fn the_latest_rounds_come_first() {
    let (_dir, store) = store();
    let ids: Vec<_> =
        (0..5).map(|_| store.record_round(&round(None), &[attempt(0, true)]).unwrap()).collect();
    let found: Vec<_> = store.rounds(2).unwrap().into_iter().map(|(id, _)| id).collect();
    assert_eq!(found, [ids[4], ids[3]]);
    assert_eq!(store.counts().unwrap().attempts, 0);
}

#[test]
fn an_artifact_checked_again_gets_the_new_verdict() {
    let (_dir, store) = store();
    store.save_artifact(&artifact("a")).unwrap();
    let again = Artifact {
        created: 99,
        valid: false,
        failed_check: Some("stability".to_owned()),
        ..artifact("a")
    };
    store.save_artifact(&again).unwrap();
    assert_eq!(store.artifact("a").unwrap(), Some(Artifact { created: 7, ..again }));
    assert_eq!(store.counts().unwrap().valid, 0);
}

#[test]
fn a_tree_that_was_made_before_is_known() {
    let (_dir, store) = store();
    store.save_artifact(&artifact("a")).unwrap();
    assert!(store.has_tree("tree of a").unwrap());
    assert!(!store.has_tree("tree of b").unwrap());
}

#[test]
fn old_baselines_make_room() {
    let (_dir, store) = store();
    for key in 0..70 {
        store.save_baseline(&key.to_string(), "{}").unwrap();
    }
    assert_eq!(store.baseline("5").unwrap(), None);
    assert!(store.baseline("6").unwrap().is_some());
}

#[test]
fn four_threads_of_a_hundred_read_modify_writes_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let bump = || {
        let store = Store::open(dir.path()).unwrap();
        for _ in 0..100 {
            let bumped = store.write(|transaction| {
                let sql = "SELECT coalesce(max(step), 0) FROM rounds";
                let last: i64 = transaction.query_row(sql, [], |row| row.get(0))?;
                transaction.execute("DELETE FROM rounds", [])?;
                let sql = "INSERT INTO rounds (step, strategy, seed, inject_reward, \
                    solver_rewards, seconds, detail) VALUES (?, '', 0, 0, '', 0, '')";
                transaction.execute(sql, [last + 1])
            });
            bumped.unwrap();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(bump);
        }
    });
    let store = Store::open(dir.path()).unwrap();
    let sql = "SELECT step FROM rounds";
    let total: i64 =
        store.read(|connection| connection.query_row(sql, [], |row| row.get(0))).unwrap();
    assert_eq!(total, 400);
}

#[test]
fn a_write_that_fails_midway_changes_nothing() {
    let (_dir, store) = store();
    let failed: Result<(), _> = store.write(|transaction| {
        transaction.execute("INSERT INTO baselines (key, content) VALUES ('a', '')", [])?;
        transaction.execute("INSERT INTO nowhere VALUES (1)", []).map(drop)
    });
    assert!(matches!(failed, Err(Error::Other { .. })));
    assert_eq!(store.baseline("a").unwrap(), None);
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let (dir, store) = store();
    store.read(|connection| connection.pragma_update(None, "user_version", 99)).unwrap();
    drop(store);
    let error = Store::open(dir.path()).unwrap_err();
    let known = i64::try_from(MIGRATIONS.len()).unwrap();
    assert!(matches!(error, Error::Newer { found: 99, known: k, .. } if k == known), "{error}");
    assert!(error.to_string().contains("update ssr-mcp"));
    assert!(!dir.path().join("state.db.damaged-1").exists());
}

#[test]
fn another_programs_database_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let other = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    other.pragma_update(None, "application_id", 12345).unwrap();
    drop(other);
    assert!(matches!(Store::open(dir.path()), Err(Error::Foreign { .. })));
}

#[track_caller]
fn check_moved_aside(dir: &TempDir, damaged: &[u8]) {
    let path = dir.path().join("state.db");
    fs::write(&path, damaged).unwrap();
    let store = Store::open(dir.path()).unwrap();
    let aside = store.moved_aside().unwrap().to_path_buf();
    assert_eq!(fs::read(&aside).unwrap(), damaged);
    store.save_artifact(&artifact("new")).unwrap();
    drop(store);
    assert_eq!(Store::open(dir.path()).unwrap().counts().unwrap().artifacts, 1);
}

#[test]
fn a_file_that_is_no_database_is_moved_aside_and_named() {
    let dir = tempfile::tempdir().unwrap();
    check_moved_aside(
        &dir,
        b"this is no database, and long enough to have a header of its own ...............\
                              .................................................................",
    );
}

#[test]
fn a_database_damaged_in_the_middle_or_cut_short_is_moved_aside_and_named() {
    let (dir, store) = store();
    for n in 0..50 {
        store.save_artifact(&artifact(&n.to_string())).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(dir.path().join("state.db")).unwrap();
    let cut = bytes[..bytes.len() / 2].to_vec();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 6000].fill(0xa5);
    check_moved_aside(&dir, &bytes);
    check_moved_aside(&dir, &cut);
    assert!(dir.path().join("state.db.damaged-2").exists());
}

#[test]
fn an_empty_file_becomes_a_store() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("state.db"), "").unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.moved_aside(), None);
    assert_eq!(store.counts().unwrap(), Counts::default());
}
