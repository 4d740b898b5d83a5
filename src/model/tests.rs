//! What needs no server: URLs, waits, rests, proxies, streams in pieces.

mod mangled;
mod policies;

use super::breaker::Breaker;
use super::stream::{Stream, Unfinished, WithoutUsage};
use super::{BaseUrl, Patience, Proxies, Proxy, think};
use crate::dice::Dice;
use std::time::{Duration, Instant};

#[track_caller]
fn check_url(text: &str, expect: &str) {
    let shown = BaseUrl::of(text, false)
        .map_or_else(|error| error.to_string(), |base| base.below("chat/completions").to_string());
    assert!(shown.starts_with(expect), "{text}: {shown}");
}

#[test]
fn a_base_url_is_one_however_it_is_written() {
    let expect = "https://taotoken.net/api/v1/chat/completions";
    for text in [
        "https://taotoken.net/api",
        "https://taotoken.net/api/",
        " https://taotoken.net//api//v1/ ",
        "https://taotoken.net/api/v1/v1",
        "https://taotoken.net/api/v1/v1/v1/chat/completions",
        "https://TaoToken.net/api?utm_source=x&utm_medium=y#z",
        "https://taotoken.net:443/api/v1/models",
        "taotoken.net/api",
    ] {
        check_url(text, expect);
    }
}

#[test]
fn a_version_that_is_there_is_kept() {
    check_url("https://open.bigmodel.cn/api/paas/v4", "https://open.bigmodel.cn/api/paas/v4/chat");
    check_url("https://g.example/v1beta/openai/", "https://g.example/v1beta/openai/chat");
    check_url("https://vllm.example", "https://vllm.example/v1/chat");
    check_url("localhost:8080", "http://localhost:8080/v1/chat");
    check_url("http://[::1]:8080/v1", "http://[::1]:8080/v1/chat");
}

#[test]
fn what_is_no_base_url_is_refused_and_no_password_is_told() {
    check_url("ftp://host/x", "the base URL \"ftp://host/x\" is neither http nor https");
    check_url("", "the base URL \"\" cannot be read");
    check_url("https://me:secret@host/v1", "the base URL of host has a name or password in it");
    check_url("http://me:secret@:x", "the base URL \":x\" cannot be read");
}

#[test]
fn what_was_made_of_a_url_is_told() {
    let noted = |text: &str| {
        let base = BaseUrl::of(text, false).unwrap();
        base.notes().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(noted("https://a.example/v1"), "");
    assert_eq!(noted("https://a.example"), "/v1 was added");
    assert_eq!(noted("https://a.example/v1/v1"), "the version stood twice in its path");
    assert!(noted("https://a.example/v1?x=1").contains("?x=1 was cut off"));
    assert!(noted("http://a.example/v1").contains("plain http"));
    assert_eq!(noted("http://127.0.0.1:1/v1"), "");
    let exact = BaseUrl::of("https://a.example/v1/v1", true).unwrap();
    assert!(exact.has_doubled_version());
    assert_eq!(exact.to_string(), "https://a.example/v1/v1");
    let server = BaseUrl::of("http://127.0.0.1:8080", false).unwrap();
    assert_eq!(server.beside("props").as_str(), "http://127.0.0.1:8080/props");
}

#[test]
fn waits_double_within_bounds_and_are_seeded() {
    let patience =
        Patience { tries: 5, first: Duration::from_millis(100), most: Duration::from_millis(300) };
    let waits = |seed| {
        let mut dice = Dice::new(seed);
        (1..=5).map(|tries| patience.pause(tries, None, &mut dice)).collect::<Vec<_>>()
    };
    assert_eq!(waits(1), waits(1));
    assert_ne!(waits(1), waits(2));
    for seed in 0..100 {
        let waits = waits(seed);
        for (wait, whole) in waits.iter().zip([100, 200, 300, 300]) {
            let millis = wait.unwrap().as_millis();
            assert!((whole / 2..=whole).contains(&millis), "{millis} of {whole}");
        }
        assert_eq!(waits[4], None);
    }
}

#[test]
fn a_wait_that_a_server_asks_for_is_kept_unless_it_is_too_long() {
    let patience = Patience { most: Duration::from_mins(1), ..Patience::default() };
    let mut dice = Dice::new(1);
    let wait = patience.pause(1, Some(Duration::from_secs(10)), &mut dice).unwrap();
    assert!((10.0..=11.0).contains(&wait.as_secs_f64()));
    assert_eq!(patience.pause(1, Some(Duration::from_secs(61)), &mut dice), None);
    assert_eq!(patience.pause(5, Some(Duration::ZERO), &mut dice), None);
    let many = Patience { tries: u32::MAX, ..patience };
    assert!(many.pause(u32::MAX - 1, None, &mut dice).unwrap() <= patience.most);
}

#[test]
fn a_server_rests_after_failures_in_a_row_and_one_request_tries_it_again() {
    let (mut breaker, start) = (Breaker::default(), Instant::now());
    for _ in 0..7 {
        breaker.failed("boom".to_owned(), start);
    }
    assert_eq!(breaker.admit(start), Ok(()));
    breaker.answered();
    for _ in 0..8 {
        breaker.failed("boom".to_owned(), start);
    }
    let rest = breaker.admit(start + Duration::from_secs(10)).unwrap_err();
    assert_eq!(
        (rest.failures, rest.wait, rest.last.as_str()),
        (8, Duration::from_secs(20), "boom")
    );
    let later = start + Duration::from_secs(30);
    assert_eq!(breaker.admit(later), Ok(()));
    assert!(breaker.admit(later).is_err(), "the others wait for the first");
    breaker.answered();
    assert_eq!(breaker.admit(later), Ok(()));
}

#[track_caller]
fn check_route(url: &str, none_for: &str, by_proxy: bool) {
    let proxy = |name: &str| Some(Proxy::new(name, "http://me:secret@proxy:1"));
    let none_for = none_for.to_owned();
    let proxies = Proxies { http: proxy("http_proxy"), https: proxy("HTTPS_PROXY"), none_for };
    let base = BaseUrl::of(url, false).unwrap();
    let route = proxies.route(&base);
    assert_eq!(route.is_some(), by_proxy, "{url} with no_proxy={:?}", proxies.none_for);
    if let Some(proxy) = route {
        assert_eq!(proxy.shown(), "http://proxy:1");
        assert_eq!(proxy.variable == "HTTPS_PROXY", base.is_https());
    }
}

#[test]
fn no_proxy_is_read_as_others_read_it() {
    check_route("https://api.example.org", "", true);
    check_route("http://api.example.org", "example.com, other", true);
    for none_for in ["*", "example.org", ".example.org", "*.example.org", "x,API.example.org:443 "]
    {
        check_route("https://api.example.org", none_for, false);
    }
    check_route("https://notexample.org", "example.org", true);
    check_route("https://10.1.2.3", "10.0.0.0/8", false);
    check_route("https://10.1.2.3", "10.2.0.0/16", true);
    check_route("https://10.1.2.3", "0.0.0.0/0", false);
    check_route("https://[fd00::1]", "fd00::/8", false);
    check_route("https://[fd00::1]", "fd00::1", false);
    check_route("https://10.1.2.3", "10.0.0.0/99", true);
    for local in ["http://localhost:1", "http://127.0.0.9", "https://[::1]"] {
        check_route(local, "", false);
    }
}

#[test]
fn thoughts_that_are_joined_are_split_again() {
    let joined = think::join("a\nb", "the answer\n");
    assert_eq!(think::split(&joined), Some(("a\nb", "the answer\n")));
    assert_eq!(think::split("no thoughts"), None);
    assert_eq!(think::split("  <think>never ends"), Some(("never ends", "")));
}

#[test]
fn a_stream_is_the_same_in_whatever_pieces_it_comes() {
    let text = ": hello\r\ndata: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"é1\"}}]}\r\n\r\n\
        event: x\ndata:{\"choices\":[{\"delta\":{\"content\":\"2\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\nrest";
    let whole = |size: usize| {
        let mut stream = Stream::default();
        let ended = text.as_bytes().chunks(size).any(|piece| stream.take(piece));
        assert!(ended);
        stream.finish().unwrap()
    };
    let first = whole(1);
    assert_eq!(first["choices"][0]["message"]["content"], "é12");
    for size in [2, 3, 7, 1000] {
        assert_eq!(whole(size), first);
    }
}

#[test]
fn a_stream_without_an_end_is_no_reply() {
    let finish = |text: &str| {
        let mut stream = Stream::default();
        stream.take(text.as_bytes());
        stream.finish()
    };
    assert_eq!(finish(""), Err(Unfinished::BrokenOff));
    assert_eq!(
        finish("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"),
        Err(Unfinished::BrokenOff)
    );
    assert!(
        matches!(finish("data: nonsense\n\n"), Err(Unfinished::Unreadable(said)) if said == "nonsense")
    );
    // Its end may be what it said last, without an empty line.
    let last =
        finish("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}")
            .unwrap();
    assert_eq!(last["choices"][0]["message"]["content"], "a");
    assert_eq!(finish("data: [DONE]\n\n").unwrap()["choices"], serde_json::json!([]));
}

#[test]
fn a_count_of_tokens_is_taken_out_of_a_stream_and_nothing_else() {
    let count = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n";
    let kept = "data: {\"choices\":[{\"delta\":{}}],\"usage\":null}\r\n\r\n: a comment\n\ndata: [DONE]\n\nhalf";
    for size in 1..40 {
        let whole = [count, kept].concat();
        let mut filter = WithoutUsage::default();
        let mut passed: Vec<u8> =
            whole.as_bytes().chunks(size).flat_map(|piece| filter.take(piece)).collect();
        passed.extend(filter.rest());
        assert_eq!(String::from_utf8(passed).unwrap(), kept);
    }
}
