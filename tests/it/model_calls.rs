//! Models in `solve` and `inject` by every face, and that the key shows in none of them.

use crate::agent_http::{of_ours, said};
use crate::cases::Home;
use crate::endpoint::{Endpoint, Say, Seen, completion};
use crate::lsp::client::{Editor, everything};
use crate::mcp::Client;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

const KEY: &str = "sk-0123456789abcdef-TAIL0123";

/// The ledger, and a user whose own file names the server's models for both roles.
fn configured(server: &Endpoint) -> Home {
    let home = Home::new();
    home.copy_example("ledger");
    home.write("home/key", &format!("{KEY}\n"));
    let key = home.root().join("home/key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let text = format!(
        "[providers.near]\nbase_url = \"{}\"\napi_key_file = \"{}\"\ntries = 1\n\
         [roles.injector]\nmodel = \"one@near\"\n[roles.solver]\nmodel = \"other@near\"\n",
        server.url(),
        key.display()
    );
    home.write("home/.config/ssr-mcp/ssr-mcp.toml", &text);
    home
}

fn run(home: &Home, arguments: &str) -> Output {
    let arguments = arguments.split_whitespace();
    home.binary().args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn answer(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{output:?}"))
}

/// What asks of our prompts, not to find out what the server can do.
fn asked(server: &Endpoint) -> usize {
    server.seen().iter().filter(|seen| of_ours(seen)).count()
}

#[track_caller]
fn no_key_in(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    for part in [KEY, "0123456789abcdef", "TAIL0123"] {
        assert!(!text.contains(part), "a key is told: {text}");
    }
}

/// Nor in anything that was kept.
#[track_caller]
fn no_key_below(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => no_key_below(&path),
            kind if kind.is_file() => {
                let bytes = fs::read(&path).unwrap_or_default();
                let found = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
                assert!(!found, "a key is in {}", path.display());
            }
            _ => {}
        }
    }
}

#[track_caller]
fn nothing_kept_has_the_key(home: &Home) {
    no_key_below(&home.root().join("home/.local"));
    no_key_below(&home.root().join("tmp"));
    no_key_below(&home.root().join("repo"));
}

#[test]
fn a_model_makes_a_bug_and_another_repairs_it_on_the_command_line() {
    let server = Endpoint::new(said);
    let home = configured(&server);
    let inject = "inject . --injector configured --strategy direct --seed 3 --json";
    let output = run(&home, inject);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let made = answer(&output);
    assert_eq!((&made["injector"], &made["valid"]), (&json!("one"), &json!(true)), "{made:#}");
    assert_eq!((&made["spent"]["requests"], &made["audited"]), (&json!(4), &json!("false")));
    assert_eq!(asked(&server), 4);
    // The same call again is the same bug, and nobody is asked.
    assert_eq!(answer(&run(&home, inject))["artifact"], made["artifact"]);
    assert_eq!(asked(&server), 4);
    let id = made["artifact"].as_str().unwrap();
    let solve = format!("solve {id} --solver other@near --attempts 3 --seed 5 --concurrency 2");
    let output = run(&home, &format!("{solve} --json"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let solved = answer(&output);
    assert_eq!((&solved["solver"], &solved["solve_rate"]), (&json!("other"), &json!(1.0)));
    assert_eq!(solved["spent"]["requests"], 9);
    assert_eq!(solved["attempts"][0]["ending"], "submitted");
    assert_eq!(asked(&server), 13);
    let output = run(&home, &solve);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("other took 990 tokens in 9 requests"), "{text}");
    assert_eq!(asked(&server), 13);
    // Where nobody names one, the embedded ones play on the command line.
    let own = answer(&run(&home, &format!("solve {id} --attempts 1 --seed 1 --runs 1 --json")));
    assert_eq!((&own["solver"], &own["spent"]), (&json!("embedded"), &Value::Null));
    nothing_kept_has_the_key(&home);
}

#[test]
fn a_budget_ends_a_call_and_a_larger_one_goes_on_with_it() {
    let server = Endpoint::new(said);
    let home = configured(&server);
    let inject = "inject . --injector configured --strategy direct --seed 3 --json --budget";
    // A request is counted by all that it may come to before it is made.
    let output = run(&home, &format!("{inject} 5k"));
    assert_eq!((output.status.code(), asked(&server)), (Some(3), 0), "{output:?}");
    let output = run(&home, &format!("{inject} 1M"));
    assert_eq!(answer(&output)["valid"], true, "{output:?}");
    assert_eq!(asked(&server), 4);
}

#[test]
fn a_strategy_of_models_is_refused_without_one() {
    let home = Home::new();
    home.copy_example("ledger");
    let output = run(&home, "inject . --strategy feature");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("the strategy feature is for models"), "{text}");
}

fn call(client: &mut Client<'_>, tool: &str, arguments: &Value) -> Value {
    let mut answer = client.tool(tool, arguments);
    for _ in 0..10 {
        let job = answer["structuredContent"]["job"].as_str().map(str::to_owned);
        let Some(job) = job else { break };
        answer = client.tool("job", &json!({ "job": job, "wait_s": 50 }));
        let line = answer["structuredContent"].clone();
        if line["state"] != "running" {
            return if line["result"].is_null() { answer } else { line["result"].clone() };
        }
    }
    match &answer["structuredContent"] {
        Value::Null => answer,
        content => content.clone(),
    }
}

#[test]
fn a_calling_agent_gets_the_model_that_its_user_configured_or_the_one_that_it_names() {
    let server = Endpoint::new(said);
    let home = configured(&server);
    let mut client = Client::ready(&home);
    let arguments = json!({ "strategy": "direct", "seed": 3, "wait_s": 50 });
    let made = call(&mut client, "inject_bug", &arguments);
    assert_eq!((&made["injector"], &made["valid"]), (&json!("one"), &json!(true)), "{made:#}");
    let id = &made["artifact"];
    let arguments = json!({ "artifact_id": id, "attempts": 2, "seed": 1, "wait_s": 50 });
    let solved = call(&mut client, "solve", &arguments);
    assert_eq!((&solved["solver"], &solved["solve_rate"]), (&json!("other"), &json!(1.0)));
    let before = asked(&server);
    let named =
        json!({ "artifact_id": id, "attempts": 1, "seed": 2, "model": "embedded", "wait_s": 50 });
    let own = call(&mut client, "solve", &named);
    assert_eq!(own["solver"], "embedded", "{own:#}");
    assert_eq!(asked(&server), before);
    let named =
        json!({ "artifact_id": id, "attempts": 1, "seed": 2, "model": "third@near", "wait_s": 50 });
    assert_eq!(call(&mut client, "solve", &named)["solver"], "third");
    let little = json!({
        "artifact_id": id, "attempts": 1, "seed": 9, "budget_tokens": 10, "wait_s": 50
    });
    let refused = call(&mut client, "solve", &little).to_string();
    assert!(refused.contains("the budget of 10 tokens does not hold"), "{refused}");
    drop(client);
    nothing_kept_has_the_key(&home);
}

#[test]
fn without_a_model_of_the_users_own_everything_stays_embedded() {
    let server = Endpoint::new(said);
    let home = Home::new();
    home.copy_example("ledger");
    // A repository's own file is a stranger's.
    home.write(
        "repo/ssr-mcp.toml",
        "[roles.injector]\nmodel = \"big\"\n[roles.solver]\nmodel = \"big\"\n",
    );
    let mut client = Client::ready(&home);
    let made = call(&mut client, "inject_bug", &json!({ "seed": 3, "wait_s": 50 }));
    assert_eq!((&made["injector"], &made["spent"]), (&json!("embedded"), &Value::Null), "{made:#}");
    assert_eq!(asked(&server), 0);
}

/// The answer of a job that an editor began.
fn played(editor: &mut Editor, begun: &Value) -> Value {
    assert_eq!(begun["result"]["state"], "running", "{begun}");
    editor.message();
    let mut line = editor.execute("job", &json!({ "job": begun["result"]["job"] }));
    line["result"]["result"].take()
}

#[test]
fn an_editors_commands_play_by_the_configured_model() {
    let server = Endpoint::new(said);
    let home = configured(&server);
    let mut editor = Editor::open(&home, &everything());
    let begun = editor.execute("inject", &json!({ "strategy": "direct", "seed": 3 }));
    let made = played(&mut editor, &begun);
    assert_eq!((&made["injector"], &made["valid"]), (&json!("one"), &json!(true)), "{made:#}");
    let argument = json!({ "artifact": made["artifact"], "attempts": 1, "seed": 4 });
    let begun = editor.execute("solve", &argument);
    assert_eq!(played(&mut editor, &begun)["solver"], "other");
    let mut argument = argument;
    argument["model"] = json!("embedded");
    let begun = editor.execute("solve", &argument);
    assert_eq!(played(&mut editor, &begun)["solver"], "embedded");
    drop(editor);
    nothing_kept_has_the_key(&home);
}

/// The key as it came, in an answer of the server's.
fn repeated(seen: &Seen) -> String {
    seen.header("authorization").unwrap_or_default().trim_start_matches("Bearer ").to_owned()
}

#[test]
fn a_refusal_that_repeats_the_key_tells_it_to_nobody() {
    let server = Endpoint::new(|seen| {
        if seen.path.ends_with("/models") {
            return Say::Json(200, json!({ "data": [{ "id": "one" }, { "id": "other" }] }));
        }
        let said = format!("Incorrect API key provided: {}", repeated(seen));
        Say::Json(401, json!({ "error": { "message": said } }))
    });
    let home = configured(&server);
    for verbose in ["", "-vv"] {
        let output = run(&home, &format!("inject . --injector configured --seed 3 {verbose}"));
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("401"), "{output:?}");
        no_key_in(&[output.stdout, output.stderr].concat());
    }
    let mut client = Client::ready(&home);
    let refused = call(&mut client, "inject_bug", &json!({ "seed": 3, "wait_s": 50 }));
    assert!(refused.to_string().contains("401"), "{refused}");
    no_key_in(refused.to_string().as_bytes());
    drop(client);
    nothing_kept_has_the_key(&home);
}

#[test]
fn a_model_whose_server_repeats_the_key_as_its_words_is_kept_without_it() {
    let server = Endpoint::new(|seen| {
        let mut answer = match said(seen) {
            Say::Json(200, answer) => answer,
            _ => completion("ready"),
        };
        let key = repeated(seen);
        let message = &mut answer["choices"][0]["message"];
        if message.is_object() {
            message["content"] = json!(format!("The key is {key}."));
            message["reasoning_content"] = json!(format!("I was sent {key}"));
        }
        Say::Json(200, answer)
    });
    let home = configured(&server);
    let output = run(&home, "inject . --injector configured --strategy direct --seed 3 --json -vv");
    assert_eq!(answer(&output)["valid"], true, "{output:?}");
    no_key_in(&[output.stdout, output.stderr].concat());
    nothing_kept_has_the_key(&home);
}
