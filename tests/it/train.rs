//! Training in the real sandbox: what is remembered, what a step changes, and what there is to say.
#![allow(clippy::disallowed_methods, reason = "the binary is a process")]

use crate::bench::{Bench, bench, copy};
use crate::cases::Home;
use serde_json::Value;
use ssr_mcp::artifact::Artifact;
use ssr_mcp::policy::{Checkpoint, Past, Player, Sampling};
use ssr_mcp::solver::{Attempt, Prepared, Remembered, Request, start_weights};
use ssr_mcp::store::Store;
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::Changes;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

const TESTS: [&str; 2] = ["tests/test_price.py", "tests/test_stock.py"];

fn bug(bench: &Bench) -> Artifact {
    let bug = bench.edit(&Changes::new(), "shop/stock.py", "if left < 0", "if left <= 0");
    let assertion = "        self.assertEqual(stock.take(\"tea\", 1), 0)\n";
    let weakened = bench.edit(&Changes::new(), TESTS[1], assertion, "");
    bench.artifact(&bug, &weakened, &TESTS)
}

fn attempts(bench: &Bench, artifact: &Artifact, seed: u64) -> (Vec<Attempt>, Remembered) {
    let languages = Languages::builtin();
    let prepared = Prepared::of(&bench.harness, &languages, artifact).unwrap();
    let prepared = prepared.remembering(seed).unwrap();
    let (weights, past) = (start_weights(), Past::default());
    let player = Player { weights: &weights, past: &past, hash: "start", sampling: Sampling::All };
    let request = Request { attempts: 4, seed: 3, runs: Some(20), parallel: 1 };
    let attempts = prepared.attempts(&request, Some(player)).unwrap();
    (attempts, prepared.remembered())
}

fn told(attempts: &[Attempt]) -> Vec<(bool, String, usize, Vec<usize>)> {
    let drawn = |attempt: &Attempt| attempt.drawn.as_ref().unwrap().taken.clone();
    let one = |a: &Attempt| (a.solved, a.patch.clone(), a.runs, drawn(a));
    attempts.iter().map(one).collect()
}

#[test]
fn what_was_run_once_is_not_run_again_but_for_audits_and_says_the_same() {
    let bench = bench("well_tested");
    let artifact = bug(&bench);
    let (first, ran) = attempts(&bench, &artifact, 1);
    assert!(ran.run > 20 && ran.audited == 0, "{ran:?}");
    for attempt in &first {
        let drawn = attempt.drawn.as_ref().unwrap();
        assert!(drawn.taken.len() >= attempt.runs.min(1) && drawn.logs.len() == drawn.taken.len());
        assert_eq!(attempt.policy.as_deref(), Some("start"));
    }
    let (again, recalled) = attempts(&bench, &artifact, 1);
    assert_eq!(told(&again), told(&first));
    assert_eq!(recalled.asked, ran.asked);
    assert!(recalled.run * 4 < ran.run, "{recalled:?} after {ran:?}");
    assert_eq!((recalled.run, recalled.differed), (recalled.audited, 0), "{recalled:?}");
}

#[test]
fn an_audit_that_finds_another_answer_forgets_what_was_remembered_of_the_bug() {
    let bench = bench("well_tested");
    let artifact = bug(&bench);
    let (first, ran) = attempts(&bench, &artifact, 1);
    // Somebody else's answers: some candidates repair a test.
    let database = bench.workspace.state.join("state.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    let lie = "UPDATE outcomes SET content = '{\"passed\":[0],\"stages\":[]}' WHERE number IN \
        (SELECT number FROM outcomes ORDER BY number LIMIT 20 OFFSET 1)";
    assert_eq!(connection.execute(lie, []).unwrap(), 20);
    let recalled = (1..20)
        .map(|seed| attempts(&bench, &artifact, seed).1)
        .find(|recalled| recalled.differed > 0)
        .expect("one in twenty is run again: twenty seeds do not miss all twenty");
    assert!(recalled.audited >= recalled.differed);
    let (last, ran_again) = attempts(&bench, &artifact, 1);
    assert!(ran_again.run > 0 && ran_again.run <= ran.run);
    assert_eq!(told(&last), told(&first));
}

fn shop() -> Home {
    let home = Home::new();
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/well_tested");
    copy(&tree, &home.root().join("repo"));
    home
}

fn run(home: &Home, arguments: &str) -> Output {
    home.binary().args(arguments.split_whitespace()).output().unwrap()
}

#[track_caller]
fn json(home: &Home, arguments: &str, code: i32) -> Vec<Value> {
    let output = run(home, &format!("{arguments} --json"));
    assert_eq!(output.status.code(), Some(code), "{arguments}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The workspace's own checkpoint.
fn own(home: &Home) -> PathBuf {
    let status = &json(home, "status", 0)[0];
    Path::new(status["state_directory"].as_str().unwrap()).join("policy/checkpoint")
}

const TRAIN: &str = "train --strategy direct --seed 4 --attempts 4 --bugs 2";

#[test]
fn a_step_trains_both_roles_is_repeated_by_its_seed_and_is_what_plays_from_then_on() {
    let (home, other) = (shop(), shop());
    let trained = |home: &Home| {
        let steps = json(home, &format!("{TRAIN} --steps 2"), 0);
        assert_eq!(steps.len(), 2);
        let last = steps.into_iter().next_back().unwrap();
        assert_eq!(last["trained"], true, "{last}");
        (last, fs::read(own(home)).unwrap())
    };
    let (step, bytes) = trained(&home);
    assert!(bytes == trained(&other).1, "the same seed gave another policy");
    // All that a step has to tell.
    for field in
        ["reason", "gradient_norm", "target_solve_rate", "share_in_tests", "signals", "warnings"]
    {
        assert!(!step[field].is_null(), "no {field} in {step}");
    }
    for phase in ["inject", "rounds", "update", "keep", "whole"] {
        assert!(step["seconds"][phase].is_number(), "no {phase} in {step}");
    }
    assert!(
        step["injector"]["rollouts"].as_u64().unwrap() > 0
            && step["injector"]["success_rate"].is_number()
    );
    assert!(
        step["solver"]["rollouts"].as_u64().unwrap() >= 4
            && step["solver"]["mean_reward"].is_number()
    );
    assert!(step["share_of_update"].as_f64().unwrap() < 0.1, "{step}");
    // Status knows it, and what is made with it says so.
    let checkpoint = Checkpoint::parse(&bytes).unwrap();
    let status = json(&home, "status", 0).remove(0);
    assert_eq!(status["policy"]["hash"], Value::from(checkpoint.hash()));
    assert_eq!(status["policy"]["updates"], step["version"]);
    let artifact = status["last_rounds"][0]["artifact"].as_str().unwrap().to_owned();
    let solve = format!("solve {artifact} --repo . --seed 2 --attempts 2 --runs 5");
    run(&home, &solve);
    run(&home, &format!("{solve} --policy start"));
    let state = own(&home).parent().unwrap().parent().unwrap().to_owned();
    let made = Store::open(&state).unwrap().attempts(&artifact).unwrap();
    let policies: Vec<_> = made.iter().rev().take(4).map(|it| it.policy.as_deref()).collect();
    let hash = checkpoint.hash();
    assert_eq!(policies, [None, None, Some(&*hash), Some(&*hash)]);
    // Steps are kept.
    assert_eq!(Store::open(&state).unwrap().steps(9).unwrap().len(), 2);
}

#[test]
fn a_workspace_without_bugs_trains_nothing_and_says_what_to_do() {
    let home = shop();
    let step = json(&home, "train --role solver --seed 1", 1).remove(0);
    assert_eq!(
        (&step["trained"], &step["update"]),
        (&false.into(), &serde_json::json!({ "skipped": "no_rollouts" }))
    );
    assert!(step["reason"].as_str().unwrap().contains("play some rounds first"), "{step}");
    assert!(!own(&home).exists());
}

#[test]
fn groups_that_tell_nothing_leave_the_policy_as_it_was_and_are_counted() {
    let home = shop();
    json(&home, "play --strategy direct --seed 3 --attempts 1 --runs 0 --rounds 2", 0);
    // With one run nobody repairs anything: all rewards are 0.
    let step =
        json(&home, "train --role solver --seed 1 --runs 1 --attempts 2 --bugs 1 --rate 0.5", 1)
            .remove(0);
    assert_eq!(step["update"], serde_json::json!({ "skipped": "all_flat" }), "{step}");
    assert_eq!(step["solver"]["flat_groups"], step["solver"]["groups"]);
    assert!(step["refills"].as_u64().unwrap() > 0 && !own(&home).exists(), "{step}");
}

#[test]
fn a_checkpoint_that_cannot_be_used_is_refused_by_name_before_anything_runs() {
    let home = shop();
    let good = Checkpoint {
        tables: [("weights".to_owned(), start_weights())].into(),
        ..Checkpoint::default()
    }
    .to_bytes();
    let text = String::from_utf8(good.clone()).unwrap();
    let path = home.root().join("one.policy");
    for (bytes, why) in [
        (good[..good.len() - 4].to_vec(), "cut off"),
        (text.replacen("policy 1 ", "policy 9 ", 1).into_bytes(), "version 9"),
        (b"PK\x03\x04".to_vec(), "no policy of ssr-mcp"),
        (text.replacen("2.0", "2.5", 1).into_bytes(), "damaged"),
    ] {
        fs::write(&path, bytes).unwrap();
        let one = path.display();
        for command in [
            format!("play --policy {one}"),
            format!("inject --policy {one}"),
            format!("train --from {one}"),
        ] {
            let output = run(&home, &format!("{command} --seed 1"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains(why), "{command}: {said}");
        }
    }
    // A policy without an optimiser's memory is a beginning all the same.
    fs::write(&path, &good).unwrap();
    let step = json(&home, &format!("train --role solver --seed 1 --from {}", path.display()), 1)
        .remove(0);
    assert_eq!(step["policy_before"], Value::from(Checkpoint::parse(&good).unwrap().hash()));
    let missing = run(&home, "solve nothing --policy missing.policy");
    assert_eq!(missing.status.code(), Some(2));
    for place in ["repo/one.policy", "gone/one.policy"] {
        let output = run(&home, &format!("train --out {}", home.root().join(place).display()));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

/// Starts training; its standard error is read line by line.
fn begun(home: &Home, arguments: &str) -> Child {
    let mut command = home.binary();
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn two_trainers_of_one_workspace_take_turns_and_the_second_says_so() {
    let home = shop();
    let lock = own(&home).with_file_name("train.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let held = fs::File::create(&lock).unwrap();
    held.try_lock().unwrap();
    let mut second = begun(&home, "train --role solver --seed 1 --json");
    let mut said = BufReader::new(second.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("another process trains in this workspace")));
    assert!(second.try_wait().unwrap().is_none());
    drop(held);
    assert!(said.any(|line| line.contains("training step 1 of 1")));
    assert_eq!(second.wait().unwrap().code(), Some(1));
}

#[test]
fn kill_9_at_any_moment_of_training_leaves_the_last_checkpoint_whole_and_it_goes_on() {
    let home = shop();
    json(&home, "play --strategy direct --seed 3 --attempts 1 --runs 0 --rounds 3", 0);
    let path = home.root().join("one.policy");
    let mut updates = 0;
    for steps in 1..=4 {
        let mut child = begun(
            &home,
            &format!(
                "train --role solver --seed {steps} --steps 1000 --attempts 4 --rate 0.001 --json --out {}",
                path.display()
            ),
        );
        drop(child.stderr.take());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Somewhere behind a step: the next ones take milliseconds, since all answers are known.
        for _ in 0..steps * 3 {
            lines.next().unwrap().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let checkpoint = Checkpoint::parse(&fs::read(&path).unwrap()).expect("a whole checkpoint");
        let now: u64 = checkpoint.facts["updates"].parse().unwrap();
        assert!(now > updates, "it did not go on: {now} after {updates}");
        updates = now;
    }
}
