//! Jobs over MCP: work that outlives the call that asked for it, and the server, too.

use crate::cases::Home;
use crate::mcp::{Client, sandboxes};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Reached only when something hangs.
const PATIENCE: Duration = Duration::from_mins(2);

/// A repository whose one test never ends.
fn endless() -> Home {
    let home = Home::new();
    home.write("repo/shop.py", "def price(n):\n    return n * 3\n");
    let test = "import signal\nimport unittest\n\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_price(self):\n        \
                self.assertEqual(shop.price(2), 6)\n        signal.pause()\n";
    home.write("repo/tests/test_shop.py", test);
    home
}

fn ledger() -> Home {
    let home = Home::new();
    home.copy_example("ledger");
    home
}

/// Calls a tool and gives the structured half of its answer.
#[track_caller]
pub(crate) fn answer(client: &mut Client<'_>, tool: &str, arguments: &Value) -> Value {
    let mut result = client.tool(tool, arguments);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].take()
}

/// Waits for a job until it has ended.
#[track_caller]
pub(crate) fn ended(client: &mut Client<'_>, job: &str) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let told = answer(client, "job", &json!({ "job": job, "wait_s": 20 }));
        if told["state"] != "running" {
            return told;
        }
        assert!(Instant::now() < until, "{told}");
    }
}

#[test]
fn long_work_answers_with_a_job_at_once_and_with_its_answer_when_it_is_waited_for() {
    let home = ledger();
    let mut client = Client::ready(&home);
    let call = json!({ "seed": 3, "strategy": "direct" });
    let begun = answer(&mut client, "inject_bug", &call);
    assert_eq!((&begun["state"], &begun["result"]), (&json!("running"), &Value::Null), "{begun}");
    let job = begun["job"].as_str().unwrap().to_owned();
    assert!(job.len() == 32 && begun["next"].as_str().unwrap().contains(&job), "{begun}");
    // The same call while it runs is the same job; the order of its arguments is nothing.
    let again = answer(&mut client, "inject_bug", &json!({ "strategy": "direct", "seed": 3 }));
    assert_eq!(again["job"], begun["job"]);
    let other = answer(&mut client, "inject_bug", &json!({ "strategy": "direct", "seed": 4 }));
    assert_ne!(other["job"], begun["job"]);
    let done = ended(&mut client, &job);
    assert_eq!((&done["state"], &done["tool"]), (&json!("done"), &json!("inject_bug")), "{done}");
    assert_eq!((&done["result"]["valid"], &done["result"]["seed"]), (&json!(true), &json!(3)));
    let listed = answer(&mut client, "job", &json!({ "action": "list" }));
    assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(2), "{listed}");
    ended(&mut client, other["job"].as_str().unwrap());
    drop(client);
    // A server of later, and one beside it, know the answer.
    let told = answer(&mut Client::ready(&home), "job", &json!({ "job": job, "action": "status" }));
    assert_eq!(told["result"], done["result"]);
}

#[test]
fn whoever_waits_is_told_how_far_it_is() {
    let home = ledger();
    let mut client = Client::ready(&home);
    let arguments = json!({ "seed": 3, "strategy": "direct", "wait_s": 50 });
    let params =
        json!({ "name": "inject_bug", "arguments": arguments, "_meta": { "progressToken": 7 } });
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
    client.send(&call.to_string());
    let mut told = Vec::new();
    let answer = loop {
        let message = client.receive();
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["params"]["progressToken"], 7, "{message}");
        told.push(message["params"]["message"].as_str().unwrap().to_owned());
    };
    assert_eq!(answer["result"]["structuredContent"]["state"], "done", "{answer}");
    assert!(told.iter().any(|text| text == "every check passed"), "{told:?}");
}

#[test]
fn what_is_wrong_with_a_call_is_its_answer_and_no_job() {
    let home = ledger();
    let mut client = Client::ready(&home);
    for (arguments, reason) in [
        (json!({ "strategy": "nonsense" }), "nonsense"),
        (json!({ "wait_s": "long" }), "wait_s"),
        (json!({ "repo": "nowhere" }), "nowhere"),
        (json!({ "framework": "nonsense" }), "nonsense"),
    ] {
        let result = client.tool("inject_bug", &arguments);
        let text = result["content"][0]["text"].as_str().unwrap();
        if result["isError"] == true {
            assert!(text.contains(reason), "{text}");
        } else {
            // It takes a look at the repository to know.
            let job = result["structuredContent"]["job"].as_str().unwrap();
            let failed = ended(&mut client, job);
            assert_eq!(failed["state"], "failed", "{failed}");
            assert!(failed["error"].as_str().unwrap().contains(reason), "{failed}");
        }
    }
    for arguments in [json!({}), json!({ "job": "00" }), json!({ "job": "x", "action": "cancel" })]
    {
        assert_eq!(client.tool("job", &arguments)["isError"], true, "{arguments}");
    }
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_cancelled_job_ends_with_all_that_runs_for_it() {
    let home = endless();
    let mut client = Client::ready(&home);
    let job = answer(&mut client, "inject_bug", &json!({}))["job"].take();
    let server = client.child.id();
    until("nothing was started", || !sandboxes(server).is_empty());
    let told = answer(&mut client, "job", &json!({ "job": job, "action": "cancel" }));
    assert_eq!((&told["state"], &told["result"]), (&json!("cancelled"), &Value::Null), "{told}");
    until("the run goes on", || sandboxes(server).is_empty());
    // Another one of the same call may begin now; whoever waits and gives up ends it.
    let waits = json!({ "name": "inject_bug", "arguments": { "wait_s": 50 } });
    let call = json!({ "jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": waits });
    client.send(&call.to_string());
    until("nothing was started", || !sandboxes(server).is_empty());
    let cancel = json!({ "requestId": "w", "reason": "enough" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    client.send(&cancel.to_string());
    until("the run goes on", || sandboxes(server).is_empty());
    // The end is kept a moment after the last process is gone.
    until("the job's end is not kept", || {
        let listed = answer(&mut client, "job", &json!({ "action": "list" }));
        let jobs = listed["jobs"].as_array().unwrap();
        jobs.len() == 2 && jobs.iter().all(|job| job["state"] == "cancelled")
    });
}

#[test]
fn a_job_of_a_server_that_was_killed_begins_again_and_comes_out_the_same() {
    let home = ledger();
    let call = json!({ "seed": 3, "strategy": "direct" });
    let whole = {
        let elsewhere = ledger();
        let mut client = Client::ready(&elsewhere);
        let job = answer(&mut client, "inject_bug", &call)["job"].take();
        ended(&mut client, job.as_str().unwrap())
    };
    let mut client = Client::ready(&home);
    let job = answer(&mut client, "inject_bug", &call)["job"].take();
    let server = client.child.id();
    until("nothing was started", || !sandboxes(server).is_empty());
    client.kill();
    let mut client = Client::ready(&home);
    let job = job.as_str().unwrap();
    let told = answer(&mut client, "job", &json!({ "job": job, "action": "status" }));
    assert_eq!(told["state"], "interrupted", "{told}");
    let done = ended(&mut client, job);
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(done["result"]["artifact"], whole["result"]["artifact"]);
}

#[test]
fn a_second_server_sees_the_jobs_of_the_first_and_no_other_repository_does() {
    let home = endless();
    home.write("other/a.py", "");
    let mut first = Client::ready(&home);
    let job = answer(&mut first, "inject_bug", &json!({}))["job"].take();
    let mut second = Client::ready(&home);
    let there = json!({ "job": job, "action": "status" });
    assert_eq!(answer(&mut second, "job", &there)["state"], "running");
    // The same call there begins nothing beside it.
    assert_eq!(answer(&mut second, "inject_bug", &json!({}))["job"], job);
    let elsewhere = json!({ "job": job, "repo": home.root().join("other") });
    let refused = second.tool("job", &elsewhere);
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("no job"), "{refused}");
    answer(&mut first, "job", &json!({ "job": job, "action": "cancel" }));
    assert_eq!(answer(&mut second, "job", &there)["state"], "cancelled");
}

#[test]
fn what_is_kept_is_there_as_resources_and_completed() {
    let home = ledger();
    let mut client = Client::ready(&home);
    let call = json!({ "seed": 3, "strategy": "direct", "wait_s": 50 });
    let done = answer(&mut client, "inject_bug", &call);
    let id = done["result"]["artifact"].as_str().unwrap();
    let listed = client.call("resources/list", &json!({}))["result"]["resources"].take();
    let uris: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["ssr-mcp://rounds.csv", &format!("ssr-mcp://artifact/{id}")]);
    let templates = client.call("resources/templates/list", &json!({}));
    assert!(templates["result"]["resourceTemplates"].to_string().contains("artifact/{id}/{part}"));
    let mut read = |path: &str| {
        let answer = client.call("resources/read", &json!({ "uri": format!("ssr-mcp://{path}") }));
        answer["result"]["contents"][0]["text"].as_str().map(str::to_owned).ok_or(answer)
    };
    assert!(read("rounds.csv").unwrap().starts_with("step,inject_r"));
    let part = read(&format!("artifact/{id}/test_files.txt")).unwrap();
    assert_eq!(part, "tests/test_budget.py\n");
    let whole: Value = serde_json::from_str(&read(&format!("artifact/{id}")).unwrap()).unwrap();
    assert_eq!(whole["test_files.txt"], part);
    let report: Value = serde_json::from_str(&read(&format!("report/{id}")).unwrap()).unwrap();
    assert_eq!(report["valid"], true);
    let job = done["job"].as_str().unwrap();
    let told: Value = serde_json::from_str(&read(&format!("job/{job}")).unwrap()).unwrap();
    assert_eq!(told["result"]["artifact"], id);
    for path in ["artifact/00000000", "artifact/../../../etc/passwd", "nothing"] {
        let refused = read(path).unwrap_err();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let reference = json!({ "type": "ref/prompt", "name": "solve" });
    let argument = json!({ "name": "artifact", "value": &id[..6] });
    let completed =
        client.call("completion/complete", &json!({ "ref": reference, "argument": argument }));
    assert_eq!(completed["result"]["completion"]["values"], json!([id]), "{completed}");
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let home = Home::new();
    let mut client = Client::ready(&home);
    let listed = client.call("prompts/list", &json!({}));
    let names: Vec<&Value> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| &prompt["name"])
        .collect();
    assert_eq!(names, ["inject", "solve", "practise", "missing_tests"]);
    let arguments = json!({ "artifact": "0123abcd" });
    let prompt = client.call("prompts/get", &json!({ "name": "solve", "arguments": arguments }));
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("artifact_id = 0123abcd"), "{text}");
    let refused = client.call("prompts/get", &json!({ "name": "solve" }));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[test]
fn a_server_offers_the_groups_of_tools_that_it_is_asked_for() {
    let home = Home::new();
    let names = |arguments: &[&str]| -> Vec<String> {
        let mut client = Client::with(&home, arguments);
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                            "clientInfo": { "name": "test", "version": "0" } });
        client.call("initialize", &hello);
        let listed = client.call("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["mcp"]).len(), 25);
    let practice = [
        "practice_start",
        "practice_status",
        "practice_run",
        "practice_check",
        "practice_hint",
        "practice_reveal",
        "wrong_book",
        "replay_bug",
        "unnoticed_edits",
        "apply",
        "job",
    ];
    assert_eq!(names(&["mcp", "--tools", "practice"]), practice);
    let both = names(&["mcp", "--tools", "core,play"]);
    assert!(both.len() == 15 && !both.iter().any(|name| name == "apply"), "{both:?}");
    let output = home.binary().args(["mcp", "--tools", "everything"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    // What is not offered is not there.
    let mut client = Client::with(&home, &["mcp", "--tools", "core"]);
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                        "clientInfo": { "name": "test", "version": "0" } });
    client.call("initialize", &hello);
    let called =
        client.call("tools/call", &json!({ "name": "apply", "arguments": { "patch": "" } }));
    assert_eq!(called["error"]["code"], -32602, "{called}");
}
