//! The store under many writers, kills and damage.

mod conversations;
mod learning;

use super::open::MIGRATIONS;
use super::{
    Artifact, Attempt, Conclusion, Counts, Difference, Entry, Error, Failure, Group, KindCount,
    Play, PlayEnd, PlayFile, PlayState, Played, Practice, PracticeState, Rollout, RolloutTurn,
    Round, Run, RunState, Standing, Store, StoredCard, StoredGame, StoredRating, TriedEdit, Turn,
};
use rusqlite::Connection;
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
        bug_order: 2,
        parent: Some("parent".to_owned()),
    }
}

fn round(artifact: Option<&str>) -> Round {
    Round {
        run: None,
        step: 1,
        item: 0,
        kind: "bug".to_owned(),
        bug_order: 1,
        artifact: artifact.map(str::to_owned),
        strategy: "mixed".to_owned(),
        seed: 1 << 63,
        inject_reward: Some(-0.8),
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
        player: None,
        sitting: None,
        policy: None,
    }
}

/// Attempts at an artifact that lead to these trees; `None` for one that solved.
fn group(artifact: &str, trees: &[Option<&str>]) -> Group {
    let mut failures: Vec<Failure> = Vec::new();
    for tree in trees.iter().flatten() {
        match failures.iter_mut().find(|failure| failure.tree == *tree) {
            Some(failure) => failure.attempts += 1,
            None => failures.push(Failure {
                id: format!("id of {tree}"),
                tree: (*tree).to_owned(),
                patch: b"\xff".to_vec(),
                reason: "2 of the expected tests failed, first a".to_owned(),
                feeds: true,
                attempts: 1,
            }),
        }
    }
    Group {
        artifact: artifact.to_owned(),
        base: "base".to_owned(),
        bug_order: 1,
        attempts: (0u32..).zip(trees).map(|(n, tree)| attempt(n, tree.is_none())).collect(),
        failures,
        kinds: vec![kind("operator", 3, 1)],
    }
}

fn kind(kind: &str, tried: u64, worked: u64) -> KindCount {
    KindCount { role: "solver".to_owned(), kind: kind.to_owned(), tried, worked }
}

fn played<'a>(round: &'a Round, group: Option<&'a Group>) -> Played<'a> {
    Played { round, artifact: None, group, fed: &[], difference: None, kinds: &[] }
}

#[test]
fn what_is_saved_comes_back_as_it_was() {
    let (dir, store) = store();
    let (a, made) = (artifact("a"), group("a", &[None, Some("t")]));
    let round = round(Some("a"));
    let played = Played { artifact: Some(&a), ..played(&round, Some(&made)) };
    let kept = store.commit_round(None, &[played]).unwrap();
    assert_eq!(kept[0].wrong_book_size, 1);
    store.record_group(&group("a", &[None])).unwrap();
    store.save_baseline("key", "{\"passing\": []}").unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.moved_aside(), None);
    assert_eq!(store.artifact("a").unwrap(), Some(a));
    assert_eq!(store.artifact("b").unwrap(), None);
    assert_eq!(store.rounds(9).unwrap(), kept);
    assert_eq!(kept[0].round, round);
    assert_eq!(store.attempts("a").unwrap().len(), 3);
    assert_eq!(store.attempts("a").unwrap()[1], attempt(1, false));
    assert_eq!(store.baseline("key").unwrap().as_deref(), Some("{\"passing\": []}"));
    let counts = Counts { artifacts: 1, valid: 1, rounds: 1, attempts: 3, solved: 2 };
    assert_eq!(store.counts().unwrap(), counts);
    // Of both groups.
    assert_eq!(store.kinds().unwrap(), [kind("operator", 6, 2)]);
}

#[test]
fn the_latest_rounds_come_first() {
    let (_dir, store) = store();
    let round = round(None);
    let ids: Vec<_> = (0..5)
        .map(|_| store.commit_round(None, &[played(&round, None)]).unwrap()[0].number)
        .collect();
    let found: Vec<_> = store.rounds(2).unwrap().into_iter().map(|kept| kept.number).collect();
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
                let sql = "INSERT INTO rounds (step, item, kind, bug_order, strategy, seed, \
                    solver_rewards, seconds, wrong_book_size, detail) \
                    VALUES (?, 0, '', 1, '', 0, '', 0, 0, '')";
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

/// Plays groups of attempts at the artifact `a`, and compares what the wrong-book says then: tree,
/// failures, rounds in a row, and whether it is solved.
#[track_caller]
fn check_book(groups: &[&[Option<&str>]], expect: &[(&str, u64, u32, bool)]) {
    let (_dir, store) = store();
    store.save_artifact(&artifact("a")).unwrap();
    for trees in groups {
        store.record_group(&group("a", trees)).unwrap();
    }
    let book = store.wrong_book().unwrap();
    let found: Vec<_> = book
        .iter()
        .map(|entry| (entry.tree.as_str(), entry.fail_count, entry.streak, entry.solved))
        .collect();
    assert_eq!(found, expect);
    let unsolved = expect.iter().filter(|(.., solved)| !solved).count();
    assert_eq!(store.wrong_book_size().unwrap(), unsolved as u64);
}

#[test]
fn failures_that_lead_to_one_tree_are_one_entry() {
    check_book(
        &[&[Some("t"), Some("u"), Some("t"), None]],
        &[("t", 2, 1, false), ("u", 1, 1, false)],
    );
}

#[test]
fn a_failure_that_comes_back_counts_the_rounds_in_a_row() {
    check_book(&[&[Some("t")], &[Some("t"), None]], &[("t", 2, 2, false)]);
    check_book(&[&[Some("t")], &[Some("t")], &[Some("t")]], &[("t", 3, 3, false)]);
}

#[test]
fn a_bug_that_nobody_repaired_failed_again_whatever_the_patches_were() {
    check_book(&[&[Some("t")], &[Some("u")]], &[("t", 2, 2, false), ("u", 1, 1, false)]);
}

#[test]
fn a_later_repair_without_the_old_mistake_solves_the_entry() {
    check_book(&[&[Some("t")], &[None]], &[("t", 1, 0, true)]);
    check_book(&[&[Some("t"), None]], &[("t", 1, 1, false)]);
    check_book(&[&[Some("t")], &[None], &[Some("t")]], &[("t", 2, 1, false)]);
    check_book(&[&[Some("t")], &[None, Some("u")]], &[("t", 1, 0, true), ("u", 1, 1, false)]);
}

#[test]
fn attempts_at_an_artifact_that_is_not_kept_are_no_entry() {
    let (_dir, store) = store();
    store.record_group(&group("b", &[Some("t")])).unwrap();
    assert_eq!(store.wrong_book().unwrap(), []);
    assert_eq!(store.attempts("b").unwrap().len(), 1);
}

#[test]
fn a_round_moves_its_run_on_and_is_kept_once() {
    let (_dir, store) = store();
    let run = Run {
        id: "r".to_owned(),
        base: "base".to_owned(),
        settings: "{}".to_owned(),
        seed: u64::MAX,
        planned: Some(2),
        deadline: None,
        next: 1,
        state: RunState::Open,
        begun: 7,
        waits: None,
    };
    store.begin_run(&run).unwrap();
    assert_eq!(store.open_runs().unwrap(), std::slice::from_ref(&run));
    let first = Round { run: Some("r".to_owned()), ..round(None) };
    let second = Round { item: 1, ..first.clone() };
    let both = [played(&first, None), played(&second, None)];
    let kept = store.commit_round(Some(("r", 2)), &both).unwrap();
    assert_eq!(store.rounds_of("r").unwrap(), kept);
    assert_eq!(store.run("r").unwrap(), Some(Run { next: 2, ..run.clone() }));
    // The same round again: refused, and nothing of it is kept.
    let third = Round { item: 2, ..first.clone() };
    let again = [played(&third, None), played(&second, None)];
    assert!(store.commit_round(Some(("r", 3)), &again).is_err());
    assert_eq!(store.rounds_of("r").unwrap(), kept);
    store.end_run("r", RunState::Finished).unwrap();
    assert_eq!(store.open_runs().unwrap(), []);
    let finished = Run { next: 2, state: RunState::Finished, ..run };
    assert_eq!(store.runs(5).unwrap(), [finished]);
}

#[test]
fn an_entry_that_was_used_is_marked() {
    let (_dir, store) = store();
    store.save_artifact(&artifact("a")).unwrap();
    store.record_group(&group("a", &[Some("t"), Some("u")])).unwrap();
    let (round, fed) = (round(None), ["id of u".to_owned()]);
    store.commit_round(None, &[Played { fed: &fed, ..played(&round, None) }]).unwrap();
    let fed: Vec<_> = store.wrong_book().unwrap().iter().map(|entry| entry.fed).collect();
    assert_eq!(fed, [false, true]);
}

/// A database as the first version of the schema left it.
fn first_version(dir: &TempDir) {
    let old = Connection::open(dir.path().join("state.db")).unwrap();
    old.execute_batch(MIGRATIONS[0]).unwrap();
    old.pragma_update(None, "application_id", 0x5353_524d).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    let rows = "
        INSERT INTO artifacts VALUES ('a', x'01', x'02', x'03', x'04', x'05', 'direct', 3, 'base',
            'tree', 7, 1, NULL, '{}');
        INSERT INTO rounds VALUES (4, 'a', 1, 'direct', -1, 0.55, 0.25, '[1.0,-1.0]', 2.5, '{}');
        INSERT INTO rounds VALUES (9, NULL, 2, 'mixed', 4, -1.0, NULL, '[]', 0.5, '{}');
        INSERT INTO attempts VALUES (1, 'a', 4, 0, 1, 'every expected test passed', x'aa', 3, '[]');
        INSERT INTO attempts VALUES (2, 'a', 4, 1, 0, '1 of the expected tests failed, first t',
            x'ff', 3, '[]');
        INSERT INTO attempts VALUES (3, 'a', 4, 2, 0, '1 of the expected tests failed, first t',
            x'ff', 3, '[]');
        INSERT INTO attempts VALUES (4, 'a', 4, 3, 0, 'there is no patch', x'', 3, '[]');
        INSERT INTO attempts VALUES (5, 'gone', NULL, 0, 0, 'there is no patch', x'', 3, '[]');
        INSERT INTO attempts VALUES (6, 'a', 4, 4, 0, '1 of the expected tests failed, first t',
            x'ee', 3, '[\"suspicious\"]');
        INSERT INTO baselines VALUES (1, 'key', 'content');";
    old.execute_batch(rows).unwrap();
}

#[test]
fn a_database_of_the_first_version_is_taken_over_whole() {
    let dir = tempfile::tempdir().unwrap();
    first_version(&dir);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.moved_aside(), None);
    let counts = Counts { artifacts: 1, valid: 1, rounds: 2, attempts: 6, solved: 1 };
    assert_eq!(store.counts().unwrap(), counts);
    let a = store.artifact("a").unwrap().unwrap();
    assert_eq!((a.bug_order, a.parent, a.seed), (1, None, 3));
    let rounds = store.rounds(9).unwrap();
    let first = Round {
        strategy: "direct".to_owned(),
        seed: u64::MAX,
        inject_reward: Some(0.55),
        solve_rate: Some(0.25),
        seconds: 2.5,
        ..round(Some("a"))
    };
    assert_eq!((rounds[1].number, &rounds[1].round), (4, &first));
    assert_eq!((rounds[0].number, rounds[0].round.step), (9, 2));
    assert_eq!(store.baseline("key").unwrap().as_deref(), Some("content"));
    let book = store.wrong_book().unwrap();
    let found: Vec<_> = book
        .iter()
        .map(|entry| (entry.patch.as_slice(), entry.fail_count, entry.streak, entry.feeds))
        .collect();
    let expect: [(&[u8], u64, u32, bool); 3] =
        [(b"\xff", 2, 1, true), (b"", 1, 1, false), (b"\xee", 1, 1, false)];
    assert_eq!(found, expect);
    assert_eq!(store.count_unnoticed_edits().unwrap(), 0);
    let next = store.commit_round(None, &[played(&first, None)]).unwrap();
    assert_eq!(next[0].number, 10, "numbers are not given twice");
}

#[test]
fn a_failure_of_before_gets_its_tree_when_its_patch_fails_again() {
    let dir = tempfile::tempdir().unwrap();
    first_version(&dir);
    let store = Store::open(dir.path()).unwrap();
    store.record_group(&group("a", &[Some("t"), None])).unwrap();
    let book = store.wrong_book().unwrap();
    let adopted: Vec<&Entry> = book.iter().filter(|entry| entry.patch == b"\xff").collect();
    assert_eq!(adopted.len(), 1, "{book:?}");
    assert_eq!((adopted[0].tree.as_str(), adopted[0].id.as_str()), ("t", "id of t"));
    assert_eq!((adopted[0].fail_count, adopted[0].streak), (3, 2));
    drop(store);
    assert_eq!(Store::open(dir.path()).unwrap().wrong_book().unwrap(), book);
}

#[test]
fn a_difference_is_known_to_later_processes_of_the_same_framework_and_version() {
    let (dir, store) = store();
    let found = |framework: &str, found: &str| Difference {
        framework: framework.to_owned(),
        base: "base".to_owned(),
        artifact: "a".to_owned(),
        found: found.to_owned(),
    };
    assert_eq!(store.difference("pytest").unwrap(), None);
    let round = round(Some("a"));
    let first = found("pytest", "first");
    let played = Played { difference: Some(&first), ..played(&round, None) };
    store.commit_round(None, &[played]).unwrap();
    store.record_difference(&found("pytest", "second")).unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.difference("pytest").unwrap(), Some(first));
    assert_eq!(store.difference("cargo").unwrap(), None);
    store
        .write(|transaction| transaction.execute("UPDATE differences SET version = '0.0.0'", []))
        .unwrap();
    assert_eq!(store.difference("pytest").unwrap(), None);
}

#[test]
fn an_artifact_that_is_forgotten_is_still_known() {
    let (_dir, store) = store();
    for id in ["a", "b"] {
        store.save_artifact(&artifact(id)).unwrap();
        store.record_group(&group(id, &[None])).unwrap();
    }
    store.record_group(&group("b", &[Some("t")])).unwrap();
    assert_eq!(store.spare_artifacts().unwrap(), [("a".to_owned(), 7)], "the wrong-book needs b");
    store.forget_artifact("a").unwrap();
    store.shrink().unwrap();
    assert_eq!(store.spare_artifacts().unwrap(), []);
    assert!(store.has_tree("tree of a").unwrap());
    assert_eq!(store.counts().unwrap().artifacts, 2);
    assert!(store.artifact("a").unwrap().unwrap().bug_inject.is_empty());
    assert!(store.attempts("a").unwrap()[0].patch.is_empty());
    // Nobody could attempt it again: a failure is no entry.
    store.record_group(&group("a", &[Some("u")])).unwrap();
    assert_eq!(store.wrong_book_size().unwrap(), 1);
}

#[test]
fn edits_are_known_by_tree_and_only_unnoticed_ones_outlive_another_tree() {
    let (_dir, store) = store();
    let tried = |edit: &str, content: Option<&str>| TriedEdit {
        edit: edit.to_owned(),
        outcome: "failed".to_owned(),
        content: content.map(str::to_owned),
    };
    store.record_edits("one", &[tried("b", Some("{1}")), tried("a", None)]).unwrap();
    store.record_edits("one", &[tried("b", Some("{2}")), tried("c", Some("{3}"))]).unwrap();
    assert_eq!(store.tried_edits("one").unwrap(), ["a", "b", "c"]);
    assert_eq!(store.unnoticed_edits("one").unwrap(), ["{1}", "{3}"], "the first word stands");
    assert!(store.tried_edits("two").unwrap().is_empty());
    store.record_edits("two", &[tried("a", None)]).unwrap();
    assert_eq!(store.tried_edits("one").unwrap(), ["b", "c"]);
    assert_eq!(store.count_unnoticed_edits().unwrap(), 2);
}

fn play(id: &str) -> Play {
    Play {
        id: id.to_owned(),
        role: "injector".to_owned(),
        player: None,
        base: "base".to_owned(),
        artifact: None,
        settings: "{}".to_owned(),
        task: "do".to_owned(),
        begun: 5,
        expires: 10,
        most_turns: 128,
        turns: 0,
        state: PlayState::Open,
        reward: None,
        outcome: None,
        shell: Vec::new(),
    }
}

fn turn(number: u32) -> Turn {
    Turn {
        number,
        tool: "play_bash".to_owned(),
        arguments: "{}".to_owned(),
        result: "done".to_owned(),
        failed: false,
        millis: u64::MAX,
    }
}

#[test]
fn a_play_is_kept_call_by_call_with_its_tree_and_shell() {
    let (_dir, store) = store();
    store.begin_play(&play("a")).unwrap();
    let file = |path: &str, content: Option<&[u8]>| PlayFile {
        path: path.to_owned(),
        executable: content.is_some(),
        content: content.map(<[u8]>::to_vec),
    };
    let files = [file("a.py", Some(b"\xff\0")), file("b.py", None)];
    store.record_turn("a", &turn(1), b"X=1", Some(&files)).unwrap();
    // A call that changed nothing leaves the tree as it is kept.
    store.record_turn("a", &turn(2), b"X=2", None).unwrap();
    let kept = store.play("a").unwrap().unwrap();
    assert_eq!(kept, Play { turns: 2, shell: b"X=2".to_vec(), ..play("a") });
    assert_eq!(store.play_files("a").unwrap(), files);
    let end = PlayEnd {
        reward: Some(-0.8),
        outcome: "valid".to_owned(),
        artifact: Some("bug".to_owned()),
    };
    store.finish_play("a", &turn(3), &end).unwrap();
    let kept = store.play("a").unwrap().unwrap();
    assert_eq!((kept.state, kept.reward, kept.turns), (PlayState::Finished, Some(-0.8), 3));
    assert_eq!(kept.artifact.as_deref(), Some("bug"));
    assert_eq!(store.play_files("a").unwrap(), []);
    assert_eq!(store.turns_of_play("a").unwrap(), [turn(1), turn(2), turn(3)]);
}

#[test]
fn plays_expire_at_their_time_and_finished_ones_stay() {
    let (_dir, store) = store();
    for id in ["a", "b", "c"] {
        store.begin_play(&Play { expires: if id == "b" { 11 } else { 10 }, ..play(id) }).unwrap();
    }
    let end = PlayEnd { reward: Some(1.0), outcome: "solved".to_owned(), artifact: None };
    store.finish_play("c", &turn(1), &end).unwrap();
    store.expire_plays(10).unwrap();
    let state = |id: &str| store.play(id).unwrap().unwrap().state;
    let states = ["a", "b", "c"].map(state);
    assert_eq!(states, [PlayState::Expired, PlayState::Open, PlayState::Finished]);
}

fn practice(id: &str) -> Practice {
    Practice {
        id: id.to_owned(),
        artifact: "bug".to_owned(),
        base: "base".to_owned(),
        settings: "{}".to_owned(),
        shown: "{}".to_owned(),
        clues: "{}".to_owned(),
        families: "[\"f\"]".to_owned(),
        begun: 10,
        ended: None,
        state: PracticeState::Open,
        hints: 0,
        checks: 0,
        score: None,
        rated: false,
    }
}

/// A game that leaves both ratings one higher than they were, and a card.
fn conclusion(standing: &Standing) -> Conclusion {
    let higher = |known: Option<StoredRating>| {
        let rating = known.map_or(1500.0, |known| known.rating) + 1.0;
        StoredRating { rating, deviation: 100.0, volatility: 0.06, games: 1, at: 20 }
    };
    let game = StoredGame {
        practice: None,
        player: "person".to_owned(),
        artifact: "bug".to_owned(),
        families: "[\"f\"]".to_owned(),
        at: 20,
        solved: true,
        score: 0.5,
        hints: 1,
        seconds: 7,
        rated: !standing.again,
        rating: 1.0,
        deviation: 2.0,
        bug_rating: 3.0,
        bug_deviation: 4.0,
    };
    let card = StoredCard { family: "f".to_owned(), level: 1, due: 30 };
    let ratings = Some([higher(standing.player), higher(standing.bug)]);
    Conclusion { game, ratings, cards: vec![("f".to_owned(), Some(card))] }
}

#[test]
fn a_round_of_practice_ends_once_and_its_game_counts_once() {
    let (_dir, store) = store();
    assert!(store.begin_practice(&practice("a"), true).unwrap());
    assert!(!store.begin_practice(&practice("b"), true).unwrap());
    assert!(store.begin_practice(&practice("b"), false).unwrap());
    let ids: Vec<String> = store.practices().unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(ids, ["b", "a"]);
    assert!(store.is_being_solved("bug", 0).unwrap());
    // Two processes that saw no hint used: one of them takes it.
    assert!(store.use_hint("a", 0, 11).unwrap());
    assert!(!store.use_hint("a", 0, 11).unwrap());
    store.record_check("a", 12).unwrap();
    let end = |id| {
        store.finish_practice(id, PracticeState::Solved, ("person", "bug"), conclusion).unwrap()
    };
    let ended = end("a").unwrap();
    assert!(ended.game.rated && end("a").is_none());
    assert!(!store.use_hint("a", 1, 13).unwrap(), "a hint of a round that is over");
    let over = store.practices().unwrap().into_iter().find(|row| row.id == "a").unwrap();
    assert_eq!((over.state, over.ended, over.score), (PracticeState::Solved, Some(20), Some(0.5)));
    assert_eq!((over.hints, over.checks, over.rated), (1, 1, true));
    let signs = store.signs_of_practice("a").unwrap();
    let kinds: Vec<&str> = signs.iter().map(|sign| sign.kind.as_str()).collect();
    assert_eq!(kinds, ["begin", "hint", "check", "end"]);

    // The second game is concluded from what the first one left.
    assert!(!end("b").unwrap().game.rated);
    let rating = |name| store.rating(name).unwrap().unwrap().rating;
    assert_eq!((rating("person"), rating("bug")), (1502.0, 1502.0));
    assert!(store.rating("nobody").unwrap().is_none());
    assert_eq!(store.games().unwrap().len(), 2);
    assert_eq!(store.cards().unwrap(), [StoredCard { family: "f".to_owned(), level: 1, due: 30 }]);
    assert!(!store.is_being_solved("bug", 0).unwrap());
}

#[test]
fn only_the_embedded_solver_s_attempts_tell_its_solve_rate() {
    let (_dir, store) = store();
    store.save_artifact(&artifact("a")).unwrap();
    let mut of_person = group("a", &[None]);
    of_person.attempts[0].player = Some("person".to_owned());
    store.record_group(&of_person).unwrap();
    store.record_group(&group("a", &[None, Some("tree"), Some("other")])).unwrap();
    assert_eq!(store.embedded_attempts("a").unwrap(), (3, 1));
    assert_eq!(store.embedded_attempts("b").unwrap(), (0, 0));
    assert_eq!(store.valid_artifacts("base", 9).unwrap().len(), 1);
    assert!(store.valid_artifacts("another", 9).unwrap().is_empty());
}

#[test]
fn rollouts_come_back_turn_by_turn_as_they_were() {
    let (dir, store) = store();
    let rollout = Rollout {
        id: "r".to_owned(),
        task: "bug".to_owned(),
        role: "solver".to_owned(),
        group: "g".to_owned(),
        model: "m".to_owned(),
        weights_version: String::new(),
        server: "http://127.0.0.1:1/v1/chat/completions".to_owned(),
        sampler: "{\"temperature\":1.0}".to_owned(),
        begun: 7,
        reward: None,
        reward_parts: "{}".to_owned(),
        truncated: false,
    };
    let whole = RolloutTurn {
        prompt_ids: Some(vec![0, 1, u32::MAX]),
        completion_ids: Some(vec![5]),
        logprobs: Some(vec![-0.1]),
        prompt_tokens: Some(3),
        completion_tokens: Some(1),
        millis: 9,
        ..RolloutTurn::default()
    };
    let bare = RolloutTurn { untrainable: "no ids".to_owned(), ..RolloutTurn::default() };
    store.add_rollout_turn(&rollout, &whole).unwrap();
    // Of a rollout that is there only the turn is added.
    store
        .add_rollout_turn(&Rollout { model: "other".to_owned(), ..rollout.clone() }, &bare)
        .unwrap();
    store.end_rollout("r", Some(-1.0), "{\"solved\":false}", true).unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    let ended = Rollout {
        reward: Some(-1.0),
        reward_parts: "{\"solved\":false}".to_owned(),
        truncated: true,
        ..rollout
    };
    assert_eq!(store.rollouts(9).unwrap(), [ended]);
    assert_eq!(store.rollout_turns("r").unwrap(), [whole, bare]);
    assert_eq!(store.rollout("x").unwrap(), None);
    assert_eq!(store.rollout_turns("x").unwrap(), []);
}
