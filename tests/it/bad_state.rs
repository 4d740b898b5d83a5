//! State that was cut short, garbled, taken away or locked: what can be rebuilt is, what cannot is named.

use crate::bad_input::{check, ledger, state};
use crate::cases::Home;
use crate::support::without_privileges;
use crate::untouched::snapshot;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Two rounds, of which the wrong-book has entries.
fn played() -> Home {
    let home = ledger();
    let rounds = "play . --seed 3 --strategy direct --attempts 1 --runs 0 --rounds 2";
    check(&home, home.binary(), rounds, 0, &[]);
    home
}

const VERBS: [&str; 5] = [
    "status .",
    "wrong-book list",
    "wrong-book list --json",
    "inject . --seed 1 --strategy direct",
    "play . --seed 5 --strategy direct --attempts 1 --runs 0 --new",
];

fn forget_companions(state: &Path) {
    for companion in ["state.db-wal", "state.db-shm"] {
        fs::remove_file(state.join(companion)).unwrap_or_default();
    }
}

#[test]
fn a_database_that_was_cut_or_garbled_is_put_aside_and_named() {
    let cut = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let garbled = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[4096..middle].fill(0x5a);
        bytes
    };
    for damage in [&cut as &dyn Fn(&[u8]) -> Vec<u8>, &garbled] {
        let home = played();
        let state = state(&home);
        let database = rusqlite::Connection::open(state.join("state.db")).unwrap();
        database.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap_or_default();
        drop(database);
        forget_companions(&state);
        let damaged = damage(&fs::read(state.join("state.db")).unwrap());
        fs::write(state.join("state.db"), &damaged).unwrap();
        check(&home, home.binary(), VERBS[3], 0, &["was damaged and lies in"]);
        let files = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
        let aside = files.filter(|file| fs::read(file).is_ok_and(|bytes| bytes == damaged)).count();
        assert_eq!(aside, 1);
        check(&home, home.binary(), VERBS[4], 0, &[]);
    }
}

#[test]
fn a_garbled_value_in_the_database_is_passed_over_or_named() {
    let home = played();
    let file = state(&home).join("state.db");
    let database = rusqlite::Connection::open(&file).unwrap();
    database.pragma_query_value(None, "wal_checkpoint", |_| Ok(())).unwrap();
    drop(database);
    let sound = fs::read(&file).unwrap();
    for (table, column, garbage) in [
        ("rounds", "detail", "'{\"cut'"),
        ("rounds", "solver_rewards", "'{\"cut'"),
        ("artifacts", "report", "'{\"cut'"),
        ("artifacts", "test_files", "x'7b00ff'"),
        ("artifacts", "bug_inject", "x'7b00ff'"),
        ("baselines", "content", "'{\"cut'"),
        ("runs", "settings", "'{\"cut'"),
        ("runs", "state", "'{\"cut'"),
        ("wrong_book", "patch", "x'7b00ff'"),
        ("attempts", "flags", "'{\"cut'"),
    ] {
        forget_companions(file.parent().unwrap());
        fs::write(&file, &sound).unwrap();
        let database = rusqlite::Connection::open(&file).unwrap();
        let changed = database.execute(&format!("UPDATE {table} SET {column} = {garbage}"), []);
        assert!(changed.unwrap() > 0, "{table} is empty");
        drop(database);
        for verb in [VERBS[0], VERBS[1], VERBS[2], "check @", VERBS[4]] {
            let verb = verb.replace('@', &artifact(&home));
            let output = home.binary().args(verb.split(' ')).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("panicked"), "{table}.{column}: {verb}: {said}");
            let code = output.status.code().unwrap();
            let last = said.lines().last().unwrap_or_default();
            let named = last.contains("move it away") || last.contains("artifact");
            assert!(code < 2 || named, "{table}.{column}: {verb}: {said}");
            eprintln!("{table}.{column}: {verb}: {code} {last}");
        }
    }
}

/// The id of one of the kept bugs.
fn artifact(home: &Home) -> String {
    let mut bugs = fs::read_dir(state(home).join("bugs")).unwrap();
    bugs.next().unwrap().unwrap().file_name().into_string().unwrap()
}

#[test]
fn state_folders_that_are_gone_are_made_again() {
    for folder in ["bugs", "bases", "caches", "runs", "workspace.json"] {
        let home = played();
        let gone = state(&home).join(folder);
        if gone.is_dir() {
            fs::remove_dir_all(&gone).unwrap();
        } else {
            fs::remove_file(&gone).unwrap();
        }
        for verb in [VERBS[0], VERBS[1], VERBS[4]] {
            check(&home, home.binary(), verb, 0, &[]);
        }
        check(&home, home.binary(), "wrong-book replay --attempts 1 --runs 0", 1, &[]);
    }
}

#[test]
fn a_state_directory_that_may_not_be_written_is_named() {
    if !without_privileges("bad_state::a_state_directory_that_may_not_be_written_is_named") {
        return;
    }
    let home = played();
    let state = state(&home);
    let mode = |write: bool| {
        for path in snapshot(&state).into_keys().chain([state.clone()]) {
            let now = path.symlink_metadata().unwrap();
            if !now.is_symlink() {
                let kept = now.permissions().mode() & !0o222;
                let mode = if write { kept | 0o200 } else { kept };
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    };
    mode(false);
    for verb in VERBS {
        check(&home, home.binary(), verb, 3, &["state", "permissions"]);
    }
    mode(true);
    check(&home, home.binary(), VERBS[4], 0, &[]);
}
