//! The MCP face: hand-written messages to the real binary, and a client that others wrote.
#![allow(clippy::disallowed_methods, reason = "the client that others wrote is a process")]

use crate::cases::{self, ARTIFACT, Home};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long an answer is waited for; reached only when something hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server and the two ends of its pipe. Dropping it closes the pipe and wants a clean exit with
/// nothing left unread.
pub(crate) struct Client<'a> {
    /// Lives as long as the server runs in it.
    _home: &'a Home,
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<String>,
    killed: bool,
}

impl<'a> Client<'a> {
    pub(crate) fn new(home: &'a Home) -> Self {
        Self::with(home, &["--stdio"])
    }

    pub(crate) fn with(home: &'a Home, arguments: &[&str]) -> Self {
        let mut child = home
            .binary()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { _home: home, child, input, messages, killed: false }
    }

    /// A client that has shaken hands.
    pub(crate) fn ready(home: &'a Home) -> Self {
        let mut client = Self::new(home);
        client.call(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": { "name": "test", "version": "0" } }),
        );
        client
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    pub(crate) fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn receive(&self) -> Value {
        let line = self.messages.recv_timeout(PATIENCE).expect("the server says nothing");
        serde_json::from_str(&line).expect("standard output holds only messages")
    }

    /// Sends a request and gives its answer, skipping notifications.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.send(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string(),
        );
        loop {
            let message = self.receive();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    pub(crate) fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        self.call("tools/call", &json!({ "name": name, "arguments": arguments }))["result"].take()
    }
}

impl Client<'_> {
    /// Ends the server as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.killed = true;
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        if self.killed {
            self.child.wait().unwrap();
            return;
        }
        drop(self.input.take());
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    self.child.kill().unwrap();
                    break self.child.wait().unwrap();
                }
                None => std::thread::yield_now(),
            }
        };
        if std::thread::panicking() {
            return;
        }
        assert!(status.success(), "the server left with {status}");
        let unread: Vec<String> = self.messages.iter().collect();
        assert!(unread.is_empty(), "messages were left unread: {unread:?}");
    }
}

/// A case: lines `--> ` are sent; after each that has an id, or is no JSON, its answer follows.
fn played(home: &Home, case: &str) -> String {
    let mut client = Client::new(home);
    let mut now = String::new();
    for line in case.lines() {
        if line.starts_with('#') {
            writeln!(now, "{line}").unwrap();
        }
        let Some(message) = line.strip_prefix("--> ") else { continue };
        writeln!(now, "{line}").unwrap();
        client.send(message);
        let sent: Value = serde_json::from_str(message).unwrap_or_default();
        if sent.get("id").is_some() || sent.is_null() {
            let answer = serde_json::to_string_pretty(&client.receive()).unwrap();
            writeln!(now, "{}\n", home.normalised(&answer)).unwrap();
        }
    }
    now
}

#[test]
fn every_case_of_the_server_says_what_it_said() {
    for case in cases::of("mcp") {
        let home = Home::new();
        for (name, content) in ARTIFACT {
            home.write(&format!("bug/{name}"), content);
        }
        let text = std::fs::read_to_string(&case).unwrap();
        cases::settle(&case, &played(&home, &text));
    }
}

#[test]
fn every_schema_is_one_that_every_client_takes() {
    let home = Home::new();
    let listed = Client::ready(&home).call("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 25);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
        let (input, output) = (&tool["inputSchema"], &tool["outputSchema"]);
        assert_eq!(input["type"], "object", "{name}");
        assert_eq!(input["additionalProperties"], false, "{name}");
        assert_eq!(output["type"], "object", "{name}");
        for word in ["$ref", "$defs", "oneOf", "anyOf", "allOf", "format"] {
            let text = tool.to_string();
            assert!(!text.contains(&format!("\"{word}\":")), "{name} has {word}");
        }
        for (argument, schema) in input["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}: {argument} is not described");
            assert!(schema["type"].is_string(), "{name}: {argument} has no plain type");
        }
        assert_eq!(tool["annotations"]["destructiveHint"], name == "apply", "{name}");
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{name}");
    }
}

#[test]
fn both_halves_of_a_result_are_the_same_complete_answer() {
    let home = Home::new();
    let mut client = Client::ready(&home);
    let result = client.tool("score_reward", &json!({ "solved": 2 }));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_unknown_argument_is_ignored_with_a_note() {
    let home = Home::new();
    let result = Client::ready(&home)
        .tool("score_reward", &json!({ "solved": 2, "wait_for_previous": true }));
    assert_eq!(result["isError"], false, "{result}");
    let notes = result["structuredContent"]["notes"].to_string();
    assert!(notes.contains("wait_for_previous"), "{result}");
}

#[test]
fn what_the_harness_cannot_do_is_a_result_and_not_a_protocol_error() {
    let home = Home::new();
    let mut client = Client::ready(&home);
    for (tool, arguments) in [
        ("inject_bug", json!({ "wait_s": 50 })),
        ("inject_bug", json!({ "repo": "/nowhere", "wait_s": 50 })),
        ("check_artifact", json!({ "wait_s": 50 })),
        ("check_artifact", json!({ "artifact_files": { "bug_inject.diff": "x" }, "wait_s": 50 })),
        ("solve", json!({ "artifact_folder": "/nowhere", "wait_s": 50 })),
        ("workspace_status", json!({ "repo": "/nowhere" })),
        ("score_reward", json!({ "solved": "two" })),
    ] {
        let result = client.tool(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        // Nothing structured: it would not fit the tool's output schema.
        assert!(result.get("structuredContent").is_none(), "{tool}: {result}");
        let sentence = result["content"][0]["text"].as_str().unwrap();
        assert!(sentence.len() > 20 && !sentence.contains("panicked"), "{tool}: {sentence}");
    }
}

#[test]
fn an_artifact_s_parts_may_be_base64() {
    use base64::Engine as _;
    let home = Home::new();
    let mut files = endless();
    // Latin-1: no JSON text.
    let parser = b"# -*- coding: latin-1 -*-\nprint('{\"r\xe8gle\": \"passed\"}')\n";
    let encoded = base64::engine::general_purpose::STANDARD.encode(parser);
    files["test_parser.py"] = json!({ "base64": encoded });
    let mut client = Client::ready(&home);
    let result = client.tool("run_parser", &json!({ "artifact_files": files, "log": "" }));
    let outcomes = &result["structuredContent"]["outcomes"];
    assert_eq!(outcomes, &json!({ "r\u{e8}gle": "passed" }), "{result}");
    files["test_parser.py"] = json!(["no", "text"]);
    let result = client.tool("run_parser", &json!({ "artifact_files": files, "log": "" }));
    assert_eq!(result["isError"], true, "{result}");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("test_parser.py"), "{result}");
}

#[test]
fn how_the_tests_are_run_can_be_said() {
    let home = Home::new();
    home.copy_example("ledger");
    let mut client = Client::ready(&home);
    let mut problem = |arguments: Value| {
        let result = client.tool("workspace_status", &arguments);
        let told = &result["structuredContent"]["problem"];
        let text = &result["content"][0]["text"];
        told.as_str().or(text.as_str()).unwrap_or_default().to_owned()
    };
    assert!(problem(json!({ "framework": "nonsense" })).contains("is not known"));
    assert!(problem(json!({ "framework": "pytest" })).contains("pytest"));
    assert!(problem(json!({ "test_command": "make" })).contains("belong together"));
    assert!(problem(json!({ "timeout_seconds": 0 })).contains("more than 0"));
    assert!(problem(json!({ "timeout_seconds": 2.5 })).contains("\"problem\":null"));
}

#[test]
fn the_2026_era_is_served_without_a_handshake() {
    let home = Home::new();
    let mut client = Client::new(&home);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = client.call("server/discover", &json!({ "_meta": meta }));
    assert!(discovered["result"]["supportedVersions"].to_string().contains("2026-07-28"));
    let called = client.call(
        "tools/call",
        &json!({ "_meta": meta, "name": "score_reward", "arguments": { "solved": 2 } }),
    );
    assert_eq!(called["result"]["structuredContent"]["solve_rate"], 0.25, "{called}");
}

/// An artifact whose parser never ends.
fn endless() -> Value {
    let mut files: serde_json::Map<String, Value> =
        ARTIFACT.iter().map(|(name, content)| ((*name).to_owned(), json!(content))).collect();
    files.insert("test_parser.py".to_owned(), json!("import signal\nsignal.pause()\n"));
    Value::Object(files)
}

/// Sandboxes of a server that still run: children of the one process that it forks them from, which
/// itself stays.
pub(crate) fn sandboxes(server: u32) -> Vec<u32> {
    children(server).into_iter().flat_map(children).collect()
}

fn children(parent: u32) -> Vec<u32> {
    // A process may end while it is looked at.
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
        })
        .collect()
}

#[test]
fn a_call_tells_its_progress_and_ends_its_run_when_it_is_cancelled() {
    let home = Home::new();
    let mut client = Client::ready(&home);
    let call = json!({
        "jsonrpc": "2.0", "id": "endless", "method": "tools/call",
        "params": { "name": "run_parser", "_meta": { "progressToken": "p" },
                    "arguments": { "artifact_files": endless(), "log": "" } }
    });
    client.send(&call.to_string());
    let progress = client.receive();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["progressToken"], "p");
    let deadline = Instant::now() + PATIENCE;
    while sandboxes(client.child.id()).is_empty() {
        assert!(Instant::now() < deadline, "the parser was never started");
        std::thread::yield_now();
    }
    let cancel = json!({ "requestId": "endless", "reason": "enough" });
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel })
            .to_string(),
    );
    while !sandboxes(client.child.id()).is_empty() {
        assert!(Instant::now() < deadline, "the parser still runs");
        std::thread::yield_now();
    }
    assert_eq!(client.tool("score_reward", &json!({ "solved": 2 }))["isError"], false);
}

#[test]
fn a_client_that_leaves_takes_its_run_with_it() {
    let home = Home::new();
    let mut client = Client::ready(&home);
    client.send(
        &json!({
            "jsonrpc": "2.0", "id": "endless", "method": "tools/call",
            "params": { "name": "run_parser", "_meta": { "progressToken": "p" },
                        "arguments": { "artifact_files": endless(), "log": "" } }
        })
        .to_string(),
    );
    assert_eq!(client.receive()["method"], "notifications/progress");
}

/// The MCP Inspector's command line. `None` where it cannot be had; that is said, and nothing is
/// proven then.
fn inspector() -> Option<PathBuf> {
    static INSTALLED: OnceLock<Option<PathBuf>> = OnceLock::new();
    INSTALLED.get_or_init(install_inspector).clone()
}

fn install_inspector() -> Option<PathBuf> {
    let dir = crate::installed::npm("inspector", &["@modelcontextprotocol/inspector@2.12.0"])?;
    Some(dir.join("node_modules/.bin/mcp-inspector"))
}

/// Its exit code, its standard output, and both its streams.
fn run_inspector(program: &Path, home: &Home, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(program)
        .args(["--cli", env!("CARGO_BIN_EXE_ssr-mcp"), "--stdio", "--format", "json"])
        .args(arguments)
        .env("HOME", home.root().join("home"))
        .current_dir(home.root().join("repo"))
        .output()
        .unwrap();
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    let both = format!("{answer}{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), answer, both)
}

#[track_caller]
fn inspect(program: &Path, home: &Home, arguments: &[&str]) -> Value {
    let (code, answer, both) = run_inspector(program, home, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {both}");
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn mcp_inspector_lists_and_calls_the_tools_in_both_eras() {
    let Some(program) = inspector() else { return };
    let home = Home::new();
    for era in ["legacy", "modern"] {
        let strict = ["--protocol-era", era, "--method", "tools/list", "--strict"];
        let listed = inspect(&program, &home, &strict);
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(25), "{era}: {listed}");
        let call = ["--protocol-era", era, "--method", "tools/call", "--tool-name", "score_reward"];
        let arguments = ["--tool-arg", "solved=2", "attempts=8"];
        let called = inspect(&program, &home, &[&call[..], &arguments[..]].concat());
        assert_eq!(called["result"]["structuredContent"]["inject_reward"], 0.55, "{era}: {called}");
        // An error passes a client that validates, too; its own exit code says that it is one.
        let refused = [&call[..], &["--tool-arg", "solved=9"][..]].concat();
        let (code, _, text) = run_inspector(&program, &home, &refused);
        assert_ne!(code, Some(0), "{era}: {text}");
        assert!(text.contains("more than the 8 attempts"), "{era}: {text}");
    }
}

#[test]
fn mcp_inspector_has_a_bug_injected_into_a_real_repository() {
    let Some(program) = inspector() else { return };
    let home = Home::new();
    home.copy_example("ledger");
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "inject_bug",
        "--tool-arg",
        "seed=1",
        "wait_s=50",
    ];
    let called = inspect(&program, &home, &call);
    let answer = &called["result"]["structuredContent"]["result"];
    assert_eq!(answer["valid"], true, "{called}");
    assert_eq!(answer["report"]["sandbox"], "A", "{called}");
    let folder = Path::new(answer["out"].as_str().unwrap());
    assert!(folder.join("bug_inject.diff").is_file(), "{called}");
    let status = ["--method", "tools/call", "--tool-name", "workspace_status"];
    let status = inspect(&program, &home, &status);
    assert_eq!(status["result"]["structuredContent"]["artifacts"], 1, "{status}");
}
