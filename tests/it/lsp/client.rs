//! An editor, as far as a server sees one: documents, requests, and what the server says meanwhile.

use crate::cases::Home;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long something is waited for; reached only when something is wrong.
pub(crate) const PATIENCE: Duration = Duration::from_mins(4);

pub(crate) struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<Value>,
    /// What the server said by itself and nobody asked for yet.
    said: VecDeque<Value>,
    next: i64,
    documents: std::collections::BTreeMap<String, (i64, String)>,
}

/// What a good editor can do.
pub(crate) fn everything() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "window": { "workDoneProgress": true, "showDocument": { "support": true } },
        "workspace": {
            "applyEdit": true, "workspaceEdit": { "documentChanges": true },
            "codeLens": { "refreshSupport": true }, "diagnostics": { "refreshSupport": true },
            "workspaceFolders": true, "textDocumentContent": {}
        },
        "textDocument": {
            "codeAction": {
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } },
                "disabledSupport": true
            },
            "diagnostic": {}
        }
    })
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Editor {
    /// Starts the server in `repo` and shakes hands.
    pub(crate) fn open(home: &Home, capabilities: &Value) -> Self {
        Self::with(home, &["lsp"], capabilities, &[home.root().join("repo")])
    }

    pub(crate) fn with(
        home: &Home,
        arguments: &[&str],
        capabilities: &Value,
        folders: &[PathBuf],
    ) -> Self {
        let mut editor = Self::spawn(home, arguments);
        let folders: Vec<Value> =
            folders.iter().map(|path| json!({ "uri": uri(path), "name": "f" })).collect();
        let params = json!({
            "processId": std::process::id(), "rootUri": null, "capabilities": capabilities,
            "workspaceFolders": folders
        });
        let answer = editor.ask("initialize", &params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "ssr-mcp", "{answer}");
        editor.tell("initialized", &json!({}));
        editor
    }

    pub(crate) fn spawn(home: &Home, arguments: &[&str]) -> Self {
        let mut child = home
            .binary()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, incoming) = channel();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let documents = std::collections::BTreeMap::new();
        Self { child, stdin, incoming, said: VecDeque::new(), next: 0, documents }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        let is_it = |message: &Value| message.get("method").is_none() && message["id"] == id;
        if let Some(at) = self.said.iter().position(is_it) {
            return self.said.remove(at).unwrap();
        }
        loop {
            let message = self.take();
            if is_it(&message) {
                return message;
            }
            self.said.push_back(message);
        }
    }

    /// Waits for something that the server says by itself.
    #[track_caller]
    pub(crate) fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.said.iter().position(&wanted) {
            return self.said.remove(at).unwrap();
        }
        loop {
            let message = self.take();
            if wanted(&message) {
                return message;
            }
            self.said.push_back(message);
        }
    }

    /// The next message; requests of the server are answered with null, and edits are made as asked for.
    #[track_caller]
    fn take(&mut self) -> Value {
        let message = self.incoming.recv_timeout(PATIENCE).expect("the server says nothing");
        if message.get("method").is_some()
            && let Some(id) = message.get("id").cloned()
        {
            let result = match message["method"].as_str() {
                Some("workspace/applyEdit") => self.asked_to_apply(&message["params"]["edit"]),
                _ => Value::Null,
            };
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
        message
    }

    /// Makes an edit if all that it names has the version that it was made for.
    fn asked_to_apply(&mut self, edit: &Value) -> Value {
        let fits = |change: &Value| {
            let held = self.documents.get(change["textDocument"]["uri"].as_str().unwrap());
            held.is_none_or(|(version, _)| change["textDocument"]["version"] == *version)
        };
        if !edit["documentChanges"].as_array().unwrap().iter().all(fits) {
            return json!({ "applied": false, "failureReason": "it was edited meanwhile" });
        }
        self.apply(edit);
        json!({ "applied": true })
    }

    /// A message box.
    #[track_caller]
    pub(crate) fn message(&mut self) -> String {
        let message = self.wait(|message| message["method"] == "window/showMessage");
        message["params"]["message"].as_str().unwrap().to_owned()
    }

    /// Whether the server has said something by itself that nobody waited for.
    pub(crate) fn has_said(&self, method: &str) -> bool {
        self.said.iter().any(|message| message["method"] == method)
    }

    /// Opens a file with what is on disk.
    pub(crate) fn open_file(&mut self, path: &Path) -> String {
        let text = std::fs::read_to_string(path).unwrap();
        self.open_text(path, &text)
    }

    pub(crate) fn open_text(&mut self, path: &Path, text: &str) -> String {
        let uri = uri(path);
        self.documents.insert(uri.clone(), (0, text.to_owned()));
        let document = json!({ "uri": uri, "languageId": "x", "version": 0, "text": text });
        self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
        uri
    }

    pub(crate) fn text(&self, uri: &str) -> &str {
        &self.documents[uri].1
    }

    /// Replaces a document's whole text.
    pub(crate) fn set(&mut self, uri: &str, text: &str) {
        let (version, held) = self.documents.get_mut(uri).unwrap();
        *version += 1;
        text.clone_into(held);
        let params = json!({
            "textDocument": { "uri": uri, "version": *version }, "contentChanges": [{ "text": text }]
        });
        self.tell("textDocument/didChange", &params);
    }

    pub(crate) fn actions(&mut self, uri: &str, line: usize) -> Vec<Value> {
        let place = json!({ "line": line, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri }, "range": { "start": place, "end": place },
            "context": { "diagnostics": [] }
        });
        let answer = self.ask("textDocument/codeAction", &params);
        answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// The first action of any line whose title begins so.
    #[track_caller]
    pub(crate) fn action(&mut self, uri: &str, title: &str) -> Value {
        let title = format!("Self-play: {title}");
        let lines = self.text(uri).lines().count();
        for line in 0..lines {
            let fitting = |action: &Value| action["title"].as_str().unwrap().starts_with(&title);
            if let Some(action) = self.actions(uri, line).into_iter().find(fitting) {
                return action;
            }
        }
        panic!("{uri} has no action {title:?}");
    }

    pub(crate) fn execute(&mut self, command: &str, argument: &Value) -> Value {
        let params = json!({ "command": format!("ssrMcp.{command}"), "arguments": [argument] });
        self.ask("workspace/executeCommand", &params)
    }

    /// Executes an action's command.
    pub(crate) fn choose(&mut self, action: &Value) -> Value {
        let command = &action["command"];
        let params = json!({ "command": command["command"], "arguments": command["arguments"] });
        self.ask("workspace/executeCommand", &params)
    }

    /// Applies an edit to the open documents, as an editor does; a file that is not open is opened.
    pub(crate) fn apply(&mut self, edit: &Value) {
        for change in edit["documentChanges"].as_array().unwrap() {
            let uri = change["textDocument"]["uri"].as_str().unwrap().to_owned();
            match self.documents.get(&uri) {
                Some((version, _)) => {
                    assert_eq!(change["textDocument"]["version"], *version);
                }
                None => {
                    self.open_file(Path::new(uri.strip_prefix("file://").unwrap()));
                }
            }
            let mut edits = change["edits"].as_array().unwrap().clone();
            edits.sort_by_key(|edit| edit["range"]["start"]["line"].as_u64());
            let mut text = self.text(&uri).to_owned();
            for edit in edits.iter().rev() {
                let offset = |place: &Value| {
                    let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
                    text.split_inclusive('\n').take(line).map(str::len).sum::<usize>()
                };
                let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
                text.replace_range(start..end, edit["newText"].as_str().unwrap());
            }
            self.set(&uri, &text);
        }
    }

    pub(crate) fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let answer =
            self.ask("textDocument/diagnostic", &json!({ "textDocument": { "uri": uri } }));
        answer["result"]["items"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    pub(crate) fn lenses(&mut self, uri: &str) -> Vec<String> {
        let answer = self.ask("textDocument/codeLens", &json!({ "textDocument": { "uri": uri } }));
        let lenses = answer["result"].as_array().cloned().unwrap_or_default();
        lenses.iter().map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Leaves as the protocol wants it.
    #[track_caller]
    pub(crate) fn leave(mut self) {
        let answer = self.ask("shutdown", &Value::Null);
        assert_eq!(answer["result"], Value::Null);
        self.tell("exit", &Value::Null);
        assert_eq!(self.ended().code(), Some(0));
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the server's input.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::yield_now();
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse().ok();
        }
    }
    let mut body = vec![0; length?];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
