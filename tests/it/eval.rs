//! Evaluations: cases of every form, what cannot be run, going on, and the report of it.
#![allow(clippy::disallowed_methods, reason = "the binary is a process")]

use crate::cases::Home;
use crate::support::{git, git_commit, git_init};
use serde_json::{Value, json};

const GOOD: &str = "def total(prices):\n    result = 0\n    for price in prices:\n        result = result + price\n    return result\n";
const TESTS: &str = "import unittest\nfrom calc import total\n\n\nclass Totals(unittest.TestCase):\n    def test_nothing(self):\n        self.assertEqual(total([]), 0)\n";
const HARDER: &str = "\n    def test_sum(self):\n        self.assertEqual(total([2, 3]), 5)\n";

const FIX: &str = "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1,5 +1,5 @@\n def total(prices):\n     result = 0\n     for price in prices:\n-        result = result - price\n+        result = result + price\n     return result\n";

/// Below `dir`: the tree that holds the bug.
fn broken(home: &Home, dir: &str, tests: &str) {
    home.write(&format!("{dir}/calc.py"), &GOOD.replace("result + price", "result - price"));
    home.write(&format!("{dir}/tests/__init__.py"), "");
    home.write(&format!("{dir}/tests/test_calc.py"), tests);
}

/// The end of an evaluation.
#[track_caller]
fn eval(home: &Home, arguments: &str) -> Value {
    let output = home
        .binary()
        .arg("eval")
        .args(arguments.split_whitespace())
        .arg("--json")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    lines(&output.stdout).pop().unwrap()
}

fn lines(stdout: &[u8]) -> Vec<Value> {
    stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

fn cases(home: &Home) {
    broken(home, "cases/broken", &format!("{TESTS}{HARDER}"));
    // As SWE-bench has it: the commit holds the bug, and the test that shows it comes with the repair.
    let clone = home.root().join("clones/acme__calc");
    broken(home, "clones/acme__calc", TESTS);
    git_init(&clone);
    git_commit(&clone);
    let commit = git(&clone, &["rev-parse", "HEAD"]);
    home.write("clones/acme__calc/tests/test_calc.py", &format!("{TESTS}{HARDER}"));
    let test_patch = git(&clone, &["diff"]) + "\n";
    // The clone may stand anywhere: the commit is what counts.
    home.write("clones/acme__calc/calc.py", "raise SystemExit('not of the commit')\n");
    let lines = [
        json!({ "id": "known", "package": "one", "tree": "broken", "fix": FIX }),
        json!({ "id": "alone", "package": "one", "tree": "broken" }),
        json!({
            "instance_id": "acme__calc-1", "repo": "acme/calc", "base_commit": commit,
            "patch": FIX, "test_patch": test_patch,
            "FAIL_TO_PASS": "[\"tests/test_calc.py::Totals::test_sum\"]",
            "PASS_TO_PASS": ["tests/test_calc.py::Totals::test_nothing"],
        }),
        json!({
            "instance_id": "acme__calc-2", "repo": "acme/calc", "base_commit": commit,
            "patch": FIX, "test_patch": test_patch,
            "FAIL_TO_PASS": ["tests/test_calc.py::Totals::test_nothing"], "PASS_TO_PASS": [],
        }),
        json!({ "id": "nowhere", "package": "one", "tree": "missing" }),
        json!({ "id": "outside", "package": "one", "tree": "../clones" }),
        json!({ "id": "twisted", "package": "one", "tree": "broken", "fix": FIX.replace("result = 0", "no") }),
    ];
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    home.write("cases/cases.jsonl", &lines.join("\n"));
}

#[test]
fn cases_of_every_form_are_attempted_once_and_what_cannot_be_run_is_told_apart() {
    let home = Home::new();
    cases(&home);
    let command = "--policy start --cases ../cases --repos ../clones --budget 40";
    let first = eval(&home, command);
    let outcomes = json!({
        "repaired": 3, "not_reproduced": 1, "no_tree": 1, "malformed": 1, "does_not_apply": 1,
    });
    assert_eq!(first["outcomes"], outcomes, "{first:#}");
    assert_eq!((&first["cases"], &first["repaired"]), (&json!(7), &json!(3)));
    assert_eq!((&first["attempts"], &first["not_attempted"]), (&json!(3), &json!(4)));
    let rate = first["rate"].as_f64().unwrap();
    assert!((rate - 3.0 / 7.0).abs() < 1e-9, "what cannot be run is not repaired: {first:#}");
    assert_eq!(first["interval"], "bootstrap_over_packages");
    assert!(first["runs_per_repair"].as_f64().unwrap() >= 1.0);
    // Again: everything is known, and says the same.
    let again = eval(&home, command);
    assert_eq!((&first["known"], &again["known"]), (&json!(0), &json!(7)));
    for same in ["rate", "runs", "curve", "outcomes", "seconds"] {
        assert_eq!(first[same], again[same], "{same}");
    }
    // Another order is another evaluation; the inverse is a candidate here.
    let oracle = eval(&home, &command.replace("start", "oracle"));
    assert_eq!((&oracle["known"], &oracle["repaired"]), (&json!(0), &json!(3)), "{oracle:#}");
    let sampled =
        eval(&home, &format!("{} --sampled 2 --seed 5", command.replace("start", "uniform")));
    assert_eq!(sampled["attempts"], 6, "{sampled:#}");
    reported(&home);
    compared(&home, &command.replace("start", "oracle"));
}

/// Policies beside each other: what is known of one alone counts, and differences are of the same cases.
#[track_caller]
fn compared(home: &Home, command: &str) {
    let more = format!("eval {command} --policy start --against fixed --against ochiai --json");
    let output = home.binary().args(more.split_whitespace()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let all = lines(&output.stdout);
    let told: Vec<&str> = all.iter().filter_map(|answer| answer["policy"].as_str()).collect();
    assert_eq!(told, ["oracle", "start", "fixed", "ochiai"]);
    let known: Vec<u64> = all.iter().filter_map(|answer| answer["known"].as_u64()).collect();
    assert_eq!(known, [7, 7, 0, 0]);
    let last = all.last().unwrap();
    let rates: Vec<f64> = all[..3].iter().map(|answer| answer["rate"].as_f64().unwrap()).collect();
    let mean = last["mean"].as_array().unwrap().last().unwrap()["rate"].as_f64().unwrap();
    assert!((mean - f64::midpoint(rates[0], rates[1])).abs() < 1e-9, "{last:#}");
    let lead = &last["leads"][0];
    assert_eq!(lead["against"], "fixed");
    let lead = lead["curve"].as_array().unwrap().last().unwrap()["rate"].as_f64().unwrap();
    assert!((lead - (mean - rates[2])).abs() < 1e-9, "{last:#}");
}

/// The page of a repository in which nothing was played shows what was evaluated.
#[track_caller]
fn reported(home: &Home) {
    let arguments = "report . --out ../report.html --csv ../report.csv --json";
    let output = home.binary().args(arguments.split_whitespace()).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["evals"].as_array().map(Vec::len), Some(3), "{answer:#}");
    let html = std::fs::read_to_string(home.root().join("report.html")).unwrap();
    for text in ["Nothing was played here yet", "Held-out repairs", "oracle", "<svg"] {
        assert!(html.contains(text), "{text} in {html}");
    }
    let csv = std::fs::read_to_string(home.root().join("report.csv")).unwrap();
    assert!(csv.starts_with("run,round,") && csv.lines().count() == 1, "{csv}");
}

#[test]
fn the_solver_learns_from_cases_and_nothing_of_them_stays_in_a_workspace() {
    let home = Home::new();
    cases(&home);
    let train = |more: &str| {
        let given =
            "--cases ../cases --repos ../clones --role solver --seed 3 --bugs 3 --attempts 4";
        let arguments = given.split_whitespace().chain(more.split_whitespace());
        home.binary().arg("train").args(arguments).arg("--json").output().unwrap()
    };
    let output = train("--runs 5 --out one.policy");
    let told = String::from_utf8_lossy(&output.stderr);
    for left_out in ["nowhere", "outside", "twisted", "acme__calc-2"] {
        assert!(told.contains(&format!("the case {left_out} is left out: ")), "{told}");
    }
    let step = lines(&output.stdout).pop().unwrap();
    assert_eq!((output.status.code(), &step["trained"]), (Some(0), &json!(true)), "{step}");
    assert_eq!((&step["again"], &step["injected"]), (&json!(3), &json!(0)));
    // The same seed, the same policy; what is remembered makes no difference.
    let again = train("--runs 5 --out two.policy");
    assert_eq!(lines(&again.stdout).pop().unwrap()["policy"], step["policy"]);
    let text = home.binary().args(["status", "../cases/broken", "--json"]).output().unwrap();
    let status = &lines(&text.stdout)[0];
    assert_eq!((&status["valid"], &status["attempts"]), (&json!(0), &json!(0)), "{status}");
    assert_eq!(status["policy"], Value::Null);
    for (refused, code, why) in [
        ("--runs 5", 2, "--out"),
        ("--out one.policy --repos ../none", 2, "the argument"),
        ("--out one.policy ../cases/broken", 2, "cases"),
    ] {
        let output = train(refused);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && told.contains(why), "{refused}: {output:?}");
    }
    let both = home.binary().args(["train", "--cases", "../cases", "--out", "x"]).output().unwrap();
    assert!(String::from_utf8_lossy(&both.stderr).contains("--role solver"), "{both:?}");
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_runs() {
    let home = Home::new();
    cases(&home);
    for (arguments, why) in [
        ("--policy none.policy --cases ../cases", "cannot be used"),
        ("--policy ../cases/cases.jsonl --cases ../cases", "no policy of ssr-mcp"),
        ("--policy start --cases ../nothing", "cannot be read"),
        ("--policy start --cases ../clones", "there is no case"),
        ("--policy start --cases ../cases --budget 0", "nothing to do"),
        ("--policy start --policy fixed --against start --cases ../cases", "named twice"),
    ] {
        let output = home.binary().arg("eval").args(arguments.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(why), "{arguments}: {said}");
    }
}
