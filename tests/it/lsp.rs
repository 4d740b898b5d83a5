//! The LSP face: the real binary, driven as editors drive it.
#![allow(clippy::disallowed_methods, reason = "the server is a process")]

mod bad_input;
pub(crate) mod client;
mod rounds;

use crate::cases::Home;
use client::{Editor, everything, uri};
use serde_json::{Value, json};

const MODULE: &str = "def first(a):\n    return a + 1\n\n\ndef second(a):\n    return a - 1\n";

const TEST: &str = "import unittest
from m import first


class FirstTest(unittest.TestCase):
    def test_first(self):
        self.assertEqual(first(1), 2)

    def test_that_it_is_there(self):
        self.assertTrue(callable(first))
";

/// A repository with one file and its test, and nothing that was played.
fn small() -> Home {
    let home = Home::new();
    home.write("repo/m.py", MODULE);
    home.write("repo/test_m.py", TEST);
    home
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

#[test]
fn actions_name_the_function_at_the_cursor_and_say_what_they_are() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    let actions = editor.actions(&m, 5);
    let titles = titles(&actions);
    assert!(titles.iter().all(|title| title.starts_with("Self-play: ")), "{titles:?}");
    for wanted in [
        "Self-play: inject a bug into second",
        "Self-play: inject a bug into second (removal)",
        "Self-play: inject a bug into this file",
        "Self-play: inject a bug into this workspace",
        "Self-play: practise here: a new bug in second",
        "Self-play: take a training step",
    ] {
        assert!(titles.contains(&wanted), "{wanted}: {titles:?}");
    }
    let commands = actions.iter().map(|action| action["command"]["command"].as_str().unwrap());
    assert!(commands.clone().all(|command| command.starts_with("ssrMcp.")));
    let kinds = actions.iter().map(|action| action["kind"].as_str().unwrap());
    assert!(kinds.clone().all(|kind| kind.contains(".selfplay.")));
    editor.leave();
}

#[test]
fn only_the_kinds_that_are_asked_for_are_offered() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    let mut kinds = |only: &[&str]| {
        let place = json!({ "line": 1, "character": 0 });
        let params = json!({
            "textDocument": { "uri": m }, "range": { "start": place, "end": place },
            "context": { "diagnostics": [], "only": only }
        });
        let answer = editor.ask("textDocument/codeAction", &params);
        let actions = answer["result"].as_array().unwrap().clone();
        actions.iter().map(|action| action["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(kinds(&["quickfix"]).iter().all(|kind| kind.starts_with("quickfix.")));
    assert!(kinds(&["refactor.rewrite"]).len() > 4);
    assert_eq!(kinds(&["refactor.rewrite.selfplay.train"]).len(), 1);
    assert_eq!(kinds(&["source.organizeImports"]).len(), 0);
    assert_eq!(kinds(&["refactor.rewrite.self"]).len(), 0);
}

#[test]
fn running_a_test_is_no_quick_fix_that_an_editor_would_take_unasked() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let tests = editor.open_file(&home.root().join("repo/test_m.py"));
    let run = editor.action(&tests, "run test_");
    assert_eq!(run["kind"], "refactor.rewrite.selfplay.run", "{run}");
}

#[test]
fn an_action_that_is_resolved_comes_back_as_it_was() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    for action in editor.actions(&m, 1) {
        let answer = editor.ask("codeAction/resolve", &action);
        assert_eq!(answer["result"], action);
    }
}

/// The known trap of servers whose handlers run side by side: a request overtakes the change before it.
#[test]
fn every_request_sees_the_changes_that_were_sent_before_it_and_none_after() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    editor.actions(&m, 0);
    // Edits that shift the function by a line each; the requests ask at the line where it is by then.
    let mut asked = Vec::new();
    for version in 1..=300 {
        let place = json!({ "line": 0, "character": 0 });
        let change = json!({
            "textDocument": { "uri": m, "version": version },
            "contentChanges": [{ "range": { "start": place, "end": place }, "text": "#\n" }]
        });
        editor.tell("textDocument/didChange", &change);
        if version % 10 == 0 {
            let at = |line: i64| json!({ "line": line, "character": 0 });
            let ask = |line| {
                json!({
                    "textDocument": { "uri": m }, "range": { "start": at(line), "end": at(line) },
                    "context": { "diagnostics": [] }
                })
            };
            asked.push((editor.request("textDocument/codeAction", &ask(version + 5)), true));
            asked.push((editor.request("textDocument/codeAction", &ask(version + 6)), false));
        }
    }
    for (id, in_second) in asked {
        let answer = editor.answer(id);
        let actions = answer["result"].as_array().unwrap();
        let found = titles(actions).contains(&"Self-play: inject a bug into second");
        assert_eq!(found, in_second, "{answer}");
    }
    editor.leave();
}

#[test]
fn a_request_that_is_cancelled_is_answered_once_and_those_after_it_are_served() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    editor.tell("$/cancelRequest", &json!({ "id": 4711 }));
    for _ in 0..50 {
        let id =
            editor.request("textDocument/diagnostic", &json!({ "textDocument": { "uri": m } }));
        editor.tell("$/cancelRequest", &json!({ "id": id }));
        let answer = editor.answer(id);
        assert!(
            answer["error"]["code"] == -32800 || answer["result"]["items"].is_array(),
            "{answer}"
        );
        editor.tell("$/cancelRequest", &json!({ "id": id }));
    }
    assert!(!editor.actions(&m, 1).is_empty());
    editor.leave();
}

#[test]
fn positions_are_counted_as_the_client_counts_them() {
    for (encoding, character) in [(json!(["utf-8", "utf-16"]), 9), (Value::Null, 7)] {
        let home = small();
        let mut capabilities = everything();
        capabilities["general"]["positionEncodings"] = encoding;
        let mut editor = Editor::open(&home, &capabilities);
        let file = home.root().join("repo/n.py");
        let uri = editor.open_text(&file, "'🐞' + x\n\ndef f():\n    return 1\n");
        // The name behind the astral character becomes a function, if it is found.
        let (start, end) =
            (json!({ "line": 0, "character": 0 }), json!({ "line": 0, "character": character }));
        let params = json!({
            "textDocument": { "uri": uri, "version": 1 },
            "contentChanges": [{ "range": { "start": start, "end": end }, "text": "def " },
                { "range": { "start": { "line": 0, "character": 5 },
                             "end": { "line": 0, "character": 5 } }, "text": "(): pass" }]
        });
        editor.tell("textDocument/didChange", &params);
        let actions = editor.actions(&uri, 0);
        assert!(titles(&actions).contains(&"Self-play: inject a bug into x"), "{actions:?}");
        editor.leave();
    }
}

#[test]
fn several_folders_are_served_by_one_process() {
    let home = small();
    home.write("other/k.py", "def third(a):\n    return a\n");
    let folders = [home.root().join("repo"), home.root().join("other")];
    let mut editor = Editor::with(&home, &["lsp"], &everything(), &folders);
    let uris = [home.root().join("repo/m.py"), home.root().join("other/k.py")];
    for (path, folder) in uris.iter().zip(&folders) {
        let uri = editor.open_file(path);
        let inject = editor.action(&uri, "inject a bug into this file");
        assert_eq!(inject["command"]["arguments"][0]["folder"], folder.to_str().unwrap());
    }
    // Which folder is meant has to be said then.
    let refused = editor.execute("bugs", &json!({}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("folder"), "{refused}");
    let removed = json!({ "event": { "added": [],
        "removed": [{ "uri": uri(&folders[1]), "name": "f" }] } });
    editor.tell("workspace/didChangeWorkspaceFolders", &removed);
    editor.tell("textDocument/didClose", &json!({ "textDocument": { "uri": uri(&uris[1]) } }));
    assert_eq!(editor.execute("bugs", &json!({}))["result"]["bugs"], json!([]));
    editor.leave();
}

#[test]
fn a_client_that_can_nothing_is_given_commands_and_messages() {
    let home = small();
    let mut editor = Editor::open(&home, &json!({}));
    let m = editor.open_file(&home.root().join("repo/m.py"));
    let actions = editor.actions(&m, 1);
    assert!(!actions.is_empty() && actions.iter().all(|action| action["command"].is_string()));
    let train = actions.iter().find(|action| action["command"] == "ssrMcp.train").unwrap();
    let answer = editor.ask("workspace/executeCommand", train);
    assert!(answer["result"]["job"].is_string(), "{answer}");
    // No bug is kept of this tree.
    assert!(editor.message().contains("nothing was trained: no valid bug"));
    // Diagnostics are sent to it, since it does not ask.
    let sent = editor.wait(|said| said["method"] == "textDocument/publishDiagnostics");
    assert_eq!(sent["params"]["uri"], m);
    editor.leave();
}

#[test]
fn both_protocols_start_from_the_same_words() {
    for arguments in
        [&["lsp", "--stdio"][..], &["--stdio"], &[], &["lsp", "--stdio", "--clientProcessId=1"]]
    {
        let home = small();
        let folder = [home.root().join("repo")];
        Editor::with(&home, arguments, &everything(), &folder).leave();
    }
}

#[test]
fn who_leaves_without_saying_so_is_told_by_the_exit_code() {
    let home = small();
    let mut abrupt = Editor::open(&home, &everything());
    abrupt.tell("exit", &Value::Null);
    assert_eq!(abrupt.ended().code(), Some(1));
    let mut gone = Editor::open(&home, &everything());
    gone.hang_up();
    assert_eq!(gone.ended().code(), Some(1));
}

#[test]
fn settings_are_taken_when_they_come_and_what_does_not_fit_leaves_them() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let test = editor.open_file(&home.root().join("repo/test_m.py"));
    assert_eq!(editor.lenses(&test), ["Self-play: run"; 2]);
    let off = json!({ "settings": { "ssrMcp": { "codeLenses": false } } });
    editor.tell("workspace/didChangeConfiguration", &off);
    assert_eq!(editor.lenses(&test), [""; 0]);
    let wrong = json!({ "settings": { "ssrMcp": { "codeLenses": "perhaps" } } });
    editor.tell("workspace/didChangeConfiguration", &wrong);
    assert_eq!(editor.lenses(&test), [""; 0]);
    editor.leave();
}
