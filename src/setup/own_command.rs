//! The command by which a client registers a server itself.

use super::SERVER;
use super::client::{Client, Scope};
use super::entry::Entry;
use serde_json::{Value, json};

/// A program by the name that the search path knows it by, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnCommand {
    pub(super) program: &'static str,
    pub(super) arguments: Vec<String>,
}

impl OwnCommand {
    /// None where the client has no such command, or not for this scope.
    pub(super) fn of(client: Client, scope: Scope, server: &str) -> Option<Self> {
        let entry = Value::Object(Entry::of(client, server).own);
        let (program, arguments) = match (client, scope) {
            (Client::ClaudeCode, scope) => {
                let entry = entry.to_string();
                ("claude", words(["mcp", "add-json", "--scope", scope.name(), SERVER, &entry]))
            }
            (Client::Codex, Scope::User) => {
                ("codex", words(["mcp", "add", SERVER, "--", server, "mcp"]))
            }
            (Client::Cline, Scope::User) => {
                ("cline", words(["mcp", "add", SERVER, "--yes", "--json", "--", server, "mcp"]))
            }
            (Client::Gemini, scope) => {
                ("gemini", words(["mcp", "add", "-s", scope.name(), SERVER, server, "mcp"]))
            }
            (Client::VsCode, Scope::User) => {
                let mut named = json!({ "name": SERVER });
                if let (Value::Object(named), Value::Object(entry)) = (&mut named, entry) {
                    named.extend(entry);
                }
                ("code", words(["--add-mcp", &named.to_string()]))
            }
            _ => return None,
        };
        Some(Self { program, arguments })
    }

    /// As one types it into a shell.
    pub(super) fn shown(&self) -> String {
        let words = std::iter::once(self.program).chain(self.arguments.iter().map(String::as_str));
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}

/// For a shell.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.+-".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
