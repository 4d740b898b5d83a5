//! What cannot be decoded, to the error that answers it.

use super::decode::{Decoded, decode};
use crate::wire::{Content, Unreadable};
use serde_json::{Value, json};

fn decoded(content: Content) -> Value {
    match decode(content) {
        Decoded::Message(message) => json!({ "message": serde_json::to_value(*message).unwrap() }),
        Decoded::Refused(error) => {
            let error = serde_json::to_value(error).unwrap();
            json!([error["id"], error["error"]["code"]])
        }
        Decoded::Ignored => json!("ignored"),
    }
}

#[track_caller]
fn check(text: &str, expect: &Value) {
    assert_eq!(&decoded(Content::Message(text.as_bytes().to_vec())), expect, "{text}");
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    for text in ["", "hello", "{", "{\"a\":1}}", "\u{0}", "{'a':1}"] {
        check(text, &json!([null, -32700]));
    }
    let latin1 = Content::Message(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xe9\"}".to_vec());
    assert_eq!(decoded(latin1), json!([null, -32700]));
    check(&"[".repeat(100_000), &json!([null, -32700]));
}

#[test]
fn what_is_no_message_is_an_invalid_request() {
    check("{\"id\":9}", &json!([9, -32600]));
    check("{\"id\":\"a\"}", &json!(["a", -32600]));
    check("{}", &json!([null, -32600]));
    check("null", &json!([null, -32600]));
    check("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", &json!([null, -32600]));
    check("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", &json!([1, -32600]));
    check("{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", &json!([null, -32600]));
    check("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", &json!([1, -32600]));
}

#[test]
fn a_known_method_with_unfit_parameters_is_told_so() {
    for (method, params) in [
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!({ "name": "solve", "arguments": [] })),
        ("tools/call", json!({})),
        ("initialize", json!({ "capabilities": {}, "processId": 1 })),
        ("resources/read", json!({ "uri": 1 })),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": params });
        check(&request.to_string(), &json!([3, -32602]));
    }
}

#[test]
fn a_notification_is_never_answered() {
    check("{\"jsonrpc\":\"2.0\",\"method\":5}", &json!("ignored"));
    check("{\"jsonrpc\":\"1.0\",\"method\":\"notifications/initialized\"}", &json!("ignored"));
}

#[test]
fn what_is_too_long_is_answered_by_its_id() {
    let unreadable = Unreadable::TooLong { bytes: 100_000_000, id: Some(json!("a")) };
    assert_eq!(decoded(Content::Unreadable(unreadable)), json!(["a", -32600]));
    let unreadable = Unreadable::Header("a header block has no Content-Length");
    assert_eq!(decoded(Content::Unreadable(unreadable)), json!([null, -32600]));
}

/// It is refused with an id that was sent or none, or is a message that is the same once it was sent on.
#[test]
fn a_mangled_message_is_refused_or_can_be_sent_on() {
    let seeds: [&[u8]; 5] = [
        br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"c","version":"1"}}}"#,
        br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"solve","arguments":{"seed":1},"_meta":{"progressToken":7}}}"#,
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}"#,
        br#"{"jsonrpc":"2.0","id":2,"result":{"action":"accept","content":{"agreed":true}}}"#,
        br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"no","data":[1]}}"#,
    ];
    let words: [&[u8]; 8] = [
        b"\"id\":null",
        b"1e99",
        b"{}",
        b"[]",
        b"\"resources/read\"",
        b"\"ping\"",
        b"\\ud800",
        b"\"params\":",
    ];
    crate::dice::mangled::check("mcp-message", &seeds, &words, &|input| match decode(
        Content::Message(input.to_vec()),
    ) {
        Decoded::Message(message) => {
            let sent = serde_json::to_value(&*message).expect("what was read can be written");
            let again = decoded(Content::Message(sent.to_string().into_bytes()));
            assert_eq!(again, json!({ "message": sent }));
        }
        Decoded::Refused(error) => {
            let error = serde_json::to_value(error).expect("an error can be written");
            assert!(matches!(error["id"], Value::Null | Value::Number(_) | Value::String(_)));
        }
        Decoded::Ignored => {}
    });
}
