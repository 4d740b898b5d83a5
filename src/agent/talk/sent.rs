//! Messages as they are sent: whatever a model wrote, its server can read them.

use crate::model::{self, Message, ToolCall};

/// Bytes of all that a message says.
pub(super) fn bytes(message: &Message) -> usize {
    let calls = message.tool_calls.iter().map(|call| call.name.len() + call.arguments.len() + 8);
    let thought = message.reasoning.as_ref().map_or(0, |reasoning| reasoning.text.len());
    message.content.len() + thought + calls.sum::<usize>()
}

/// A message that every server takes back: some refuse to read arguments that are no JSON, or a reply without
/// content.
pub(super) fn sendable(message: &Message, native: bool) -> Message {
    let mut message = message.clone();
    if message.role != model::Role::Assistant {
        return message;
    }
    if !native {
        message.tool_calls.clear();
    }
    for call in &mut message.tool_calls {
        if !is_object(call) {
            "{}".clone_into(&mut call.arguments);
        }
    }
    if message.content.is_empty() && message.tool_calls.is_empty() {
        "(nothing)".clone_into(&mut message.content);
    }
    message
}

fn is_object(call: &ToolCall) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_cannot_read_is_not_sent_back() {
        let call = |arguments: &str| ToolCall {
            id: "1".to_owned(),
            name: "bash".to_owned(),
            arguments: arguments.to_owned(),
        };
        let mut message = Message::new(model::Role::Assistant, "");
        message.tool_calls = vec![call("ls"), call("[1]"), call(r#"{"command": "ls"}"#)];
        let sent = sendable(&message, true);
        let arguments: Vec<_> = sent.tool_calls.iter().map(|call| &*call.arguments).collect();
        assert_eq!(arguments, ["{}", "{}", r#"{"command": "ls"}"#]);
        let sent = sendable(&message, false);
        assert!(sent.tool_calls.is_empty() && sent.content == "(nothing)");
        assert_eq!(sendable(&Message::user(""), true).content, "");
    }
}
