//! How soon the MCP server answers, how fast, and in how much memory, beside servers of the official
//! Python and TypeScript SDKs with one trivial tool (`benches/peers/mcp_*`).
//!
//! `cargo bench --bench mcp_start -- PYTHON DIR`: an interpreter that has `mcp` installed, and a directory
//! whose `node_modules` has `@modelcontextprotocol/sdk`. The three take turns, so that they see the same
//! machine.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench drives programs and tells"
)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const STARTS: usize = 15;
const CALLS: usize = 2_000;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [python, dir] = &arguments[..] else {
        panic!("usage: cargo bench --bench mcp_start -- PYTHON DIR");
    };
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    // Node looks for packages beside the file.
    let script = Path::new(dir).join("mcp_typescript.mjs");
    std::fs::copy(peers.join("mcp_typescript.mjs"), &script).expect("DIR can be written to");
    let python_script = peers.join("mcp_python.py");
    let servers: [(&str, Vec<&str>); 3] = [
        ("ssr-mcp", vec![env!("CARGO_BIN_EXE_ssr-mcp"), "mcp"]),
        ("Python SDK", vec![python, python_script.to_str().expect("a path in UTF-8")]),
        ("TypeScript SDK", vec!["node", script.to_str().expect("a path in UTF-8")]),
    ];
    let mut starts = [const { Vec::new() }; 3];
    for _ in 0..STARTS {
        for ((_, command), starts) in servers.iter().zip(&mut starts) {
            starts.push(Server::new(command).1);
        }
    }
    let mut running: Vec<Server> =
        servers.iter().map(|(_, command)| Server::new(command).0).collect();
    let mut calls = [const { Vec::new() }; 3];
    for _ in 0..CALLS {
        for (server, calls) in running.iter_mut().zip(&mut calls) {
            let start = Instant::now();
            server.score();
            calls.push(start.elapsed());
        }
    }
    println!(
        "server           first answer ms       call p50 us     p99 us     resident MB (no file's)"
    );
    for (index, (name, _)) in servers.iter().enumerate() {
        let (starts, calls) = (&mut starts[index], &mut calls[index]);
        starts.sort();
        calls.sort();
        println!(
            "{name:15} {:8.1} (least {:.1}) {:12.0} {:12.0} {:12.1} ({:.1})",
            millis(starts[STARTS / 2]),
            millis(starts[0]),
            millis(calls[CALLS / 2]) * 1e3,
            millis(calls[CALLS * 99 / 100]) * 1e3,
            running[index].megabytes("VmRSS:"),
            running[index].megabytes("RssAnon:"),
        );
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// A server, and how long it took from its start to the answer to its first call.
    fn new(command: &[&str]) -> (Self, Duration) {
        let start = Instant::now();
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let input = child.stdin.take();
        let mut server = Self { child, input, output };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                            "clientInfo": { "name": "bench", "version": "0" } });
        server.ask(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server.score();
        (server, start.elapsed())
    }

    fn score(&mut self) {
        let call = json!({ "name": "score_reward", "arguments": { "solved": 2 } });
        let answer =
            self.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }));
        assert_eq!(answer["result"]["structuredContent"]["solve_rate"], 0.25, "{answer}");
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("a message")
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.as_mut().expect("a pipe").write_all(line.as_bytes()).expect("the server reads");
    }

    /// What the kernel says: `VmRSS` counts pages of files, which processes share and the kernel can drop,
    /// `RssAnon` those that are the process's own.
    fn megabytes(&self, what: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix(what)).expect("a line");
        line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().expect("the server ends");
    }
}
