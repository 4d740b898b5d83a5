//! The LSP face: not there yet, and says so in its own protocol.

use crate::wire::{Content, Frame, Framing, Input, Output};
use serde_json::{Value, json};
use std::io;

/// Answers every request with that until the client leaves. `first` was read from `input` before.
pub fn refuse(first: Frame, mut input: Input, output: &mut Output) -> io::Result<()> {
    let mut next = Some(first);
    while let Some(frame) = next {
        if let Content::Message(bytes) = &frame.content {
            let message: Value = serde_json::from_slice(bytes).unwrap_or_default();
            let method = message["method"].as_str();
            if method == Some("exit") {
                return Ok(());
            }
            if let (Some(id), Some(method)) = (message.get("id"), method) {
                let answer = answer(id, method).to_string();
                output.write(Framing::Header, answer.as_bytes())?;
            }
        }
        next = input.receive();
    }
    Ok(())
}

fn answer(id: &Value, method: &str) -> Value {
    if method == "shutdown" {
        return json!({ "jsonrpc": "2.0", "id": id, "result": null });
    }
    let message = "this version of ssr-mcp speaks MCP and not yet LSP; use it from a coding agent \
                   (ssr-mcp mcp) or from the command line";
    // `RequestFailed`: the request was fine; asking again will not help.
    let error = json!({ "code": -32803, "message": message, "data": { "retry": false } });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}
