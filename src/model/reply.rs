//! What a model answered, and what it took.

use super::Message;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Of the assistant.
    pub message: Message,
    pub finish: Finish,
    /// `None` where the server does not count.
    pub usage: Option<Usage>,
    /// The model that the server says answered.
    pub model: String,
    /// From the first byte sent to the last one read; of the try that succeeded.
    pub wall: Duration,
    /// `None` where the server gives neither ids nor probabilities.
    pub tokens: Option<Tokens>,
    /// The version of its weights, where the server says it.
    pub weights: Option<String>,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    Stop,
    /// At the most tokens that were asked for, or that its context holds.
    Length,
    ToolCalls,
    ContentFilter,
    /// What else the server said; empty where it said nothing.
    Other(String),
}

impl Finish {
    /// Reads the protocol's word.
    pub fn of(word: &str) -> Self {
        match word {
            "stop" | "end_turn" | "eos" | "eos_token" => Self::Stop,
            "length" | "max_tokens" => Self::Length,
            "tool_calls" | "function_call" | "tool_use" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The protocol's word.
    pub fn word(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Other(word) => word,
        }
    }
}

/// Tokens, as the server counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Of the prompt's: those that were not worked out anew.
    pub cached_tokens: Option<u64>,
}

/// What a policy can be trained on. Never made of text: only what the server itself said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    pub prompt_ids: Option<Vec<u32>>,
    pub completion_ids: Option<Vec<u32>>,
    /// Natural logarithms, one a token of the completion.
    pub logprobs: Option<Vec<f64>>,
}
