//! How soon the LSP server is there, how fast it answers on a large file, and in how much memory, beside
//! other servers.
//!
//! `cargo bench --bench lsp -- [NAME=PROGRAM,ARGUMENT…]…`, for instance `ruff=/path/to/ruff,server`. All take
//! turns in starting, so that they see the same machine. The large file has 10,000 lines.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench drives programs and tells"
)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const STARTS: usize = 15;
const FUNCTIONS: usize = 2_000;
const ACTIONS: usize = 500;
const EDITS: usize = 10_000;

fn main() {
    let given: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut servers = vec![("ssr-mcp", vec![env!("CARGO_BIN_EXE_ssr-mcp"), "lsp"])];
    servers.extend(given.iter().map(|peer| {
        let (name, command) = peer.split_once('=').expect("NAME=PROGRAM,ARGUMENT…");
        (name, command.split(',').collect())
    }));
    let place = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(place.path().join("m.py"), "def f(a):\n    return a + 1\n").expect("a file");
    std::fs::write(
        place.path().join("pyproject.toml"),
        "[project]\nname = \"m\"\nversion = \"1\"\n",
    )
    .expect("a file");
    starts(&servers, place.path());
    large_file(place.path());
}

fn starts(servers: &[(&str, Vec<&str>)], root: &Path) {
    println!("server          initialized ms (median, least)    resident MB, idle with one file");
    let mut times = vec![Vec::new(); servers.len()];
    for _ in 0..STARTS {
        for ((_, command), times) in servers.iter().zip(&mut times) {
            times.push(Server::start(command, root).1);
        }
    }
    for ((name, command), times) in servers.iter().zip(&mut times) {
        times.sort();
        let mut server = Server::start(command, root).0;
        server
            .open(&root.join("m.py"), &std::fs::read_to_string(root.join("m.py")).expect("a file"));
        server.actions(root, "m.py", 1);
        // What it begins by itself is done by then.
        std::thread::sleep(Duration::from_secs(2));
        println!(
            "{name:15} {:8.1} {:8.1} {:26.1}",
            millis(times[STARTS / 2]),
            millis(times[0]),
            server.resident()
        );
    }
}

fn large_file(root: &Path) {
    let mut text = String::new();
    for number in 0..FUNCTIONS {
        let function = format!(
            "def function_{number}(a, b):\n    if a > {number}:\n        return a + b\n    return b\n\n"
        );
        text.push_str(&function);
    }
    let lines = FUNCTIONS * 5;
    let mut server = Server::start(&[env!("CARGO_BIN_EXE_ssr-mcp"), "lsp"], root).0;
    let opened = Instant::now();
    server.open(&root.join("big.py"), &text);
    server.actions(root, "big.py", 1);
    println!("\n{lines} lines: first actions after opening {:.0} ms", millis(opened.elapsed()));
    let mut asked = Vec::new();
    for number in 0..ACTIONS {
        let line = number * 7919 % lines;
        server.change(root, "big.py", line);
        let start = Instant::now();
        server.actions(root, "big.py", line);
        asked.push(start.elapsed());
        // As fast as somebody types.
        std::thread::sleep(Duration::from_millis(20));
    }
    asked.sort();
    println!(
        "actions right after a keystroke: p50 {:.2} ms, p99 {:.2} ms, longest {:.2} ms",
        millis(asked[ACTIONS / 2]),
        millis(asked[ACTIONS * 99 / 100]),
        millis(asked[ACTIONS - 1])
    );
    server.settle(root);
    let before = server.resident();
    let start = Instant::now();
    for number in 0..EDITS {
        server.change(root, "big.py", number * 31 % lines);
    }
    server.settle(root);
    let each = millis(start.elapsed()) / EDITS as f64;
    // The last text is read by then.
    std::thread::sleep(Duration::from_secs(1));
    println!(
        "{EDITS} edits: {each:.3} ms each, resident {before:.1} MB before and {:.1} MB after",
        server.resident()
    );
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: i64,
    version: i64,
}

impl Server {
    /// From the start of the process to the answer of `initialize`.
    fn start(command: &[&str], root: &Path) -> (Self, Duration) {
        let start = Instant::now();
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .current_dir(root)
            .env("SSR_MCP_STATE_DIR", std::env::temp_dir().join("ssr-mcp-bench-lsp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut server = Self { child, input, output, next: 0, version: 0 };
        let uri = format!("file://{}", root.display());
        server.ask(
            "initialize",
            &json!({
                "processId": std::process::id(), "rootUri": uri,
                "workspaceFolders": [{ "uri": uri, "name": "w" }],
                "capabilities": { "textDocument": { "diagnostic": {}, "codeAction": {
                    "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } } } }
            }),
        );
        let time = start.elapsed();
        server.tell("initialized", &json!({}));
        (server, time)
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it reads");
        self.input.flush().expect("it reads");
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            if let (Some(id), true) = (message.get("id"), message.get("method").is_some()) {
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("it writes") > 0, "it ended");
            if let Some(value) = line.trim().strip_prefix("Content-Length: ") {
                length = value.parse().expect("a number");
            } else if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a whole message");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn open(&mut self, path: &Path, text: &str) {
        let uri = format!("file://{}", path.display());
        let document = json!({ "uri": uri, "languageId": "python", "version": 0, "text": text });
        self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// A character typed into a comment at the end of a line's line before.
    fn change(&mut self, root: &Path, file: &str, line: usize) {
        self.version += 1;
        let place = json!({ "line": line / 5 * 5 + 4, "character": 0 });
        let uri = format!("file://{}", root.join(file).display());
        let params = json!({
            "textDocument": { "uri": uri, "version": self.version },
            "contentChanges": [{ "range": { "start": place, "end": place }, "text": "#" }]
        });
        self.tell("textDocument/didChange", &params);
    }

    fn actions(&mut self, root: &Path, file: &str, line: usize) {
        let place = json!({ "line": line, "character": 0 });
        let uri = format!("file://{}", root.join(file).display());
        let params = json!({
            "textDocument": { "uri": uri }, "range": { "start": place, "end": place },
            "context": { "diagnostics": [] }
        });
        self.ask("textDocument/codeAction", &params);
    }

    /// Everything that was sent has been taken.
    fn settle(&mut self, root: &Path) {
        self.actions(root, "nothing.py", 0);
    }

    /// Resident memory, megabytes.
    fn resident(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("the process is there");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
        let kib: f64 = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
        kib / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
