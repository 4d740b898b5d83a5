//! What a server says instead of an answer.

use super::*;

#[track_caller]
fn check(say: Say, kind: &str, words: &[&str]) -> Error {
    let (error, text) = failure(say);
    assert_eq!(error.kind(), kind, "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
    error
}

#[test]
fn a_refused_key_is_described_and_not_told() {
    let invalid =
        json!({ "error": { "message": "Invalid API key: sk-0123456789abcdef-TAIL0123" } });
    let words = ["401", "TEST_API_KEY", "28 characters", "[key]", "of this host"];
    let error = check(said(401, invalid.clone()), "key", &words);
    assert!(error.needs_person());
    check(said(403, invalid), "key", &["403"]);
    // Only its beginning and end are repeated.
    let masked = json!({ "error": { "message": "Incorrect API key: sk-01234***TAIL0123" } });
    check(said(401, masked), "key", &["[key]***[key]"]);
}

#[test]
fn a_missing_key_names_its_variable() {
    let server = Endpoint::saying([said(401, json!({ "error": "no key" }))]);
    let base = BaseUrl::of(&server.url(), false).unwrap();
    let error = ask(&client(Provider::new("taotoken", Kind::TaoToken, base))).unwrap_err();
    assert_eq!(error.kind(), "no_key");
    assert!(error.to_string().contains("set TAOTOKEN_API_KEY"), "{error}");
}

#[test]
fn white_space_around_a_key_is_cut_and_said_and_within_it_is_refused() {
    let server = Endpoint::saying([said(401, json!({}))]);
    let error = ask(&client(with_key(&server.url(), " sk-0123456789abcdef\r\n"))).unwrap_err();
    assert!(error.to_string().contains("white space around it was cut off"), "{error}");
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer sk-0123456789abcdef"));
    for bad in ["", "sk-01 23", "\"sk-0123\"", "Bearer sk-0123", "sk-\u{201c}0123"] {
        let error = Key::new(bad, "X_API_KEY").unwrap_err().to_string();
        assert!(error.contains("X_API_KEY") && !error.contains("0123"), "{error}");
    }
}

#[test]
fn a_sign_in_that_ended_is_told_from_a_key() {
    let ended = [
        json!({ "error": "invalid_grant", "error_description": "Bad refresh" }),
        json!({ "error": { "message": "OAuth token expired" } }),
        json!({ "error": { "code": "token_expired", "message": "sign in again" } }),
        json!({ "message": "the access token is stale" }),
    ];
    for value in ended {
        let error = check(said(401, value), "oauth", &["API key", "signed in"]);
        assert!(error.needs_person());
    }
    check(said(400, json!({ "error": "invalid_grant" })), "oauth", &["invalid_grant"]);
}

#[test]
fn money_is_told_from_a_limit_of_requests() {
    let spent = json!({ "error": { "code": "insufficient_quota", "message": "You exceeded your current quota" } });
    assert!(check(said(429, spent), "money", &["account"]).needs_person());
    check(
        said(402, json!({ "detail": "Insufficient Balance" })),
        "money",
        &["402", "Insufficient Balance"],
    );
}

#[test]
fn a_doubled_version_is_named() {
    let server = Endpoint::saying([said(404, json!({ "detail": "Not Found" }))]);
    let base = BaseUrl::of(&format!("{}/v1/v1", server.url()), true).unwrap();
    let error = ask(&client(Provider { base, ..provider("http://localhost") })).unwrap_err();
    assert_eq!(server.seen()[0].path, "/v1/v1/chat/completions");
    assert_eq!(error.kind(), "not_found");
    assert!(error.to_string().contains("has /v1 twice"), "{error}");
    // One that is not to be taken as it is has it once.
    let server = Endpoint::saying([said(200, completion("hi"))]);
    ask(&client(provider(&format!("{}/v1/v1/", server.url())))).unwrap();
    assert_eq!(server.seen()[0].path, "/v1/chat/completions");
    check(
        said(404, json!({ "detail": "Not Found" })),
        "not_found",
        &["ends before /chat/completions"],
    );
    check(Say::Text(405, String::new(), b"no".to_vec()), "not_found", &["405"]);
}

#[test]
fn an_unknown_model_lists_the_known_ones() {
    let refusals = [
        (
            404,
            json!({ "error": { "message": "The model `small` does not exist", "code": "model_not_found" } }),
        ),
        (404, json!({ "error": "model \"small\" not found, try pulling it first" })),
        (400, json!({ "error": { "message": "Invalid model: small" } })),
        (
            404,
            json!({ "object": "error", "message": "The model `small` does not exist.", "code": 404 }),
        ),
    ];
    for (status, refusal) in refusals {
        let server = Endpoint::new(move |seen| match seen.path.as_str() {
            "/v1/models" => said(200, json!({ "data": [{ "id": "other" }, { "id": "another" }] })),
            _ => said(status, refusal.clone()),
        });
        let error = ask(&client(provider(&server.url()))).unwrap_err();
        assert_eq!(error.kind(), "unknown_model", "{error}");
        assert!(error.to_string().contains("it knows another, other"), "{error}");
    }
}

#[test]
fn a_limit_of_requests_says_when_and_how_often_it_was_tried() {
    let limited = || Say::Text(429, "retry-after: 0\r\n".to_owned(), b"slow down".to_vec());
    check(limited(), "rate_limited", &["slow down", "after 3 tries"]);
    // A wait that is too long is not waited for.
    let hour = Say::Text(429, "retry-after: 3600\r\n".to_owned(), b"{}".to_vec());
    check(hour, "rate_limited", &["3600 s", "after 1 tries"]);
    let date =
        "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 09:49:37 GMT\r\n";
    check(Say::Text(429, date.to_owned(), Vec::new()), "rate_limited", &["3600 s"]);
}

#[test]
fn a_conversation_that_is_too_long_is_known_in_every_server_s_words() {
    let forms = [
        (
            400,
            json!({ "error": { "code": "context_length_exceeded", "message":
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens." } }),
            Some(9001),
            Some(8192),
        ),
        (
            400,
            json!({ "object": "error", "type": "BadRequestError", "code": 400, "message":
            "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens (2900 in the messages, 100 in the completion)." }),
            Some(3000),
            Some(2048),
        ),
        (
            400,
            json!({ "error": { "type": "BadRequestError", "param": "input_tokens", "message":
            "You passed 3001 input tokens and requested 64 output tokens. However, the model's context length is only 2048 tokens" } }),
            Some(3001),
            Some(2048),
        ),
        (
            400,
            json!({ "error": { "type": "exceed_context_size_error", "code": 400, "n_prompt_tokens": 5000,
            "n_ctx": 2048, "message": "the request exceeds the available context size, try increasing it" } }),
            Some(5000),
            Some(2048),
        ),
        (
            400,
            json!({ "object": "error", "message":
            "The input (9000 tokens) is longer than the model's context length (8192 tokens)." }),
            Some(9000),
            Some(8192),
        ),
        (
            400,
            json!({ "error":
            "Trying to keep the first 5000 tokens when the context overflows. However, the model is loaded with context length of only 4096 tokens" }),
            None,
            Some(4096),
        ),
        (
            400,
            json!({ "error": { "message": "prompt is too long: 210000 tokens > 200000 maximum" } }),
            Some(210_000),
            Some(200_000),
        ),
        (
            400,
            json!({ "error": "prompt too long; exceeded max context length by 12 tokens" }),
            None,
            None,
        ),
        (413, json!({ "error": "too large" }), None, None),
    ];
    for (status, form, tokens, limit) in forms {
        let (error, text) = failure(said(status, form));
        assert!(error.is_context_too_long(), "{}: {text}", error.kind());
        let Error::ContextTooLong { tokens: found, limit: bound, .. } = error else { panic!() };
        assert_eq!((found, bound), (tokens, limit), "{text}");
    }
}

#[test]
fn a_filter_is_told() {
    let filtered =
        json!({ "error": { "code": "content_filter", "message": "content management policy" } });
    check(said(400, filtered), "filtered", &["ask for something else"]);
    let stopped =
        json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "content_filter" }] });
    check(said(200, stopped), "filtered", &["content_filter"]);
}

#[test]
fn an_error_object_in_the_place_of_choices_is_told() {
    let object = json!({ "error": { "message": "upstream is asleep", "type": "odd" } });
    check(said(200, object), "error_object", &["upstream is asleep", "instead of choices"]);
    // Gateways put the status into the code.
    let coded = json!({ "error": { "message": "busy", "code": 429 } });
    check(said(200, coded), "rate_limited", &["busy"]);
    check(said(200, json!({ "choices": [] })), "no_choices", &["choices is empty"]);
    check(said(200, json!({ "choices": null })), "no_choices", &["OpenAI-compatible"]);
    check(said(200, json!({ "hello": 1 })), "no_choices", &["hello"]);
}

#[test]
fn a_reply_without_words_says_what_it_has_and_what_it_cost() {
    let reply = |message: Value| {
        let usage = json!({ "prompt_tokens": 5, "completion_tokens": 7 });
        said(
            200,
            json!({ "choices": [{ "message": message, "finish_reason": "length" }], "usage": usage }),
        )
    };
    let cases = [
        (json!({ "content": null }), Lacking::Everything, "empty or null"),
        (json!({ "content": " \n" }), Lacking::Everything, "empty or null"),
        (
            json!({ "content": null, "reasoning": "hm" }),
            Lacking::AllButReasoning,
            "raise max_tokens",
        ),
        (json!({ "content": "<think>hm" }), Lacking::AllButReasoning, "raise max_tokens"),
        (
            json!({ "content": null, "tool_calls": [{ "id": "a", "function": { "name": "f", "arguments": "{}" } }] }),
            Lacking::AllButCalls,
            "not offered",
        ),
    ];
    for (message, expected, word) in cases {
        let (error, text) = failure(reply(message));
        assert!(text.contains(word) && text.contains("length"), "{text}");
        assert_eq!(error.reply().unwrap().usage.unwrap().completion_tokens, 7);
        let Error::Empty { lacking, .. } = error else { panic!("{text}") };
        assert_eq!(lacking, expected);
    }
}

#[test]
fn what_is_no_json_is_shown_short() {
    let page = b"<html><head><title>Sign in\n here</title></head></html>".to_vec();
    let html =
        || Say::Text(200, "content-type: text/html; charset=utf-8\r\n".to_owned(), page.clone());
    check(html(), "not_json", &["a page: Sign in here", "text/html"]);
    let deep = "[".repeat(100_000).into_bytes();
    check(Say::Text(200, String::new(), deep), "not_json", &["of no said type"]);
}

#[test]
fn a_server_that_fails_is_asked_again_and_then_told() {
    check(said(500, json!({ "error": "boom" })), "server", &["500: boom", "3 times"]);
    check(Say::Text(529, String::new(), b"overloaded".to_vec()), "server", &["529"]);
    check(said(422, json!({ "detail": "top_p" })), "rejected", &["422: top_p"]);
    let server = Endpoint::saying([said(503, json!({})), said(200, completion("hi"))]);
    assert_eq!(ask(&client(provider(&server.url()))).unwrap().message.content, "hi");
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn an_answer_that_breaks_off_is_told_and_not_asked_for_again() {
    let server = Endpoint::saying([Say::Truncated(b"{\"choices\": [".to_vec())]);
    let error = ask(&client(provider(&server.url()))).unwrap_err();
    assert_eq!(error.kind(), "truncated", "{error}");
    assert!(error.to_string().contains("after 13 bytes"), "{error}");
    assert_eq!(server.seen().len(), 1);
    let event = r#"{"choices":[{"delta":{"content":"a"}}]}"#.to_owned();
    check(Say::EventsThenNothing(vec![event.clone()]), "truncated", &["paid for"]);
    check(Say::Events(vec![event]), "truncated", &["the stream ended before its reply did"]);
}

#[test]
fn a_stream_that_cannot_be_read_is_told() {
    check(
        Say::Events(vec!["{{".to_owned(), "[DONE]".to_owned()]),
        "stream",
        &["not asked for", "{{"],
    );
    let error = r#"{"error":{"message":"lost the model","code":503}}"#.to_owned();
    check(Say::Events(vec![error]), "server", &["lost the model"]);
}

#[test]
fn an_answer_without_end_is_given_up() {
    let (error, text) = failure(Say::Endless(vec![b' '; 1 << 20]));
    assert_eq!(error.kind(), "oversized", "{text}");
    assert!(text.contains("50 MB"), "{text}");
}

#[test]
fn a_host_without_an_address_is_told() {
    let error = ask(&client(provider("http://nowhere.invalid:1"))).unwrap_err();
    assert_eq!(error.kind(), "dns", "{error}");
    assert!(error.to_string().contains("nowhere.invalid"), "{error}");
}

/// A port of loopback where nothing listens.
fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn a_refused_connection_is_told() {
    let error = ask(&client(provider(&closed()))).unwrap_err();
    assert_eq!(error.kind(), "refused", "{error}");
    assert!(error.to_string().contains("start its server"), "{error}");
}

#[test]
fn a_proxy_that_does_not_work_is_named_with_its_variable() {
    let proxy = closed().replace("http://", "http://me:secret@");
    let proxies = |none_for: &str| Proxies {
        http: Some(Proxy::new("HTTP_PROXY", proxy.clone())),
        https: Some(Proxy::new("https_proxy", proxy.clone())),
        none_for: none_for.to_owned(),
    };
    for (url, variable) in
        [("http://api.invalid", "HTTP_PROXY"), ("https://api.invalid", "https_proxy")]
    {
        let error =
            ask(&client(Provider { proxies: proxies("x.invalid"), ..provider(url) })).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), "proxy", "{text}");
        assert!(text.contains(variable) && text.contains("no_proxy = true"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    // Hosts that are excepted, and this machine, are reached directly.
    let direct = Provider { proxies: proxies(".invalid"), ..provider("http://api.invalid") };
    assert_eq!(ask(&client(direct)).unwrap_err().kind(), "dns");
    let server = Endpoint::saying([said(200, completion("hi"))]);
    ask(&client(Provider { proxies: proxies(""), ..provider(&server.url()) })).unwrap();
}

#[test]
fn a_request_goes_by_a_proxy_that_works() {
    let proxy = Endpoint::saying([said(200, completion("by proxy"))]);
    let proxies =
        Proxies { http: Some(Proxy::new("HTTP_PROXY", proxy.url())), ..Proxies::default() };
    let reply = ask(&client(Provider { proxies, ..provider("http://api.invalid/x") })).unwrap();
    assert_eq!(reply.message.content, "by proxy");
    assert_eq!(proxy.seen()[0].path, "http://api.invalid/x/v1/chat/completions");
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    let thief = Endpoint::saying([said(200, completion("thanks"))]);
    let to = format!("location: {}/v1/chat/completions\r\n", thief.url());
    let (error, text) = failure(Say::Text(307, to, Vec::new()));
    assert_eq!(error.kind(), "rejected", "{text}");
    assert!(thief.seen().is_empty());
}
