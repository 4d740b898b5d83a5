//! What a turn with a model costs on our side, and what each of many attempts at once takes of memory.
//!
//! `cargo bench --bench model_turns -- [TURNS] [ATTEMPTS]`, e.g. `cargo bench --bench model_turns -- 120 200`.
//!
//! A server in this process answers over HTTP at once, so that a turn is all ours: the request of the whole conversation
//! written, sent and read, the reply read, kept, recorded, and answered. Turns that call for nothing are measured, and
//! turns that run `true`, beside what such a command takes in a sandbox by itself. The first turn, which opens the
//! sandbox, is left out. Then ATTEMPTS attempts are held in the midst of their sessions, all at once, each with
//! its sandbox open: memory of this process (the server's threads included), and of the processes of the sandboxes.

#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures and reads the environment that it is run in"
)]

use anyhow::Context as _;
use endpoint::{Endpoint, Say, Seen};
use serde_json::{Value, json};
use ssr_mcp::agent::{Bounds, Budget, Gate, Limits, Meter, Player, Role, Scene, Seat, Stage, Who};
use ssr_mcp::artifact::Artifact;
use ssr_mcp::diff::Patch;
use ssr_mcp::harness::Harness;
use ssr_mcp::model::{BaseUrl, Chat, Client, Kind, Provider, Recording, Sampling, Settings};
use ssr_mcp::sandbox::Cancel;
use ssr_mcp::solver::{Attempt, ByModel, Request, solve_by_model};
use ssr_mcp::store::Store;
use ssr_mcp::tree::{Changes, File, Overlaid, RelPath, Tree};
use ssr_mcp::workspace::Workspace;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[path = "../tests/it/endpoint.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "it is a test's, and can answer in more ways")]
mod endpoint;
#[path = "common/open.rs"]
mod open;

const CODE: &str = "ledger/money.py";
const TESTS: &str = "tests/test_money.py";
const RIGHT: &str = "self.cents - other.cents, self.currency";
const WRONG: &str = "other.cents - self.cents, self.currency";
const ASSERTION: &str = "        self.assertEqual(Money(150) - Money(275), Money(-125))\n";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let number = |at: usize, default: usize| arguments.get(at).map_or(Ok(default), |n| n.parse());
    let (turns, attempts) = (number(0, 120)?, number(1, 200)?);
    let scratch = std::env::temp_dir().join(format!("ssr-mcp-bench-{}", std::process::id()));
    let result = measure(&scratch, turns, attempts);
    std::fs::remove_dir_all(&scratch).ok();
    result
}

fn measure(scratch: &Path, turns: usize, attempts: usize) -> anyhow::Result<()> {
    let repo = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ledger");
    let (harness, _) = open::open(&repo, scratch)?;
    let workspace = Workspace::open(&repo, scratch)?;
    let stage = Stage { harness: &harness, workspace: &workspace };
    let artifact = bug(&harness)?;
    harness.baseline()?;
    let nothing =
        turn(stage, &artifact, turns, "a call for nothing", "bash", &json!({ "command": 5 }))?;
    println!("a turn that calls for nothing: {nothing}");
    let command = command(stage, turns)?;
    let run = turn(stage, &artifact, turns, "a command", "bash", &json!({ "command": "true" }))?;
    println!("a turn that runs `true`: {run}");
    println!("`true` in a sandbox by itself, and the tree read after it: {command}");
    many(stage, &artifact, attempts)
}

/// Seconds.
struct Times {
    median: f64,
    least: f64,
    most: f64,
}

impl Times {
    fn of(mut times: Vec<f64>) -> anyhow::Result<Self> {
        times.sort_by(f64::total_cmp);
        let median = *times.get(times.len() / 2).context("nothing was measured")?;
        Ok(Self { median, least: times[0], most: times[times.len() - 1] })
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { median, least, most } = self;
        write!(f, "median {:.2} ms ({:.2} to {:.2})", median * 1e3, least * 1e3, most * 1e3)
    }
}

/// The times between one request's arrival at the server and the next one's.
fn turn(
    stage: Stage<'_>,
    artifact: &Artifact,
    turns: usize,
    run: &str,
    tool: &'static str,
    arguments: &Value,
) -> anyhow::Result<Times> {
    let came = Arc::new(Mutex::new(Vec::new()));
    let (noted, arguments) = (came.clone(), arguments.clone());
    let server = Endpoint::new(move |_: &Seen| {
        noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(Instant::now());
        calls(tool, &arguments)
    });
    let limits = Limits {
        turns: u32::try_from(turns)?,
        malformed: u32::try_from(turns + 1)?,
        ..Limits::default()
    };
    attempt(stage, artifact, &seat(stage, &server, limits, 1)?, run, 1)?;
    let came = came.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    anyhow::ensure!(came.len() == turns, "{} requests came", came.len());
    Times::of(came.windows(2).skip(1).map(|two| (two[1] - two[0]).as_secs_f64()).collect())
}

/// A command in a sandbox, without a model, and what it changed.
fn command(stage: Stage<'_>, times: usize) -> anyhow::Result<Times> {
    let scene = Scene { task: None, changes: Changes::new(), files: Vec::new(), shell: Vec::new() };
    let mut room = stage.open(scene)?;
    let mut took = Vec::new();
    for _ in 0..times {
        let begun = Instant::now();
        let ran = room.command("true", Duration::from_mins(1), &Cancel::new())?;
        anyhow::ensure!(ran.is_ok(), "{ran:?}");
        room.changes()?;
        took.push(begun.elapsed().as_secs_f64());
    }
    Times::of(took.split_off(1))
}

fn many(stage: Stage<'_>, artifact: &Artifact, attempts: usize) -> anyhow::Result<()> {
    let there = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(Mutex::new((0, 0)));
    let (counted, seen) = (there.clone(), most.clone());
    let server = Endpoint::new(move |request: &Seen| {
        let asked = request.json();
        let messages = asked["messages"].as_array().cloned().unwrap_or_default();
        match messages.iter().filter(|message| message["role"] == "assistant").count() {
            0 => calls("edit", &json!({ "path": CODE, "search": WRONG, "replace": RIGHT })),
            1 => {
                // All are in the midst of their sessions here.
                if counted.fetch_add(1, Ordering::SeqCst) + 1 == attempts {
                    let memory = (resident("self").unwrap_or(0), sandboxes());
                    *seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = memory;
                    counted.fetch_add(1, Ordering::SeqCst);
                }
                while counted.load(Ordering::SeqCst) <= attempts {
                    std::thread::sleep(Duration::from_millis(20));
                }
                calls("submit", &json!({}))
            }
            _ => said(&json!({ "role": "assistant", "content": "Done." })),
        }
    });
    let seat = seat(stage, &server, Limits::default(), attempts)?;
    let before = (resident("self")?, sandboxes());
    let begun = Instant::now();
    let made = attempt(stage, artifact, &seat, "many", attempts)?;
    let wall = begun.elapsed();
    let solved = made.iter().filter(|attempt| attempt.solved).count();
    anyhow::ensure!(solved == attempts, "{solved} of {attempts} repaired it");
    let after = *most.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let each =
        |after: u64, before: u64| after.saturating_sub(before) as f64 / 1e6 / attempts as f64;
    println!(
        "{attempts} attempts at once, {:.1} s: {:.2} MB of this process each, {:.2} MB of the sandbox's processes each",
        wall.as_secs_f64(),
        each(after.0, before.0),
        each(after.1, before.1),
    );
    Ok(())
}

fn attempt(
    stage: Stage<'_>,
    artifact: &Artifact,
    seat: &Seat,
    run: &str,
    attempts: usize,
) -> anyhow::Result<Vec<Attempt>> {
    let who = Who {
        run: run.to_owned(),
        step: 1,
        item: 0,
        role: Role::Solver,
        phase: "solve",
        attempt: 0,
        artifact: None,
        now: 1,
    };
    let request = Request { attempts, seed: 7, runs: None, parallel: attempts };
    let by = ByModel { stage, seat, who: &who, hidden: 0.0 };
    Ok(solve_by_model(artifact, &request, &by)?)
}

fn seat(
    stage: Stage<'_>,
    server: &Endpoint,
    limits: Limits,
    at_once: usize,
) -> anyhow::Result<Seat> {
    let provider = Provider::new("bench", Kind::Other, BaseUrl::of(&server.url(), false)?);
    let known = Settings { native_tools: Some(true), context: Some(10_000_000) };
    let client = Client::new(provider, "scripted", known, 1)?;
    let recording = Arc::new(Recording::new(Arc::new(Store::open(&stage.workspace.state)?), || 1));
    let recorder = {
        let client = client.clone();
        move |rollout| -> Arc<dyn Chat> { Arc::new(client.recorded(recording.clone(), rollout)) }
    };
    let player = Player {
        chat: Arc::new(client),
        sampling: Sampling { temperature: 0.2, top_p: None, max_tokens: 1000, seed: None },
        limits,
        price: None,
        instructions: None,
        recorder: Some(Arc::new(recorder)),
    };
    Ok(Seat {
        player,
        bounds: Arc::new(Bounds {
            meter: Meter::new(Budget::default()),
            sessions: Gate::new(at_once),
            commands: Gate::new(2),
        }),
    })
}

/// A difference that is taken the wrong way round, hidden by an assertion less.
fn bug(harness: &Harness) -> anyhow::Result<Artifact> {
    let base = harness.base();
    let path = |text: &str| {
        RelPath::parse(text.as_bytes()).map_err(|refusal| anyhow::anyhow!("{refusal}"))
    };
    let edit = |path: &RelPath, old: &str, new: &str| {
        let file = base.read(path).context("it is not there")?;
        let text = String::from_utf8(file.bytes.to_vec())?;
        let mut changes = Changes::new();
        changes.write(
            path.clone(),
            File { bytes: text.replace(old, new).into_bytes().into(), ..file },
        );
        anyhow::Ok(changes)
    };
    let bug = edit(&path(CODE)?, RIGHT, WRONG)?;
    let weakened = edit(&path(TESTS)?, ASSERTION, "")?;
    let below = Overlaid { base, changes: &bug };
    let runner = harness.runner();
    let parts = [
        ("bug_inject.diff", Patch::between(base, &bug).to_bytes()),
        ("test_weaken.diff", Patch::between(&below, &weakened).to_bytes()),
        ("test_script.sh", runner.script(&[path(TESTS)?], &[])),
        ("test_parser.py", runner.parser()),
        ("test_files.txt", TESTS.as_bytes().to_vec()),
    ];
    let parts = parts.map(|(name, bytes)| (name.to_owned(), bytes)).into();
    Artifact::from_files(&parts).map_err(|malformed| anyhow::anyhow!("{malformed}"))
}

fn calls(name: &str, arguments: &Value) -> Say {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    said(&json!({
        "role": "assistant",
        "content": null,
        "tool_calls": [{ "id": "a", "type": "function", "function": function }],
    }))
}

fn said(message: &Value) -> Say {
    Say::Json(
        200,
        json!({
            "id": "x",
            "model": "scripted",
            "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 1000, "completion_tokens": 100 },
        }),
    )
}

/// Bytes that a process holds and shares with nobody, its part of what it shares included.
fn resident(process: &str) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let line = text.lines().find(|line| line.starts_with("Pss:")).context("no Pss")?;
    let kilobytes: u64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    Ok(kilobytes * 1024)
}

/// The same of all processes below this one.
fn sandboxes() -> u64 {
    let parent = |id: &str| {
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let ids = ids.iter().filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    let parents: std::collections::BTreeMap<u32, u32> =
        ids.filter_map(|id| Some((id.parse().ok()?, parent(id)?))).collect();
    let ours = |mut id: u32| {
        while let Some(above) = parents.get(&id) {
            if *above == std::process::id() {
                return true;
            }
            id = *above;
        }
        false
    };
    let below = parents.keys().filter(|id| ours(**id));
    below.filter_map(|id| resident(&id.to_string()).ok()).sum()
}
