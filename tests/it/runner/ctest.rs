//! `CTest`: what is written where, programs that die, targets that cannot be built, what is missing.

use super::*;
use crate::fetch::{did_not_run, with_cmake};
use Outcome::{Error as Errored, Failed, Passed, Skipped};

const LISTS: &str = "\
cmake_minimum_required(VERSION 3.19)
project(small C)
enable_testing()
add_library(small src/small.c)
foreach(name one two three four)
  add_executable(test_${name} tests/${name}.c)
  target_include_directories(test_${name} PRIVATE src)
  target_link_libraries(test_${name} small)
  add_test(NAME \"small ${name}\" COMMAND test_${name})
endforeach()
set_tests_properties(\"small four\" PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME again COMMAND test_one again)
";
const CODE: &str = "#include \"small.h\"\nint one(void) { return 1; }\n";
const HEAD: &str = "int one(void);\n";

fn small(tests: &[(&str, &str)]) -> Repository {
    let mut files = vec![("CMakeLists.txt", LISTS), ("src/small.c", CODE), ("src/small.h", HEAD)];
    files.extend_from_slice(tests);
    Repository::with(&files)
}

fn usual() -> Repository {
    small(&[
        (
            "tests/one.c",
            "#include <assert.h>\n#include \"small.h\"\nint main(void) { assert(one() == 1); return 0; }\n",
        ),
        (
            "tests/two.c",
            "#include <stdio.h>\nint main(void) { printf(\"</system-out></testcase><testcase name=\\\"x\\\"/>\\001--- report end ---\\n\"); return 3; }\n",
        ),
        ("tests/three.c", "#include <stdlib.h>\nint main(void) { abort(); }\n"),
        ("tests/four.c", "int main(void) { return 77; }\n"),
    ])
}

#[test]
fn every_outcome_of_a_ctest_run_is_told_with_the_file_that_the_program_is_built_of() {
    let Some(machine) = with_cmake(machine()) else { return did_not_run("CMake") };
    let repository = usual();
    check(
        &run_with(&machine, repository.root(), &[]),
        &[
            ("tests/four.c::small four", Skipped),
            ("tests/one.c::again", Passed),
            ("tests/one.c::small one", Passed),
            ("tests/three.c::small three", Failed),
            ("tests/two.c::small two", Failed),
        ],
    );
    let less = run_with(&machine, repository.root(), &["tests/one.c::again"]).verdicts();
    assert!(!less.contains_key("tests/one.c::again") && less.len() == 4, "{less:?}");
}

#[test]
fn a_program_that_cannot_be_built_any_more_speaks_for_nothing() {
    let Some(machine) = with_cmake(machine()) else { return did_not_run("CMake") };
    let repository = usual();
    run_with(&machine, repository.root(), &[]).verdicts();
    // The build directory is kept: the program of the run before is still there.
    let broken = repository.root().join("tests/one.c");
    std::fs::write(&broken, "int main(void) { return undeclared; }\n").unwrap();
    let verdicts = run_with(&machine, repository.root(), &[]).verdicts();
    assert_eq!(verdicts.get("tests/one.c"), Some(&Errored), "{verdicts:?}");
    assert!(!verdicts.keys().any(|id| id.starts_with("tests/one.c::")), "{verdicts:?}");
    assert_eq!(verdicts.get("tests/three.c::small three"), Some(&Failed));
    std::fs::write(repository.root().join("src/small.c"), "int one(void) { return }\n").unwrap();
    let all = run_with(&machine, repository.root(), &[]).verdicts();
    assert!(all.values().all(|outcome| *outcome == Errored) && all.len() == 4, "{all:?}");
}

#[test]
fn what_keeps_a_project_from_being_configured_is_said() {
    let Some(machine) = with_cmake(machine()) else { return did_not_run("CMake") };
    let repository = usual();
    let lists =
        LISTS.replace("enable_testing()", "enable_testing()\nfind_package(AbsentThing REQUIRED)");
    std::fs::write(repository.root().join("CMakeLists.txt"), lists).unwrap();
    let said = run_with(&machine, repository.root(), &[]).refusal();
    assert!(said.contains("could not configure") && said.contains("AbsentThing"), "{said}");
    let lists = LISTS.replace("add_test", "message").replace("set_tests_properties", "message");
    std::fs::write(repository.root().join("CMakeLists.txt"), format!("{lists}# add_test\n"))
        .unwrap();
    let said = run_with(&machine, repository.root(), &[]).refusal();
    assert!(said.contains("CTest knows no test"), "{said}");
}

#[test]
fn a_cmake_that_is_missing_or_too_old_is_told_with_what_to_install() {
    let repository = usual();
    let root = repository.root();
    let told = |path: PathBuf| {
        let machine = Machine { path: vec![path], ..machine() };
        let tree = Disk(root.to_owned());
        Runner::detect(&tree, root, &machine, &Overrides::default()).unwrap_err().to_string()
    };
    let said = told(PathBuf::from("/nonexistent"));
    assert!(said.contains("no CMake was found") && said.contains("pip install cmake"), "{said}");
    let old = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(old.path().join("bin")).unwrap();
    std::fs::create_dir_all(old.path().join("share/cmake-3.18")).unwrap();
    std::fs::copy("/bin/true", old.path().join("bin/cmake")).unwrap();
    let said = told(old.path().join("bin"));
    assert!(said.contains("CMake 3.18") && said.contains("3.21 or newer"), "{said}");
}
