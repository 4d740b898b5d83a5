//! What a reply holds, in whatever form it comes.

use super::*;

#[track_caller]
fn reply(say: Say) -> Reply {
    let server = Endpoint::saying([say]);
    ask_with(&client(provider(&server.url())), &[tool()], &Cancel::new()).unwrap()
}

fn of_message(message: Value) -> Say {
    let mut value = json!({ "choices": [{ "finish_reason": "stop" }] });
    value["choices"][0]["message"] = message;
    said(200, value)
}

#[test]
fn a_whole_reply_is_read() {
    let mut value = completion("hi");
    value["usage"]["prompt_tokens_details"] = json!({ "cached_tokens": 4 });
    let reply = reply(said(200, value));
    assert_eq!(reply.message.content, "hi");
    assert_eq!((reply.finish, reply.model.as_str()), (Finish::Stop, "scripted"));
    let usage = reply.usage.unwrap();
    assert_eq!(
        (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens),
        (12, 3, Some(4))
    );
    assert_eq!(reply.tokens, None);
}

#[test]
fn what_is_sent_is_what_was_asked() {
    let server = Endpoint::saying([said(200, completion("hi"))]);
    let client = client(with_key(&format!("{}/api/?utm_source=x", server.url()), "sk-01234567"));
    let sampling = Sampling { temperature: 0.7, top_p: Some(0.9), max_tokens: 5, seed: Some(3) };
    let thought = Reasoning { text: "hm".to_owned(), field: ReasoningField::ReasoningContent };
    let called = Message {
        reasoning: Some(thought),
        tool_calls: vec![ssr_mcp::model::ToolCall {
            id: "a".to_owned(),
            name: "note".to_owned(),
            arguments: "{not json".to_owned(),
        }],
        ..Message::new(ssr_mcp::model::Role::Assistant, "")
    };
    let messages = [Message::user("x"), called, Message::tool("a", "done")];
    let tools = [tool()];
    client
        .reply(&Request { messages: &messages, tools: &tools, sampling }, &Cancel::new())
        .unwrap();
    let seen = &server.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/api/v1/chat/completions"));
    assert_eq!(seen.header("authorization"), Some("Bearer sk-01234567"));
    let expected = json!({
        "model": "small",
        "messages": [
            { "role": "user", "content": "x" },
            { "role": "assistant", "reasoning_content": "hm", "content": "", "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "note", "arguments": "{not json" } },
            ] },
            { "role": "tool", "content": "done", "tool_call_id": "a" },
        ],
        "temperature": 0.7, "max_tokens": 5, "stream": false, "top_p": 0.9, "seed": 3,
        "tools": [{ "type": "function", "function": tool() }],
    });
    assert_eq!(seen.json(), expected);
}

#[track_caller]
fn check_reasoning(message: Value, content: &str, text: &str, field: ReasoningField) {
    let reply = reply(of_message(message));
    assert_eq!(reply.message.content, content);
    assert_eq!(reply.message.reasoning, Some(Reasoning { text: text.to_owned(), field }));
}

#[test]
fn reasoning_is_read_by_either_name_and_split_where_neither_came() {
    use ReasoningField::{Reasoning, ReasoningContent, Think};
    check_reasoning(json!({ "content": "a", "reasoning": "r" }), "a", "r", Reasoning);
    check_reasoning(
        json!({ "content": "a", "reasoning_content": "r" }),
        "a",
        "r",
        ReasoningContent,
    );
    let both = json!({ "content": "a", "reasoning_content": "", "reasoning": "r" });
    check_reasoning(both, "a", "r", Reasoning);
    check_reasoning(json!({ "content": "<think>\nr\n</think>\n\na" }), "a", "r", Think);
    check_reasoning(json!({ "content": "r\n</think>\na" }), "a", "r", Think);
    // With a name of its own, what stands in the content is content.
    let named = json!({ "content": "<think>x</think>a", "reasoning": "r" });
    check_reasoning(named, "<think>x</think>a", "r", Reasoning);
    // Code about such marks is no thought.
    for content in ["the mark `</think>` ends it", "a</think>\n", "+ s.split(\"</think>\")\n"] {
        let reply = reply(of_message(json!({ "content": content })));
        assert_eq!((reply.message.content.as_str(), reply.message.reasoning), (content, None));
    }
}

#[test]
fn reasoning_goes_back_by_the_name_that_it_came_by() {
    for (field, name) in [
        (ReasoningField::Reasoning, "/messages/0/reasoning"),
        (ReasoningField::ReasoningContent, "/messages/0/reasoning_content"),
    ] {
        let server = Endpoint::saying([said(200, completion("hi"))]);
        let reasoning = Some(Reasoning { text: "r".to_owned(), field });
        let message = Message { reasoning, ..Message::new(ssr_mcp::model::Role::Assistant, "a") };
        let request = Request { messages: &[message], tools: &[], sampling: SAMPLING };
        client(provider(&server.url())).reply(&request, &Cancel::new()).unwrap();
        assert_eq!(server.seen()[0].json().pointer(name), Some(&json!("r")));
    }
}

#[test]
fn calls_are_read_as_the_model_wrote_them() {
    let calls = json!([
        { "id": "a", "type": "function", "function": { "name": "note", "arguments": "{broken" } },
        { "function": { "name": "note", "arguments": { "text": 1 } } },
        { "id": "", "function": { "name": null } },
    ]);
    let reply = reply(of_message(json!({ "content": null, "tool_calls": calls })));
    let calls: Vec<_> = reply
        .message
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect();
    let expected =
        [("a", "note", "{broken"), ("call_1", "note", "{\"text\":1}"), ("call_2", "", "")];
    assert_eq!(calls, expected);
    let older = json!({ "content": null, "function_call": { "name": "f", "arguments": "{}" } });
    assert_eq!(self::reply(of_message(older)).message.tool_calls[0].name, "f");
}

#[test]
fn content_in_parts_and_a_refusal_are_content() {
    let parts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
    assert_eq!(reply(of_message(json!({ "content": parts }))).message.content, "ab");
    let refusal = json!({ "content": null, "refusal": "I will not" });
    assert_eq!(reply(of_message(refusal)).message.content, "I will not");
}

#[test]
fn a_stream_that_was_not_asked_for_is_read() {
    let events = [
        r#"{"model":"m","prompt_token_ids":[1,2],"choices":[{"index":0,"delta":{"role":"assistant","reasoning":"r1"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"he","reasoning":"r2"},"token_ids":[7],"logprobs":{"content":[{"logprob":-0.5}]}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"llo","tool_calls":[{"index":0,"id":"a","function":{"name":"note","arguments":"{\"te"}}]},"token_ids":[8],"logprobs":{"content":[{"logprob":-0.25}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"xt\":1}"}}]},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":2}}"#,
        "[DONE]",
    ];
    let reply = reply(Say::Events(events.map(str::to_owned).to_vec()));
    assert_eq!(reply.message.content, "hello");
    assert_eq!(reply.message.reasoning.unwrap().text, "r1r2");
    assert_eq!(reply.message.tool_calls[0].arguments, "{\"text\":1}");
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.usage.unwrap().completion_tokens, 2);
    let tokens = reply.tokens.unwrap();
    assert_eq!(tokens.prompt_ids, Some(vec![1, 2]));
    assert_eq!(tokens.completion_ids, Some(vec![7, 8]));
    assert_eq!(tokens.logprobs, Some(vec![-0.5, -0.25]));
}

#[test]
fn token_ids_are_read_in_each_server_s_form() {
    let logged = json!({ "content": [{ "id": 5, "logprob": -1.0 }, { "id": 6, "logprob": -2.0 }] });
    let forms = [
        json!({ "prompt_token_ids": [1], "choices": [{ "token_ids": [5, 6], "logprobs": logged }] }),
        json!({ "choices": [{ "prompt_token_ids": [1], "response_token_ids": [5, 6], "logprobs": logged }] }),
    ];
    for mut form in forms {
        form["choices"][0]["message"] = json!({ "content": "x" });
        let tokens = reply(said(200, form)).tokens.unwrap();
        assert_eq!(tokens.prompt_ids, Some(vec![1]));
        assert_eq!(tokens.completion_ids, Some(vec![5, 6]));
        assert_eq!(tokens.logprobs, Some(vec![-1.0, -2.0]));
    }
    // llama.cpp's: no ids of the prompt.
    let form = json!({ "choices": [{ "message": { "content": "x" }, "logprobs": logged }] });
    let tokens = reply(said(200, form)).tokens.unwrap();
    assert_eq!((tokens.prompt_ids, tokens.completion_ids), (None, Some(vec![5, 6])));
}

#[test]
fn bytes_that_are_no_text_and_50_mb_are_borne() {
    let body = b"{\"choices\":[{\"message\":{\"content\":\"a\xff\xfeb\"}}]}".to_vec();
    let json = "content-type: application/json\r\n".to_owned();
    assert_eq!(reply(Say::Text(200, json, body)).message.content, "a\u{fffd}\u{fffd}b");
    let long = completion(&"x".repeat(40 << 20));
    assert_eq!(reply(said(200, long)).message.content.len(), 40 << 20);
    let (error, _) = failure(said(200, completion(&"x".repeat(51 << 20))));
    assert_eq!(error.kind(), "oversized");
}
