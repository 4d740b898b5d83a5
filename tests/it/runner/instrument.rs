//! Instruments, run as the harness runs them but outside any sandbox.

use super::*;
use ssr_mcp::runner::{Asked, Instrument};
use ssr_mcp::tree::Changes;
use std::collections::BTreeSet;
use std::time::Duration;

/// Runs an instrument with its place moved to a temporary directory, and returns its output.
pub(super) fn measure(runner: &Runner, root: &Path, instrument: &Instrument) -> Vec<u8> {
    let place = tempfile::tempdir().unwrap();
    let moved = |path: &Path| match path.strip_prefix("/tmp/ssr/instrument") {
        Ok(rest) => place.path().join(rest),
        Err(_) => path.to_owned(),
    };
    for (path, content, _) in &instrument.files {
        std::fs::write(moved(path), content).unwrap();
    }
    let argv: Vec<_> = instrument.argv.iter().map(|word| moved(Path::new(word))).collect();
    let done = Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(root)
        .env_clear()
        .envs(&runner.tools().env)
        .envs([("HOME", place.path()), ("TMPDIR", place.path())])
        .env("PYTHONPYCACHEPREFIX", place.path().join("pycache"))
        .env("CARGO_HOME", cargo_home())
        .env("CARGO_TARGET_DIR", root.join("target"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    std::fs::read(moved(&instrument.output)).unwrap_or_else(|error| panic!("{error}\n{said}"))
}

fn path(name: &str) -> RelPath {
    RelPath::parse(name.as_bytes()).unwrap()
}

const CASE: &str = "import unittest\nclass T(unittest.TestCase):\n";

/// The same small project with pytest and with unittest.
fn projects() -> [Repository; 2] {
    ["pytest", "unittest"].map(|framework| {
        let test = |name: &str, import: &str, body: &str| match framework {
            "pytest" => format!("{import}\ndef {name}():\n    {body}\n"),
            _ => format!("{import}\n{CASE}    def {name}(self):\n        {body}\n"),
        };
        Repository::with(&[
            ("pkg/__init__.py", ""),
            ("pkg/base.py", "def make(x):\n    if x:\n        return 'full'\n    return 'empty'\n"),
            (
                "pkg/top.py",
                "from pkg.base import make\nMADE = make(1)\ndef top():\n    return MADE\n",
            ),
            ("pkg/lazy.py", "VALUE = 3\n"),
            ("pkg/data.txt", "data"),
            ("pkg/alone.py", "VALUE = 4\n"),
            (
                "tests/test_top.py",
                &test("test_top", "from pkg.top import top", "assert top() == 'full'"),
            ),
            (
                "tests/test_base.py",
                &test("test_base", "from pkg import base", "assert base.make(0) == 'empty'"),
            ),
            (
                "tests/test_lazy.py",
                &test(
                    "test_lazy",
                    "",
                    "from pkg.lazy import VALUE; open('pkg/data.txt').read(); assert VALUE",
                ),
            ),
            (
                "tests/test_sub.py",
                &test("test_sub", "import subprocess", "subprocess.run(['true'])"),
            ),
        ])
    })
}

fn ids(runner: &Runner) -> [&'static str; 2] {
    match runner.framework() {
        "pytest" => ["tests/test_top.py::test_top", "tests/test_base.py::test_base"],
        _ => ["tests/test_top.py::T::test_top", "tests/test_base.py::T::test_base"],
    }
}

#[test]
fn reach_sees_imports_lazy_imports_data_and_processes() {
    for project in projects() {
        let root = project.root();
        let tree = Disk(root.to_owned());
        let runner = detect(root).unwrap();
        let program = runner.reach_program(&runner.test_files(&tree)).unwrap();
        let reach = runner.read_reach(&measure(&runner, root, &program), &tree).unwrap();
        let of = |name: &str| {
            let files: Vec<_> =
                reach.files[name].iter().map(|f| f.trim_start_matches("tests/test_")).collect();
            files.join(" ")
        };
        assert_eq!(of("pkg/base.py"), "base.py sub.py top.py");
        assert_eq!(of("pkg/top.py"), "sub.py top.py");
        assert_eq!(of("pkg/lazy.py"), "lazy.py sub.py");
        assert_eq!(of("pkg/data.txt"), "lazy.py sub.py");
        assert_eq!(of("pkg/alone.py"), "sub.py");
        assert_eq!(reach.opaque, BTreeSet::from(["tests/test_sub.py".to_owned()]));
        assert_eq!(reach.seconds.len(), 4, "{:?}", reach.seconds);
    }
}

#[test]
fn lines_are_told_by_test_and_imports_count_for_all() {
    for project in projects() {
        let root = project.root();
        let tree = Disk(root.to_owned());
        let runner = detect(root).unwrap();
        let program = runner.lines_program(&runner.test_files(&tree), None).unwrap();
        let lines = runner.read_lines(&measure(&runner, root, &program)).unwrap();
        let [top, base] = ids(&runner);
        assert_eq!(lines[top][&path("pkg/base.py")], BTreeSet::from([1, 2, 3]));
        assert_eq!(lines[top][&path("pkg/top.py")], BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(lines[base][&path("pkg/base.py")], BTreeSet::from([1, 2, 4]));
        assert!(!lines[base].contains_key(&path("tests/test_base.py")));
        let one = [base.to_owned()];
        let program = runner.lines_program(&[path("tests/test_base.py")], Some(&one)).unwrap();
        let lines = runner.read_lines(&measure(&runner, root, &program)).unwrap();
        assert_eq!(lines.into_keys().collect::<Vec<_>>(), one);
    }
}

#[test]
fn screening_stops_at_the_first_candidate_that_passes_and_leaves_the_tree_as_it_was() {
    for project in projects() {
        let root = project.root();
        let runner = detect(root).unwrap();
        std::fs::write(root.join("pkg/base.py"), "def make(x):\n    return 'wrong'\n").unwrap();
        let candidate = |text: &str| {
            let mut changes = Changes::new();
            changes.write(path("pkg/base.py"), File::plain(text.as_bytes()));
            changes.write(path("new/file.py"), File::plain(*b""));
            changes
        };
        let candidates = [
            "def make(x):\n    return 'full.'\n",
            "def make(x):\n    return 'empty'\n",
            "def make(x):\n    while True: pass\n",
            "import os; os._exit(0)\n",
            "def make(x) return\n",
            "def make(x):\n    return 'full' if x else 'empty'\n",
            "def make(x):\n    return 'never reached'\n",
        ]
        .map(candidate);
        let [top, base] = ids(&runner).map(str::to_owned);
        let files = [path("tests/test_top.py"), path("tests/test_base.py")];
        let tests = [top, base.clone()];
        let each = Duration::from_secs(5);
        let asked = Asked { tests: &tests, ..Asked::default() };
        let program = runner.screen_program(&candidates, &asked, &files, each);
        let trials = runner.read_screen(&measure(&runner, root, &program));
        let passed: Vec<_> = trials.iter().map(|trial| trial.passed.len()).collect();
        assert_eq!(passed, [0, 1, 0, 0, 0, 2]);
        assert_eq!(trials[1].passed, BTreeSet::from([base]));
        // Where none of the first passes, the others are not asked.
        for (first, expect) in [(0, [0, 0, 0, 0, 0, 2]), (1, [0, 1, 0, 0, 0, 2])] {
            let asked = Asked { first: &tests[first..=first], ..asked.clone() };
            let program = runner.screen_program(&candidates, &asked, &files, each);
            let trials = runner.read_screen(&measure(&runner, root, &program));
            let passed: Vec<_> = trials.iter().map(|trial| trial.passed.len()).collect();
            assert_eq!(passed, expect);
        }
        let late: Vec<_> = trials.iter().map(|trial| trial.timed_out).collect();
        assert_eq!(late, [false, false, true, false, false, false]);
        assert!(!root.join("new/file.py").exists());
        assert_eq!(
            std::fs::read(root.join("pkg/base.py")).unwrap(),
            b"def make(x):\n    return 'wrong'\n"
        );
    }
}
