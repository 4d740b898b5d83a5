//! Whole rounds in an editor: inject, put in, solve, repair; and practice.

use super::client::{Editor, everything, uri};
use super::small;
use crate::cases::Home;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn ledger() -> Home {
    let home = Home::new();
    home.copy_example("ledger");
    home
}

fn bugs(editor: &mut Editor) -> Vec<Value> {
    editor.execute("bugs", &json!({}))["result"]["bugs"].as_array().unwrap().clone()
}

/// Injects the bug of a seed and gives its line of the list.
fn inject(editor: &mut Editor, argument: &Value) -> Value {
    let begun = editor.execute("inject", argument);
    assert_eq!(begun["result"]["state"], "running", "{begun}");
    let message = editor.message();
    assert!(message.contains(" is real; "), "{message}");
    bugs(editor)[0].clone()
}

fn file_of(home: &Home, bug: &Value) -> PathBuf {
    home.root().join("repo").join(bug["files"][0].as_str().unwrap())
}

#[test]
fn a_bug_is_injected_put_into_the_text_solved_and_repaired_by_edits() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let any = editor.open_file(&home.root().join("repo/ledger/money.py"));
    let mut action = editor.action(&any, "inject a bug into this workspace");
    action["command"]["arguments"][0]["seed"] = json!(3);
    let job = editor.choose(&action)["result"]["job"].clone();
    // Its progress is seen from beginning to end.
    let created = editor.wait(|said| said["method"] == "window/workDoneProgress/create");
    let token = created["params"]["token"].clone();
    for kind in ["begin", "report", "end"] {
        let of = |said: &Value| {
            said["method"] == "$/progress"
                && said["params"]["token"] == token
                && said["params"]["value"]["kind"] == kind
        };
        editor.wait(of);
    }
    assert!(editor.message().contains(" is real; "));
    assert_eq!(editor.execute("job", &json!({ "job": job }))["result"]["state"], "done");
    let bug = bugs(&mut editor)[0].clone();
    let file = file_of(&home, &bug);
    let original = fs::read_to_string(&file).unwrap();
    let code = editor.open_file(&file);
    let test = home.root().join("repo").join(bug["weakened"][0].as_str().unwrap());
    let test = editor.open_file(&test);
    assert!(editor.lenses(&code).contains(&"Self-play: 1 open bug".to_owned()));

    let put = editor.action(&code, "put bug ");
    editor.apply(&put["edit"]);
    assert_ne!(editor.text(&code), original);
    assert_eq!(fs::read_to_string(&file).unwrap(), original, "the tree is not written");
    let told = wait_for_diagnostic(&mut editor, &test, "bug");
    assert_eq!(told["severity"], 3);
    assert!(editor.lenses(&code).iter().any(|lens| lens.contains("is in this text")));

    let solve = editor.action(&code, "solve bug ");
    assert!(solve["title"].as_str().unwrap().ends_with("from its reversed weakened test"));
    let mut solve = solve;
    solve["command"]["arguments"][0]["seed"] = json!(1);
    assert_eq!(editor.choose(&solve)["result"]["state"], "running");
    let message = editor.message();
    assert!(message.contains(" of 8 attempts repaired it"), "{message}");
    let repair = editor.action(&code, "apply the repair of bug ");
    editor.apply(&repair["edit"]);
    assert_eq!(editor.text(&code), original);

    let artifact = json!({ "artifact": bug["artifact"] });
    let score = editor.execute("score", &artifact);
    assert_eq!(score["result"]["attempts"], 8, "{score}");
    assert!(editor.message().contains("the injector gets"));
    editor.execute("runParser", &artifact);
    assert!(editor.message().contains(" 1 failed"));
    editor.leave();
    assert!(!home.root().join("repo/.ssr-mcp").exists());
}

/// The server says when there may be others.
fn wait_for_diagnostic(editor: &mut Editor, uri: &str, code: &str) -> Value {
    loop {
        let found = editor.diagnostics(uri);
        if let Some(found) = found.into_iter().find(|found| found["code"] == code) {
            return found;
        }
        editor.wait(|said| said["method"] == "workspace/diagnostic/refresh");
    }
}

#[test]
fn a_client_that_says_itself_how_jobs_end_is_told_once() {
    let home = ledger();
    let mut capabilities = everything();
    capabilities["experimental"] = json!({ "ssrMcp": true, "ssrMcpSays": true });
    let mut editor = Editor::open(&home, &capabilities);
    let begun = editor.execute("runTest", &json!({ "file": "tests/test_money.py" }));
    let ended = editor.wait(|said| said["method"] == "ssrMcp/jobEnded");
    assert_eq!(ended["params"]["job"], begun["result"]["job"]);
    assert_eq!(ended["params"]["said"], "12 tests passed");
    assert!(ended["params"]["folder"].as_str().unwrap().ends_with("/repo"), "{ended}");
    // A box would have come before.
    assert!(!editor.has_said("window/showMessage"));
    editor.leave();
}

#[test]
fn parts_of_a_bug_are_documents_of_our_own() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let bug = inject(&mut editor, &json!({ "seed": 3 }));
    for (part, marks) in [
        ("bug", ["-    if projected", "+    if projected"]),
        ("weakening", ["--- a/tests/", "+++ b/tests/"]),
        ("reversed", ["--- a/tests/", "+++ b/tests/"]),
    ] {
        let shown = editor.execute("show", &json!({ "artifact": bug["artifact"], "part": part }));
        let uri = shown["result"]["uri"].as_str().unwrap_or_else(|| panic!("{shown}"));
        assert!(uri.starts_with("ssr-mcp:///"), "{uri}");
        let text = shown["result"]["text"].as_str().unwrap();
        assert!(marks.iter().all(|mark| text.contains(mark)), "{part}: {text}");
        let read = editor.ask("workspace/textDocumentContent", &json!({ "uri": uri }));
        assert_eq!(read["result"]["text"], text);
        let opened = editor.wait(|said| said["method"] == "window/showDocument");
        assert_eq!(opened["params"]["uri"], uri);
    }
    for wrong in ["ssr-mcp:/bug/0000.diff?/nowhere", "ssr-mcp:/x", "file:///etc/passwd", "%%%"] {
        let read = editor.ask("workspace/textDocumentContent", &json!({ "uri": wrong }));
        assert!(read["error"]["message"].is_string(), "{read}");
    }
    let unknown = editor.execute("show", &json!({ "artifact": "0000", "part": "bug" }));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no bug"), "{unknown}");
    editor.leave();
}

#[test]
fn what_is_not_saved_is_what_runs() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    let run = json!({ "folder": home.root().join("repo"), "file": "test_m.py" });
    editor.execute("runTest", &run);
    assert_eq!(editor.message(), "Self-play: 2 tests passed");
    editor.set(&m, &super::MODULE.replace("a + 1", "a + 2"));
    editor.execute("runTest", &run);
    let message = editor.message();
    assert!(message.contains("1 failed: test_m.py"), "{message}");
    editor.tell("textDocument/didClose", &json!({ "textDocument": { "uri": m } }));
    editor.execute("runTest", &run);
    assert_eq!(editor.message(), "Self-play: 2 tests passed");
    editor.leave();
}

#[test]
fn what_another_process_injects_shows_in_the_editor() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let mut other = Editor::open(&home, &everything());
    let inject =
        home.binary().args(["inject", ".", "--seed", "3"]).stdin(Stdio::null()).output().unwrap();
    assert!(inject.status.success(), "{}", String::from_utf8_lossy(&inject.stderr));
    for editor in [&mut editor, &mut other] {
        editor.wait(|said| said["method"] == "workspace/codeLens/refresh");
        let bug = bugs(editor)[0].clone();
        let code = editor.open_file(&file_of(&home, &bug));
        assert!(editor.lenses(&code).contains(&"Self-play: 1 open bug".to_owned()));
    }
    editor.leave();
    other.leave();
}

#[test]
fn a_job_ends_when_its_progress_is_cancelled() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    editor.execute("inject", &json!({ "seed": 5 }));
    let created = editor.wait(|said| said["method"] == "window/workDoneProgress/create");
    editor.wait(|said| said["params"]["value"]["kind"] == "report");
    let token = json!({ "token": created["params"]["token"] });
    editor.tell("window/workDoneProgress/cancel", &token);
    assert_eq!(editor.message(), "Self-play: cancelled");
    editor.leave();
}

#[test]
fn an_equal_command_while_a_job_runs_is_the_same_job() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let first = editor.execute("inject", &json!({ "seed": 3 }))["result"]["job"].clone();
    let again = editor.execute("inject", &json!({ "seed": 3 }))["result"]["job"].clone();
    assert_eq!(first, again);
    assert!(editor.message().contains(" is real; "));
    assert_eq!(editor.execute("jobs", &json!({}))["result"].as_array().unwrap().len(), 1);
    editor.leave();
}

#[test]
fn a_bug_whose_other_file_was_changed_is_refused_with_the_reason() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let bug = inject(&mut editor, &json!({ "seed": 3 }));
    let code = editor.open_file(&file_of(&home, &bug));
    let text = editor.text(&code).to_owned();
    // Everything that its edit rests on is gone from the text.
    editor.set(&code, &"# other\n".repeat(text.lines().count()));
    let offered = (0..text.lines().count())
        .flat_map(|line| editor.actions(&code, line))
        .any(|action| action["title"].as_str().unwrap().contains("put bug"));
    assert!(!offered);
    editor.leave();
}

/// Repairs the practice tree as a person would who was told the bug: by the original file.
fn repair(home: &Home, tree: &Path, file: &str) {
    fs::copy(home.root().join("repo").join(file), tree.join(file)).unwrap();
}

#[test]
fn a_client_whose_actions_carry_no_edit_is_asked_to_make_it_and_may_say_no() {
    let home = ledger();
    let poor =
        json!({ "workspace": { "applyEdit": true, "workspaceEdit": { "documentChanges": true } } });
    let mut editor = Editor::open(&home, &poor);
    let bug = inject(&mut editor, &json!({ "seed": 3 }));
    let file = home.root().join("repo").join(bug["files"][0].as_str().unwrap());
    let code = editor.open_file(&file);
    let original = editor.text(&code).to_owned();
    let put = editor.action(&code, "put bug");
    let asked = |message: &Value| message["method"] == "workspace/applyEdit";

    // Typed before the request to make the edit is read.
    let id = editor.request("workspace/executeCommand", &put);
    editor.set(&code, &format!("{original}\n"));
    editor.answer(id);
    editor.wait(asked);
    assert!(editor.message().ends_with("did not make the edit: it was edited meanwhile"));
    assert_eq!(editor.text(&code), format!("{original}\n"));

    editor.set(&code, &original);
    editor.ask("workspace/executeCommand", &put);
    editor.wait(asked);
    assert_ne!(editor.text(&code), original);
    let out = editor.action(&code, "take bug");
    editor.ask("workspace/executeCommand", &out);
    editor.wait(asked);
    assert_eq!(editor.text(&code), original);
    let argument = json!({ "artifact": bug["artifact"], "edit": "repair" });
    let refused = editor.execute("apply", &argument);
    assert!(refused["error"]["message"].as_str().unwrap().contains("solve it first"), "{refused}");
    editor.leave();
}

#[test]
fn a_practice_tree_holds_what_is_not_saved() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let file = home.root().join("repo/ledger/money.py");
    let saved = fs::read_to_string(&file).unwrap();
    let document = editor.open_file(&file);
    editor.set(&document, &format!("{saved}\n\nNOT_SAVED = 1\n"));
    editor.execute("practise", &json!({ "seed": 3, "strategy": "direct" }));
    let message = editor.message();
    assert!(message.starts_with("Self-play: practise in "), "{message}");
    let shown = editor.execute("practiceShow", &json!({}))["result"].clone();
    let tree = PathBuf::from(shown["tree"].as_str().unwrap());
    let text = fs::read_to_string(tree.join("ledger/money.py")).unwrap();
    assert!(text.ends_with("NOT_SAVED = 1\n"), "{text}");
    assert_eq!(fs::read_to_string(&file).unwrap(), saved);
    editor.leave();
}

#[test]
fn a_job_that_an_editor_began_is_not_begun_again_by_somebody_else() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let begun = editor.execute("inject", &json!({ "seed": 3 }));
    let job = begun["result"]["job"].as_str().unwrap().to_owned();
    editor.kill();
    let mut agent = crate::mcp::Client::ready(&home);
    let told = agent.tool("job", &json!({ "job": job, "action": "wait", "wait_s": 1 }));
    let text = told["content"][0]["text"].as_str().unwrap();
    assert!(told["isError"] == true && text.contains("an editor began this job"), "{told}");
}

#[test]
fn a_round_of_practice_is_played_in_a_tree_of_its_own() {
    let home = ledger();
    let mut editor = Editor::open(&home, &everything());
    let bug = inject(&mut editor, &json!({ "seed": 3 }));
    let file = bug["files"][0].as_str().unwrap();
    editor.execute("practise", &json!({ "artifact": bug["artifact"] }));
    let message = editor.message();
    assert!(message.starts_with("Self-play: practise in "), "{message}");
    let shown = editor.execute("practiceShow", &json!({}))["result"].clone();
    let tree = PathBuf::from(shown["tree"].as_str().unwrap());
    let opened = editor.wait(|said| said["method"] == "window/showDocument");
    let broken = tree.join(shown["broken"][0]["file"].as_str().unwrap());
    assert_eq!(opened["params"]["uri"], uri(&broken));
    // Nobody is shown the bug meanwhile.
    assert_eq!(bugs(&mut editor), [Value::Null; 0]);

    let test = editor.open_file(&broken);
    let told = wait_for_diagnostic(&mut editor, &test, "practice");
    assert_eq!(told["severity"], 3);
    let actions = editor.actions(&test, 0);
    let titles = super::titles(&actions);
    assert!(titles.contains(&"Self-play: check my fix"), "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("inject")), "{titles:?}");

    let run = editor.action(&test, "run the tests of what is broken");
    editor.choose(&run);
    assert!(editor.message().contains("fail"));
    let hint = editor.action(&test, "hint");
    let hint = editor.choose(&hint);
    assert!(hint["result"]["hint"]["text"].as_str().unwrap().contains(file), "{hint}");
    assert!(editor.message().contains(file));
    repair(&home, &tree, file);
    let check = editor.action(&test, "check my fix");
    editor.choose(&check);
    assert!(editor.message().starts_with("Self-play: repaired; your rating is "));
    editor.wait(|said| said["method"] == "workspace/codeLens/refresh");
    let reveal = editor.action(&test, "reveal the bug");
    let reveal = editor.choose(&reveal);
    assert!(reveal["result"]["diff"].as_str().unwrap().contains(file), "{reveal}");
    let stats = editor.execute("ratings", &json!({}))["result"].clone();
    assert_eq!((&stats["solved"], &stats["given_up"]), (&json!(1), &json!(0)));
    editor.leave();
}
