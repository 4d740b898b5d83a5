//! Replies that went wrong on the way: read or refused on one line, never a panic, and one reply however it came.

use super::super::classify::{Answer, Asked, refusal};
use super::super::stream::{Stream, WithoutUsage};
use super::super::{Error, Key, Reply, wire};
use crate::dice::mangled;
use serde_json::Value;
use std::time::Duration;

const KEY: &str = "sk-0123456789abcdef";

const WORDS: [&[u8]; 24] = [
    b"\"choices\":[",
    b"\"message\":{",
    b"\"delta\":{",
    b"\"content\":null",
    b"\"content\":[{\"type\":\"text\",\"text\":\"a\"}]",
    b"\"tool_calls\":[{",
    b"\"function\":{\"name\":\"bash\",\"arguments\":{}}",
    b"\"index\":18446744073709551615",
    b"\"reasoning\":\"r\"",
    b"\"reasoning_content\":\"r\"",
    b"<think>",
    b"</think>",
    b"\"finish_reason\":\"content_filter\"",
    b"\"finish_reason\":\"length\"",
    b"\"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":1e99}",
    b"\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-0.5}]}",
    b"\"prompt_token_ids\":[1,2]",
    b"\"error\":{\"message\":\"m\",\"code\":429}",
    b"\"error\":\"sk-0123456789abcdef\"",
    b"data: ",
    b"data: [DONE]\n\n",
    b"\r\n",
    b"\n\n",
    b"\xff",
];

fn asked(key: &Key) -> Asked<'_> {
    Asked {
        url: "http://x/v1/chat/completions",
        model: "small",
        key: Some(key),
        key_variable: "KEY",
        doubled_version: false,
    }
}

/// What comes of a body of status 200, which is a reply that can be kept and read again, or an error on one line that
/// does not tell the key.
#[track_caller]
fn check(value: &Value) {
    let key = Key::new(KEY, "KEY").expect("it is one");
    for offered in [false, true] {
        match wire::reply(value, &asked(&key), offered, Duration::ZERO) {
            Ok(reply) => kept(&reply),
            Err(Error::Empty { reply, .. }) => kept(&reply),
            Err(error) => told(&error),
        }
    }
}

#[track_caller]
fn kept(reply: &Reply) {
    let text = serde_json::to_string(&reply.message).expect("a message is JSON");
    let again = serde_json::from_str::<super::super::Message>(&text).expect("and can be read");
    assert_eq!(again, reply.message);
    serde_json::to_string(&reply.tokens).expect("and so are its tokens");
}

#[track_caller]
fn told(error: &Error) {
    let text = error.to_string();
    assert!(!text.contains('\n') && !text.contains(KEY), "{text:?}");
}

#[test]
fn a_mangled_reply_is_read_or_refused() {
    let seeds: [&[u8]; 4] = [
        br#"{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<think>a</think>b"},"finish_reason":"stop","logprobs":{"content":[{"token":"b","logprob":-0.1}]},"token_ids":[5]}],"usage":{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":2}},"prompt_token_ids":[1,2,3]}"#,
        br#"{"choices":[{"message":{"content":null,"reasoning_content":"r","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}}]},"finish_reason":"tool_calls"}]}"#,
        br#"{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}"#,
        br#"{"choices":[{"text":"a","finish_reason":"length"}],"timings":{}}"#,
    ];
    mangled::check("reply", &seeds, &WORDS, &|input| {
        let text = String::from_utf8_lossy(input);
        if let Ok(value) = serde_json::from_str(&text) {
            check(&value);
        }
        let key = Key::new(KEY, "KEY").expect("it is one");
        for (status, kind) in [(400, "application/json"), (404, "text/html"), (429, ""), (200, "x")]
        {
            let answer = Answer { status, kind, body: &text, retry_after: None };
            told(&refusal(&answer, &asked(&key), 1));
        }
    });
}

#[test]
fn a_mangled_stream_comes_to_one_reply_however_it_is_cut() {
    let seeds: [&[u8]; 3] = [
        b"data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
        b": ping\r\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"bash\",\"arguments\":\"{\"}}]}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\r\n\r\ndata: [DONE]\r\n\r\n",
        b"data: {\"error\":{\"message\":\"m\"}}\n\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"r\"},\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":0}]},\"token_ids\":[1]}]}\n\n",
    ];
    mangled::check("stream", &seeds, &WORDS, &|input| {
        let mut whole = Stream::default();
        whole.take(input);
        let whole = whole.finish();
        let mut pieces = Stream::default();
        for piece in input.chunks(7) {
            if pieces.take(piece) {
                break;
            }
        }
        assert_eq!(pieces.finish(), whole);
        if let Ok(value) = &whole {
            check(value);
        }
        // What is passed on to a client that did not ask for usage is some of the events, in their order.
        let mut without = WithoutUsage::default();
        let mut passed = without.take(input);
        passed.extend(without.rest());
        assert!(passed.len() <= input.len());
        let mut rest = input.iter();
        assert!(passed.iter().all(|byte| rest.any(|other| other == byte)));
    });
}
