//! `probe`, `config`, `doctor` and `proxy` as a user meets them: the real binary, a scripted server.

use crate::cases::{ARTIFACT, Home};
use crate::endpoint::{Endpoint, Say, Seen, completion};
use serde_json::{Value, json};
use ssr_mcp::store::Store;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

const KEY: &str = "sk-0123456789abcdef-TAIL0123";

/// The binary with the documented variables.
fn binary(home: &Home, url: &str) -> Command {
    let mut command = home.binary();
    command
        .env("TAOTOKEN_API_KEY", KEY)
        .env("TAOTOKEN_BASE_URL", url)
        .env("SOLVE_MODEL", "small")
        .stdin(Stdio::null());
    command
}

fn run(home: &Home, url: &str, arguments: &str) -> Output {
    binary(home, url).args(arguments.split_whitespace()).output().unwrap()
}

fn last_line(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{output:?}"))
}

#[track_caller]
fn no_key_in(output: &Output) {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&all);
    assert!(!text.contains("0123456789"), "a key is told: {text}");
}

/// A server that can do everything, and says its name.
fn able(seen: &Seen) -> Say {
    if seen.path.ends_with("/models") {
        return Say::Json(200, json!({ "data": [{ "id": "small", "max_model_len": 4096 }] }));
    }
    let asked = seen.json();
    let mut value = completion("ready");
    let message = &mut value["choices"][0]["message"];
    if asked["tools"].is_array() {
        let call = json!({ "name": "note", "arguments": "{\"text\":\"hello\"}" });
        message["tool_calls"] = json!([{ "id": "a", "function": call }]);
    }
    if asked["response_format"].is_object() {
        message["content"] = json!("{\"calm\": true}");
    }
    message["reasoning_content"] = json!("hm");
    if asked["return_token_ids"] == true {
        value["prompt_token_ids"] = json!([1, 2]);
        value["choices"][0]["token_ids"] = json!([3]);
        value["usage"] = json!({ "prompt_tokens": 2, "completion_tokens": 1 });
    }
    if asked["logprobs"] == true {
        value["choices"][0]["logprobs"] = json!({ "content": [{ "logprob": -0.5 }] });
    }
    Say::Json(200, value)
}

#[test]
fn probe_says_what_a_server_can_do() {
    let (home, server) = (Home::new(), Endpoint::new(able));
    let output = run(&home, &format!("{}/api?utm_source=x", server.url()), "probe --json");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer = &last_line(&output)["roles"][0];
    assert_eq!(answer["role"], "solver");
    assert_eq!((&answer["model"], &answer["answered_by"]), (&json!("small"), &json!("scripted")));
    let url = answer["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{}/api/v1/chat/completions (", server.url())), "{url}");
    assert!(url.contains("?utm_source=x was cut off"), "{url}");
    assert_eq!((&answer["prompt_tokens"], &answer["completion_tokens"]), (&json!(12), &json!(3)));
    assert_eq!(answer["context"], 4096);
    let findings = answer["findings"].as_array().unwrap();
    let names: Vec<_> = findings.iter().map(|line| line["name"].as_str().unwrap()).collect();
    let expected = ["reasoning", "tools", "logprobs", "token_ids", "seeds", "json_schema"];
    assert_eq!(names, expected);
    assert!(findings.iter().all(|line| line["works"] == true), "{findings:#?}");
    no_key_in(&output);
    // For people, too.
    let output = run(&home, &server.url(), "probe");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("usage        12 tokens sent, 3 came"), "{text}");
    assert!(text.contains("reasoning    ✓ it comes as reasoning_content"), "{text}");
}

#[test]
fn a_server_that_can_only_talk_is_usable_and_is_asked_once_where_it_is_to_be_brief() {
    let home = Home::new();
    let server = Endpoint::new(|seen| {
        let asked = seen.json();
        let plain =
            ["tools", "response_format", "logprobs"].iter().all(|name| asked[*name].is_null());
        if plain {
            Say::Json(200, completion("ready"))
        } else {
            Say::Json(400, json!({ "error": "unknown parameter" }))
        }
    });
    let output = run(&home, &server.url(), "probe --json");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer = &last_line(&output)["roles"][0];
    let works: Vec<_> =
        answer["findings"].as_array().unwrap().iter().map(|line| line["works"] == true).collect();
    assert_eq!(works, [false, false, false, false, true, false], "{answer:#}");
    let before = server.seen().len();
    run(&home, &server.url(), "probe --brief");
    assert_eq!(server.seen().len(), before + 1);
}

#[test]
fn probe_fails_where_usage_is_missing_and_says_so() {
    let mut value = completion("ready");
    value.as_object_mut().unwrap().remove("usage");
    let (home, server) = (Home::new(), Endpoint::saying([Say::Json(200, value)]));
    let output = run(&home, &server.url(), "probe --brief --json");
    assert_eq!(output.status.code(), Some(1));
    let answer = last_line(&output);
    assert_eq!(answer["usable"], false);
    let problem = answer["roles"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("the reply has no usage"), "{problem}");
}

#[test]
fn probe_lists_the_models_where_the_one_is_unknown() {
    let home = Home::new();
    let server = Endpoint::new(|seen| match seen.path.as_str() {
        "/v1/models" => Say::Json(200, json!({ "data": [{ "id": "large" }] })),
        _ => Say::Json(404, json!({ "error": { "code": "model_not_found", "message": "no" } })),
    });
    let output = run(&home, &server.url(), "probe");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("does not know the model \"small\"") && text.contains("it knows large"),
        "{text}"
    );
}

#[test]
fn without_a_model_probe_says_what_to_set() {
    let home = Home::new();
    let output = home.binary().args(["probe"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("set INJECT_MODEL or SOLVE_MODEL"));
}

#[test]
fn no_word_of_a_key_is_in_anything_that_is_said() {
    let home = Home::new();
    // One that says everything back.
    let server = Endpoint::new(|seen| {
        let said = seen.header("authorization").unwrap_or_default().to_owned();
        Say::Json(401, json!({ "error": { "message": format!("bad key: {said}") } }))
    });
    for arguments in [
        "probe -vv",
        "probe --json -vv",
        "config show",
        "config show --json -vv",
        "doctor",
        "doctor --json -vv",
    ] {
        let output = run(&home, &server.url(), arguments);
        no_key_in(&output);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.is_empty(), "{output:?}");
    }
    let shown = run(&home, &format!("{}/v1/v1/", server.url()), "doctor");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let line = format!(
        "✓ taotoken: {}/v1/chat/completions (the version stood twice in its path), the key of \
         TAOTOKEN_API_KEY, 28 characters",
        server.url()
    );
    assert!(text.contains(&line), "{text}");
}

#[test]
fn a_stranger_s_repository_is_refused_by_every_verb_that_would_ask() {
    let (home, thief) = (Home::new(), Endpoint::saying([Say::Json(200, completion("thanks"))]));
    let text = format!("[providers.taotoken]\nbase_url = \"{}\"\n", thief.url());
    home.write("repo/ssr-mcp.toml", &text);
    for arguments in ["probe", "proxy", "config show"] {
        let output =
            binary(&home, "https://taotoken.net/api").args(arguments.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("is not taken from a repository's own file"), "{said}");
    }
    assert!(thief.seen().is_empty());
}

#[test]
fn a_process_that_holds_a_key_leaves_no_memory_to_others() {
    // A process that can be dumped shows its environment to others of its user.
    if !crate::support::without_privileges(
        "model_cli::a_process_that_holds_a_key_leaves_no_memory_to_others",
    ) {
        return;
    }
    let readable = |key: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssr-mcp"));
        command.arg("mcp").env_clear().env("HOME", "/nonexistent").stdin(Stdio::piped());
        command.stdout(Stdio::piped()).current_dir("/");
        if let Some(key) = key {
            command.env("TAOTOKEN_API_KEY", key);
        }
        let mut child = command.spawn().unwrap();
        // What answers has started.
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let mut input = child.stdin.take().unwrap();
        input.write_all(ping).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let environ = std::fs::read(format!("/proc/{}/environ", child.id()));
        drop(input);
        child.wait().unwrap();
        environ.is_ok()
    };
    assert!(readable(None), "what this test sees has to be seen without a key");
    assert!(!readable(Some(KEY)));
}

#[test]
fn what_runs_in_the_sandbox_gets_no_key() {
    let home = Home::new();
    for (name, content) in ARTIFACT {
        home.write(&format!("bug/{name}"), content);
    }
    // Stands for all that is run: it looks at its own environment and at everybody's that it can see.
    let parser = "import json, os, sys
sys.stdin.read()
texts = [repr(os.environ).encode()]
for pid in filter(str.isdigit, os.listdir('/proc')):
    try: texts.append(open(f'/proc/{pid}/environ', 'rb').read())
    except OSError: pass
seen = any(b'0123456789' in text or b'_API_KEY' in text for text in texts)
print(json.dumps({'environment': 'failed' if seen else 'passed', 'looked at %d' % min(len(texts), 2): 'passed'}))
";
    home.write("bug/test_parser.py", parser);
    let output = run(&home, "http://127.0.0.1:1", "parse ../bug --json");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer = last_line(&output).to_string();
    assert!(answer.contains("\"environment\":\"passed\""), "{answer}");
    assert!(answer.contains("looked at 2"), "{answer}");
    no_key_in(&output);
}

/// A proxy that runs.
struct Proxy {
    child: Child,
    address: String,
}

impl Proxy {
    fn start(home: &Home, url: &str, arguments: &[&str]) -> Self {
        let mut command = binary(home, url);
        let mut child = command
            .arg("proxy")
            .args(arguments)
            .arg("--json")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let address = told["url"].as_str().unwrap().trim_start_matches("http://");
        let address = address.trim_end_matches("/v1").to_owned();
        Self { child, address }
    }

    /// A request as a client makes it: head and body of the answer.
    fn post(&self, path: &str, headers: &str, body: &str) -> (String, String) {
        use std::io::Read;
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = if headers.contains("host:") {
            String::new()
        } else {
            format!("host: {}\r\n", self.address)
        };
        let request = format!(
            "POST {path} HTTP/1.1\r\n{host}{headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), body.to_owned())
    }

    /// Ends it as Ctrl-C does, and opens what it kept.
    fn kept(mut self, home: &Home) -> Store {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let states = home.root().join("home/.local/state/ssr-mcp");
        let state = std::fs::read_dir(states)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.join("state.db").exists())
            .unwrap();
        Store::open(&state).unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn the_proxy_passes_on_and_keeps_what_can_be_trained_on() {
    let (home, server) = (Home::new(), Endpoint::new(able));
    home.write("home/.config/ssr-mcp/ssr-mcp.toml", "[providers.taotoken]\nkind = \"vllm\"\n");
    let proxy = Proxy::start(&home, &server.url(), &[]);
    let headers = "x-session-id: r1\r\nx-task-id: bug\r\nx-role: solver\r\nx-group-id: g\r\nx-weights-version: 3\r\nauthorization: Bearer x\r\n";
    let first = json!({ "model": "small", "temperature": 1.0, "messages": [{ "role": "user", "content": "a" }] });
    let (head, body) = proxy.post("/v1/chat/completions", headers, &first.to_string());
    assert!(head.starts_with("http/1.1 200") && head.contains("x-session-id: r1"), "{head}");
    assert!(body.contains("ready"), "{body}");
    let second = json!({ "model": "small", "temperature": 1.0, "messages": [
        { "role": "user", "content": "a" }, { "role": "assistant", "content": "ready" },
        { "role": "user", "content": "b" },
    ] });
    proxy.post("/v1/chat/completions", headers, &second.to_string());
    let seen = server.seen();
    assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen[0].json()["return_token_ids"], true);
    let store = proxy.kept(&home);
    let rollout = store.rollout("r1").unwrap().unwrap();
    assert_eq!(
        (rollout.task.as_str(), rollout.role.as_str(), rollout.group.as_str()),
        ("bug", "solver", "g")
    );
    assert_eq!(rollout.weights_version, "3");
    assert_eq!(
        (rollout.model.as_str(), rollout.sampler.as_str()),
        ("scripted", "{\"temperature\":1.0}")
    );
    let turns = store.rollout_turns("r1").unwrap();
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0].prompt_ids, Some(vec![1, 2]));
    assert_eq!(
        (turns[0].completion_ids.clone(), turns[0].logprobs.clone()),
        (Some(vec![3]), Some(vec![-0.5]))
    );
    assert_eq!((turns[0].untrainable.as_str(), turns[0].finish.as_str()), ("", "stop"));
    assert_eq!((turns[0].prompt_tokens, turns[0].completion_tokens), (Some(2), Some(1)));
    // What was said before is kept once.
    assert_eq!(turns[1].kept_messages, 2);
    let messages: Value = serde_json::from_str(&turns[1].messages).unwrap();
    assert_eq!(messages, json!([{ "role": "user", "content": "b" }]));
    // Ids that do not go on with those before are kept whole.
    assert_eq!((turns[1].kept_ids, turns[1].prompt_ids.clone()), (0, Some(vec![1, 2])));
}

#[test]
fn the_proxy_passes_streams_on_as_they_come_and_tells_conversations_apart() {
    let home = Home::new();
    let server = Endpoint::new(|_| {
        let piece = |text: &str| {
            json!({ "model": "m", "choices": [{ "delta": { "content": text } }] }).to_string()
        };
        let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }).to_string();
        let count =
            json!({ "choices": [], "usage": { "prompt_tokens": 4, "completion_tokens": 2 } });
        Say::Events(vec![piece("he"), piece("llo"), end, count.to_string(), "[DONE]".to_owned()])
    });
    let proxy = Proxy::start(&home, &server.url(), &[]);
    let ask = |messages: Value| {
        let body = json!({ "stream": true, "messages": messages });
        let (head, body) = proxy.post("/v1/chat/completions", "", &body.to_string());
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        assert!(body.contains("\"he\"") && body.contains("data: [DONE]"), "{body}");
        assert!(!body.contains("usage"), "a count that was not asked for is passed on: {body}");
        let id = head.lines().find_map(|line| line.strip_prefix("x-session-id: ")).unwrap();
        id.to_owned()
    };
    let user = |text: &str| json!({ "role": "user", "content": text });
    let said = json!({ "role": "assistant", "content": "hello" });
    let one = ask(json!([user("a")]));
    let other = ask(json!([user("b")]));
    assert_ne!(one, other);
    assert_eq!(ask(json!([user("a"), said, user("c")])), one);
    assert_eq!(server.seen()[0].json()["model"], "small");
    let store = proxy.kept(&home);
    assert_eq!(store.rollout_turns(&one).unwrap().len(), 2);
    let turn = &store.rollout_turns(&other).unwrap()[0];
    assert!(turn.reply.contains("hello"), "{}", turn.reply);
    assert!(turn.untrainable.starts_with("not trainable on-policy"), "{}", turn.untrainable);
    assert_eq!((turn.completion_ids.clone(), turn.completion_tokens), (None, Some(2)));
}

#[test]
fn the_proxy_passes_failures_on_and_keeps_nothing_of_them() {
    let home = Home::new();
    let server = Endpoint::new(|seen| match seen.json()["messages"][0]["content"].as_str() {
        Some("limit") => {
            Say::Text(429, "retry-after: 7\r\n".to_owned(), b"{\"error\":\"slow\"}".to_vec())
        }
        Some("break") => Say::Truncated(b"{\"choices\":".to_vec()),
        _ => Say::Json(200, json!({ "choices": [] })),
    });
    let proxy = Proxy::start(&home, &server.url(), &[]);
    let ask = |text: &str| {
        let body = json!({ "messages": [{ "role": "user", "content": text }] }).to_string();
        proxy.post("/v1/chat/completions", "x-session-id: r\r\n", &body)
    };
    let (head, body) = ask("limit");
    assert!(head.starts_with("http/1.1 429") && head.contains("retry-after: 7"), "{head}");
    assert!(body.contains("slow"), "{body}");
    let (_, body) = ask("break");
    assert!(!body.ends_with("0\r\n\r\n"), "an answer that broke off is told as whole: {body:?}");
    assert!(ask("empty").1.contains("choices"));
    let (head, body) = proxy.post("/v1/chat/completions", "", "no json");
    assert!(head.starts_with("http/1.1 400") && body.contains("no JSON object"), "{head} {body}");
    let (head, _) = proxy.post("/v1/files", "", "{}");
    assert!(head.starts_with("http/1.1 404"), "{head}");
    assert_eq!(proxy.kept(&home).rollouts(9).unwrap(), []);
}

#[test]
fn pages_and_other_machines_do_not_reach_the_proxy() {
    let (home, server) = (Home::new(), Endpoint::new(able));
    let proxy = Proxy::start(&home, &server.url(), &[]);
    for headers in
        ["origin: https://page.example\r\n", "origin: null\r\n", "host: rebound.example\r\n"]
    {
        let (head, _) = proxy.post("/v1/chat/completions", headers, "{}");
        assert!(head.starts_with("http/1.1 403"), "{headers}{head}");
    }
    assert!(server.seen().is_empty());
    proxy.kept(&home);
    let output = run(&home, &server.url(), "proxy --listen 0.0.0.0:0");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no address of loopback"),
        "{output:?}"
    );
}
