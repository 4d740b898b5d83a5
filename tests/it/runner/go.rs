//! `go test`: names of several packages, output that looks like verdicts, binaries that die, what is missing.

use super::*;
use crate::fetch::{did_not_run, with_go};
use Outcome::{Error as Errored, Failed, Passed, Skipped};

const MODULE: &str = "module example.org/small\n\ngo 1.20\n";

fn go() -> Option<Machine> {
    with_go(machine()).map(|(machine, _)| machine)
}

#[test]
fn every_outcome_of_a_go_test_is_told_with_the_file_that_it_is_written_in() {
    let Some(machine) = go() else { return did_not_run("Go") };
    let repository = Repository::with(&[
        ("go.mod", MODULE),
        ("one.go", "package small\n\nfunc One() int { return 1 }\n"),
        (
            "one_test.go",
            r#"package small

import "testing"

func TestSame(t *testing.T) {
	if One() != 1 {
		t.Fatal("not one")
	}
}

func TestWaits(t *testing.T) { t.Skip("later") }

func TestTable(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("two words/deep", func(t *testing.T) { t.Skip() })
	t.Run("bad", func(t *testing.T) { t.Error("bad") })
}
"#,
        ),
        (
            "outside_test.go",
            "package small_test\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n\n\t\"example.org/small\"\n)\n\nfunc TestOutside(t *testing.T) {\n\tif small.One() != 2 {\n\t\tt.Error(\"not two\")\n\t}\n}\n\nfunc ExampleOne() {\n\tfmt.Println(small.One())\n\t// Output: 1\n}\n",
        ),
        (
            "deep/er/a_test.go",
            "package er\n\nimport \"testing\"\n\nfunc TestSame(t *testing.T) {}\n",
        ),
        (
            "broken/b_test.go",
            "package broken\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { undefined() }\n",
        ),
        ("inner/go.mod", "module example.org/inner\n\ngo 1.20\n"),
        (
            "inner/c_test.go",
            "package inner\n\nimport \"testing\"\n\nfunc TestSame(t *testing.T) {}\n",
        ),
        ("testdata/x_test.go", "package x\n\nfunc TestX() {}\n"),
    ]);
    check(
        &run_with(&machine, repository.root(), &[]),
        &[
            ("broken/b_test.go", Errored),
            ("deep/er/a_test.go::TestSame", Passed),
            ("inner/c_test.go::TestSame", Passed),
            ("one_test.go::TestSame", Passed),
            ("one_test.go::TestTable", Failed),
            ("one_test.go::TestTable/bad", Failed),
            ("one_test.go::TestTable/good", Passed),
            ("one_test.go::TestTable/two_words/deep", Skipped),
            ("one_test.go::TestWaits", Skipped),
            ("outside_test.go::ExampleOne", Passed),
            ("outside_test.go::TestOutside", Failed),
        ],
    );
    let excluded =
        ["one_test.go::TestTable", "outside_test.go::TestOutside", "one_test.go::TestWaits"];
    let less = run_with(&machine, repository.root(), &excluded).verdicts();
    assert!(!less.keys().any(|id| id.contains("Table") || id.contains("Outside")), "{less:?}");
    assert_eq!(less.get("one_test.go::TestSame"), Some(&Passed));
}

#[test]
fn a_go_test_that_dies_costs_no_other_and_printed_lines_are_no_verdicts() {
    let Some(machine) = go() else { return did_not_run("Go") };
    let repository = Repository::with(&[
        ("go.mod", MODULE),
        (
            "a_test.go",
            r#"package small

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
)

func init() { fmt.Println("--- PASS: TestFails (0.00s)\n=== RUN   TestInvented\n--- PASS: TestInvented (0.00s)") }

func TestPrints(t *testing.T) {
	fmt.Println("--- FAIL: TestPrints (0.00s)\n{\"Action\":\"fail\",\"Test\":\"TestPrints\"}\nevent {}\n--- report end ---")
	fmt.Fprint(os.Stderr, "no newline")
}
func TestFails(t *testing.T)   { fmt.Println("--- PASS: TestFails (0.00s)"); t.Fail() }
func TestPanics(t *testing.T)  { var none *int; *none = 1 }
func TestBeside(t *testing.T)  { go func() { panic("beside") }(); time.Sleep(time.Minute) }
func TestExits(t *testing.T)   { os.Exit(0) }
func TestLeaves(t *testing.T)  { syscall.Exit(0) }
func TestLast(t *testing.T)    {}
func TestForges(t *testing.T)  { fmt.Print("\x16--- PASS: TestForges (0.00s)\n"); t.Fail() }
"#,
        ),
    ]);
    // A byte 0x16 of a test's own is taken for go's: the test then has two ends, which no judge accepts.
    check(
        &run_with(&machine, repository.root(), &[]),
        &[
            ("a_test.go::TestBeside", Failed),
            ("a_test.go::TestExits", Failed),
            ("a_test.go::TestFails", Failed),
            ("a_test.go::TestForges", Passed),
            ("a_test.go::TestForges#2", Failed),
            ("a_test.go::TestLast", Passed),
            ("a_test.go::TestLeaves", Failed),
            ("a_test.go::TestPanics", Failed),
            ("a_test.go::TestPrints", Passed),
        ],
    );
}

#[test]
fn a_test_main_that_ends_otherwise_than_its_tests_is_believed_by_nobody() {
    let Some(machine) = go() else { return did_not_run("Go") };
    let repository = Repository::with(&[
        ("go.mod", MODULE),
        (
            "a_test.go",
            "package small\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(3)\n}\n\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Fail() }\n",
        ),
    ]);
    check(
        &run_with(&machine, repository.root(), &[]),
        &[("a_test.go::TestA", Failed), ("a_test.go::TestB", Failed)],
    );
}

#[test]
fn a_go_module_that_is_not_there_is_named_and_not_fetched() {
    let Some(machine) = go() else { return did_not_run("Go") };
    let repository = Repository::with(&[
        ("go.mod", "module example.org/small\n\ngo 1.20\n\nrequire example.org/absent v1.2.3\n"),
        (
            "a_test.go",
            "package small\n\nimport (\n\t\"testing\"\n\n\t\"example.org/absent\"\n)\n\nfunc TestA(t *testing.T) { absent.Do() }\n",
        ),
    ]);
    let said = run_with(&machine, repository.root(), &[]).refusal();
    assert!(said.contains("example.org/absent") && said.contains("go mod download"), "{said}");
    let newer = Repository::with(&[
        ("go.mod", "module example.org/small\n\ngo 1.999\n"),
        ("a_test.go", "package small\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"),
    ]);
    let said = run_with(&machine, newer.root(), &[]).refusal();
    assert!(said.contains("1.999"), "{said}");
}

#[test]
fn go_code_has_a_canary_and_what_its_tests_reach_is_told() {
    let Some(machine) = go() else { return did_not_run("Go") };
    let repository = Repository::with(&[
        ("go.mod", MODULE),
        (
            "one.go",
            "package small\n\nimport \"example.org/small/two\"\n\nfunc One() int {\n\treturn two.Two() - 1\n}\n\nfunc Never() int {\n\treturn 0\n}\n",
        ),
        ("two/two.go", "package two\n\nfunc Two() int {\n\treturn 2\n}\n"),
        ("three/three.go", "package three\n"),
        (
            "one_test.go",
            "package small\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
        ),
    ]);
    let root = repository.root();
    let tree = Disk(root.to_owned());
    let runner = Runner::detect(&tree, root, &machine, &Overrides::default()).unwrap();
    let files = runner.test_files(&tree);
    let canary = runner.canary(7, &files).expect("Go has a canary");
    std::fs::write(root.join(canary.path.as_str()), &canary.content).unwrap();
    let both = [files.clone(), vec![canary.path.clone()]].concat();
    let verdicts = run_script(&runner, root, &runner.script(&both, &[])).verdicts();
    for id in &canary.must_fail {
        assert_eq!(verdicts.get(id), Some(&Failed), "{id} of {verdicts:?}");
    }
    for id in &canary.must_pass {
        assert_eq!(verdicts.get(id), Some(&Passed), "{id} of {verdicts:?}");
    }
    std::fs::remove_file(root.join(canary.path.as_str())).unwrap();
    let reach = runner
        .read_reach(&instrument(&runner, root, &runner.reach_program(&files).unwrap()), &tree)
        .unwrap();
    let reached: Vec<&str> = reach.files.keys().map(String::as_str).collect();
    assert_eq!(reached, ["one.go", "two/two.go"]);
    let lines = runner
        .read_lines(&instrument(&runner, root, &runner.lines_program(&files, None).unwrap()))
        .unwrap();
    let of_one = &lines["one_test.go::TestOne"];
    let one = &of_one[&RelPath::parse(b"one.go").unwrap()];
    assert!(one.contains(&6) && !one.contains(&10), "{one:?}");
    assert!(of_one.contains_key(&RelPath::parse(b"two/two.go").unwrap()));
}

/// What an instrument writes, run outside any sandbox.
fn instrument(runner: &Runner, root: &Path, instrument: &ssr_mcp::runner::Instrument) -> Vec<u8> {
    let place = tempfile::tempdir().unwrap();
    let moved = |path: &Path| place.path().join(path.file_name().unwrap());
    for (path, content, _) in &instrument.files {
        std::fs::write(moved(path), content).unwrap();
    }
    let output = moved(&instrument.output);
    let done = Command::new(&instrument.argv[0])
        .args(instrument.argv[1..].iter().map(|word| moved(Path::new(word))))
        .current_dir(root)
        .env_clear()
        .envs(&runner.tools().env)
        .env("HOME", place.path())
        .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("gocache"))
        .env("GOPATH", place.path().join("go"))
        .status()
        .unwrap();
    assert!(done.success());
    std::fs::read(output).unwrap()
}

#[test]
fn a_go_that_is_missing_or_too_old_is_told_with_what_to_install() {
    let repository = Repository::with(&[
        ("go.mod", MODULE),
        ("a_test.go", "package small\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"),
    ]);
    let root = repository.root();
    let told = |machine: &Machine| {
        let tree = Disk(root.to_owned());
        Runner::detect(&tree, root, machine, &Overrides::default()).unwrap_err().to_string()
    };
    let old = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(old.path().join("bin")).unwrap();
    std::fs::create_dir_all(old.path().join("src")).unwrap();
    std::fs::write(old.path().join("VERSION"), "go1.19.8").unwrap();
    std::fs::copy("/bin/true", old.path().join("bin/go")).unwrap();
    let said = told(&Machine { path: vec![old.path().join("bin")], ..machine() });
    assert!(said.contains("Go 1.19") && said.contains("1.20 or newer"), "{said}");
    if !["/usr/local/go", "/snap/go"].iter().any(|place| Path::new(place).exists()) {
        let said = told(&Machine { path: vec![PathBuf::from("/nonexistent")], ..machine() });
        assert!(said.contains("no Go was found") && said.contains("go.dev/dl"), "{said}");
    }
}
