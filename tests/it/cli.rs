//! The command line, as a user meets it: the real binary.

use crate::cases::{self, ARTIFACT, Home};
use std::io::Write;
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
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
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
            now.push_str(&format!("{line}\n"));
        }
        let Some(arguments) = line.strip_prefix("$ ssr-mcp") else { continue };
        let mut input = String::new();
        now.push_str(&format!("{line}\n"));
        while let Some(text) = lines.next_if(|line| line.starts_with("< ")) {
            now.push_str(&format!("{text}\n"));
            input.push_str(&format!("{}\n", &text[2..]));
        }
        let output = run(home, arguments, &input);
        for (mark, bytes) in [("out", &output.stdout), ("err", &output.stderr)] {
            for line in home.normalised(&String::from_utf8_lossy(bytes)).lines() {
                now.push_str(format!("{mark} | {line}").trim_end());
                now.push('\n');
            }
        }
        now.push_str(&format!("exit {}\n\n", output.status.code().unwrap_or(-1)));
    }
    now
}

#[test]
fn every_case_of_the_command_line_says_what_it_said() {
    for case in cases::of("cli") {
        let home = home_with_artifact();
        home.write("half/bug_inject.diff", ARTIFACT[0].1);
        home.write("file.txt", "text\n");
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
    check_code("", 2);
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

#[test]
fn help_and_version_end_with_0_on_standard_output() {
    for arguments in ["--help", "--version", "play --help", "help score"] {
        let output = run(&Home::new(), arguments, "");
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
    check_last_line("play --json", "");
    check_last_line("check ../bug --json", "");
    check_last_line("solve ../bug --json", "");
    check_last_line("grade ../bug - --json", "");
}

#[test]
fn a_reader_that_is_gone_is_a_quiet_end() {
    let mut child = Home::new()
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
    let output = Home::new().binary().env_remove("HOME").arg("status").output().unwrap();
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
