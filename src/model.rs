//! Language-model endpoints: the only HTTP client.
//!
//! A [`Chat`] answers one request; [`Client`] is one at an OpenAI-compatible endpoint. What a model says
//! is data: nothing here looks into it.

mod base_url;
mod breaker;
mod classify;
mod client;
mod error;
mod http;
mod key;
mod listing;
mod message;
mod probe;
mod provider;
mod proxy;
mod record;
mod reply;
mod retry;
mod route;
mod stream;
#[cfg(test)]
mod tests;
mod think;
mod wire;

pub use base_url::{BadUrl, BaseUrl, Note};
pub use client::{Client, Settings};
pub use error::{Error, KeyShape, Lacking};
pub use key::{Key, keep_from_dumps};
pub use listing::Model;
pub use message::{Message, Reasoning, ReasoningField, Role, Tool, ToolCall};
pub use probe::{Finding, Probed, explained, probe};
pub use provider::{DEFAULT_TIMEOUT, Kind, Provider};
pub use proxy::serve as serve_proxy;
pub use record::{Recording, Rollout};
pub use reply::{Finish, Reply, Tokens, Usage};
pub use retry::Patience;
pub use route::{Proxies, Proxy};

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
