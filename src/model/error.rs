//! Why no usable reply came: each with its cause, the evidence, and what to do.

use super::Reply;
use std::fmt;
use std::time::Duration;

/// What can be said of a key without telling any of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyShape {
    /// Where it comes from, e.g. `TAOTOKEN_API_KEY`.
    pub source: String,
    /// Characters.
    pub length: usize,
    /// White space around it was cut off.
    pub trimmed: bool,
}

impl fmt::Display for KeyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, length, trimmed } = self;
        let cut = if *trimmed { ", after white space around it was cut off" } else { "" };
        write!(f, "the key of {source}, {length} characters{cut}")
    }
}

/// What a reply has instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// Neither text nor calls nor reasoning.
    Everything,
    /// Reasoning alone.
    AllButReasoning,
    /// Calls of tools that were not offered.
    AllButCalls,
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Everything => "its content is empty or null",
            Self::AllButReasoning => "it has reasoning and no content",
            Self::AllButCalls => "it has calls of tools that were not offered, and no content",
        })
    }
}

/// `url` is the one that was asked, without a query; `said` is what its server answered, on one line, short,
/// and without any key.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{url} refused {key} ({status}: {said}); check that the key is whole, still valid, and of this host, \
         or make a new one"
    )]
    Key { url: String, status: u16, key: KeyShape, said: String },
    #[error(
        "{url} wants a key ({status}: {said}), and none is set for it; set {variable}, or api_key_file in the \
         user's ssr-mcp.toml"
    )]
    NoKey { url: String, status: u16, variable: String, said: String },
    #[error("{key} cannot be sent ({reason}); set it anew: copy the key alone, on one line")]
    KeyUnusable { key: KeyShape, reason: String },
    #[error(
        "{url} answered that a sign-in ended ({said}), which is of OAuth and not of API keys; give an API key of \
         this host instead of a token that a tool signed in with"
    )]
    OAuth { url: String, said: String },
    #[error(
        "{url} wants money ({status}: {said}); see to the account of this key, or take another provider"
    )]
    Money { url: String, status: u16, said: String },
    #[error(
        "the connection to {url} goes by the proxy {proxy}, as {variable} says, and the proxy does not work \
         ({reason}); start it, unset {variable}, or set no_proxy = true for this provider"
    )]
    Proxy { url: String, variable: String, proxy: String, reason: String },
    #[error("{url} cannot be reached ({reason}); start its server, or correct the base URL")]
    Refused { url: String, reason: String },
    #[error(
        "the host of {url} has no address ({reason}); check its spelling and this machine's network"
    )]
    Dns { url: String, reason: String },
    #[error(
        "{url} cannot be trusted ({reason}); if its certificate is of your own authority, name that in ca_file, \
         and where the system has no certificates install them or set SSL_CERT_FILE"
    )]
    Tls { url: String, reason: String },
    #[error(
        "{url} has not answered within {} s; raise timeout_seconds, or ask for fewer tokens",
        after.as_secs()
    )]
    Timeout { url: String, after: Duration },
    #[error(
        "the answer of {url} broke off after {got} bytes ({reason}); it was not asked again, since it may have \
         been paid for: try again"
    )]
    Truncated { url: String, got: u64, reason: String },
    #[error("the answer of {url} is longer than {} MB and was given up; it is no model's reply", limit >> 20)]
    Oversized { url: String, limit: u64 },
    #[error(
        "{url} is not there ({status}: {said}){}; check the base URL: it ends before /chat/completions",
        doubled(*doubled_version)
    )]
    NotFound { url: String, status: u16, said: String, doubled_version: bool },
    #[error("{url} does not know the model {model:?} ({said}); {}", known_models(known))]
    UnknownModel { url: String, model: String, known: Vec<String>, said: String },
    #[error(
        "{url} allows no more requests for now ({said}{}), after {tries} tries; lower the concurrency, or wait",
        after_which(*retry_after)
    )]
    RateLimited { url: String, retry_after: Option<Duration>, said: String, tries: u32 },
    #[error(
        "the conversation is too long for the model ({said}){}; shorten it, or give the server a larger context",
        of_tokens(*tokens, *limit)
    )]
    ContextTooLong { url: String, tokens: Option<u64>, limit: Option<u64>, said: String },
    #[error(
        "{url} filtered the conversation ({said}); ask for something else, or take another model"
    )]
    Filtered { url: String, said: String },
    #[error(
        "{url} answered with an error instead of choices ({status}: {said}); check the model and what is asked of \
         it"
    )]
    ErrorObject { url: String, status: u16, said: String },
    #[error(
        "{url} answered without choices ({said}); check that it is an OpenAI-compatible server and that the \
         model is one for chats"
    )]
    NoChoices { url: String, said: String },
    #[error(
        "the reply of {url} cannot be used: {lacking} (it ended by {:?}); {}",
        reply.finish.word(),
        remedy(*lacking)
    )]
    Empty { url: String, lacking: Lacking, reply: Box<Reply> },
    #[error(
        "{url} answered with a stream that was not asked for and cannot be read ({reason}); check what stands \
         between here and the model"
    )]
    Stream { url: String, reason: String },
    #[error(
        "{url} answered with something that is no JSON ({status}, {kind}: {said}); check that the base URL is the \
         API's and not a page's"
    )]
    NotJson { url: String, status: u16, kind: String, said: String },
    #[error("{url} refused the request ({status}: {said}); correct what it names")]
    Rejected { url: String, status: u16, said: String },
    #[error("{url} failed ({status}: {said}) {tries} times; its operator knows more, try later")]
    Server { url: String, status: u16, said: String, tries: u32 },
    #[error(
        "{url} is not asked for another {} s, since it failed {failures} times in a row, at last so: {last}",
        wait.as_secs().max(1)
    )]
    Resting { url: String, failures: u32, wait: Duration, last: String },
    #[error("the connection to {url} cannot be set up ({reason}); correct the provider's settings")]
    Setup { url: String, reason: String },
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Asking again with a shorter conversation may help.
    pub fn is_context_too_long(&self) -> bool {
        matches!(self, Self::ContextTooLong { .. })
    }

    /// Nothing that a program does will help: keys, money, sign-ins.
    pub fn needs_person(&self) -> bool {
        matches!(
            self,
            Self::Key { .. }
                | Self::NoKey { .. }
                | Self::KeyUnusable { .. }
                | Self::OAuth { .. }
                | Self::Money { .. }
        )
    }

    /// What came and cannot be used; it was counted and paid for all the same.
    pub fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Empty { reply, .. } => Some(reply),
            _ => None,
        }
    }

    /// A word for machines and for counting.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Key { .. } => "key",
            Self::NoKey { .. } => "no_key",
            Self::KeyUnusable { .. } => "key_unusable",
            Self::OAuth { .. } => "oauth",
            Self::Money { .. } => "money",
            Self::Proxy { .. } => "proxy",
            Self::Refused { .. } => "refused",
            Self::Dns { .. } => "dns",
            Self::Tls { .. } => "tls",
            Self::Timeout { .. } => "timeout",
            Self::Truncated { .. } => "truncated",
            Self::Oversized { .. } => "oversized",
            Self::NotFound { .. } => "not_found",
            Self::UnknownModel { .. } => "unknown_model",
            Self::RateLimited { .. } => "rate_limited",
            Self::ContextTooLong { .. } => "context_too_long",
            Self::Filtered { .. } => "filtered",
            Self::ErrorObject { .. } => "error_object",
            Self::NoChoices { .. } => "no_choices",
            Self::Empty { .. } => "empty",
            Self::Stream { .. } => "stream",
            Self::NotJson { .. } => "not_json",
            Self::Rejected { .. } => "rejected",
            Self::Server { .. } => "server",
            Self::Resting { .. } => "resting",
            Self::Setup { .. } => "setup",
            Self::Cancelled => "cancelled",
        }
    }
}

fn doubled(doubled: bool) -> &'static str {
    if doubled { "; its path has /v1 twice, once from the base URL" } else { "" }
}

fn after_which(retry_after: Option<Duration>) -> String {
    retry_after.map(|after| format!("; it says {} s", after.as_secs())).unwrap_or_default()
}

fn of_tokens(tokens: Option<u64>, limit: Option<u64>) -> String {
    match (tokens, limit) {
        (Some(tokens), Some(limit)) => format!(", {tokens} tokens of {limit}"),
        (None, Some(limit)) => format!(", of {limit} tokens"),
        _ => String::new(),
    }
}

/// Models that are named at most.
const MODELS: usize = 20;

fn known_models(known: &[String]) -> String {
    if known.is_empty() {
        return "it does not say which it knows; check the name".to_owned();
    }
    let more = known.len().saturating_sub(MODELS);
    let mut text = format!("it knows {}", known[..known.len().min(MODELS)].join(", "));
    if more > 0 {
        text = format!("{text} and {more} more");
    }
    text
}

fn remedy(lacking: Lacking) -> &'static str {
    match lacking {
        Lacking::Everything => "ask again, or take another model",
        Lacking::AllButReasoning => "raise max_tokens, or let it think less",
        Lacking::AllButCalls => "offer tools, or tell the model to answer in text",
    }
}
