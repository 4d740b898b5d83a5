//! Bytes in pieces of every size, to frames and to a protocol.

use super::{Content, Frame, Frames, Framing, Protocol, Unreadable, protocol};
use serde_json::json;

const LIMIT: usize = 40;

/// One line a frame. The same for every size of pieces that the input may come in.
#[track_caller]
fn check(input: &[u8], expect: &[&str]) {
    for size in [input.len().max(1), 1, 2, 3, 7] {
        let mut frames = Frames::new(LIMIT);
        let mut seen = Vec::new();
        for piece in input.chunks(size) {
            frames.push(piece);
            while let Some(frame) = frames.pop() {
                seen.push(shown(&frame));
            }
        }
        seen.extend(frames.end().iter().map(shown));
        assert_eq!(seen, expect, "in pieces of {size}");
    }
}

fn shown(frame: &Frame) -> String {
    let how = match frame.framing {
        Framing::Line => "line",
        Framing::Header => "header",
    };
    match &frame.content {
        Content::Message(bytes) => format!("{how} {}", String::from_utf8_lossy(bytes)),
        Content::Unreadable(Unreadable::TooLong { bytes, id }) => {
            let id = id.as_ref().map(ToString::to_string);
            format!("{how} too long: {bytes}, id {}", id.unwrap_or_else(|| "none".to_owned()))
        }
        Content::Unreadable(Unreadable::Header(why)) => format!("{how} {why}"),
    }
}

#[test]
fn a_line_is_a_message_and_the_last_may_lack_its_end() {
    check(b"{\"a\":1}\n[2]\n{}", &["line {\"a\":1}", "line [2]", "line {}"]);
    check(b"", &[]);
    check(b" \r\n\t\n", &[]);
}

#[test]
fn a_mark_of_byte_order_and_blank_space_are_skipped() {
    check(b"\xef\xbb\xbf{}\n", &["line {}"]);
    check(b"\r\n \n\xef\xbb\xbf\n {}\r\n", &["line {}\r"]);
    check(b"\xef\xbb\xbfContent-Length: 2\r\n\r\n{}", &["header {}"]);
}

#[test]
fn a_body_follows_a_header_block() {
    check(b"Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", &["header {}", "header [1]"]);
    check(b"content-length:2\n\n{}", &["header {}"]);
    check(b"CONTENT-TYPE: x; charset=utf-8\r\nContent-Length : 2 \r\n\r\n{}\r\n", &["header {}"]);
    check(b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", &["header {}"]);
    check(b"Content-Length: 9\r\n\r\n{}", &[]);
}

#[test]
fn each_message_may_be_delimited_in_its_own_way() {
    check(
        b"{}\nContent-Length: 2\r\n\r\n[]{\"a\":1}\n",
        &["line {}", "header []", "line {\"a\":1}"],
    );
}

#[test]
fn what_is_neither_is_handed_on_as_a_line() {
    check(b"hello\n{}\n", &["line hello", "line {}"]);
    check(b"hello: world\n\n{}\n", &["line hello: world", "line {}"]);
    check(b"bye", &["line bye"]);
}

#[test]
fn a_block_without_a_length_is_said_to_be_one() {
    check(
        b"Content-Type: x\r\n\r\n{}\n",
        &["header a header block has no Content-Length", "line {}"],
    );
    for bad in ["-1", "two", "", "0x2", "99999999999999999999999"] {
        let input = format!("Content-Length: {bad}\r\n\r\n{{}}\n");
        check(input.as_bytes(), &["header Content-Length is no number", "line {}"]);
    }
    let two = b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}\n";
    check(two, &["header a header block has two Content-Lengths that differ", "line {}"]);
}

#[test]
fn a_block_that_does_not_end_is_skipped_to_its_end() {
    let long = format!("Content-Type: {}\r\n", "x".repeat(100)).repeat(100);
    let input = format!("{long}Content-Length: 2\r\n\r\n{{}}\n");
    check(input.as_bytes(), &["header a header block is longer than 8 KiB", "line {}"]);
}

#[test]
fn what_is_too_long_is_skipped_and_its_id_is_kept() {
    let filler = "x".repeat(9000);
    let after = r#"{"id":2}"#;
    for (message, id) in [
        (format!(r#"{{"id":7,"params":{{"id":8,"a":"{filler}"}}}}"#), "7"),
        (format!(r#"{{"params":{{"id":8,"a":["{filler}"]}},"id": "a\"b" }}"#), r#""a\"b""#),
        (format!(r#"{{"id":{{"no":1}},"a":"{filler}\",\"id\":1"}}"#), "none"),
    ] {
        let size = message.len();
        let expect = [format!("line too long: {size}, id {id}"), format!("line {after}")];
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        check(format!("{message}\n{after}\n").as_bytes(), &expect);
        let expect = [format!("header too long: {size}, id {id}"), format!("line {after}")];
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        check(format!("Content-Length: {size}\r\n\r\n{message}{after}\n").as_bytes(), &expect);
    }
    check(filler.as_bytes(), &["line too long: 9000, id none"]);
}

#[test]
fn mangled_streams_are_read_to_their_end() {
    let seeds: [&[u8]; 2] = [
        b"{\"id\":1}\nContent-Length: 8\r\n\r\n{\"id\":2}",
        b"\xef\xbb\xbfContent-Type: x\r\nContent-Length: 4\r\n\r\nnull\n",
    ];
    let words: [&[u8]; 4] = [b"Content-Length: ", b"\r\n\r\n", b"\xef\xbb\xbf", b"41"];
    crate::dice::mangled::check("frames", &seeds, &words, &|bytes| {
        let mut frames = Frames::new(LIMIT);
        for piece in bytes.chunks(5) {
            frames.push(piece);
            while frames.pop().is_some() {}
        }
        frames.end();
    });
}

#[track_caller]
fn check_protocol(message: &serde_json::Value, expect: Protocol) {
    for framing in [Framing::Line, Framing::Header] {
        let content = Content::Message(message.to_string().into_bytes());
        assert_eq!(protocol(&Frame { framing, content }), expect, "{message}");
    }
}

#[test]
fn the_first_message_tells_the_protocol() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    for message in [
        json!({ "id": 1, "method": "server/discover", "params": { "_meta": meta } }),
        json!({ "id": 1, "method": "initialize",
                "params": { "protocolVersion": "2024-11-05", "capabilities": {} } }),
        json!({ "id": 1, "method": "initialize", "params": { "_meta": meta, "capabilities": {} } }),
        json!({ "id": 1, "method": "initialize" }),
        json!({ "id": 1, "method": "tools/list" }),
        json!({ "id": 1, "method": "ping" }),
        json!([]),
        json!(null),
    ] {
        check_protocol(&message, Protocol::Mcp);
    }
    for message in [
        json!({ "id": 0, "method": "initialize", "params": { "processId": 1, "capabilities": {} } }),
        json!({ "id": 0, "method": "initialize", "params": { "processId": null, "rootUri": null } }),
        json!({ "id": 0, "method": "shutdown" }),
        json!({ "id": 0, "method": "textDocument/hover", "params": {} }),
        json!({ "method": "exit" }),
    ] {
        check_protocol(&message, Protocol::Lsp);
    }
}

#[test]
fn what_cannot_be_read_is_left_to_mcp() {
    let content = Content::Message(b"{\"method\":\"initialize\"".to_vec());
    assert_eq!(protocol(&Frame { framing: Framing::Header, content }), Protocol::Mcp);
    let content = Content::Unreadable(Unreadable::TooLong { bytes: 1, id: None });
    assert_eq!(protocol(&Frame { framing: Framing::Line, content }), Protocol::Mcp);
}
