//! Batches of revision 2025-03-26, and their refusal in every other one.

use crate::cases::Home;
use crate::mcp_wire::{Server, headed, initialize, modern, request, score, talk};
use serde_json::{Value, json};

const REVISION: &str = "2025-03-26";

/// What follows the answer to `initialize`, one value a line.
fn said(home: &Home, revision: &str, batches: &[String]) -> Vec<Value> {
    let input = format!("{}\n{}\n", initialize(revision), batches.join("\n"));
    let (output, _, code) = talk(home, &["mcp"], input.as_bytes());
    assert_eq!(code, Some(0), "{output}");
    let mut lines = output.lines().map(|line| serde_json::from_str(line).unwrap());
    let hello: Value = lines.next().unwrap();
    assert_eq!(hello["result"]["protocolVersion"], revision);
    lines.collect()
}

/// The answers of a batch by id, those without one first.
fn sorted(batch: &Value) -> Vec<Value> {
    let mut answers = batch.as_array().expect("an array").clone();
    answers.sort_by_key(|answer| answer["id"].as_i64());
    answers
}

fn codes(answers: &[Value]) -> Vec<Option<i64>> {
    answers.iter().map(|answer| answer["error"]["code"].as_i64()).collect()
}

#[test]
fn a_batch_is_answered_by_one_array() {
    let home = Home::new();
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let batch = json!([
        told,
        request(1, "tools/call", &score()),
        request(2, "tools/call", &json!({ "name": "nonsense" })),
        request(3, "ping", &json!({})),
        request(4, "nonsense", &json!({})),
    ]);
    let said = said(&home, REVISION, &[batch.to_string()]);
    assert_eq!(said.len(), 1);
    let answers = sorted(&said[0]);
    assert_eq!(answers[0]["result"]["structuredContent"]["solve_rate"], 0.25);
    assert_eq!(answers[2]["result"], json!({}));
    assert_eq!(codes(&answers), [None, Some(-32602), None, Some(-32601)]);
}

#[test]
fn a_batch_in_a_body_with_headers_is_answered_so() {
    let home = Home::new();
    let batch = json!([request(1, "ping", &json!({})), request(2, "ping", &json!({}))]);
    let input = format!("{}{}", headed(&initialize(REVISION)), headed(&batch));
    let (output, _, _) = talk(&home, &["mcp"], input.as_bytes());
    let (_, last) = output.rsplit_once("\r\n\r\n").unwrap();
    assert_eq!(sorted(&serde_json::from_str(last).unwrap()).len(), 2, "{output}");
    assert_eq!(output.matches("Content-Length: ").count(), 2, "{output}");
}

#[test]
fn what_is_wrong_within_a_batch_is_answered_within_it() {
    let home = Home::new();
    let batch = json!([
        1,
        [request(9, "ping", &json!({}))],
        {},
        { "jsonrpc": "2.0", "method": "nonsense without an id" },
        initialize(REVISION),
        request(1, "ping", &json!({})),
        request(2, "tools/call", &json!({ "name": 5 })),
    ]);
    let said = said(&home, REVISION, &[batch.to_string()]);
    assert_eq!(said.len(), 1);
    let answers = sorted(&said[0]);
    let ids: Vec<Option<i64>> = answers.iter().map(|answer| answer["id"].as_i64()).collect();
    assert_eq!(ids, [None, None, None, Some(0), Some(1), Some(2)]);
    let invalid = Some(-32600);
    assert_eq!(codes(&answers), [invalid, invalid, invalid, invalid, None, Some(-32602)]);
}

#[test]
fn two_requests_of_one_id_are_one_answer_and_one_refusal() {
    let home = Home::new();
    let batch = json!([request(1, "tools/call", &score()), request(1, "tools/call", &score())]);
    let said = said(&home, REVISION, &[batch.to_string()]);
    let mut codes = codes(&sorted(&said[0]));
    codes.sort_unstable();
    assert_eq!(codes, [None, Some(-32600)]);
}

#[test]
fn what_is_no_batch_is_refused_by_one_answer_and_the_server_lives_on() {
    let home = Home::new();
    let ping = request(7, "ping", &json!({})).to_string();
    let many = Value::from(vec![request(1, "ping", &json!({})); 100_000]).to_string();
    let deep = "[".repeat(100_000);
    for (bad, code) in [
        ("[]", -32600),
        ("[1,2", -32700),
        ("[1] 2", -32700),
        (many.as_str(), -32600),
        (deep.as_str(), -32700),
    ] {
        let said = said(&home, REVISION, &[bad.to_owned(), ping.clone()]);
        assert_eq!(said.len(), 2);
        assert_eq!(said[0]["error"]["code"], code, "{}", &bad[..bad.len().min(20)]);
        assert_eq!(said[1]["id"], 7);
    }
}

#[test]
fn a_batch_without_requests_is_not_answered() {
    let home = Home::new();
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let result = json!({ "jsonrpc": "2.0", "id": 5, "result": {} });
    assert_eq!(said(&home, REVISION, &[json!([told, result]).to_string()]), [] as [Value; 0]);
}

#[test]
fn a_long_batch_is_answered_whole() {
    let home = Home::new();
    let requests: Vec<Value> = (1..=1_000).map(|id| request(id, "ping", &json!({}))).collect();
    let mut server = Server::new(&home, &["mcp"]);
    server.line(&initialize(REVISION));
    server.next();
    server.line(&Value::from(requests));
    let ids: Vec<i64> =
        sorted(&server.next()).iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
    assert!(ids.into_iter().eq(1..=1_000));
    assert!(server.leave().0.success());
}

#[test]
fn a_request_that_is_cancelled_holds_no_batch_up() {
    let home = Home::new();
    home.copy_example("ledger");
    let mut server = Server::new(&home, &["mcp"]);
    server.line(&initialize(REVISION));
    server.next();
    let inject = json!({ "name": "inject_bug", "arguments": { "wait_s": 50 } });
    server.line(&json!([request(1, "tools/call", &inject), request(2, "ping", &json!({}))]));
    server.line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                         "params": { "requestId": 1 } }));
    let answers = sorted(&server.next());
    assert_eq!((answers.len(), &answers[0]["id"]), (1, &json!(2)));
}

#[test]
fn no_other_revision_takes_a_batch() {
    let home = Home::new();
    let batch = json!([request(1, "ping", &json!({}))]).to_string();
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let said = said(&home, revision, std::slice::from_ref(&batch));
        assert_eq!((said.len(), &said[0]["error"]["code"]), (1, &json!(-32600)), "{revision}");
    }
    let modern = json!([request(1, "tools/call", &modern("2026-07-28", score()))]);
    let (output, _, _) = talk(&home, &["mcp"], format!("{modern}\n").as_bytes());
    assert!(output.contains("-32600"), "{output}");
}
