//! What is said in a conversation.

use serde::{Deserialize, Serialize};

/// Who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// The word of the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub content: String,
    /// Of an assistant; empty where it calls none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Of a tool's result: the call that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Of an assistant: what it thought, which is never read as an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
}

impl Message {
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        let content = content.into();
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None, reasoning: None }
    }

    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    /// The result of the call with this id.
    pub fn tool(call: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.into()), ..Self::new(Role::Tool, content) }
    }
}

/// Text that a model thought before it answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    pub text: String,
    /// Sent back by the same name: servers drop what they know by another.
    pub field: ReasoningField,
}

/// Where a server puts a model's thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningField {
    Reasoning,
    ReasoningContent,
    /// In the content, as `<think>…</think>`; we took it out.
    Think,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// As the model wrote it; may be no JSON.
    pub arguments: String,
}

/// A tool that is offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// A JSON schema of its arguments.
    pub parameters: serde_json::Value,
}
