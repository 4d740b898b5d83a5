//! Which protocol a client speaks, by its first message. Framing does not tell: there are MCP clients
//! that use headers.

use super::{Content, Frame};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Mcp,
    Lsp,
}

/// LSP is `initialize` without a protocol version, with what only LSP's has, or any method that only
/// LSP has; everything else is MCP, whose face says what is wrong with it.
pub fn protocol(first: &Frame) -> Protocol {
    let Content::Message(bytes) = &first.content else { return Protocol::Mcp };
    let message: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let params = &message["params"];
    let lsp = match message["method"].as_str() {
        Some("initialize") => {
            !params["protocolVersion"].is_string()
                && !has_mcp_meta(params)
                && ["processId", "rootUri", "capabilities"].iter().any(|key| !missing(params, key))
        }
        Some("shutdown" | "exit" | "initialized") => true,
        Some(method) => ["textDocument/", "workspace/", "window/", "$/"]
            .iter()
            .any(|start| method.starts_with(start)),
        None => false,
    };
    if lsp { Protocol::Lsp } else { Protocol::Mcp }
}

fn missing(params: &Value, key: &str) -> bool {
    params.get(key).is_none()
}

fn has_mcp_meta(params: &Value) -> bool {
    params["_meta"]
        .as_object()
        .is_some_and(|meta| meta.keys().any(|key| key.starts_with("io.modelcontextprotocol/")))
}
