//! The protocol layer on the wire: both framings, both eras, what breaks a stream, who leaves.
#![allow(
    clippy::format_push_string,
    clippy::format_collect,
    clippy::naive_bytecount,
    reason = "a request is put together line by line"
)]
#![allow(clippy::disallowed_methods, reason = "the server is a process")]

use crate::cases::Home;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long is waited for what comes at once; reached only when something hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// The server, its input whole: what it answers, its standard error, its exit code.
pub(crate) fn talk(home: &Home, arguments: &[&str], input: &[u8]) -> (String, String, Option<i32>) {
    let mut child = spawn(home, arguments);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The server may answer before it has read everything.
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn spawn(home: &Home, arguments: &[&str]) -> Child {
    home.binary()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Answers in lines, by id.
fn answers(home: &Home, messages: &[Value]) -> Vec<Value> {
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let (output, _, code) = talk(home, &["mcp"], input.as_bytes());
    assert_eq!(code, Some(0), "{output}");
    by_id(&output)
}

fn by_id(lines: &str) -> Vec<Value> {
    let mut answers: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_i64());
    answers
}

pub(crate) fn headed(message: &Value) -> String {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

pub(crate) fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn initialize(version: &str) -> Value {
    request(
        0,
        "initialize",
        &json!({ "protocolVersion": version, "capabilities": {},
                 "clientInfo": { "name": "test", "version": "0" } }),
    )
}

/// So many requests, each with an id of its own and an answer of some kilobytes.
fn lists(count: i64, padding: &str) -> String {
    let list = |id| request(id, "tools/list", &json!({ "_meta": { "padding": padding } }));
    (1..=count).map(|id| format!("{}\n", list(id))).collect()
}

/// The params of a request that says itself what it speaks.
pub(crate) fn modern(version: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

pub(crate) fn score() -> Value {
    json!({ "name": "score_reward", "arguments": { "solved": 2 } })
}

#[test]
fn every_revision_with_a_handshake_is_agreed_on_and_served() {
    let home = Home::new();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // There is no handshake of that revision, and no such revision.
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        // All at once: what follows the handshake waits for it.
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let got = answers(
            &home,
            &[
                initialize(asked),
                initialized,
                request(1, "tools/list", &json!({})),
                request(2, "tools/call", &score()),
                request(3, "ping", &json!({})),
            ],
        );
        assert_eq!(got[0]["result"]["protocolVersion"], agreed, "{asked}");
        assert!(got[1]["result"]["tools"].is_array(), "{asked}");
        assert_eq!(got[2]["result"]["structuredContent"]["solve_rate"], 0.25, "{asked}");
        assert_eq!(got[3]["result"], json!({}), "{asked}");
        // Words of the next era confuse clients that validate.
        for answer in &got {
            let text = answer.to_string();
            assert!(!text.contains("resultType") && !text.contains("ttlMs"), "{asked}: {text}");
        }
    }
}

#[test]
fn the_revision_without_a_handshake_is_served_in_its_own_words() {
    let home = Home::new();
    let now = "2026-07-28";
    let got = answers(
        &home,
        &[
            request(0, "server/discover", &modern(now, json!({}))),
            request(1, "tools/list", &modern(now, json!({}))),
            request(2, "tools/call", &modern(now, score())),
            request(3, "tools/list", &modern("2027-01-01", json!({}))),
            request(4, "tools/list", &json!({})),
            request(
                5,
                "tools/list",
                &json!({ "_meta": {
                "io.modelcontextprotocol/protocolVersion": now } }),
            ),
            request(6, "ping", &modern(now, json!({}))),
            request(7, "tools/call", &modern(now, json!({ "name": "nonsense" }))),
            request(8, "tools/call", &modern(now, json!({ "name": 5 }))),
            request(9, "nonsense", &modern(now, json!({}))),
        ],
    );
    let discovered = &got[0]["result"];
    assert_eq!(discovered["resultType"], "complete");
    assert!(discovered["supportedVersions"].as_array().unwrap().contains(&json!(now)));
    assert!(discovered["instructions"].is_string() && discovered["capabilities"].is_object());
    assert!(discovered["ttlMs"].is_u64() && discovered["cacheScope"].is_string(), "{discovered}");
    assert!(discovered["_meta"].to_string().contains("ssr-mcp"), "{discovered}");
    let listed = &got[1]["result"];
    assert_eq!(listed["resultType"], "complete");
    assert!(listed["ttlMs"].is_u64() && listed["cacheScope"].is_string(), "{listed}");
    assert_eq!(got[2]["result"]["resultType"], "complete");
    assert_eq!(got[2]["result"]["structuredContent"]["solve_rate"], 0.25);
    assert_eq!(got[3]["error"]["code"], -32022);
    assert!(got[3]["error"]["data"]["supported"].as_array().unwrap().contains(&json!(now)));
    let codes: Vec<&Value> = got[4..].iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes, [-32602, -32602, -32601, -32602, -32602, -32601]);
}

#[test]
fn both_eras_are_served_on_one_connection_in_any_order() {
    let home = Home::new();
    let now = "2026-07-28";
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                            "params": { "requestId": 99 } });
    let got = answers(
        &home,
        &[
            cancelled,
            request(1, "tools/call", &modern(now, score())),
            initialize("2025-06-18"),
            request(2, "tools/call", &score()),
            request(3, "tools/call", &modern(now, score())),
        ],
    );
    for (answer, era) in got[1..].iter().zip([true, false, true]) {
        assert_eq!(answer["result"]["structuredContent"]["solve_rate"], 0.25, "{answer}");
        assert_eq!(answer["result"].get("resultType").is_some(), era, "{answer}");
    }
}

#[test]
fn a_subscription_is_acknowledged_once_and_ends_with_its_client() {
    let home = Home::new();
    let mut server = Server::new(&home, &["mcp"]);
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    server.line(&request(1, "subscriptions/listen", &modern("2026-07-28", wanted)));
    let told = server.next();
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged", "{told}");
    // It lasts: the next answer is that of the next request.
    server.line(&request(2, "tools/call", &modern("2026-07-28", score())));
    assert_eq!(server.next()["id"], 2);
    let (status, rest) = server.leave();
    assert!(status.success());
    let end: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!((&end["id"], &end["result"]["resultType"]), (&json!(1), &json!("complete")));
}

#[test]
fn an_answer_is_framed_as_its_request_was() {
    let home = Home::new();
    let hello = initialize("2024-11-05");
    let text = hello.to_string();
    let bytes = text.len();
    for (input, in_headers) in [
        (format!("{hello}\n"), false),
        (format!("\u{feff}{hello}\r\n"), false),
        (format!(" \r\n\n{hello}"), false),
        (format!("Content-Length: {bytes}\r\n\r\n{text}"), true),
        (format!("\u{feff}content-length:{bytes}\n\n{text}"), true),
        (format!("Content-Type: x\r\nCONTENT-LENGTH: {bytes}\r\n\r\n{text}\r\n"), true),
    ] {
        for command in [&["--stdio"][..], &["mcp"], &[]] {
            let (output, _, code) = talk(&home, command, input.as_bytes());
            assert_eq!(code, Some(0), "{command:?} {input:?}");
            assert_eq!(output.starts_with("Content-Length: "), in_headers, "{input:?}: {output}");
            assert!(output.contains("\"protocolVersion\":\"2024-11-05\""), "{input:?}: {output}");
        }
    }
    // A client that tries the other framing when the first gets no answer in time.
    let (output, _, _) = talk(&home, &[], format!("{hello}\n{}", headed(&hello)).as_bytes());
    let (line, head) = output.split_once('\n').unwrap();
    assert!(line.starts_with('{') && head.starts_with("Content-Length: "), "{output}");
}

#[test]
fn a_message_may_come_in_pieces() {
    let home = Home::new();
    for input in
        [format!("\u{feff}{}\n", initialize("2025-06-18")), headed(&initialize("2025-06-18"))]
    {
        let mut server = Server::new(&home, &[]);
        for byte in input.as_bytes() {
            server.input.as_mut().unwrap().write_all(&[*byte]).unwrap();
        }
        let (status, rest) = server.leave();
        assert!(status.success() && rest.contains("\"2025-06-18\""), "{rest}");
    }
}

#[test]
fn what_cannot_be_read_is_answered_and_the_server_lives_on() {
    let home = Home::new();
    let ping = request(7, "ping", &json!({}));
    for (input, code) in [
        ("hello\n", -32700),
        ("{\"jsonrpc\":\n", -32700),
        ("[]\n", -32600),
        ("{\"id\":1}\n", -32600),
        ("Content-Length: 3\r\n\r\n{{{", -32700),
        ("Content-Length: many\r\n\r\n", -32600),
        ("Content-Type: x\r\n\r\n", -32600),
    ] {
        for command in ["mcp", "--stdio"] {
            let (output, _, exit) = talk(&home, &[command], format!("{input}{ping}\n").as_bytes());
            assert_eq!(exit, Some(0), "{input:?}");
            assert!(output.contains(&format!("\"code\":{code}")), "{input:?}: {output}");
            assert!(output.ends_with("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"), "{output}");
        }
    }
}

#[test]
fn a_message_of_100_mb_is_answered_by_its_id_and_not_kept() {
    let home = Home::new();
    let filler = "x".repeat(100_000_000);
    let ping = request(7, "ping", &json!({}));
    for headers in [false, true] {
        let mut server = Server::new(&home, &["mcp"]);
        server.line(&initialize("2025-06-18"));
        server.next();
        let call = json!({ "method": "tools/call", "jsonrpc": "2.0", "id": 5,
                           "params": { "name": "run_parser", "arguments": { "log": filler } } });
        if headers {
            server.input.as_mut().unwrap().write_all(headed(&call).as_bytes()).unwrap();
        } else {
            server.line(&call);
        }
        server.line(&ping);
        let refusal = if headers { server.next_headed() } else { server.next() };
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(5), &json!(-32600)));
        assert_eq!(server.next()["id"], 7);
        let peak = server.peak();
        assert!(peak < 64 << 20, "{peak} bytes were resident");
        assert!(server.leave().0.success());
    }
}

#[test]
fn a_client_that_never_reads_costs_little_and_ends_with_its_pipe() {
    let home = Home::new();
    let mut server = Server::new(&home, &["mcp"]);
    let mut input = server.input.take().unwrap();
    input.write_all(format!("{}\n", initialize("2025-06-18")).as_bytes()).unwrap();
    // More answers than pipe and backlog hold: the server stops to take requests.
    let list = lists(1_500, &"x".repeat(2_000));
    let id = server.child.id();
    let writer = std::thread::spawn(move || {
        // Fails when the server ends; the pipe is then closed.
        let all = input.write_all(list.as_bytes()).is_ok();
        (all, input)
    });
    // All its threads wait, and not all of its input is taken: it holds back.
    let waits = || {
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten();
        let mut stats =
            tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
        stats.all(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S')))
    };
    let deadline = Instant::now() + PATIENCE;
    let mut idle = 0;
    while idle < 100 && !writer.is_finished() {
        assert!(Instant::now() < deadline, "the server never waits");
        idle = if waits() { idle + 1 } else { 0 };
    }
    assert!(!writer.is_finished(), "everything was taken, and nothing of it was read");
    let peak = server.peak();
    assert!(peak < 128 << 20, "{peak} bytes were resident");
    let mut seen = 0;
    let mut output = server.output.take().unwrap();
    let mut piece = vec![0; 1 << 16];
    while seen < 1_501 {
        let length = output.read(&mut piece).unwrap();
        assert!(length > 0, "the server left after {seen} answers");
        seen += piece[..length].iter().filter(|byte| **byte == b'\n').count();
    }
    let (all, input) = writer.join().unwrap();
    assert!(all);
    drop(input);
    assert!(server.status().success());
}

#[test]
fn a_client_that_never_reads_and_leaves_ends_the_server() {
    let home = Home::new();
    let mut server = Server::new(&home, &["mcp"]);
    server.line(&initialize("2025-06-18"));
    // Fits into the pipe; its answers do not.
    let list = lists(500, "");
    server.input.as_mut().unwrap().write_all(list.as_bytes()).unwrap();
    drop(server.input.take());
    // Its output stays open, unread.
    assert!(server.status().success());
}

#[test]
fn a_client_that_is_gone_altogether_ends_the_server_without_a_word() {
    let home = Home::new();
    let mut server = Server::new(&home, &["mcp"]);
    server.line(&initialize("2025-06-18"));
    drop(server.output.take());
    // Nobody takes the answer: the server ends, though its input stays open.
    assert!(server.status().success());
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn two_servers_share_a_repository() {
    let home = Home::new();
    home.copy_example("ledger");
    let mut servers = [Server::new(&home, &["mcp"]), Server::new(&home, &["mcp"])];
    let call = json!({ "name": "workspace_status", "arguments": {} });
    for server in &mut servers {
        server.line(&request(1, "tools/call", &modern("2026-07-28", call.clone())));
    }
    for server in &mut servers {
        let answer = server.next();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    for server in servers {
        assert!(server.leave().0.success());
    }
}

#[test]
fn no_input_is_no_failure_and_nothing_is_said() {
    let home = Home::new();
    for command in [&["--stdio"][..], &["mcp"], &[]] {
        for input in ["", " \r\n", "\u{feff}"] {
            let said = talk(&home, command, input.as_bytes());
            assert_eq!(said, (String::new(), String::new(), Some(0)), "{command:?} {input:?}");
        }
    }
}

#[test]
fn what_editors_append_is_taken() {
    let home = Home::new();
    let ping = format!("{}\n", request(1, "ping", &json!({})));
    for command in [
        &["--stdio", "--stdio", "--clientProcessId=12", "--node-ipc"][..],
        &["--clientProcessId", "12"],
        &["mcp", "--stdio", "--clientProcessId=12", "--node-ipc", "--stdio"],
        &["--stdio", "mcp"],
    ] {
        let (output, said, code) = talk(&home, command, ping.as_bytes());
        assert_eq!((said.as_str(), code), ("", Some(0)), "{command:?}");
        assert!(output.contains("\"result\":{}"), "{command:?}: {output}");
    }
}

#[test]
fn an_editor_is_answered_in_its_own_protocol_unless_it_is_said_to_be_mcp() {
    let home = Home::new();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
                        "params": { "processId": null, "rootUri": null, "capabilities": {} } });
    let input = headed(&hello);
    for command in [&["--stdio"][..], &[]] {
        let (output, said, code) = talk(&home, command, input.as_bytes());
        // As the protocol wants it of who leaves without `shutdown`.
        assert_eq!((said.as_str(), code), ("", Some(1)));
        assert!(output.contains("codeActionProvider"), "{output}");
    }
    let (output, _, code) = talk(&home, &["mcp"], headed(&hello).as_bytes());
    assert!(output.contains("\"code\":-32602") && code == Some(0), "{output}");
}

#[test]
fn nothing_that_is_told_on_the_way_is_called_an_error() {
    let home = Home::new();
    home.copy_example("ledger");
    let call = json!({ "name": "workspace_status", "arguments": {} });
    let mut input = format!("junk\n{}\n", initialize("2025-06-18"));
    input += &format!("{}\n", request(1, "tools/call", &call));
    input += &format!("{}\n", request(2, "tools/call", &json!({ "name": "nonsense" })));
    let (_, said, _) = talk(&home, &["mcp", "-v"], input.as_bytes());
    assert!(!said.to_lowercase().contains("error"), "{said}");
}

/// A server whose ends are held one by one.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
}

impl Server {
    pub(crate) fn new(home: &Home, arguments: &[&str]) -> Self {
        let mut child = spawn(home, arguments);
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Self { child, input, output }
    }

    pub(crate) fn line(&mut self, message: &Value) {
        self.input.as_mut().unwrap().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next line of its output.
    pub(crate) fn next(&mut self) -> Value {
        let line = self.until(|seen| seen.ends_with(b"\n"));
        serde_json::from_slice(&line).unwrap()
    }

    fn next_headed(&mut self) -> Value {
        let head = String::from_utf8(self.until(|seen| seen.ends_with(b"\r\n\r\n"))).unwrap();
        let length: usize = head.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let body = self.until(|seen| seen.len() == length);
        serde_json::from_slice(&body).unwrap()
    }

    fn until(&mut self, end: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !end(&seen) {
            self.output.as_mut().unwrap().read_exact(&mut byte).unwrap();
            seen.extend_from_slice(&byte);
        }
        seen
    }

    /// Most bytes that were resident so far.
    pub(crate) fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// Closes its input, and reads what it still says.
    pub(crate) fn leave(mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.take().unwrap().read_to_string(&mut rest).unwrap();
        (self.status(), rest)
    }

    fn status(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status,
                None if Instant::now() > deadline => {
                    self.child.kill().unwrap();
                    panic!("the server does not end");
                }
                None => std::thread::yield_now(),
            }
        }
    }
}
