//! The tool `apply`: nothing is written to the user's tree unless a person who saw the change agreed.

use crate::cases::Home;
use crate::mcp::Client;
use serde_json::{Value, json};

const BEFORE: &str = "def price(n):\n    return n * 3\n";
const AFTER: &str = "def price(n):\n    return n * 4\n";
const PATCH: &str = "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@\n def price(n):\n-    return n * 3\n+    return n * 4\n";

fn shop() -> Home {
    let home = Home::new();
    home.write("repo/shop.py", BEFORE);
    home
}

fn read(home: &Home) -> String {
    std::fs::read_to_string(home.root().join("repo/shop.py")).unwrap()
}

/// A client that has shaken hands and can ask a person.
fn asking<'h>(home: &'h Home, capability: &Value) -> Client<'h> {
    let mut client = Client::new(home);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": capability },
                        "clientInfo": { "name": "test", "version": "0" } });
    client.call("initialize", &hello);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    client
}

/// Calls the tool, answers what it asks, and gives the result and the question.
fn applied(client: &mut Client<'_>, patch: &str, answer: &Value) -> (Value, Option<Value>) {
    let params = json!({ "name": "apply", "arguments": { "patch": patch } });
    let call = json!({ "jsonrpc": "2.0", "id": "apply", "method": "tools/call", "params": params });
    client.send(&call.to_string());
    let mut question = None;
    loop {
        let mut message = client.receive();
        if message["method"] == "elicitation/create" {
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer });
            client.send(&reply.to_string());
            question = Some(message["params"].take());
        } else if message["id"] == "apply" {
            return (message["result"].take(), question);
        }
    }
}

#[test]
fn a_person_who_agrees_to_the_shown_change_gets_it() {
    for capability in [json!({}), json!({ "form": {} }), json!({ "form": {}, "url": {} })] {
        let home = shop();
        let agreed = json!({ "action": "accept", "content": { "apply": true } });
        let (result, question) = applied(&mut asking(&home, &capability), PATCH, &agreed);
        let question = question.unwrap();
        let shown = question["message"].as_str().unwrap();
        assert!(shown.contains("-    return n * 3\n+    return n * 4"), "{shown}");
        assert_eq!(result["structuredContent"]["applied"], true, "{result}");
        assert_eq!(result["structuredContent"]["files"], json!(["shop.py"]));
        assert_eq!(read(&home), AFTER);
    }
}

#[test]
fn every_other_answer_and_none_mean_no() {
    let home = shop();
    for answer in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "apply": false } }),
        json!({ "action": "accept", "content": { "apply": "yes" } }),
        json!({ "nonsense": 1 }),
    ] {
        let (result, question) = applied(&mut asking(&home, &json!({})), PATCH, &answer);
        assert!(question.is_some());
        assert_eq!(result["structuredContent"]["applied"], false, "{answer}: {result}");
        assert_eq!(read(&home), BEFORE, "{answer}");
    }
    let mut cannot = asking(&home, &json!({ "url": {} }));
    assert_eq!(applied(&mut cannot, PATCH, &json!({})).0["structuredContent"]["applied"], false);
    let result = Client::ready(&home).tool("apply", &json!({ "patch": PATCH }));
    let reason = result["structuredContent"]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot ask a person"), "{reason}");
    assert_eq!(read(&home), BEFORE);
}

#[test]
fn a_patch_that_leads_out_or_does_not_fit_is_not_even_asked_about() {
    let home = shop();
    home.write("outside", "3\n");
    std::os::unix::fs::symlink("../outside", home.root().join("repo/link")).unwrap();
    let mut client = asking(&home, &json!({}));
    let agreed = json!({ "action": "accept", "content": { "apply": true } });
    for patch in [
        "--- a/../outside\n+++ b/../outside\n@@ -1 +1 @@\n-3\n+4\n",
        "--- a/.git/hooks/x\n+++ b/.git/hooks/x\n@@ -1 +1 @@\n-3\n+4\n",
        "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-3\n+4\n",
        "--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-nothing like it\n+4\n",
        "no patch at all",
        "",
    ] {
        let (result, question) = applied(&mut client, patch, &agreed);
        assert_eq!(result["isError"], true, "{patch}: {result}");
        assert!(question.is_none(), "{patch}");
    }
    assert_eq!(read(&home), BEFORE);
    assert_eq!(std::fs::read_to_string(home.root().join("outside")).unwrap(), "3\n");
}

/// One call of the era without a handshake.
fn modern(client: &mut Client<'_>, patch: &str, more: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let mut params = json!({ "_meta": meta, "name": "apply", "arguments": { "patch": patch } });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    client.call("tools/call", &params)["result"].take()
}

#[test]
fn the_era_without_requests_of_servers_brings_the_answer_back_signed() {
    let home = shop();
    let mut client = Client::new(&home);
    let asked = modern(&mut client, PATCH, &json!({}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = asked["inputRequests"]["apply"]["params"]["message"].as_str().unwrap();
    assert!(question.contains("+    return n * 4"), "{question}");
    assert_eq!(read(&home), BEFORE);
    let state = asked["requestState"].as_str().unwrap();
    let agreed = json!({ "apply": { "action": "accept", "content": { "apply": true } } });
    let other = PATCH.replace("n * 4", "n * 5");
    let forged = format!("{}x", &state[..state.len() - 1]);
    for (patch, state) in
        [(PATCH, ""), (PATCH, "rs1.nonsense.x"), (PATCH, &*forged), (&*other, state)]
    {
        let more = json!({ "inputResponses": agreed, "requestState": state });
        let refused = modern(&mut client, patch, &more);
        assert_eq!(refused["isError"], true, "{state}: {refused}");
        assert_eq!(read(&home), BEFORE, "{state}");
    }
    let declined = json!({ "apply": { "action": "decline" } });
    let more = json!({ "inputResponses": declined, "requestState": state });
    assert_eq!(modern(&mut client, PATCH, &more)["structuredContent"]["applied"], false);
    // Agreed to, but the file is another one by now.
    home.write("repo/shop.py", &format!("# mine\n{BEFORE}"));
    let more = json!({ "inputResponses": agreed, "requestState": state });
    assert_eq!(modern(&mut client, PATCH, &more)["isError"], true);
    home.write("repo/shop.py", BEFORE);
    let done = modern(&mut client, PATCH, &more);
    assert_eq!(done["structuredContent"]["applied"], true, "{done}");
    assert_eq!(read(&home), AFTER);
}
