//! The wrong-book end to end: failures kept, attempted again, solved, fed back as bugs of their own.
#![allow(clippy::disallowed_methods, reason = "the binary is a process")]

use crate::bench::{Bench, bench, copy};
use crate::cases::Home;
use serde_json::Value;
use ssr_mcp::artifact::Artifact;
use ssr_mcp::consistency::{self, Check, Minima, Parent};
use ssr_mcp::diff::Patch;
use ssr_mcp::grading::{self, Reason, Task};
use ssr_mcp::solver::{Attempt, Request, solve};
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::{Changes, Overlaid};
use ssr_mcp::wrong_book::{Unfit, failures, second_order};
use std::path::Path;

const STOCK: &str = "shop/stock.py";
const PRICE: &str = "shop/price.py";
const TESTS: [&str; 2] = ["tests/test_price.py", "tests/test_stock.py"];

/// Two faults in two files.
fn two_faults(bench: &Bench) -> Artifact {
    let bug = bench.edit(&Changes::new(), STOCK, "if left < 0", "if left <= 0");
    let bug = bench.edit(&bug, PRICE, "cents - cents", "cents + cents");
    let assertion = "        self.assertEqual(stock.take(\"tea\", 1), 0)\n";
    let weakened = bench.edit(&Changes::new(), TESTS[1], assertion, "");
    bench.artifact(&bug, &weakened, &TESTS)
}

/// A repair attempt as a patch against what the solver saw: edits of its tree.
fn patch(bench: &Bench, artifact: &Artifact, edits: &[(&str, &str, &str)]) -> Vec<u8> {
    let base = bench.harness.base();
    let seen = Task::of(base, artifact).unwrap().changes;
    let tree =
        edits.iter().fold(seen.clone(), |tree, (file, old, new)| bench.edit(&tree, file, old, new));
    Patch::between(&Overlaid { base, changes: &seen }, &tree).to_bytes()
}

/// Repairs the stock, not the price.
const HALF: (&str, &str, &str) = (STOCK, "if left <= 0", "if left < 0");
/// Repairs the price.
const REST: (&str, &str, &str) = (PRICE, "cents + cents", "cents - cents");

fn attempt(bench: &Bench, artifact: &Artifact, patch: &[u8]) -> Attempt {
    let grade = grading::grade(&bench.harness, artifact, patch).unwrap();
    let patch = String::from_utf8(patch.to_vec()).unwrap();
    let reward = if grade.solved { 1.0 } else { -1.0 };
    Attempt {
        solved: grade.solved,
        reward,
        patch,
        runs: 1,
        reason: grade.reason,
        flags: grade.flags,
        bill: None,
        drawn: None,
        policy: None,
        kinds: std::collections::BTreeMap::new(),
    }
}

fn parent_of(bench: &Bench, artifact: &Artifact) -> Parent {
    let report = consistency::check(&bench.harness, artifact, &Minima::default()).unwrap();
    assert!(report.valid, "{report:?}");
    Parent { fail_to_pass: report.fail_to_pass, pass_to_pass: report.pass_to_pass }
}

#[test]
fn failed_attempts_are_known_by_the_tree_they_lead_to() {
    let bench = bench("well_tested");
    let artifact = two_faults(&bench);
    let half = patch(&bench, &artifact, &[HALF]);
    let prose =
        [b"Here is another text that leads to the same tree.\n\n", half.as_slice()].concat();
    let suspicious =
        patch(&bench, &artifact, &[(STOCK, "if left <= 0", "if '_pytest' and left <= 0")]);
    let repair = patch(&bench, &artifact, &[HALF, REST]);
    let patches: [&[u8]; 6] = [&half, &prose, b"", b"no diff at all\n", &suspicious, &repair];
    let attempts = patches.map(|patch| attempt(&bench, &artifact, patch));
    assert!(attempts[5].solved && attempts[..5].iter().all(|attempt| !attempt.solved));
    assert!(matches!(attempts[1].reason, Reason::TestsFailed(_)), "{:?}", attempts[1]);
    let found = failures(&bench.harness, &artifact, &attempts);
    let told: Vec<_> = found.iter().map(|failure| (failure.attempts, failure.feeds)).collect();
    // The two texts; nothing and what is no patch lead to the bug itself; the flagged one.
    assert_eq!(told, [(2, true), (2, false), (1, false)], "{found:?}");
    let task = Task::of(bench.harness.base(), &artifact).unwrap();
    assert_eq!(found[1].tree, task.with_oracle().digest());
}

#[test]
fn a_failed_repair_on_top_of_its_bug_is_a_bug_that_is_checked_solved_and_graded() {
    let bench = bench("well_tested");
    let (harness, artifact) = (&bench.harness, two_faults(&bench));
    let parent = parent_of(&bench, &artifact);
    let half = patch(&bench, &artifact, &[HALF]);
    let made = second_order(harness, &artifact, &half, &|_| false).unwrap();
    // Script, parser, test files and weakening are the parent's; so is the oracle.
    let inherited = Artifact { bug_inject: artifact.bug_inject.clone(), ..made.artifact.clone() };
    assert_eq!(inherited, artifact);
    let (task, before) = (
        Task::of(harness.base(), &made.artifact).unwrap(),
        Task::of(harness.base(), &artifact).unwrap(),
    );
    assert_eq!(task.oracle, before.oracle);
    assert_eq!(task.with_oracle().digest(), made.tree_digest);
    // What its solver sees: bug, then weakening, then the failed patch.
    let seen = Overlaid { base: harness.base(), changes: &before.changes };
    let patched = before.changes.then(&Patch::parse(&half).unwrap().apply(&seen).unwrap());
    assert_eq!(task.changes, patched.against(harness.base()));
    let report = consistency::check_second_order(harness, &made.artifact, &parent).unwrap();
    assert!(report.valid, "{report:?}");
    assert!(report.fail_to_pass.len() < parent.fail_to_pass.len());
    let request = Request { attempts: 1, seed: 3, runs: Some(160), parallel: 1 };
    let attempts = solve(harness, &Languages::builtin(), &made.artifact, &request).unwrap();
    assert!(attempts[0].solved, "{attempts:?}");
    let repair = patch(&bench, &made.artifact, &[REST]);
    assert!(grading::grade(harness, &made.artifact, &repair).unwrap().solved);
}

#[test]
fn what_is_no_new_bug_is_not_fed_back() {
    let bench = bench("well_tested");
    let (harness, artifact) = (&bench.harness, two_faults(&bench));
    let unfit = |patch: &[u8], known: bool| {
        second_order(harness, &artifact, patch, &|_| known).map(|_| ()).unwrap_err()
    };
    let half = patch(&bench, &artifact, &[HALF]);
    let repair = patch(&bench, &artifact, &[HALF, REST]);
    assert_eq!(unfit(&half, true), Unfit::Known);
    assert_eq!(unfit(&repair, false), Unfit::Original);
    assert!(matches!(unfit(b"", false), Unfit::NoTree(_)));
    let suspicious =
        patch(&bench, &artifact, &[(STOCK, "if left <= 0", "if '_pytest' and left <= 0")]);
    assert!(matches!(unfit(&suspicious, false), Unfit::Suspicious(_)));
    // A patch of nothing but the tests: they are the original's again, and the bug is the parent's.
    let tests = patch(
        &bench,
        &artifact,
        &[(TESTS[0], "from shop import price", "from shop import price  # mine")],
    );
    assert_eq!(unfit(&tests, false), Unfit::Parent);
}

#[test]
fn a_failed_repair_that_fails_no_test_of_its_parent_is_rejected() {
    let bench = bench("well_tested");
    let harness = &bench.harness;
    // One fault, in the price; the failed repair mends it and breaks the stock.
    let bug = bench.edit(&Changes::new(), PRICE, "cents - cents", "cents + cents");
    let test = "        self.assertEqual(price.discount(200, 50), 100)
        self.assertEqual(price.discount(200, 100), 0)\n";
    let weakened = bench.edit(&Changes::new(), TESTS[0], test, "        pass\n");
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    let parent = parent_of(&bench, &artifact);
    let other = patch(&bench, &artifact, &[REST, (STOCK, "if left < 0", "if left <= 0")]);
    let made = second_order(harness, &artifact, &other, &|_| false).unwrap();
    let report = consistency::check_second_order(harness, &made.artifact, &parent).unwrap();
    assert_eq!(report.failed_check, Some(Check::Bug), "{report:?}");
    assert!(report.checks.last().unwrap().detail.starts_with("0 of the parent's"), "{report:?}");
}

fn shop() -> Home {
    let home = Home::new();
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/well_tested");
    copy(&tree, &home.root().join("repo"));
    home
}

/// The lines of standard output as JSON, and the exit code.
#[track_caller]
fn told(home: &Home, arguments: &str) -> (Vec<Value>, Option<i32>) {
    let output = home.binary().args(arguments.split_whitespace()).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{arguments}: {error}: {text}"))
    });
    (lines.collect(), output.status.code())
}

#[track_caller]
fn answer(home: &Home, arguments: &str, code: i32) -> Value {
    let (mut lines, ended) = told(home, arguments);
    assert_eq!(ended, Some(code), "{arguments}: {lines:?}");
    lines.pop().unwrap()
}

#[test]
fn a_bug_that_was_failed_is_attempted_again_and_marked_solved() {
    let home = shop();
    let empty = answer(&home, "wrong-book list", 0);
    assert_eq!(empty["unsolved"], 0);
    // Without a run nobody repairs anything.
    let round = answer(&home, "play --seed 3 --strategy direct --attempts 2 --runs 0", 0);
    assert_eq!((&round["valid"], &round["wrong_book_size"]), (&true.into(), &1.into()), "{round}");
    let list = answer(&home, "wrong-book list", 0);
    let entry = &list["entries"][0];
    assert_eq!(entry["artifact"], round["artifact"], "{list}");
    assert_eq!((&entry["fail_count"], &entry["rounds_in_a_row"]), (&2.into(), &1.into()), "{list}");
    let id = &entry["id"].as_str().unwrap()[..12];
    let again = answer(&home, &format!("wrong-book replay {id} --attempts 1 --runs 0"), 1);
    let entry = &again["replayed"][0]["entry"];
    assert_eq!(
        (&entry["fail_count"], &entry["rounds_in_a_row"]),
        (&3.into(), &2.into()),
        "{again}"
    );
    assert_eq!(entry["solved"], false);
    let solved = answer(&home, &format!("wrong-book replay {id} --attempts 2 --seed 1"), 0);
    let entry = &solved["replayed"][0]["entry"];
    assert_eq!((&entry["fail_count"], &entry["solved"]), (&3.into(), &true.into()), "{solved}");
    assert_eq!(answer(&home, "status", 0)["wrong_book_size"], 0);
    assert_eq!(answer(&home, "wrong-book list", 0)["entries"].as_array().unwrap().len(), 0);
    assert_eq!(answer(&home, "wrong-book list --all", 0)["entries"][0]["solved"], true);
    // The bug's own round keeps its solve rate.
    assert_eq!(answer(&home, "status", 0)["last_rounds"][0]["solve_rate"], 0.0);
    assert_eq!(answer(&home, "wrong-book replay", 0)["replayed"].as_array().unwrap().len(), 0);
    let shown = answer(&home, &format!("wrong-book show {id}"), 0);
    assert_eq!((&shown["id"], &shown["patch"]), (&entry["id"], &"".into()), "{shown}");
}

#[test]
fn an_export_holds_patch_and_artifact_and_overwrites_nothing() {
    let home = shop();
    answer(&home, "play --seed 3 --strategy direct --attempts 1 --runs 0", 0);
    let exported = answer(&home, "wrong-book export ..", 0);
    let file = home.root().join("wrong-book.jsonl");
    assert_eq!(exported["entries"], 1);
    let text = std::fs::read_to_string(&file).unwrap();
    let line: Value = serde_json::from_str(text.trim_end()).unwrap();
    let artifact = Artifact::from_json(&line["files"]).unwrap();
    assert_eq!(line["artifact"], artifact.id());
    assert_eq!((&line["order"], &line["patch"]), (&1.into(), &"".into()));
    answer(&home, "wrong-book export ..", 2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    answer(&home, "wrong-book export ../another.jsonl", 0);
    let names: Vec<_> = std::fs::read_dir(home.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("jsonl"))
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn an_entry_that_is_not_there_or_not_of_this_tree_is_refused_by_name() {
    let home = shop();
    answer(&home, "wrong-book show 00", 2);
    answer(&home, "wrong-book replay 00", 2);
    answer(&home, "play --seed 3 --strategy direct --attempts 1 --runs 0", 0);
    let list = answer(&home, "wrong-book list", 0);
    let id = list["entries"][0]["id"].as_str().unwrap();
    home.write("repo/shop/extra.py", "EXTRA = 1\n");
    let refused = answer(&home, &format!("wrong-book replay {id}"), 2);
    assert!(refused["error"].as_str().unwrap().contains("another state"), "{refused}");
    assert_eq!(answer(&home, "wrong-book replay", 0)["of_other_trees"], 1);
}

/// Rounds, each on the wrong-book where it has something: a bug, the bug again, and its failed repair
/// on top of it. Which seed comes so far hangs on the solver; the rules do not.
fn second_order_rounds() -> (Home, u64, Vec<Value>) {
    for seed in 1..=8 {
        let home = shop();
        let arguments = format!(
            "play --seed {seed} --strategy direct --rounds 3 --attempts 2 --runs 12 --second-order 1 \
             --csv ../rounds.csv"
        );
        let (rounds, _) = told(&home, &arguments);
        if rounds.iter().any(|round| round["kind"] == "second_order") {
            return (home, seed, rounds);
        }
    }
    panic!("no seed leads to a second-order bug");
}

#[test]
fn play_feeds_a_failed_repair_back_and_leaves_its_parents_solve_rate_alone() {
    let (home, seed, rounds) = second_order_rounds();
    let [bug, again, second] = rounds.as_slice() else { panic!("{rounds:?}") };
    assert_eq!((&bug["kind"], &bug["order"]), (&"bug".into(), &1.into()), "{bug}");
    assert!(bug["inject_reward"].is_number());
    assert_eq!(
        (&again["kind"], &again["artifact"]),
        (&"again".into(), &bug["artifact"]),
        "{again}"
    );
    assert_eq!((&second["order"], &second["parent"]), (&2.into(), &bug["artifact"]), "{second}");
    for round in [again, second] {
        assert!(round["inject_reward"].is_null(), "{round}");
        assert_eq!(round["solve_rewards"].as_array().unwrap().len(), 2, "{round}");
    }
    assert_eq!(second["valid"], true, "{second}");
    assert_ne!(second["artifact"], bug["artifact"]);
    let status = answer(&home, "status", 0);
    let rates: Vec<_> = status["last_rounds"].as_array().unwrap().iter().rev().collect();
    assert_eq!(rates[0]["solve_rate"], bug["solve_rate"]);
    assert_eq!(rates[2]["inject_reward"], Value::Null);
    // The second-order bug is an artifact like any other: its reverse repairs it.
    let folder = Path::new(second["folder"].as_str().unwrap());
    let diff = std::fs::read(folder.join("bug_inject.diff")).unwrap();
    let repair = Patch::parse(&diff).unwrap().reversed().to_bytes();
    std::fs::write(home.root().join("repair.diff"), repair).unwrap();
    let id = second["artifact"].as_str().unwrap();
    assert_eq!(answer(&home, &format!("grade {id} ../repair.diff"), 0)["solved"], true);
    // The entry is used once.
    let entry = second["wrong_book_entry"].as_str().unwrap();
    let list = answer(&home, "wrong-book list --all", 0);
    let entries = list["entries"].as_array().unwrap();
    let used = entries.iter().find(|one| one["id"] == entry).unwrap();
    assert_eq!(used["fed"], true, "{list}");
    // The same seed on the same store gives the same rounds.
    let csv = |home: &Home| -> Vec<String> {
        let text = std::fs::read_to_string(home.root().join("rounds.csv")).unwrap();
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let same = |at: &usize| !["seconds", "run"].contains(&header[*at]);
        let cells = |line: &str| {
            let cells = line.split(',').enumerate().filter(|(at, _)| same(at));
            cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
        };
        text.lines().map(cells).collect()
    };
    let other = shop();
    let arguments = format!(
        "play --seed {seed} --strategy direct --rounds 3 --attempts 2 --runs 12 --second-order 1 --csv \
         ../rounds.csv"
    );
    told(&other, &arguments);
    assert_eq!(csv(&other), csv(&home));
}
