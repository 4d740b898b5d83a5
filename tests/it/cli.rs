//! The command line, as a user meets it: the real binary.

use crate::cases::{self, ARTIFACT, Home};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Output, Stdio};

/// Runs `ssr-mcp` with arguments as a shell would split them (no quotes), and a text on its input.
fn run(home: &Home, arguments: &str, input: &str) -> Output {
    let mut child = home
        .binary()
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may have closed it already.
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap_or_default();
    child.wait_with_output().unwrap()
}

fn home_with_artifact() -> Home {
    let home = Home::new();
    for (name, content) in ARTIFACT {
        home.write(&format!("bug/{name}"), content);
    }
    home
}

/// A case: `$ arguments` begins a command, lines `< ` are its input; what comes out follows.
fn played(home: &Home, case: &str) -> String {
    let mut now = String::new();
    let mut lines = case.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            writeln!(now, "{line}").unwrap();
        }
        let Some(arguments) = line.strip_prefix("$ ssr-mcp") else { continue };
        let mut input = String::new();
        writeln!(now, "{line}").unwrap();
        while let Some(text) = lines.next_if(|line| line.starts_with("< ")) {
            writeln!(now, "{text}").unwrap();
            writeln!(input, "{}", &text[2..]).unwrap();
        }
        let output = run(home, arguments, &input);
        for (mark, bytes) in [("out", &output.stdout), ("err", &output.stderr)] {
            for line in home.normalised(&String::from_utf8_lossy(bytes)).lines() {
                now.push_str(format!("{mark} | {line}").trim_end());
                now.push('\n');
            }
        }
        writeln!(now, "exit {}\n", output.status.code().unwrap_or(-1)).unwrap();
    }
    now
}

#[test]
fn every_case_of_the_command_line_says_what_it_said() {
    for case in cases::of("cli") {
        let home = home_with_artifact();
        home.write("half/bug_inject.diff", ARTIFACT[0].1);
        home.write("file.txt", "text\n");
        home.write("java/pom.xml", "<project/>\n");
        home.write("java/src/test/java/ATest.java", "class ATest {}\n");
        let text = std::fs::read_to_string(&case).unwrap();
        cases::settle(&case, &played(&home, &text));
    }
}

#[track_caller]
fn check_code(arguments: &str, code: i32) {
    let output = run(&home_with_artifact(), arguments, "");
    assert_eq!(output.status.code(), Some(code), "{arguments}: {output:?}");
}

#[test]
fn arguments_that_cannot_be_used_end_with_2() {
    check_code("nonsense", 2);
    check_code("play --rounds many", 2);
    check_code("play --rounds 0 .", 2);
    check_code("play --strategy clever", 2);
    check_code("check", 2);
    check_code("check ../nowhere", 2);
    check_code("check ../half", 2);
    check_code("check ../bug --timeout 0", 2);
    check_code("score", 2);
    check_code("score --solved 1 --invalid", 2);
    check_code("grade ../bug nowhere.diff", 2);
    check_code("status ../nowhere", 2);
    check_code("status ../bug/test_files.txt", 2);
    check_code("status --state-dir ./inside", 2);
}

/// Python's `pty` gives the command a terminal.
#[test]
fn without_a_command_a_terminal_gets_help_and_2_and_a_pipe_a_server() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_ssr-mcp");
    let script =
        format!("import os, pty; print(os.waitstatus_to_exitcode(pty.spawn([{program:?}])))");
    let mut python = std::process::Command::new("python3");
    python.args(["-c", &script]).env("HOME", home.root().join("home")).stdin(Stdio::null());
    let said = String::from_utf8(python.output().unwrap().stdout).unwrap();
    assert!(said.contains("Usage: ssr-mcp") && said.trim_end().ends_with('2'), "{said}");
    check_code("", 0);
}

#[test]
fn help_and_version_end_with_0_on_standard_output() {
    for arguments in ["--help", "--version", "play --help", "help score"] {
        let home = Home::new();
        let output = run(&home, arguments, "");
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{arguments}: {output:?}");
    }
}

#[track_caller]
fn check_last_line(arguments: &str, input: &str) {
    let output = run(&home_with_artifact(), arguments, input);
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(last).unwrap_or_default();
    assert!(json.is_object(), "{arguments}: the last line is {last:?}");
}

#[test]
fn with_json_the_last_line_of_standard_output_is_one_object() {
    check_last_line("score --solved 2 --json", "");
    check_last_line("--json score --solve-rate 7", "");
    check_last_line("parse ../bug --json", "a passed\n");
    check_last_line("parse ../half --json", "");
    check_last_line("doctor --json", "");
    check_last_line("status --json", "");
    check_last_line("status ../nowhere --json", "");
    check_last_line("play --json", "");
    check_last_line("check ../bug --json", "");
    check_last_line("solve ../bug --json", "");
    check_last_line("grade ../bug - --json", "");
}

#[test]
fn a_reader_that_is_gone_is_a_quiet_end() {
    let home = Home::new();
    let mut child = home
        .binary()
        .args(["score", "--solved", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn without_home_and_state_directory_the_sentence_names_home() {
    let home = Home::new();
    let output = home.binary().env_remove("HOME").arg("status").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("HOME is not set"), "{output:?}");
}

#[test]
fn a_grammar_of_the_user_that_is_wrong_is_named() {
    let home = Home::new();
    home.write("home/.config/ssr-mcp/grammars/zig/grammar.toml", "not toml at all");
    let output = run(&home, "doctor", "");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("zig/grammar.toml"), "{text}");
}

#[test]
fn a_part_that_is_a_link_is_refused() {
    let home = home_with_artifact();
    let part = home.root().join("bug/test_parser.py");
    std::fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &part).unwrap();
    let output = run(&home, "parse ../bug", "");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a regular file"), "{output:?}");
}

#[test]
fn nothing_is_written_to_the_repository() {
    let home = home_with_artifact();
    home.write("repo/a.py", "x = 1\n");
    home.write("repo/test_a.py", "import unittest\n");
    for arguments in ["status", "play", "inject", "check ../bug", "doctor"] {
        run(&home, arguments, "");
    }
    let mut names: Vec<_> = std::fs::read_dir(home.root().join("repo"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.py", "test_a.py"]);
}

#[test]
fn an_interrupt_ends_a_run_promptly_with_3() {
    let home = home_with_artifact();
    home.write("bug/test_parser.py", "import signal\nsignal.pause()\n");
    let mut child = home
        .binary()
        .args(["parse", "../bug", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "running the artifact's parser");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "ssr-mcp: cancelled");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "{\"error\":\"cancelled\",\"kind\":\"cancelled\"}\n"
    );
}

/// The last line of standard output as JSON.
#[track_caller]
fn answer(home: &Home, arguments: &str) -> serde_json::Value {
    let output = run(home, arguments, "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{arguments}: {error}: {output:?}"))
}

#[test]
fn a_bug_of_a_real_repository_goes_the_whole_way() {
    let home = Home::new();
    home.copy_example("ledger");
    let before = listing(&home);
    let injected = answer(&home, "inject --seed 1 --out ../bug --json");
    assert_eq!(injected["valid"], true, "{injected}");
    let id = injected["artifact"].as_str().unwrap();
    let checked = answer(&home, "check ../bug --json");
    assert_eq!(checked["artifact"], id);
    assert_eq!(checked["checks"].as_array().map(Vec::len), Some(9), "{checked}");
    let solved = answer(&home, &format!("solve {} --attempts 1 --seed 1 --json", &id[..10]));
    assert_eq!(solved["attempts"].as_array().map(Vec::len), Some(1), "{solved}");
    // The reverse of the bug is a repair; nothing is none.
    std::fs::write(home.root().join("none.diff"), "").unwrap();
    let graded = answer(&home, "grade ../bug ../none.diff --json");
    assert_eq!((&graded["solved"], &graded["code"]), (&false.into(), &"no_patch".into()));
    let bug = std::fs::read(home.root().join("bug/bug_inject.diff")).unwrap();
    let repair = ssr_mcp::diff::Patch::parse(&bug).unwrap().reversed().to_bytes();
    std::fs::write(home.root().join("repair.diff"), repair).unwrap();
    let graded = answer(&home, "grade ../bug ../repair.diff --json");
    assert_eq!((&graded["solved"], &graded["code"]), (&true.into(), &"solved".into()), "{graded}");
    assert_eq!(listing(&home), before, "the repository was written to");
}

/// Runs the tests and writes their `JUnit` report, as a command of the user's own.
const OWN_COMMAND: &str = r#"import unittest

lines = []


class Result(unittest.TestResult):
    def stopTest(self, test):
        bad = any(test is failed for failed, _ in self.failures + self.errors)
        scope, name = test.id().rsplit(".", 1)
        inner = "<failure/>" if bad else ""
        lines.append(f'<testcase classname="{scope}" name="{name}">{inner}</testcase>')


unittest.defaultTestLoader.discover(".").run(Result())
open("r.xml", "w").write("<testsuite>" + "".join(lines) + "</testsuite>")
"#;

#[test]
fn unnoticed_edits_are_not_looked_for_where_calls_cannot_be_recorded() {
    let home = Home::new();
    home.copy_example("ledger");
    home.write("repo/report.py", OWN_COMMAND);
    let output = home
        .binary()
        .args(["unnoticed", "--runs", "4", "--test-command", "python3 report.py"])
        .args(["--report", "r.xml"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (shown, said) = (output.stdout, output.stderr);
    let shown =
        format!("{}{}", String::from_utf8(shown).unwrap(), String::from_utf8(said).unwrap());
    assert!(shown.contains("that needs pytest, unittest, cargo-test"), "{shown}");
    assert!(!shown.contains("edits tried"), "{shown}");
}

#[test]
fn play_gives_one_object_and_one_csv_line_a_round() {
    let home = Home::new();
    home.copy_example("ledger");
    let arguments = "play --rounds 2 --attempts 1 --seed 5 --csv ../rounds.csv --json";
    let output = run(&home, arguments, "");
    let text = String::from_utf8(output.stdout).unwrap();
    let rounds: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rounds.len(), 2, "{text}");
    let keys: Vec<_> = rounds[0].as_object().unwrap().keys().take(10).cloned().collect();
    assert_eq!(
        keys.join(" "),
        "round artifact strategy valid failed_check audited inject_reward solve_rate solve_rewards \
         seconds"
    );
    assert_eq!((&rounds[0]["seed"], &rounds[1]["seed"]), (&5.into(), &6.into()));
    let csv = std::fs::read_to_string(home.root().join("rounds.csv")).unwrap();
    assert!(csv.starts_with("step,inject_r,solve_r,solve_rate,wrong_book_size,"), "{csv}");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let status = answer(&home, "status --json");
    assert_eq!(status["rounds"], 2, "{status}");
}

/// Paths and contents of the repository.
fn listing(home: &Home) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut dirs = vec![home.root().join("repo")];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                dirs.push(entry.path());
            } else {
                files.push((entry.path(), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    files.sort();
    files
}
