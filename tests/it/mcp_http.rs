//! The MCP face over HTTP, by hand-written requests: who is served, and who is not.
#![allow(clippy::format_push_string, reason = "a request is put together line by line")]
#![allow(clippy::disallowed_methods, reason = "the server is a process")]

use crate::cases::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn new(home: &Home, address: &str, token: Option<&str>) -> Self {
        Self::with(home, &[address], token)
    }

    fn with(home: &Home, arguments: &[&str], token: Option<&str>) -> Self {
        let mut command = home.binary();
        command.args(["mcp", "--http"]).args(arguments);
        if let Some(token) = token {
            command.env("SSR_MCP_HTTP_TOKEN", token);
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let (_, address) = line.trim().split_once("http://").expect(&line);
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        Self { child, address }
    }

    /// The status and what follows the headers.
    fn post(&self, headers: &[(&str, &str)], message: &Value) -> (u16, String) {
        let answer = self.exchange("POST", headers, &message.to_string());
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    /// The answer with its headers.
    fn exchange(&self, method: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut text = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\n");
        let host = [("Host", self.address.as_str())];
        let named = headers.iter().any(|(name, _)| *name == "Host");
        let all = host.iter().filter(|_| !named).chain(headers);
        for (name, value) in all {
            text += &format!("{name}: {value}\r\n");
        }
        text += "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
        text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let (_, port) = self.address.rsplit_once(':').unwrap();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

const MODERN: [(&str, &str); 3] = [
    ("MCP-Protocol-Version", "2026-07-28"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "score_reward"),
];

fn call() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "score_reward", "arguments": { "solved": 2 },
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                   "io.modelcontextprotocol/clientCapabilities": {} } } })
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" } } })
}

#[test]
fn both_eras_are_served_on_a_free_port() {
    let home = Home::new();
    let server = Server::new(&home, "127.0.0.1:0", None);
    assert!(!server.address.ends_with(":0"));
    let (status, answer) = server.post(&MODERN, &call());
    assert!(status == 200 && answer.contains("\"solve_rate\":0.25"), "{status} {answer}");
    let (status, answer) = server.post(&[], &initialize());
    assert!(status == 200 && answer.contains("\"2025-06-18\""), "{status} {answer}");
}

#[test]
fn a_page_in_a_browser_is_not_served() {
    let home = Home::new();
    let server = Server::new(&home, "127.0.0.1:0", None);
    let port = server.address.rsplit_once(':').unwrap().1;
    for (name, value, expect) in [
        ("Host", "evil.example".to_owned(), 403),
        ("Host", format!("evil.example:{port}"), 403),
        ("Host", "localhost.evil.example".to_owned(), 403),
        ("Host", format!("127.0.0.1@evil.example:{port}"), 403),
        ("Origin", "http://evil.example".to_owned(), 403),
        ("Origin", "null".to_owned(), 403),
        ("Origin", format!("http://127.0.0.1.evil.example:{port}"), 403),
        ("Host", format!("localhost:{port}"), 200),
        ("Host", format!("[::1]:{port}"), 200),
        ("Origin", "http://localhost:5173".to_owned(), 200),
        ("Origin", format!("http://127.0.0.1:{port}"), 200),
    ] {
        let headers = [&MODERN[..], &[(name, value.as_str())]].concat();
        let (status, answer) = server.post(&headers, &call());
        assert_eq!(status, expect, "{name}: {value}: {answer}");
    }
}

#[test]
fn what_other_machines_reach_is_served_with_a_token_only() {
    let home = Home::new();
    let refused = home.binary().args(["mcp", "--http", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("SSR_MCP_HTTP_TOKEN"));
    let token = "0123456789abcdef-token";
    for address in ["0.0.0.0:0", "127.0.0.1:0"] {
        let server = Server::new(&home, address, Some(token));
        for (given, expect) in [
            (None, 401),
            (Some("Bearer 0123456789abcdef-tokeN".to_owned()), 401),
            (Some("Bearer ".to_owned()), 401),
            (Some(format!("Basic {token}")), 401),
            (Some(format!("Bearer {token}")), 200),
            (Some(format!("bearer {token}")), 200),
        ] {
            let mut headers = MODERN.to_vec();
            headers.extend(given.iter().map(|given| ("Authorization", given.as_str())));
            let (status, answer) = server.post(&headers, &call());
            assert_eq!(status, expect, "{given:?}: {answer}");
            assert!(!answer.contains(token));
        }
    }
}

#[test]
fn a_token_that_cannot_be_used_is_refused_and_not_shown() {
    let home = Home::new();
    home.write("token", "short");
    let file = home.root().join("token");
    let mut command = home.binary();
    command.args(["mcp", "--http", "127.0.0.1:0", "--token-file"]).arg(file);
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("at least 16 characters") && !said.contains("short"), "{said}");
}

#[test]
fn what_cannot_be_read_is_refused_and_the_server_lives_on() {
    let home = Home::new();
    let server = Server::new(&home, "127.0.0.1:0", None);
    for junk in [json!([]), json!({}), json!("x"), json!({ "jsonrpc": "2.0", "id": 1 })] {
        let (status, answer) = server.post(&MODERN, &junk);
        assert!((400..500).contains(&status), "{junk}: {status} {answer}");
    }
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "x".repeat(17 << 20) });
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        server.address,
        long.to_string().len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server may close before it has read everything.
    let _sent = stream.write_all(long.to_string().as_bytes()).is_ok();
    assert_eq!(server.post(&MODERN, &call()).0, 200);
}

#[test]
fn a_name_is_served_where_it_was_allowed_and_no_other() {
    let home = Home::new();
    let allowed = ["127.0.0.1:0", "--allow-host", "Dev.example", "--allow-host", "b.example"];
    let server = Server::with(&home, &allowed, None);
    for (name, value, expect) in [
        ("Host", "dev.example", 200),
        ("Host", "DEV.example:8080", 200),
        ("Host", "b.example", 200),
        ("Host", "localhost", 200),
        ("Host", "c.example", 403),
        ("Host", "sub.dev.example", 403),
        ("Host", "dev.example.evil.example", 403),
        ("Origin", "https://dev.example", 200),
        ("Origin", "http://dev.example:5173", 200),
        ("Origin", "https://dev.example.evil.example", 403),
    ] {
        let headers = [&MODERN[..], &[(name, value)]].concat();
        let (status, answer) = server.post(&headers, &call());
        assert_eq!(status, expect, "{name}: {value}: {answer}");
    }
    for bad in ["", "http://a.example", "a.example:80", "*", "a.example/mcp"] {
        let mut command = home.binary();
        command.args(["mcp", "--http", "127.0.0.1:0", "--allow-host", bad]);
        assert_eq!(command.output().unwrap().status.code(), Some(2), "{bad:?}");
    }
}

#[test]
fn so_many_sessions_are_open_at_once_and_one_that_is_ended_makes_room() {
    let home = Home::new();
    let server = Server::new(&home, "127.0.0.1:0", None);
    let mut session = String::new();
    for count in 0..64 {
        let answer = server.exchange("POST", &[], &initialize().to_string());
        assert!(answer.starts_with("HTTP/1.1 200"), "{count}: {answer}");
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        session = id.expect("an id").trim().to_owned();
    }
    let (status, answer) = server.post(&[], &initialize());
    assert!(status == 503 && answer.contains("64 sessions are open"), "{status} {answer}");
    // What needs no session is served all the same, and so are those that are open.
    assert_eq!(server.post(&MODERN, &call()).0, 200);
    let open = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    assert_eq!(server.post(&open, &ping).0, 200);
    let ended = server.exchange("DELETE", &open, "");
    assert!(ended.starts_with("HTTP/1.1 20"), "{ended}");
    assert_eq!(server.post(&[], &initialize()).0, 200);
}
