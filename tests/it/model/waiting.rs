//! Cancelling, time limits, tries and rests.

use super::*;

/// Longer than any of these should take, shorter than what they would wait for.
const AT_ONCE: Duration = Duration::from_secs(2);

#[test]
fn a_request_ends_at_once_when_it_is_cancelled() {
    let server = Endpoint::saying([Say::Nothing]);
    let (client, cancel) = (client(provider(&server.url())), Cancel::new());
    let asking = {
        let (client, cancel) = (client.clone(), cancel.clone());
        std::thread::spawn(move || ask_with(&client, &[], &cancel))
    };
    while server.seen().is_empty() {
        std::thread::yield_now();
    }
    let begun = Instant::now();
    cancel.cancel();
    assert_eq!(asking.join().unwrap().unwrap_err().kind(), "cancelled");
    assert!(begun.elapsed() < AT_ONCE);
    // One that is cancelled before is not made.
    assert_eq!(ask_with(&client, &[], &cancel).unwrap_err().kind(), "cancelled");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_wait_between_tries_ends_at_once_when_it_is_cancelled() {
    let limited = Say::Text(429, "retry-after: 30\r\n".to_owned(), Vec::new());
    let server = Endpoint::saying([limited]);
    let patience = Patience { most: Duration::from_mins(1), ..Patience::default() };
    let client = client(Provider { patience, ..provider(&server.url()) });
    let cancel = Cancel::new();
    let asking = {
        let cancel = cancel.clone();
        std::thread::spawn(move || ask_with(&client, &[], &cancel))
    };
    while server.seen().is_empty() {
        std::thread::yield_now();
    }
    let begun = Instant::now();
    cancel.cancel();
    assert_eq!(asking.join().unwrap().unwrap_err().kind(), "cancelled");
    assert!(begun.elapsed() < AT_ONCE);
}

#[test]
fn a_time_limit_is_kept_and_the_request_is_not_made_again() {
    let server = Endpoint::saying([Say::Nothing]);
    let timeout = Duration::from_millis(200);
    let error = ask(&client(Provider { timeout, ..provider(&server.url()) })).unwrap_err();
    assert_eq!(error.kind(), "timeout", "{error}");
    assert!(error.to_string().contains("timeout_seconds"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn what_a_server_asks_for_is_waited() {
    let limited = Say::Text(429, "retry-after: 0.2\r\n".to_owned(), Vec::new());
    let server = Endpoint::saying([limited, said(200, completion("hi"))]);
    let begun = Instant::now();
    ask(&client(provider(&server.url()))).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_server_that_fails_again_and_again_is_left_alone() {
    let server = Endpoint::saying([said(500, json!({ "error": "boom" }))]);
    let client = client(provider(&server.url()));
    let mut last = None;
    for _ in 0..4 {
        last = ask(&client).err();
    }
    let error = last.unwrap();
    assert_eq!(error.kind(), "resting", "{error}");
    assert!(
        error.to_string().contains("8 times in a row") && error.to_string().contains("boom"),
        "{error}"
    );
    assert_eq!(server.seen().len(), 8);
    // Another model of the same server is its, too.
    let other = client.with_model("other", Settings::default());
    assert_eq!(ask(&other).unwrap_err().kind(), "resting");
}

#[test]
fn refusals_do_not_make_a_server_rest() {
    let server = Endpoint::saying([said(400, json!({ "error": "no" }))]);
    let client = client(provider(&server.url()));
    for _ in 0..12 {
        assert_eq!(ask(&client).unwrap_err().kind(), "rejected");
    }
}

#[test]
fn what_is_not_said_of_a_model_is_found_out_before_and_once() {
    let server = Endpoint::new(|seen| {
        if seen.path == "/v1/models" {
            return said(200, json!({ "data": [{ "id": "small", "context_length": 77 }] }));
        }
        let call = json!({ "name": "note", "arguments": "{\"text\":\"hello\"}" });
        let message = json!({ "content": null, "tool_calls": [{ "id": "a", "function": call }] });
        said(200, json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }))
    });
    let client = Client::new(provider(&server.url()), "small", Settings::default(), 1).unwrap();
    client.prepare(&Cancel::new()).unwrap();
    assert_eq!(server.seen().len(), 2);
    assert!(client.native_tools());
    assert_eq!(client.context(), 77);
    client.prepare(&Cancel::new()).unwrap();
    assert_eq!(server.seen().len(), 2);
    // One that refuses tools is talked to in text; one that refuses the key is not talked to.
    let refusing = |status| {
        let server = Endpoint::saying([said(status, json!({ "error": "no" }))]);
        let client = Client::new(provider(&server.url()), "small", Settings::default(), 1).unwrap();
        (client.prepare(&Cancel::new()).map_err(|error| error.kind()), client.native_tools())
    };
    assert_eq!(refusing(400), (Ok(()), false));
    assert_eq!(refusing(401), (Err("no_key"), false));
}

#[test]
fn a_client_may_be_dropped_where_another_runtime_runs() {
    let server = Endpoint::saying([said(200, completion("hi"))]);
    let client = client(provider(&server.url()));
    ask(&client).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async move { drop(client) });
}
