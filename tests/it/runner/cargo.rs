//! `cargo test`: names of several binaries, output between status lines, binaries that die.

use super::*;
use crate::fetch::{did_not_run, semver};
use Outcome::{Error as Errored, Failed, Passed, Skipped};

const MANIFEST: &str = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LIB: &str = "pub fn one() -> u32 {\n    1\n}\n";

fn small(tests: &[(&str, &str)]) -> Repository {
    let mut files = vec![("Cargo.toml", MANIFEST), ("src/lib.rs", LIB)];
    files.extend_from_slice(tests);
    Repository::with(&files)
}

#[test]
fn one_name_in_two_binaries_is_two_tests_and_printed_lines_are_none() {
    let repository = small(&[
        (
            "tests/a.rs",
            r#"
mod common;
#[test] fn same() { assert_eq!(small::one(), common::ONE); }
#[test] fn prints() {
    use std::io::Write;
    println!("test invented ... ok");
    // A child's output and a descriptor's are not captured by the harness.
    std::process::Command::new("printf").arg("\ntest invented ... ok\n--- report end ---\nno newline").status().unwrap();
    std::fs::File::options().write(true).open("/dev/stdout").unwrap().write_all(b"glued").unwrap();
}
#[test] #[should_panic] fn panics() { panic!() }
#[test] #[ignore = "slow ... ok"] fn ignored() { panic!() }
mod inner { #[test] fn same() { panic!("test same ... ok") } }
"#,
        ),
        ("tests/common/mod.rs", "pub const ONE: u32 = 1;\n"),
        ("tests/b.rs", "#[test] fn same() { assert_eq!(small::one(), 2); }\n"),
        ("tests/c/main.rs", "#[test] fn same() {}\n"),
    ]);
    check(
        &run(repository.root()),
        &[
            ("tests/a.rs::ignored", Skipped),
            ("tests/a.rs::inner::same", Failed),
            ("tests/a.rs::panics", Passed),
            ("tests/a.rs::prints", Passed),
            ("tests/a.rs::same", Passed),
            ("tests/b.rs::same", Failed),
            ("tests/c/main.rs::same", Passed),
        ],
    );
    let less = run_less(repository.root(), &["tests/a.rs::same", "tests/b.rs::same"]).verdicts();
    assert_eq!(less.keys().filter(|id| id.ends_with("same")).count(), 2, "{less:?}");
}

#[test]
fn a_binary_that_dies_costs_only_the_test_that_kills_it() {
    let repository = small(&[(
        "tests/a.rs",
        "#[test] fn aborts() { std::process::abort() }\n#[test] fn exits() { std::process::exit(0) }\n#[test] fn works() {}\n#[test] fn fails() { panic!() }\n#[test] #[ignore] fn waits() {}\n",
    )]);
    check(
        &run(repository.root()),
        &[
            ("tests/a.rs::aborts", Failed),
            ("tests/a.rs::exits", Failed),
            ("tests/a.rs::fails", Failed),
            ("tests/a.rs::waits", Skipped),
            ("tests/a.rs::works", Passed),
        ],
    );
}

#[test]
fn a_test_file_that_does_not_compile_is_an_error_and_a_crate_that_does_not_is_no_report() {
    let repository = small(&[
        ("tests/a.rs", "#[test] fn a() { small::two(); }\n"),
        ("tests/b.rs", "#[test] fn b() {}\n"),
    ]);
    let root = repository.root();
    let ran = run(root);
    check(&ran, &[("tests/a.rs", Errored), ("tests/b.rs::b", Passed)]);
    assert!(String::from_utf8_lossy(&ran.log).contains("cannot find function `two`"));
    std::fs::write(root.join("src/lib.rs"), "pub fn one( {\n").unwrap();
    let ran = run(root);
    assert!(ran.refusal().contains("cargo built no test binary"), "{}", ran.refusal());
    assert!(String::from_utf8_lossy(&ran.log).contains("| error: "));
}

#[test]
fn a_workspace_and_explicit_targets_are_understood() {
    let manifest = |more: &str| {
        format!(
            "[package]\nname = \"inner\"\nversion = \"0.1.0\"\nedition = \"2021\"\nautotests = false\n{more}"
        )
    };
    let targets = "[[test]]\nname = \"odd\"\npath = \"checks/odd one.rs\"\n\n[[test]]\nname = \"own\"\npath = \"tests/own.rs\"\nharness = false\n\n[[test]]\nname = \"more\"\npath = \"tests/more.rs\"\nrequired-features = [\"more\"]\n\n[features]\nmore = []\n";
    let repository = Repository::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n"),
        ("crates/inner/Cargo.toml", &manifest(targets)),
        ("crates/inner/src/lib.rs", LIB),
        ("crates/inner/data.txt", "here"),
        (
            "crates/inner/checks/odd one.rs",
            "#[test] fn reads() { assert!(std::fs::read(\"data.txt\").is_ok()); assert!(std::env::var(\"CARGO_MANIFEST_DIR\").is_ok()); }\n",
        ),
        ("crates/inner/tests/own.rs", "fn main() {}\n"),
        ("crates/inner/tests/more.rs", "#[test] fn m() {}\n"),
        ("crates/inner/tests/unlisted.rs", "#[test] fn u() {}\n"),
    ]);
    check(&run(repository.root()), &[("crates/inner/checks/odd one.rs::reads", Passed)]);
}

#[test]
fn a_crate_with_unit_tests_only_is_told_so() {
    let repository = small(&[("src/inner.rs", "#[test] fn t() {}\n")]);
    let error = detect(repository.root()).unwrap_err();
    assert!(matches!(error, Error::UnitTestsOnly), "{error}");
}

#[test]
fn a_candidate_is_screened_by_the_script_itself() {
    use ssr_mcp::tree::Changes;
    let repository = small(&[(
        "tests/a.rs",
        "#[test] fn a() { assert_eq!(small::one(), 2); }\n#[test] fn b() { panic!() }\n",
    )]);
    let root = repository.root();
    let runner = detect(root).unwrap();
    let path = |name: &str| RelPath::parse(name.as_bytes()).unwrap();
    let candidate = |value: &str| {
        let text = LIB.replace('1', value);
        Changes::from_iter([(path("src/lib.rs"), Some(File::plain(text.into_bytes())))])
    };
    let candidates = ["3", "oops", "2", "4"].map(candidate);
    let tests = ["tests/a.rs::a".to_owned()];
    let program = runner.screen_program(
        &candidates,
        &ssr_mcp::runner::Asked { tests: &tests, ..ssr_mcp::runner::Asked::default() },
        &[path("tests/a.rs")],
        std::time::Duration::from_mins(2),
    );
    let trials = runner.read_screen(&super::instrument::measure(&runner, root, &program));
    let passed: Vec<_> = trials.iter().map(|trial| trial.passed.len()).collect();
    assert_eq!(passed, [0, 0, 1]);
    assert_eq!(std::fs::read_to_string(root.join("src/lib.rs")).unwrap(), LIB);
}

#[test]
fn semver_has_its_34_tests_both_times() {
    let Some(place) = semver() else { return did_not_run("semver 1.0.28") };
    let repository = copy_of(&place);
    let root = repository.root();
    // Its dependencies take half a minute to build: they are kept between runs of this test.
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("semver");
    std::fs::create_dir_all(&built).unwrap();
    std::os::unix::fs::symlink(built, root.join("target")).unwrap();
    let (first, second) = (run(root).verdicts(), run(root).verdicts());
    assert_eq!(first.len(), 34);
    similar(&first, &second);
}
