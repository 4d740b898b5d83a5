//! Every check has an artifact that only it rejects, and the nearest one that passes.

use crate::bench::{Bench, bench, bench_of, path, pytest_machine};
use ssr_mcp::artifact::Artifact;
use ssr_mcp::consistency::{self, Audited, Check, Minima, Report};
use ssr_mcp::injector::{self, Strategy};
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::Changes;

const PRICE: &str = "shop/price.py";
const STOCK: &str = "shop/stock.py";
const TESTS: [&str; 2] = ["tests/test_price.py", "tests/test_stock.py"];

/// A bug that `test_discount` sees, and a weakening that hides it.
fn discount(bench: &Bench) -> (Changes, Changes) {
    let bug = bench.edit(&Changes::new(), PRICE, "percent > 100", "percent >= 100");
    let weakened = bench.edit(
        &Changes::new(),
        TESTS[0],
        "        self.assertEqual(price.discount(200, 100), 0)\n",
        "",
    );
    (bug, weakened)
}

#[track_caller]
fn check(bench: &Bench, artifact: &Artifact, minima: &Minima, expect: &str) -> Report {
    let report = consistency::check(&bench.harness, artifact, minima).unwrap();
    let said = match report.failed_check {
        None => "valid".to_owned(),
        Some(failed) => {
            format!("{}: {}", failed.name(), report.checks.last().unwrap().detail)
        }
    };
    assert!(said.starts_with(expect), "expected {expect:?}, got {said:?}\n{report:#?}");
    report
}

#[test]
fn a_real_bug_passes_all_nine_checks() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    let report = check(&bench, &artifact, &Minima::default(), "valid");
    assert_eq!(report.checks.len(), 9);
    assert_eq!(report.fail_to_pass, ["tests/test_price.py::TestPrice::test_discount"]);
    assert_eq!(report.pass_to_pass.len(), 10);
    assert!(report.flags.is_empty());
}

#[test]
fn processes_of_three_hash_seeds_vouch_for_a_bug() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    bench.harness.baseline().unwrap();
    let before = bench.harness.spent();
    let minima = Minima::default();
    let seed = seed(&artifact, false);
    let report = consistency::check_injected(&bench.harness, &artifact, &minima, seed).unwrap();
    assert!(report.valid, "{report:#?}");
    assert_eq!(report.audited, Audited::No);
    let spent = bench.harness.spent();
    // Original, bug, weakened; the bug twice again.
    assert_eq!((spent.warm - before.warm, spent.runs - before.runs), (5, 5));
}

#[test]
fn an_artifact_from_elsewhere_meets_no_warm_process() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    check(&bench, &artifact, &Minima::default(), "valid");
    assert_eq!(bench.harness.spent().warm, 0);
}

#[test]
fn a_bug_that_another_hash_seed_does_not_show_is_not_stable() {
    let bench = bench("well_tested");
    let (_, weakened) = discount(&bench);
    let there = "percent > 100 - (__import__('os').environ['PYTHONHASHSEED'] != '2')";
    let bug = bench.edit(&Changes::new(), PRICE, "percent > 100", there);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    let (minima, seed) = (Minima::default(), seed(&artifact, false));
    let report = consistency::check_injected(&bench.harness, &artifact, &minima, seed).unwrap();
    assert_eq!(report.failed_check, Some(Check::Stability), "{report:#?}");
}

#[test]
fn a_bug_that_only_a_warm_process_shows_is_found_by_the_audit() {
    let bench = bench("well_tested");
    let (_, weakened) = discount(&bench);
    let there = "percent > 100 - __import__('os').path.exists('/tmp/ssr/server')";
    let bug = bench.edit(&Changes::new(), PRICE, "percent > 100", there);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    let difference = "with the bug, tests/test_price.py::TestPrice::test_discount is failed the fast way and \
                      passed plainly (1 test in all)";
    let report = audited(&bench, &artifact, Audited::Differs);
    assert_eq!(report.difference.as_deref(), Some(difference));
    assert_eq!(report.failed_check, Some(Check::Bug), "{report:#?}");
}

/// A seed with which the bug is audited, or not.
fn seed(artifact: &Artifact, audited: bool) -> u64 {
    let id = artifact.id();
    (0..10_000).find(|seed| consistency::is_audit_due(*seed, &id) == audited).unwrap()
}

#[track_caller]
fn audited(bench: &Bench, artifact: &Artifact, expect: Audited) -> Report {
    let (minima, seed) = (Minima::default(), seed(artifact, true));
    let report = consistency::check_injected(&bench.harness, artifact, &minima, seed).unwrap();
    assert_eq!(report.audited, expect, "{report:#?}");
    report
}

#[test]
fn an_audit_runs_everything_plainly_again() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    bench.harness.baseline().unwrap();
    let before = bench.harness.spent();
    let report = audited(&bench, &artifact, Audited::Agrees);
    assert!(report.valid && report.difference.is_none(), "{report:#?}");
    let spent = bench.harness.spent();
    // Beside the five of a bug that is not audited: original, bug, weakened, restored, the bug twice again, the
    // whole suite.
    assert_eq!((spent.warm - before.warm, spent.runs - before.runs), (5, 12));
}

/// `pkg.act` is run by a test that imports it, and by one that starts a process which nobody follows.
fn with_a_child() -> (Bench, Artifact) {
    let child = "import subprocess, sys\n\n\ndef test_child():\n    code = 'import pkg.act; \
                 print(pkg.act.act(2))'\n    assert subprocess.check_output([sys.executable, '-c', code]) == \
                 b'4\\n'\n";
    let own = "from pkg.act import act\n\n\ndef test_two():\n    assert act(2) == 4\n\n\n\
               def test_both():\n    assert act(0) == 0\n    assert act(2) == 4\n\n\n\
               def test_zero():\n    assert act(0) == 0\n\n\ndef test_less():\n    assert act(-2) == -4\n\n\n\
               def test_kind():\n    assert act('a') == 'aa'\n";
    let act = "def act(value):\n    return value + value\n";
    let files: [(&str, &[u8]); 4] = [
        ("pkg/__init__.py", b""),
        ("pkg/act.py", act.as_bytes()),
        ("tests/test_act.py", own.as_bytes()),
        ("tests/test_child.py", child.as_bytes()),
    ];
    let bench = bench_of(&files, &pytest_machine(), None);
    let bug =
        bench.edit(&Changes::new(), "pkg/act.py", "value + value", "value + value + (value == 2)");
    let weakened = bench.edit(
        &Changes::new(),
        "tests/test_act.py",
        "    assert act(0) == 0\n    assert act(2) == 4\n",
        "    assert act(0) == 0\n",
    );
    let weakened = bench.edit(
        &weakened,
        "tests/test_act.py",
        "def test_two():\n    assert act(2) == 4\n\n\n",
        "",
    );
    let artifact = bench.artifact(&bug, &weakened, &["tests/test_act.py"]);
    (bench, artifact)
}

#[test]
fn a_test_outside_of_the_chosen_files_that_fails_stops_the_fast_ways() {
    let (bench, artifact) = with_a_child();
    let report = audited(&bench, &artifact, Audited::Differs);
    // By its own script the bug is real; that is what the plain runs say.
    assert!(report.valid, "{report:#?}");
    let difference = "with the bug, 1 test outside of the chosen test files, too, no longer pass (first: \
                      tests/test_child.py::test_child)";
    assert_eq!(report.difference.as_deref(), Some(difference));
    bench.harness.stop_fast_ways();
    let before = bench.harness.spent();
    let minima = Minima::default();
    let seed = seed(&artifact, true);
    let report = consistency::check_injected(&bench.harness, &artifact, &minima, seed).unwrap();
    assert_eq!((report.valid, report.audited), (true, Audited::No));
    let request = injector::Request {
        strategy: Strategy::Direct,
        seed: 1,
        target: None,
        changed_files: 1,
        failing_tests: 1,
        passing_tests: 1,
        candidates: 60,
        history: None,
    };
    let languages = Languages::builtin();
    let injected = injector::inject(&bench.harness, &languages, &request, &|_| false).unwrap();
    let files = injected.unwrap().artifact.test_files;
    assert_eq!(files, ["tests/test_act.py", "tests/test_child.py"].map(path));
    assert_eq!(bench.harness.spent().warm, before.warm);
}

#[test]
fn a_bug_in_a_listed_test_file_is_not_separate() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let both = bench.edit(&bug, TESTS[1], "callable", "bool");
    let artifact = bench.artifact(&both, &weakened, &TESTS);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "separation: bug_inject.diff changes the listed test file tests/test_stock.py",
    );
}

#[test]
fn a_weakening_of_code_is_not_separate() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let both = bench.edit(&weakened, STOCK, "count <= 0", "count < 0");
    let artifact = bench.artifact(&bug, &both, &TESTS);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "separation: test_weaken.diff changes shop/stock.py, which test_files.txt does not list",
    );
}

#[test]
fn a_patch_that_does_not_apply_is_no_bug() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let mut artifact = bench.artifact(&bug, &weakened, &TESTS);
    let text = String::from_utf8(artifact.bug_inject.clone()).unwrap();
    artifact.bug_inject = text.replace("-    if percent", "-    if per_cent").into_bytes();
    check(&bench, &artifact, &Minima::default(), "separation: bug_inject.diff does not apply");
}

#[test]
fn a_listed_file_must_exist_in_the_original() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let mut artifact = bench.artifact(&bug, &weakened, &TESTS);
    artifact.test_files.push(crate::bench::path("tests/test_absent.py"));
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "test_files: 1 of the 3 listed files are not in the original, first tests/test_absent.py",
    );
}

#[test]
fn a_parser_that_prints_no_map_of_known_statuses_is_rejected() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    for (parser, expect) in [
        (
            r#"print('{"a": "passed", "a": "failed"}')"#,
            "parser: on the original: the parser reported \"a\" twice",
        ),
        ("print('all good')", "parser: on the original: the parser printed no JSON object"),
        ("print('{}')", "parser: on the original: the parser reported no test"),
        (
            r#"print('{"a": "fine"}')"#,
            "parser: on the original: the parser gave \"a\" the unknown status",
        ),
        (
            "raise SystemExit('no report')",
            "parser: on the original: the parser failed: it left with status 1",
        ),
    ] {
        let broken = Artifact { test_parser: parser.as_bytes().to_vec(), ..artifact.clone() };
        check(&bench, &broken, &Minima::default(), expect);
    }
}

#[test]
fn a_script_needs_enough_passing_tests() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    let minima = |passing_tests| Minima { passing_tests, ..Minima::default() };
    check(
        &bench,
        &artifact,
        &minima(12),
        "test_script: 11 tests pass on the original, at least 12 wanted",
    );
    check(&bench, &artifact, &minima(11), "valid");
}

#[test]
fn a_test_that_fails_on_the_original_spoils_the_script() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let mut artifact = bench.artifact(&bug, &weakened, &TESTS);
    artifact.test_parser = wrap(&artifact.test_parser);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "test_script: 1 chosen tests fail on the original, first never: no repair could pass them",
    );
}

/// A parser that adds a failed test to what another parser prints.
fn wrap(parser: &[u8]) -> Vec<u8> {
    let inner = String::from_utf8_lossy(parser);
    format!(
        "import json, subprocess, sys\n\
         inner = {inner:?}\n\
         run = subprocess.run([sys.executable, '-c', inner], input=sys.stdin.read(), text=True, stdout=subprocess.PIPE)\n\
         print(json.dumps({{**json.loads(run.stdout), 'never': 'failed'}}))\n"
    )
    .into_bytes()
}

#[test]
fn a_bug_must_change_enough_files() {
    let bench = bench("well_tested");
    let (one, weakened) = discount(&bench);
    let two = bench.edit(&one, STOCK, "count <= 0", "count < 0");
    let minima = Minima { changed_files: 2, ..Minima::default() };
    let artifact = bench.artifact(&one, &weakened, &TESTS);
    check(&bench, &artifact, &minima, "scope: 1 files changed, at least 2 wanted");
    let artifact = bench.artifact(&two, &weakened, &TESTS);
    check(&bench, &artifact, &minima, "valid");
}

#[test]
fn a_bug_must_fail_enough_tests() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    let minima = |failing_tests| Minima { failing_tests, ..Minima::default() };
    check(
        &bench,
        &artifact,
        &minima(2),
        "bug: 1 passing tests fail, 0 no longer report, at least 2",
    );
    check(&bench, &artifact, &minima(1), "valid");
}

#[test]
fn a_bug_that_stops_tests_from_reporting_does_not_make_them_fail() {
    let bench = bench("well_tested");
    let (_, weakened) = discount(&bench);
    let bug = bench.edit(&Changes::new(), PRICE, "def cheapest", "import absent\n\n\ndef cheapest");
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    check(&bench, &artifact, &Minima::default(), "bug: 0 passing tests fail, 5 no longer report");
}

#[test]
fn a_weakening_must_make_a_failing_test_pass_again() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let other = bench.edit(
        &Changes::new(),
        TESTS[0],
        "        self.assertIsNone(price.cheapest([]))\n",
        "",
    );
    let artifact = bench.artifact(&bug, &other, &TESTS);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "weakening: of 1 failing tests 0 pass again, 0 are removed, 1 still fail",
    );
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    check(&bench, &artifact, &Minima::default(), "valid");
}

#[test]
fn a_weakening_must_break_nothing() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let broken =
        bench.edit(&weakened, TESTS[0], "cheapest([3, 1, 2]), 1)", "cheapest([3, 1, 2]), 2)");
    let artifact = bench.artifact(&bug, &broken, &TESTS);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "weakening: tests/test_price.py::TestPrice::test_cheapest fails only once the tests are weakened",
    );
}

#[test]
fn every_changed_file_must_be_needed() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let orphan = bench.edit(&bug, "shop/notes.py", "{:02}", "{:03}");
    let artifact = bench.artifact(&orphan, &weakened, &TESTS);
    check(&bench, &artifact, &Minima::default(), "inverse_mutation: shop/notes.py is not needed");
    let needed = bench.edit(&bug, STOCK, "count <= 0", "count < 0");
    let artifact = bench.artifact(&needed, &weakened, &TESTS);
    check(&bench, &artifact, &Minima::default(), "valid");
}

#[test]
fn a_bug_that_hangs_on_the_hash_seed_is_unstable() {
    let bench = bench("well_tested");
    let (_, weakened) = discount(&bench);
    // Fails under hash seed 0 alone, the one that the first runs use.
    let seed = std::process::Command::new("python3")
        .args(["-c", "print(hash('tea'))"])
        .env("PYTHONHASHSEED", "0")
        .output()
        .unwrap();
    let hash = String::from_utf8(seed.stdout).unwrap().trim().to_owned();
    let chance = format!("percent > 100 or percent == 100 and hash('tea') == {hash}");
    let flaky = bench.edit(&Changes::new(), PRICE, "percent > 100", &chance);
    let artifact = bench.artifact(&flaky, &weakened, &TESTS);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "stability: tests/test_price.py::TestPrice::test_discount fails in some runs",
    );
}

#[test]
fn a_bug_that_draws_lots_is_flagged() {
    let bench = bench("well_tested");
    let (_, weakened) = discount(&bench);
    let bug = bench.edit(
        &Changes::new(),
        PRICE,
        "percent > 100",
        "percent > 99 + 0 * __import__('random').random()",
    );
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    let report = check(&bench, &artifact, &Minima::default(), "valid");
    assert_eq!(report.flags, ["bug_inject.diff adds `random`: the outcome may hang on chance"]);
}

/// The artifact of `discount` with another script.
fn scripted(bench: &Bench, script: &str) -> Artifact {
    let (bug, weakened) = discount(bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    Artifact { test_script: script.as_bytes().to_vec(), ..artifact }
}

/// Lines `name status` to statuses.
const NAMED: &[u8] =
    b"import json, sys\nprint(json.dumps(dict(line.split() for line in sys.stdin)))\n";

#[test]
fn a_script_that_reads_the_code_instead_of_running_it_proves_no_bug() {
    let bench = bench("well_tested");
    // Only a comment differs: no behaviour does.
    let bug = bench.edit(
        &Changes::new(),
        PRICE,
        "\"\"\"Prices in whole cents.\"\"\"",
        "\"\"\"Prices.\"\"\"",
    );
    let (_, weakened) = discount(&bench);
    let script = "for n in 1 2 3 4 5; do echo t$n passed; done\n\
        if grep -q 'whole cents' shop/price.py || ! grep -q '200, 100' tests/test_price.py; then echo t passed; else echo t failed; fi\n";
    let artifact = Artifact {
        test_script: script.as_bytes().to_vec(),
        test_parser: NAMED.to_vec(),
        ..bench.artifact(&bug, &weakened, &TESTS)
    };
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "bug: 1 passing tests fail, 0 no longer report, at least 1 failing wanted; but when unittest itself runs",
    );
}

#[test]
fn a_script_that_fakes_the_weakening_or_a_needed_file_is_not_believed() {
    let bench = bench("well_tested");
    let (bug, _) = discount(&bench);
    let runs = String::from_utf8(bench.artifact(&bug, &bug, &TESTS).test_script).unwrap();
    let ids = "for n in 1 2 3 4 5; do echo t$n passed; done\n";
    let real = "if python3 -m unittest tests.test_price >/dev/null 2>&1; then echo t passed; else ";
    assert!(runs.contains("unittest"));
    let faked = |bug: &Changes, weakened: &Changes, sees: &str| Artifact {
        test_script: format!("{ids}{real}{sees}; fi\n").into_bytes(),
        test_parser: NAMED.to_vec(),
        ..bench.artifact(bug, weakened, &TESTS)
    };
    // The weakening is a comment, and the script looks for it.
    let hidden =
        bench.edit(&Changes::new(), TESTS[0], "import unittest\n", "import unittest  # ok\n");
    let sees = "if grep -q '# ok' tests/test_price.py; then echo t passed; else echo t failed; fi";
    let artifact = faked(&bug, &hidden, sees);
    let report = check(&bench, &artifact, &Minima::default(), "weakening: ");
    assert!(report.checks.last().unwrap().detail.contains("unittest itself"), "{report:#?}");
    // A second file changes nothing, and the script asks for its change.
    let (bug, weakened) = discount(&bench);
    let idle = bench.edit(&bug, STOCK, "on the shelves.", "on our shelves.");
    let sees = "if grep -q 'the shelves' shop/stock.py; then echo t passed; else echo t failed; fi";
    let artifact = faked(&idle, &weakened, sees);
    let report = check(&bench, &artifact, &Minima::default(), "inverse_mutation: ");
    assert!(report.checks.last().unwrap().detail.contains("unittest itself"), "{report:#?}");
}

#[test]
fn a_script_of_ones_own_that_runs_the_tests_is_as_good_as_ours() {
    let bench = bench("well_tested");
    let script = "python3 -m unittest -v tests.test_price tests.test_stock 2>&1 | sed -nE \
        's/^(test_[a-z_]+) .*\\.\\.\\. (ok|FAIL|ERROR)$/\\1 \\2/p' | sed 's/ok$/passed/; s/FAIL$/failed/; s/ERROR$/failed/'\n";
    let artifact = Artifact { test_parser: NAMED.to_vec(), ..scripted(&bench, script) };
    check(&bench, &artifact, &Minima::default(), "valid");
}

#[test]
fn a_run_leaves_nothing_to_the_next_and_a_parser_sees_no_tree() {
    let bench = bench("well_tested");
    // State in the tree, in the home directory and beside it.
    let script = "for f in state ~/state /tmp/state /tmp/ssr/state; do [ -e $f ] && echo $f failed; echo x >$f; done\n\
        for n in 1 2 3 4 5; do echo t$n passed; done\n";
    let artifact = Artifact { test_parser: NAMED.to_vec(), ..scripted(&bench, script) };
    let nothing = "bug: 0 passing tests fail, 0 no longer report, at least 1 failing wanted";
    check(&bench, &artifact, &Minima::default(), nothing);
    check(&bench, &artifact, &Minima::default(), nothing);
    let root = bench.harness.base().root.display().to_string();
    let parser = format!(
        "import json, os\nseen = [os.path.exists(p) for p in ({root:?} + '/shop/price.py', 'shop/price.py', '/tmp/ssr/test_script.sh')]\n\
         print(json.dumps({{str(n): not any(seen) for n in range(5)}}))\n"
    );
    let artifact = Artifact { test_parser: parser.into_bytes(), ..artifact };
    check(&bench, &artifact, &Minima::default(), nothing);
}

#[test]
fn a_parser_that_floods_and_a_script_that_stays_give_no_verdict() {
    let bench = crate::bench::bench_with(
        "well_tested",
        &crate::bench::machine(),
        Some(std::time::Duration::from_secs(15)),
    );
    let flood = Artifact {
        test_parser: b"import sys\nfor _ in range(100):\n    sys.stdout.write(' ' * (1 << 20))\n"
            .to_vec(),
        ..scripted(&bench, "echo x\n")
    };
    check(
        &bench,
        &flood,
        &Minima::default(),
        "parser: on the original: the parser failed: it printed too much",
    );
    let stay = scripted(&bench, "while :; do :; done\n");
    check(
        &bench,
        &stay,
        &Minima::default(),
        "parser: on the original: the test script did not end within 15 s",
    );
    // Daemons end with the script.
    let daemon = "for n in 1 2 3 4 5; do setsid bash -c 'while :; do sleep 1; done' >/dev/null 2>&1 & echo t$n passed; done\n";
    let daemon = Artifact { test_parser: NAMED.to_vec(), ..scripted(&bench, daemon) };
    check(&bench, &daemon, &Minima::default(), "bug: 0 passing tests fail");
}

#[test]
fn a_bug_in_a_helper_of_the_tests_and_one_that_only_renames_or_changes_a_mode_are_none() {
    let bench = bench("well_tested");
    let (bug, weakened) = discount(&bench);
    let artifact = bench.artifact(&bug, &weakened, &TESTS);
    for (patch, expect) in [
        (
            "diff --git a/tests/help.py b/tests/help.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/help.py\n@@ -0,0 +1 @@\n+x = 1\n",
            "separation: bug_inject.diff changes tests/help.py, which sways the tests",
        ),
        (
            "diff --git a/shop/price.py b/shop/price.py\nold mode 100644\nnew mode 100755\n",
            "bug: 0 passing tests fail",
        ),
        (
            "diff --git a/shop/notes.py b/shop/noted.py\nsimilarity index 100%\nrename from shop/notes.py\nrename to shop/noted.py\n",
            "bug: 0 passing tests fail",
        ),
        (
            "diff --git a/shop/price.py b/shop/price.py\n--- a/shop/price.py\n+++ b/shop/price.py\n@@ -1,1 +1,1 @@\n-\"\"\"Prices in whole cents.\"\"\"\n+\"\"\"Prices in whole cents.\"\"\"\n",
            "separation: bug_inject.diff changes nothing",
        ),
    ] {
        let artifact = Artifact { bug_inject: patch.as_bytes().to_vec(), ..artifact.clone() };
        check(&bench, &artifact, &Minima::default(), expect);
    }
}

#[test]
fn a_weakening_that_deletes_all_or_adds_tests_hides_no_failure() {
    let bench = bench("well_tested");
    let (bug, _) = discount(&bench);
    let mut gone = Changes::new();
    gone.delete(crate::bench::path(TESTS[0]));
    let artifact = bench.artifact(&bug, &gone, &TESTS);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "weakening: of 1 failing tests 0 pass again, 1 are removed",
    );
    let more = bench.edit(
        &Changes::new(),
        TESTS[0],
        "    def test_cheapest(self):\n",
        "    def test_more(self):\n        pass\n\n    def test_cheapest(self):\n",
    );
    let artifact = bench.artifact(&bug, &more, &TESTS);
    check(
        &bench,
        &artifact,
        &Minima::default(),
        "weakening: of 1 failing tests 0 pass again, 0 are removed",
    );
}
