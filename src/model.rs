//! Language-model endpoints: the only HTTP client.
//!
//! A [`Chat`] answers one request; [`Client`] is one at an OpenAI-compatible endpoint. What a model says
//! is data: nothing here looks into it.

mod error;
mod message;
mod reply;

pub use error::{Error, KeyShape, Lacking};
pub use message::{Message, Reasoning, ReasoningField, Role, Tool, ToolCall};
pub use reply::{Finish, Reply, Tokens, Usage};

use crate::sandbox::Cancel;

/// Tokens of a conversation where nobody says otherwise.
pub const DEFAULT_CONTEXT: u64 = 131_072;

/// How the next token is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    pub temperature: f64,
    /// The server's own where not given.
    pub top_p: Option<f64>,
    /// Most tokens of the reply.
    pub max_tokens: u32,
    pub seed: Option<u64>,
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub messages: &'a [Message],
    /// Empty: none are offered.
    pub tools: &'a [Tool],
    pub sampling: Sampling,
}

/// A model that can be talked to.
pub trait Chat: Send + Sync {
    /// The name by which its server knows it.
    fn model(&self) -> &str;

    /// Whether tool calls come as such, and not as text.
    fn native_tools(&self) -> bool;

    /// Most tokens of a conversation, the reply included.
    fn context(&self) -> u64;

    /// Waits for the whole reply. `cancel` ends the request at once.
    fn reply(&self, request: &Request<'_>, cancel: &Cancel) -> Result<Reply, Error>;
}
