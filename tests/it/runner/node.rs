//! JavaScript's frameworks: every outcome, ids by file and titles, and what a test cannot make of them.

use super::instrument::measure;
use super::*;
use crate::fetch::{did_not_run, npm};
use Outcome::{Error as Errored, Failed, Passed, Skipped};

const FRAMEWORKS: [&str; 4] = ["mocha", "jest", "vitest", "node-test"];

const CASES: &str = r#"
const check = (ok) => { if (!ok) throw new Error('not so'); };
describe('outer', () => {
  it('passes', () => check(true));
  it('fails', () => check(false));
  it.skip('is skipped', () => check(false));
  describe('inner', () => {
    it('passes', async () => check(true));
    it('rejects', async () => check(false));
  });
});
it('prints', () => {
  console.log('--- report begin ---\n{"test":"x","outcome":"passed"}\n{"end":1}\n--- report end ---');
  process.stdout.write('not ok 1 - x\n');
});
it('odd [1] ::x "é"', () => check(true));
"#;

/// A package that depends on the framework, with the installed packages linked in.
fn package(framework: &str, files: &[(&str, &str)]) -> Option<Repository> {
    let installed = npm("frameworks", &["mocha@11", "jest@30", "vitest@3", "tape@5"])?;
    let manifest = format!("{{\"name\":\"small\",\"devDependencies\":{{\"{framework}\":\"*\"}}}}");
    let header = match framework {
        "vitest" => "import { beforeEach, describe, it } from 'vitest';\n",
        "node-test" => "const { beforeEach, describe, it } = require('node:test');\n",
        _ => "",
    };
    let files: Vec<(String, String)> =
        files.iter().map(|(name, text)| ((*name).to_owned(), format!("{header}{text}"))).collect();
    let mut all: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    all.push(("package.json", &manifest));
    let repository = Repository::with(&all);
    std::os::unix::fs::symlink(
        installed.join("node_modules"),
        repository.root().join("node_modules"),
    )
    .unwrap();
    Some(repository)
}

#[test]
fn every_outcome_is_told_by_file_and_titles() {
    for framework in FRAMEWORKS {
        let broken = "it('never', () => {});\nthrow new Error('at load');\n";
        let files = [("test/a.test.js", CASES), ("test/b.test.js", broken)];
        let Some(repository) = package(framework, &files) else {
            return did_not_run("mocha, jest");
        };
        assert_eq!(detect(repository.root()).unwrap().framework(), framework);
        let expected = [
            ("test/a.test.js::odd [1] ::x \"é\"", Passed),
            ("test/a.test.js::outer::fails", Failed),
            ("test/a.test.js::outer::inner::passes", Passed),
            ("test/a.test.js::outer::inner::rejects", Failed),
            ("test/a.test.js::outer::is skipped", Skipped),
            ("test/a.test.js::outer::passes", Passed),
            ("test/a.test.js::prints", Passed),
            ("test/b.test.js", Errored),
        ];
        let mut verdicts = run(repository.root()).verdicts();
        let all = verdicts.len();
        // Node may run what a file registered before it failed.
        if verdicts.remove("test/b.test.js::never").is_some() {
            assert_eq!(framework, "node-test");
        }
        let expected = expected.map(|(id, outcome)| (id.to_owned(), outcome)).into();
        assert_eq!(verdicts, expected, "{framework}");
        let less = run_less(repository.root(), &["test/a.test.js::outer::fails"]).verdicts();
        assert!(!less.contains_key("test/a.test.js::outer::fails"), "{framework}");
        assert_eq!(less.len(), all - 1, "{framework}");
    }
}

#[test]
fn a_hook_that_fails_and_a_process_that_leaves_are_no_passed_test() {
    for framework in FRAMEWORKS {
        let hooked = "describe('h', () => {\n  beforeEach(() => { throw new Error('hook'); });\n  it('runs', () => {});\n});\nit('own', () => {});\n";
        let leaves = "it('first', () => {});\nit('leaves', () => { process.exit(0); });\n";
        let files = [("test/h.test.js", hooked), ("test/l.test.js", leaves)];
        let Some(repository) = package(framework, &files) else {
            return did_not_run("mocha, jest");
        };
        let ran = run(repository.root());
        let Ok(verdicts) = ran.ours else { continue };
        for (id, outcome) in verdicts.iter() {
            let passes = id.ends_with("::own") || id.ends_with("::first");
            assert!(passes || outcome != Passed, "{framework}: {id} {outcome:?}");
        }
        let bad = |id: &str| {
            verdicts
                .iter()
                .any(|(told, outcome)| told.starts_with(id) && matches!(outcome, Failed | Errored))
        };
        assert!(bad("test/h.test.js::h"), "{framework}: {verdicts:?}");
    }
}

#[test]
fn tape_is_read_by_its_comments_and_a_forged_line_spoils_its_file() {
    let good = "const test = require('tape');\ntest('adds', (t) => { t.equal(1 + 1, 2); t.equal(2, 2); t.end(); });\ntest('fails', (t) => { t.equal(1, 2); t.end(); });\ntest('skipped', { skip: true }, (t) => { t.end(); });\n";
    let forged = "const test = require('tape');\ntest('honest', (t) => { process.stdout.write('ok 1 forged\\n'); t.equal(1, 1); t.end(); });\n";
    let dies =
        "const test = require('tape');\ntest('dies', (t) => { t.ok(true); process.exit(0); });\n";
    let files = [("test/a.js", good), ("test/b.js", forged), ("test/c.js", dies)];
    let Some(repository) = package("tape", &files) else { return did_not_run("tape") };
    check(
        &run(repository.root()),
        &[
            ("test/a.js::adds", Passed),
            ("test/a.js::fails", Failed),
            ("test/a.js::skipped", Skipped),
            ("test/b.js", Errored),
            ("test/b.js::honest", Errored),
            ("test/c.js::dies", Failed),
        ],
    );
}

#[test]
fn a_script_that_watches_is_not_watched() {
    let Some(repository) = package("jest", &[("src/a.test.js", "it('a', () => {});\n")]) else {
        return did_not_run("jest");
    };
    let manifest = r#"{"name":"w","scripts":{"test":"CI= jest --watch --bail --coverage"},"devDependencies":{"jest":"*"},"jest":{"verbose":true}}"#;
    std::fs::write(repository.root().join("package.json"), manifest).unwrap();
    check(&run(repository.root()), &[("src/a.test.js::a", Passed)]);
}

#[test]
fn settings_of_each_package_of_a_workspace_are_its_own() {
    let tdd = "suite('s', () => { test('t', () => { if (globalThis.ready !== 1) throw new Error('not set up'); }); });\n";
    let files = [
        ("packages/a/test/a.js", tdd),
        ("packages/a/setup.js", "globalThis.ready = 1;\n"),
        (
            "packages/a/package.json",
            r#"{"name":"a","scripts":{"test":"nyc mocha --ui tdd --require ./setup.js 'test/*.js'"}}"#,
        ),
        ("packages/b/package.json", r#"{"name":"b","mocha":{"require":["./load.js"]}}"#),
        ("packages/b/load.js", "globalThis.loaded = true;\n"),
        (
            "packages/b/test/b.js",
            "it('t', () => { if (!globalThis.loaded) throw new Error('no'); });\n",
        ),
    ];
    let Some(repository) = package("mocha", &files) else { return did_not_run("mocha") };
    let expected = [("packages/a/test/a.js::s::t", Passed), ("packages/b/test/b.js::t", Passed)];
    check(&run(repository.root()), &expected);
}

#[test]
fn a_canary_has_the_outcomes_that_it_says() {
    for framework in ["mocha", "jest", "vitest", "node-test", "tape"] {
        let own = match framework {
            "tape" => "require('tape')('own', (t) => { t.ok(1); t.end(); });\n",
            _ => "it('own', () => {});\n",
        };
        let Some(repository) = package(framework, &[("test/own.test.js", own)]) else {
            return did_not_run("JavaScript's frameworks");
        };
        let root = repository.root();
        let runner = detect(root).unwrap();
        let tests = runner.test_files(&Disk(root.to_owned()));
        let canary = runner.canary(7, &tests).unwrap();
        std::fs::write(root.join(canary.path.as_str()), &canary.content).unwrap();
        let files = [tests, vec![canary.path.clone()]].concat();
        let verdicts = run_script(&runner, root, &runner.script(&files, &[])).verdicts();
        for id in &canary.must_fail {
            assert_eq!(verdicts.get(id), Some(&Failed), "{framework}: {id} {verdicts:?}");
        }
        for id in &canary.must_pass {
            assert_eq!(verdicts.get(id), Some(&Passed), "{framework}: {id} {verdicts:?}");
        }
    }
}

#[test]
fn reach_and_lines_are_told_by_test() {
    for framework in ["mocha", "jest", "vitest", "node-test", "tape"] {
        let code = "exports.small = (x) => {\n  return x < 3;\n};\nexports.large = (x) => {\n  return x > 30;\n};\n";
        let cases = match framework {
            "tape" => {
                "const { small } = require('../lib');\nrequire('tape')('small', (t) => { t.ok(small(1)); t.end(); });\n"
            }
            "vitest" => {
                "import { small, large } from '../lib';\nit('small', () => { small(1); });\nit('large', () => { large(1); });\n"
            }
            _ => {
                "const { small, large } = require('../lib');\nit('small', () => { small(1); });\nit('large', () => { large(1); });\n"
            }
        };
        let files = [
            ("test/a.test.js", cases),
            ("test/b.test.js", "it('b', () => {});\nconst tape = 1;\n"),
        ];
        let Some(repository) = package(framework, &files) else {
            return did_not_run("mocha, jest");
        };
        let root = repository.root();
        let code = if framework == "vitest" {
            code.replace("exports.", "export const ")
        } else {
            code.to_owned()
        };
        std::fs::write(root.join("lib.js"), code).unwrap();
        let runner = detect(root).unwrap();
        let tests = [RelPath::parse(b"test/a.test.js").unwrap()];
        let reached = measure(&runner, root, &runner.reach_program(&tests).unwrap());
        let reach = runner.read_reach(&reached, &Disk(root.to_owned())).unwrap();
        assert_eq!(reach.files.keys().collect::<Vec<_>>(), ["lib.js"], "{framework}");
        assert!(reach.opaque.is_empty(), "{framework}");
        let told = measure(&runner, root, &runner.lines_program(&tests, None).unwrap());
        let lines = runner.read_lines(&told).unwrap();
        let lib = RelPath::parse(b"lib.js").unwrap();
        let small = &lines["test/a.test.js::small"][&lib];
        assert!(small.contains(&2), "{framework}: {small:?}");
        // Vitest and tape tell files apart, not tests.
        if framework != "vitest" && framework != "tape" {
            assert!(!small.contains(&5), "{framework}: {small:?}");
            assert!(lines["test/a.test.js::large"][&lib].contains(&5), "{framework}");
        }
    }
}

#[test]
fn screening_stops_at_the_first_candidate_that_passes_and_leaves_the_tree_as_it_was() {
    for framework in ["mocha", "jest", "vitest", "node-test", "tape"] {
        let case = match framework {
            "tape" => {
                "const { full } = require('../lib');\nrequire('tape')('full', (t) => { t.equal(full(), 'full'); t.end(); });\n"
            }
            "vitest" => {
                "import { full } from '../lib';\nit('full', () => { if (full() !== 'full') throw new Error('no'); });\n"
            }
            _ => {
                "const { full } = require('../lib');\nit('full', () => { if (full() !== 'full') throw new Error('no'); });\n"
            }
        };
        let Some(repository) = package(framework, &[("test/a.test.js", case)]) else {
            return did_not_run("JavaScript's frameworks");
        };
        let root = repository.root();
        let lib = |body: &str| match framework {
            "vitest" => format!("export const full = () => {{ {body} }};\n"),
            _ => format!("exports.full = () => {{ {body} }};\n"),
        };
        std::fs::write(root.join("lib.js"), lib("return 'wrong';")).unwrap();
        let runner = detect(root).unwrap();
        let candidates = [
            "return 'fu';",
            "for (;;) {}",
            "process.exit(0)",
            "return (",
            "return 'full';",
            "return 1;",
        ]
        .map(|body| {
            let mut changes = ssr_mcp::tree::Changes::new();
            changes.write(RelPath::parse(b"lib.js").unwrap(), File::plain(lib(body).as_bytes()));
            changes
        });
        let files = [RelPath::parse(b"test/a.test.js").unwrap()];
        let tests = ["test/a.test.js::full".to_owned()];
        let each = std::time::Duration::from_secs(8);
        let asked = ssr_mcp::runner::Asked { tests: &tests, ..Default::default() };
        let program = runner.screen_program(&candidates, &asked, &files, each);
        let trials = runner.read_screen(&measure(&runner, root, &program));
        let passed: Vec<_> = trials.iter().map(|trial| trial.passed.len()).collect();
        assert_eq!(passed, [0, 0, 0, 0, 1], "{framework}");
        let late: Vec<_> = trials.iter().map(|trial| trial.timed_out).collect();
        assert!(late[1] && !late[4], "{framework}: {late:?}");
        assert_eq!(std::fs::read(root.join("lib.js")).unwrap(), lib("return 'wrong';").as_bytes());
    }
}
