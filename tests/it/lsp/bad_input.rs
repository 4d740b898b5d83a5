//! What clients and file systems do wrong.

use super::client::{Editor, PATIENCE, everything, uri};
use super::{MODULE, small};
use serde_json::{Value, json};
use std::fs;
use std::time::Instant;

#[test]
fn a_file_that_is_not_utf_8_is_played_on_as_it_is_saved_and_the_person_is_told() {
    let home = small();
    let path = home.root().join("repo/l.py");
    fs::write(&path, b"# \xe9\ndef f():\n    return 1\n").unwrap();
    let mut editor = Editor::open(&home, &everything());
    editor.open_text(&path, "# é\ndef f():\n    return 1\n");
    editor.execute("runTest", &json!({ "file": "test_m.py" }));
    assert!(editor.message().contains("l.py is not UTF-8"));
    assert_eq!(editor.message(), "Self-play: 2 tests passed");
    editor.leave();
}

#[test]
fn a_file_that_is_deleted_or_renamed_and_a_folder_that_is_removed_end_nothing() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    editor.actions(&m, 1);
    fs::rename(home.root().join("repo/m.py"), home.root().join("repo/n.py")).unwrap();
    editor.set(&m, &MODULE.replace("first", "other"));
    // An answer does not wait for the newest outline.
    let offered =
        |actions: &[Value]| super::titles(actions).contains(&"Self-play: inject a bug into other");
    let deadline = Instant::now() + PATIENCE;
    while !offered(&editor.actions(&m, 1)) {
        assert!(Instant::now() < deadline, "the new text is not read");
    }
    fs::remove_dir_all(home.root().join("repo")).unwrap();
    let refused = editor.execute("inject", &json!({}));
    assert!(refused["error"]["message"].is_string(), "{refused}");
    editor.actions(&m, 1);
    editor.leave();
}

#[test]
fn commands_that_do_not_fit_are_refused_with_what_would() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    for (command, argument, said) in [
        ("nonsense", json!({}), "no command"),
        ("solve", json!({}), "artifact"),
        ("solve", json!({ "artifact": 7 }), "does not fit"),
        ("show", json!({ "artifact": "x", "part": "y" }), "bug, weakening and reversed"),
        (
            "inject",
            json!({ "strategy": "magic" }),
            "mixed, direct, removal, history, and for models",
        ),
        ("inject", json!({ "folder": "/nowhere/at/all" }), "/nowhere/at/all"),
        ("job", json!({ "job": "0" }), "no job"),
        ("practiceCheck", json!({}), "no round of practice is open"),
        ("practise", json!({ "pick": "hardest" }), "new, next and wrongBook"),
    ] {
        let answer = editor.execute(command, &argument);
        let message = match answer["error"]["message"].as_str() {
            Some(message) => message.to_owned(),
            // What only the job can know is told at its end.
            None => editor.message(),
        };
        assert!(message.contains(said), "{command} {argument}: {message}");
    }
    let none = json!({ "command": "ssrMcp.status" });
    let answer = editor.ask("workspace/executeCommand", &none);
    assert!(answer["result"]["workspace"].is_string(), "{answer}");
    editor.leave();
}

#[test]
fn what_cannot_be_read_is_answered_and_the_server_lives_on() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_file(&home.root().join("repo/m.py"));
    editor.write(b"Content-Length: 9\r\n\r\n{\"jsonrpc");
    let answer = editor.wait(|said| said["error"]["code"] == -32700);
    assert_eq!(answer["id"], Value::Null);
    editor.send(&json!([1, 2]));
    editor.wait(|said| said["error"]["code"] == -32600);
    editor.send(&json!({ "id": 70, "method": 7 }));
    let answer = editor.wait(|said| said["error"]["code"] == -32600);
    assert_eq!(answer["id"], 70, "{answer}");
    editor.write(b"Content-Length: nine\r\n\r\n");
    editor.wait(|said| said["error"]["code"] == -32700);
    let long = 17 * 1024 * 1024;
    editor.write(
        format!("Content-Length: {long}\r\n\r\n{{\"id\":77,\"jsonrpc\":\"2.0\",").as_bytes(),
    );
    editor.write(&vec![b' '; long - 24]);
    let answer = editor.wait(|said| said["error"]["code"] == -32600);
    assert_eq!(answer["id"], 77, "{answer}");
    assert!(!editor.actions(&m, 1).is_empty());
    let unknown = editor.ask("textDocument/unheardOf", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    editor.leave();
}

#[test]
fn changes_of_a_document_that_is_not_open_and_documents_of_other_schemes_are_passed_over() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let change = json!({
        "textDocument": { "uri": uri(&home.root().join("repo/m.py")), "version": 3 },
        "contentChanges": [{ "text": "x" }]
    });
    editor.tell("textDocument/didChange", &change);
    for other in ["untitled:Untitled-1", "git:/r/m.py?x", "ssr-mcp:/bug/x.diff?/r", "nonsense"] {
        let document =
            json!({ "uri": other, "languageId": "python", "version": 1, "text": MODULE });
        editor.tell("textDocument/didOpen", &json!({ "textDocument": document }));
        let place = json!({ "line": 0, "character": 0 });
        let ask = json!({
            "textDocument": { "uri": other }, "range": { "start": place, "end": place },
            "context": { "diagnostics": [] }
        });
        assert_eq!(editor.ask("textDocument/codeAction", &ask)["result"], Value::Null);
    }
    editor.leave();
}

#[test]
fn a_client_that_never_reads_does_not_make_the_server_grow() {
    let home = small();
    let mut editor = Editor::open(&home, &everything());
    let m = editor.open_text(&home.root().join("repo/big.py"), &MODULE.repeat(2000));
    editor.actions(&m, 1);
    let before = resident(editor.id());
    // Nothing is read off the channel here; what the server writes waits in the pipe and behind it.
    let place = json!({ "line": 1, "character": 0 });
    let ask = json!({
        "textDocument": { "uri": m }, "range": { "start": place, "end": place },
        "context": { "diagnostics": [] }
    });
    let last = (0..2000).map(|_| editor.request("textDocument/codeAction", &ask)).last().unwrap();
    editor.answer(last);
    let after = resident(editor.id());
    assert!(after < before + 64 * 1024, "{before} KiB, then {after} KiB");
    editor.leave();
}

/// Resident memory of a process, KiB.
fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn the_server_ends_with_the_process_that_it_says_started_it() {
    let home = small();
    let mut short = std::process::Command::new("true").spawn().unwrap();
    short.wait().unwrap();
    let mut editor = Editor::spawn(&home, &["lsp"]);
    let params = json!({ "processId": short.id(), "rootUri": null, "capabilities": {} });
    editor.ask("initialize", &params);
    assert_eq!(editor.ended().code(), Some(1));
}
