//! What a client's file says of this server.

use super::client::Client;
use serde_json::{Map, Value, json};

/// The program's name, by which an entry is known for ours.
const PROGRAM: &str = "ssr-mcp";
/// What the program is started with.
const ARGUMENTS: [&str; 1] = ["mcp"];
/// Codex gives a server next to nothing of the environment; these say where toolchains and state are.
pub(super) const PASSED_ON: [&str; 10] = [
    "SSR_MCP_STATE_DIR",
    "SSR_MCP_LOG",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "VIRTUAL_ENV",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOMODCACHE",
    "TMPDIR",
];

/// An entry, in two parts.
pub(super) struct Entry {
    /// What must hold for the server to be started.
    pub(super) own: Map<String, Value>,
    /// What a new entry gets besides; in one that is there it is the user's.
    pub(super) besides: Map<String, Value>,
}

impl Entry {
    pub(super) fn of(client: Client, program: &str) -> Self {
        let own = match client {
            Client::ClaudeCode | Client::VsCode | Client::Cursor => {
                json!({ "type": "stdio", "command": program, "args": ARGUMENTS })
            }
            Client::Cline => {
                json!({ "transport": { "type": "stdio", "command": program, "args": ARGUMENTS } })
            }
            Client::Goose => json!({ "type": "stdio", "cmd": program, "args": ARGUMENTS }),
            _ => json!({ "command": program, "args": ARGUMENTS }),
        };
        let besides = match client {
            Client::Codex => json!({
                "startup_timeout_sec": 20,
                "tool_timeout_sec": 300,
                "env_vars": PASSED_ON,
            }),
            Client::Zed => json!({ "source": "custom", "env": {} }),
            Client::Goose => json!({
                "name": super::SERVER,
                "description": "Self-play on your own repository",
                "enabled": true,
                "envs": {},
                "timeout": 300,
            }),
            _ => json!({}),
        };
        Self { own: object(own), besides: object(besides) }
    }

    /// The whole of a new entry.
    pub(super) fn whole(&self) -> Value {
        let mut whole = self.own.clone();
        whole.extend(self.besides.clone());
        Value::Object(whole)
    }

    /// An entry that is there, made ours.
    pub(super) fn over(&self, there: &Value) -> Value {
        let mut there = there.clone();
        lay(&mut there, &Value::Object(self.own.clone()));
        there
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Objects key by key, everything else as a whole.
fn lay(there: &mut Value, over: &Value) {
    match (there, over) {
        (Value::Object(there), Value::Object(over)) => {
            for (key, value) in over {
                lay(there.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (there, over) => *there = over.clone(),
    }
}

/// The command of an entry, in any of the shapes that clients take.
pub(super) fn command(entry: &Value) -> Option<&str> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    text("command")
        .or_else(|| text("cmd"))
        .or_else(|| entry.get("transport")?.get("command")?.as_str())
        .or_else(|| entry.get("command")?.get("path")?.as_str())
}

/// Whether a command starts this program, wherever it lies.
pub(super) fn is_ours(command: &str) -> bool {
    command.rsplit('/').next() == Some(PROGRAM)
}
