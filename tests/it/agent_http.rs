//! The real binary against a server of models: both roles, and what a killed process costs.

use crate::agent::script;
use crate::cases::Home;
use crate::endpoint::{Endpoint, Say, Seen};
use serde_json::{Value, json};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const ROUND: usize = 4 + 4 * 3;

fn ledger() -> Home {
    let home = Home::new();
    home.copy_example("ledger");
    home
}

fn binary(home: &Home, url: &str) -> Command {
    let mut command = home.binary();
    command
        .env("TAOTOKEN_API_KEY", "sk-0123456789abcdef")
        .env("TAOTOKEN_BASE_URL", url)
        .args(["play", ".", "--injector", "one", "--solver", "other", "--attempts", "4"])
        .args(["--strategy", "direct", "--seed", "3", "--concurrency", "1", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn of_ours(seen: &Seen) -> bool {
    let first = &seen.json()["messages"][0];
    first["role"] == "system"
        && first["content"].as_str().is_some_and(|text| text.contains("sandbox"))
}

/// Says what a scripted player says; to other questions, that tools are taken.
pub(crate) fn said(seen: &Seen) -> Say {
    if seen.path.ends_with("/models") {
        return Say::Json(200, json!({ "data": [{ "id": "one" }, { "id": "other" }] }));
    }
    let asked = seen.json();
    let message = if of_ours(seen) {
        script(&asked)
    } else {
        let name = &asked["tools"][0]["function"]["name"];
        let call = json!({ "name": name, "arguments": "{\"text\":\"hello\"}" });
        json!({ "content": "", "tool_calls": [{ "id": "a", "type": "function", "function": call }] })
    };
    Say::Json(
        200,
        json!({
            "id": "x",
            "model": asked["model"],
            "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
        }),
    )
}

fn last_line(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn a_round_is_played_over_http() {
    let home = ledger();
    let server = Endpoint::new(said);
    let output = binary(&home, &server.url()).output().unwrap();
    let round = last_line(&output);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(round["valid"], true, "{round}");
    assert_eq!((&round["injector"], &round["solver"]), (&json!("one"), &json!("other")));
    assert_eq!(round["solve_rewards"].as_array().map(Vec::len), Some(4));
    let asked: Vec<Value> =
        server.seen().iter().filter(|seen| of_ours(seen)).map(Seen::json).collect();
    assert_eq!(asked.len(), ROUND);
    assert_eq!((&asked[0]["temperature"], &asked[4]["temperature"]), (&json!(0.7), &json!(0.2)));
    let tools = asked[0]["tools"].as_array().unwrap();
    let names: Vec<_> =
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bash", "read", "edit", "create", "submit"]);
}

/// The process is killed while its nth request waits for an answer: that one is asked again, and no other.
#[test]
fn a_run_that_was_killed_pays_for_nothing_twice() {
    for nth in [2, 9] {
        let home = ledger();
        let (player, count) = (Arc::new(Mutex::new(None::<Child>)), AtomicUsize::new(0));
        let victim = player.clone();
        let server = Endpoint::new(move |seen| {
            if of_ours(seen) && count.fetch_add(1, Ordering::SeqCst) == nth {
                let mut victim = victim.lock().unwrap();
                victim.as_mut().unwrap().kill().unwrap();
                return Say::Closed;
            }
            said(seen)
        });
        {
            // The server waits until it is told whom to kill.
            let mut held = player.lock().unwrap();
            *held = Some(binary(&home, &server.url()).spawn().unwrap());
        }
        let mut seen = 0;
        while player.lock().unwrap().as_mut().unwrap().try_wait().unwrap().is_none() {
            seen = server.seen().len();
            std::thread::yield_now();
        }
        assert!(seen > 0);
        let output = binary(&home, &server.url()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let round = last_line(&output);
        assert_eq!(round["solve_rewards"].as_array().map(Vec::len), Some(4), "{round}");
        assert_eq!(round["inject_spent"]["requests"], 4);
        assert_eq!(round["solve_spent"]["requests"], 12);
        let asked = server.seen().iter().filter(|seen| of_ours(seen)).count();
        assert_eq!(asked, ROUND + 1);
    }
}
