//! Rounds a minute by models, beside the loop that short scripts write (`peers/selfplay_loop.py` says what it stands
//! for): both ask the same scripted server and play on the same repository, one attempt a bug.
//!
//! `cargo bench --bench model_rounds -- [SECONDS,…] [BUGS] [BOLTONS]`, e.g.
//! `cargo bench --bench model_rounds -- 0,2,4 32`.
//!
//! SECONDS is how long the server takes for a reply: nothing, or what a model takes. BUGS is how many we play, in
//! rounds of up to 32; the peer plays a quarter of them, for each of its rounds is like the one before. Repositories:
//! `examples/ledger`, and boltons where its directory is given (pytest from `VIRTUAL_ENV`). Each bug is another one.
//!
//! A round of ours is nine checks, each attempt in a tree of its own by an agent's loop of three replies, and a grade;
//! one of the peer's is two runs of the whole suite. `own` is CPU time of our process, `checks` that of the tests that
//! the checks ran (attempts and grades are not in it), `endpoint` what the server took, all a bug.

#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures and reads the environment that it is run in"
)]

use anyhow::Context as _;
use endpoint::{Endpoint, Say, Seen};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[path = "../tests/it/endpoint.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "it is a test's, and can answer in more ways")]
mod endpoint;

/// Most bugs of one round of ours.
const BATCH: usize = 32;
/// How the peer reads what its script prints: a line a test, in each framework.
const PARSER: &str = "import json, re, sys\nfound = {}\nfor line in sys.stdin:\n    \
    m = re.match(r'(\\S+) \\((\\S+)\\).* \\.\\.\\. (ok|FAIL|ERROR)', line)\n    \
    n = re.match(r'(PASSED|FAILED|ERROR) (\\S+)', line)\n    \
    if m:\n        found[m[2] + '.' + m[1]] = m[3] == 'ok'\n    \
    elif n:\n        found[n[2]] = n[1] == 'PASSED'\nprint(json.dumps(found))\n";

/// A repository, and a bug that there are as many of as there are numbers.
struct Case {
    name: &'static str,
    repo: PathBuf,
    code: &'static str,
    /// A line that the file has once, and the bug of it by number; what a solver runs to undo any of them.
    right: &'static str,
    wrong: fn(usize) -> String,
    undo: &'static str,
    tests: &'static str,
    /// Lines beside each other that notice it.
    assertions: &'static str,
    script: &'static str,
}

fn cases(boltons: Option<&String>) -> Vec<Case> {
    let ledger = Case {
        name: "examples/ledger",
        repo: Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ledger"),
        code: "ledger/money.py",
        right: "        return Money(self.cents - other.cents, self.currency)\n",
        wrong: |n| format!("        return Money(self.cents - other.cents - {n}, self.currency)\n"),
        undo: "sed -i 's/other.cents - [0-9]*,/other.cents,/' ledger/money.py",
        tests: "tests/test_money.py",
        assertions: "        self.assertEqual(Money(150) - Money(275), Money(-125))\n",
        script: "python3 -m unittest -v 2>&1\n",
    };
    let boltons = boltons.map(|repo| Case {
        name: "boltons",
        repo: PathBuf::from(repo),
        code: "boltons/mathutils.py",
        right: "    return min(max(x, lower), upper)\n",
        wrong: |n| format!("    return min(max(x, lower), upper) + {n}\n"),
        undo: "sed -i 's/upper) + [0-9]*$/upper)/' boltons/mathutils.py",
        tests: "tests/test_mathutils.py",
        assertions: "    assert clamp(0) == 0\n    assert clamp(1) == 1\n    assert clamp(10**100) == 10**100\n",
        script: "python3 -m pytest -rA -q -p no:cacheprovider 2>&1\n",
    });
    std::iter::once(ledger).chain(boltons).collect()
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let seconds = arguments.first().map_or("0,1,4", String::as_str);
    let seconds: Vec<f64> = seconds.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let bugs = arguments.get(1).map_or(Ok(BATCH), |number| number.parse())?;
    println!(
        "{:16} {:>7} {:>12} {:>10} {:>7}   CPU seconds a bug: own, checks; endpoint | the peer's own, tests; endpoint",
        "repository", "a reply", "ours", "the peer", "times"
    );
    for case in cases(arguments.get(2)) {
        for latency in &seconds {
            let latency = Duration::from_secs_f64(*latency);
            let ours = ours(&case, latency, bugs)?;
            let peer = peer(&case, latency, (bugs / 4).max(4))?;
            println!(
                "{:16} {:>5.1} s {:>8.1}/min {:>6.1}/min {:>7.2}   {:.3}, {:.3}; {:.2} | {:.3}, {:.3}; {:.2}",
                case.name,
                latency.as_secs_f64(),
                ours.a_minute(),
                peer.a_minute(),
                ours.a_minute() / peer.a_minute(),
                ours.own / ours.bugs,
                ours.tests / ours.bugs,
                ours.endpoint / ours.bugs,
                peer.own / peer.bugs,
                peer.tests / peer.bugs,
                peer.endpoint / peer.bugs,
            );
        }
    }
    Ok(())
}

/// What so many bugs took, seconds.
struct Took {
    bugs: f64,
    wall: f64,
    own: f64,
    tests: f64,
    endpoint: f64,
}

impl Took {
    fn a_minute(&self) -> f64 {
        self.bugs * 60.0 / self.wall
    }
}

/// Both roles, for both loops. Which bug it is the nth time is the same.
fn serve(case: &Case, latency: Duration) -> anyhow::Result<Endpoint> {
    let read =
        |path: &str| std::fs::read_to_string(case.repo.join(path)).with_context(|| path.to_owned());
    let (code, tests) = (read(case.code)?, read(case.tests)?);
    let (right, wrong, undo) = (case.right, case.wrong, case.undo);
    let at = line(&code, right)?;
    let weakening = diff(case.tests, line(&tests, case.assertions)?, case.assertions, "");
    let (path, script) = (case.code, case.script);
    let (made, repaired) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Ok(Endpoint::new(move |seen: &Seen| {
        let asked = seen.json();
        let messages = asked["messages"].as_array().cloned().unwrap_or_default();
        let ours =
            messages.first().is_some_and(|first| first["content"].to_string().contains("sandbox"));
        let model = asked["model"].as_str().unwrap_or_default();
        if seen.path.ends_with("/models") {
            return Say::Json(200, json!({ "data": [{ "id": "injector" }, { "id": "solver" }] }));
        }
        if !ours && !model.starts_with("peer") {
            return whether_tools(&asked);
        }
        if !latency.is_zero() {
            std::thread::sleep(latency);
        }
        let replies = messages.iter().filter(|message| message["role"] == "assistant").count();
        let artifact = |n: usize, whole: bool| {
            let mut files = json!({
                "bug_inject.diff": diff(path, at, right, &wrong(n)),
                "test_weaken.diff": weakening,
            });
            if whole {
                files["test_script.sh"] = json!(script);
                files["test_parser.py"] = json!(PARSER);
                files["test_files.txt"] = json!("");
            }
            said(&json!({ "role": "assistant", "content": files.to_string() }))
        };
        match (model, replies) {
            ("injector", _) => artifact(made.fetch_add(1, Ordering::SeqCst) + 1, false),
            ("solver", 0) => calls("bash", &json!({ "command": undo })),
            ("solver", 1) => calls("submit", &json!({})),
            ("peer-injector", _) => artifact(made.fetch_add(1, Ordering::SeqCst) + 1, true),
            ("peer-solver", _) => {
                let n = repaired.fetch_add(1, Ordering::SeqCst) + 1;
                said(&json!({ "role": "assistant", "content": diff(path, at, &wrong(n), right) }))
            }
            _ => said(&json!({ "role": "assistant", "content": "Done." })),
        }
    }))
}

/// The number of the line, from 1, that a text stands on once.
fn line(text: &str, wanted: &str) -> anyhow::Result<usize> {
    let at = text.find(wanted).with_context(|| format!("{wanted:?} is not there"))?;
    Ok(text[..at].lines().count() + 1)
}

fn diff(path: &str, at: usize, old: &str, new: &str) -> String {
    let lines = |text: &str, mark: &'static str| -> String {
        text.lines().flat_map(|line| [mark, line, "\n"]).collect::<String>()
    };
    let counts = [old.lines().count(), new.lines().count()];
    format!(
        "--- a/{path}\n+++ b/{path}\n@@ -{at},{} +{at},{} @@\n{}{}",
        counts[0],
        counts[1],
        lines(old, "-"),
        lines(new, "+")
    )
}

/// Answers our question whether tools are taken.
fn whether_tools(asked: &Value) -> Say {
    let name = asked["tools"][0]["function"]["name"].as_str().unwrap_or("echo");
    calls(name, &json!({ "text": "hello" }))
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

/// Our binary plays `bugs`, from an empty state directory; the baseline is told before, by a round that is not counted.
fn ours(case: &Case, latency: Duration, bugs: usize) -> anyhow::Result<Took> {
    let scratch = std::env::temp_dir().join(format!("ssr-mcp-bench-{}", std::process::id()));
    std::fs::remove_dir_all(&scratch).ok();
    let server = serve(case, latency)?;
    let play = |rounds: usize, batch: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssr-mcp"));
        command
            .env("TAOTOKEN_API_KEY", "sk-0123456789abcdef")
            .env("TAOTOKEN_BASE_URL", server.url())
            .arg("--state-dir")
            .arg(&scratch)
            .arg("play")
            .arg(&case.repo)
            .args([
                "--injector",
                "injector",
                "--solver",
                "solver",
                "--style",
                "files",
                "--strategy",
                "direct",
            ])
            .args([
                "--attempts",
                "1",
                "--second-order",
                "0",
                "--json",
                "--seed",
                "1",
                "--target",
                case.code,
            ])
            .args(["--rounds", &rounds.to_string(), "--batch", &batch.to_string()])
            .args(["--concurrency", &batch.max(2).to_string(), "--new"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let first = play(1, 1).output()?;
    anyhow::ensure!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let batch = bugs.clamp(1, BATCH);
    let asked = server.seen().len();
    let begun = Instant::now();
    let child = play(bugs.div_ceil(batch), batch).spawn()?;
    let id = child.id();
    let reader = std::thread::spawn(move || child.wait_with_output());
    let mut own = 0.0;
    while !reader.is_finished() {
        own = of_process(id).unwrap_or(own);
        std::thread::sleep(Duration::from_millis(10));
    }
    let wall = begun.elapsed().as_secs_f64();
    let output = reader.join().map_err(|_| anyhow::anyhow!("the reader is gone"))??;
    let text = String::from_utf8_lossy(&output.stdout);
    let rounds: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let solved =
        rounds.iter().filter(|bug| bug["valid"] == true && bug["solve_rate"] == 1.0).count();
    anyhow::ensure!(
        solved == bugs.div_ceil(batch) * batch,
        "{solved} solved: {text} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let replies = (server.seen().len() - asked) as f64;
    std::fs::remove_dir_all(&scratch).ok();
    Ok(Took {
        bugs: rounds.len() as f64,
        wall,
        own,
        tests: rounds.iter().filter_map(|bug| bug["cpu_seconds"].as_f64()).sum(),
        endpoint: replies * latency.as_secs_f64(),
    })
}

fn peer(case: &Case, latency: Duration, bugs: usize) -> anyhow::Result<Took> {
    let server = serve(case, latency)?;
    let csv = std::env::temp_dir().join(format!("ssr-mcp-bench-{}.csv", std::process::id()));
    let python = std::env::var_os("VIRTUAL_ENV").map(|venv| PathBuf::from(venv).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(python.into_iter().chain(std::env::split_paths(&path)))?;
    let begun = Instant::now();
    let output = Command::new("python3")
        .env("PATH", path)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/selfplay_loop.py"))
        .arg(server.url())
        .arg(&case.repo)
        .arg(bugs.to_string())
        .arg(&csv)
        .output()?;
    let wall = begun.elapsed().as_secs_f64();
    std::fs::remove_file(&csv).ok();
    let told: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    anyhow::ensure!(told["failed"] == 0, "{told}");
    let number = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
    Ok(Took {
        bugs: bugs as f64,
        wall,
        own: number("own_cpu"),
        tests: number("test_cpu"),
        endpoint: server.seen().len() as f64 * latency.as_secs_f64(),
    })
}

/// User and system time of a process, seconds: fields behind its name, in hundredths.
fn of_process(id: u32) -> anyhow::Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    let rest = text.rsplit_once(')').context("no name")?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field =
        |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).context("no field");
    Ok((field(11)? + field(12)?) / 100.0)
}
