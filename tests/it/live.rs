//! What is shown while a long run lasts: on a terminal, and nowhere else.
#![allow(clippy::disallowed_methods, reason = "the binary is a process")]

use crate::bench::copy;
use crate::cases::Home;
use std::path::Path;

/// Runs a command with a terminal for standard error, and writes what it was told there.
const TERMINAL: &str = r"
import fcntl, os, pty, struct, subprocess, sys, termios
own, other = pty.openpty()
fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 120, 0, 0))
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=other)
os.close(other)
said = b''
while True:
    try:
        part = os.read(own, 65536)
    except OSError:
        break
    if not part:
        break
    said += part
sys.stdout.buffer.write(said)
sys.exit(child.wait())
";

const PLAY: &str = "play --seed 3 --strategy direct --attempts 1 --runs 2 --rounds 2 --json";

fn shop() -> Home {
    let home = Home::new();
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/well_tested");
    copy(&tree, &home.root().join("repo"));
    home
}

#[test]
fn a_terminal_is_told_how_a_run_stands_and_a_pipe_gets_lines() {
    let home = shop();
    let binary = home.binary();
    let mut command = std::process::Command::new("python3");
    command.args(["-c", TERMINAL]).arg(binary.get_program()).args(PLAY.split(' '));
    command.env_clear().current_dir(home.root().join("repo")).env("TERM", "xterm");
    for (name, value) in binary.get_envs() {
        command.env(name, value.unwrap());
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // After the first round, while the second one is played.
    for text in ["round 1/2  valid ", "  rewards ", "  left about ", "\u{1b}["] {
        assert!(said.contains(text), "{text:?} in {said:?}");
    }
    let output = home.binary().args(PLAY.split(' ')).arg("--new").output().unwrap();
    let lines = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(lines.contains("\nround 2 of 2\n"), "{lines}");
    for live in ["\u{1b}", "left about", "rewards "] {
        assert!(!lines.contains(live), "{live:?} in {lines}");
    }
}
