//! Canaries and sabotage, on the real frameworks.

use super::*;
use Outcome::{Failed, Passed};

fn projects() -> [Repository; 3] {
    [
        Repository::with(&[
            ("pkg.py", "'''Doc.'''\nfrom __future__ import annotations\nA = 1"),
            ("tests/test_a.py", "from pkg import A\ndef test_a():\n    assert A\n"),
        ]),
        Repository::with(&[
            ("pkg.py", "A = 1"),
            ("tests/__init__.py", ""),
            (
                "tests/test_a.py",
                "import unittest\nfrom pkg import A\nclass T(unittest.TestCase):\n    def test_a(self): pass\n",
            ),
        ]),
        Repository::with(&[
            (
                "Cargo.toml",
                "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("src/lib.rs", "pub const A: u32 = 1; // end"),
            ("tests/a.rs", "#[test] fn a() { assert_eq!(small::A, 1); }\n"),
        ]),
    ]
}

#[test]
fn a_canary_has_the_outcomes_that_it_says_and_another_seed_gives_another_one() {
    for project in projects() {
        let root = project.root();
        let runner = detect(root).unwrap();
        let tests = runner.test_files(&Disk(root.to_owned()));
        let canary = runner.canary(7, &tests).unwrap();
        assert_eq!(canary, runner.canary(7, &tests).unwrap());
        let other = runner.canary(8, &tests).unwrap();
        assert!(canary.path != other.path && canary.content != other.content);
        std::fs::write(root.join(canary.path.as_str()), &canary.content).unwrap();
        let files = [tests, vec![canary.path.clone()]].concat();
        let verdicts = run_script(&runner, root, &runner.script(&files, &[])).verdicts();
        let expected = canary.must_fail.iter().map(|id| (id.clone(), Failed));
        let expected = expected.chain(canary.must_pass.iter().map(|id| (id.clone(), Passed)));
        let of_canary = |(id, _): &(&TestId, &Outcome)| id.starts_with(canary.path.as_str());
        let found = verdicts.iter().filter(of_canary).map(|(id, outcome)| (id.clone(), *outcome));
        similar(&found.collect(), &expected.collect());
        assert_eq!(verdicts.len(), canary.must_fail.len() + canary.must_pass.len() + 1);
    }
}

#[test]
fn a_broken_file_takes_its_tests_down() {
    for project in projects() {
        let root = project.root();
        let runner = detect(root).unwrap();
        let file = if runner.languages() == ["rust"] { "src/lib.rs" } else { "pkg.py" };
        let file = RelPath::parse(file.as_bytes()).unwrap();
        let bytes = std::fs::read(root.join(file.as_str())).unwrap();
        let broken = runner.sabotage(&file, &bytes);
        assert!(broken.starts_with(&bytes));
        std::fs::write(root.join(file.as_str()), broken).unwrap();
        let ran = run(root);
        assert!(!String::from_utf8_lossy(&ran.log).contains("SyntaxError"));
        assert!(ran.ours.is_err() || ran.ours.unwrap().with(Passed).is_empty());
    }
}

#[test]
fn the_examples_have_tests_that_pass() {
    for (example, framework, least) in
        [("ledger", "unittest", 50), ("intervals", "cargo-test", 25), ("cron", "node-test", 20)]
    {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
        let copy = copy_of(&place);
        let runner = detect(copy.root()).unwrap();
        assert_eq!(runner.framework(), framework);
        let verdicts = run(copy.root()).verdicts();
        assert!(verdicts.len() >= least, "{example} has {} tests", verdicts.len());
        assert!(verdicts.values().all(|outcome| *outcome == Passed), "{verdicts:?}");
    }
}
