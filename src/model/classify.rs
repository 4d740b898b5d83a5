//! What a server says when it does not answer, told apart. Pure.

use super::{Error, Key};
use serde_json::Value;
use std::time::Duration;

/// Longest evidence, in characters.
const EVIDENCE: usize = 300;

/// What was asked, by whom.
pub(super) struct Asked<'a> {
    /// As errors show it.
    pub(super) url: &'a str,
    pub(super) model: &'a str,
    pub(super) key: Option<&'a Key>,
    /// The variable that would hold a key.
    pub(super) key_variable: &'a str,
    pub(super) doubled_version: bool,
}

impl Asked<'_> {
    /// A server's text on one line, short, without the key.
    pub(super) fn evidence(&self, text: &str) -> String {
        // A key that begins before the cut is still whole here.
        let line: Vec<&str> = text.split_whitespace().take(EVIDENCE).collect();
        let line = line.join(" ");
        let line: String = line.chars().filter(|c| !c.is_control()).take(8 * EVIDENCE).collect();
        let line = match self.key {
            Some(key) => key.hidden(&line),
            None => line,
        };
        let mut short: String = line.chars().take(EVIDENCE).collect();
        if short.len() < line.len() {
            short.push('…');
        }
        if short.is_empty() { "it said nothing".to_owned() } else { short }
    }
}

/// What came.
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    /// The media type; empty where none was said.
    pub(super) kind: &'a str,
    pub(super) body: &'a str,
    pub(super) retry_after: Option<Duration>,
}

/// What a status other than 2xx means.
pub(super) fn refusal(answer: &Answer<'_>, asked: &Asked<'_>, tries: u32) -> Error {
    let value: Value = serde_json::from_str(answer.body).unwrap_or_default();
    let said = match words(&value) {
        Some(words) => words,
        None if looks_like_a_page(answer) => title(answer.body),
        None => answer.body.to_owned(),
    };
    let refusal = Refusal {
        status: answer.status,
        said: asked.evidence(&said),
        marks: marks(&value, &said),
        retry_after: answer.retry_after,
        tries,
        value: &value,
    };
    of(&refusal, asked)
}

/// An error object that came with status 200; gateways put the status in its code.
pub(super) fn error_of(value: &Value, asked: &Asked<'_>) -> Error {
    let said = words(value).unwrap_or_else(|| value.to_string());
    let code = value.pointer("/error/code").and_then(|code| match code {
        Value::Number(code) => code.as_u64(),
        Value::String(code) => code.parse().ok(),
        _ => None,
    });
    let status =
        code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
    let refusal = Refusal {
        status: status.unwrap_or(200),
        said: asked.evidence(&said),
        marks: marks(value, &said),
        retry_after: None,
        tries: 1,
        value,
    };
    of(&refusal, asked)
}

pub(super) fn not_json(answer: &Answer<'_>, asked: &Asked<'_>) -> Error {
    let said = if looks_like_a_page(answer) { title(answer.body) } else { answer.body.to_owned() };
    let kind = if answer.kind.is_empty() { "of no said type" } else { answer.kind };
    Error::NotJson {
        url: asked.url.to_owned(),
        status: answer.status,
        kind: asked.evidence(kind),
        said: asked.evidence(&said),
    }
}

struct Refusal<'a> {
    status: u16,
    said: String,
    /// Everything that tells what it is, in small letters.
    marks: String,
    retry_after: Option<Duration>,
    tries: u32,
    value: &'a Value,
}

fn of(refusal: &Refusal<'_>, asked: &Asked<'_>) -> Error {
    let Refusal { status, retry_after, tries, .. } = *refusal;
    let (url, said) = (asked.url.to_owned(), refusal.said.clone());
    let has = |marks: &[&str]| marks.iter().any(|mark| refusal.marks.contains(mark));
    let client_s = (400..500).contains(&status) || status == 200;
    if has(&OAUTH) || (matches!(status, 401 | 403) && has(&["access token", "refresh token"])) {
        return Error::OAuth { url, said };
    }
    if (client_s || status == 500) && has(&TOO_LONG) {
        let (tokens, limit) = lengths(refusal.value, &refusal.marks);
        return Error::ContextTooLong { url, tokens, limit, said };
    }
    if client_s && has(&FILTERED) {
        return Error::Filtered { url, said };
    }
    if status == 402 || (client_s && has(&MONEY)) {
        return Error::Money { url, status, said };
    }
    if client_s && status != 401 && is_of_a_model(&refusal.marks) {
        let (model, known) = (asked.model.to_owned(), Vec::new());
        return Error::UnknownModel { url, model, known, said };
    }
    match (status, asked.key) {
        (401 | 403, Some(key)) => Error::Key { url, status, key: key.shape().clone(), said },
        (401 | 403, None) => {
            Error::NoKey { url, status, variable: asked.key_variable.to_owned(), said }
        }
        (404 | 405, _) => {
            let doubled_version = asked.doubled_version || refusal.marks.contains("/v1/v1");
            Error::NotFound { url, status, said, doubled_version }
        }
        (429, _) => Error::RateLimited { url, retry_after, said, tries },
        (413, _) => Error::ContextTooLong { url, tokens: None, limit: None, said },
        (200, _) => Error::ErrorObject { url, status, said },
        // 529: overloaded, as some say it.
        (500..=504 | 520..=529, _) => Error::Server { url, status, said, tries },
        _ => Error::Rejected { url, status, said },
    }
}

const OAUTH: [&str; 6] = [
    "invalid_grant",
    "oauth",
    "token_expired",
    "expired_token",
    "token expired",
    "token has expired",
];

const TOO_LONG: [&str; 15] = [
    // OpenAI and those that copy it; vLLM.
    "context_length_exceeded",
    "maximum context length",
    "maximum model length",
    "context length is only",
    // llama.cpp.
    "exceed_context_size",
    "exceeds the available context size",
    // SGLang.
    "longer than the model's context length",
    // LM Studio.
    "context length of only",
    "the context overflows",
    // Ollama.
    "exceeded max context length",
    // Anthropic, Gemini, TGI.
    "prompt is too long",
    "input token count",
    "`inputs` tokens + `max_new_tokens` must be",
    // Others.
    "context window",
    "range of input length",
];

const FILTERED: [&str; 6] = [
    "content_filter",
    "content_policy",
    "content management policy",
    "responsibleaipolicyviolation",
    "data_inspection_failed",
    "prohibited_content",
];

const MONEY: [&str; 8] = [
    "insufficient_quota",
    "insufficient_balance",
    "insufficient balance",
    "insufficient credit",
    "exceeded your current quota",
    "billing_hard_limit",
    "billing_not_active",
    "credit balance is too low",
];

fn is_of_a_model(marks: &str) -> bool {
    let absent = [
        "not found",
        "does not exist",
        "not exist",
        "no such",
        "unknown",
        "not a valid",
        "invalid",
    ];
    marks.contains("model_not_found")
        || marks.contains("unknown_model")
        || marks.contains("no available channel for model")
        || (marks.contains("model") && absent.iter().any(|word| model_is(marks, word)))
}

/// Whether the word stands near the word "model": an unknown parameter is none.
fn model_is(marks: &str, word: &str) -> bool {
    const NEAR: usize = 60;
    marks.match_indices("model").any(|(at, _)| {
        let around: String =
            marks[..at].chars().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect();
        let after: String = marks[at..].chars().take(NEAR).collect();
        after.contains(word) || around.contains(word)
    })
}

/// What a server says, out of the forms in which servers say it.
fn words(value: &Value) -> Option<String> {
    let object = value.as_object()?;
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    let inner = object.get("error").filter(|error| error.is_object()).unwrap_or(value);
    let message = ["message", "msg", "detail", "error_description"]
        .iter()
        .find_map(|name| text(inner.get(*name)?))
        .or_else(|| text(object.get("error")?))
        .or_else(|| text(object.get("errors")?));
    let names: Vec<String> = ["code", "type", "error"]
        .iter()
        .filter_map(|name| inner.get(*name)?.as_str().map(str::to_owned))
        .filter(|name| message.as_ref() != Some(name))
        .collect();
    match (message, names.is_empty()) {
        (Some(message), true) => Some(message),
        (Some(message), false) => Some(format!("{message} [{}]", names.join(", "))),
        (None, false) => Some(names.join(", ")),
        (None, true) => None,
    }
}

fn marks(value: &Value, said: &str) -> String {
    let names = ["/error/code", "/error/type", "/error/param", "/code", "/type", "/error"];
    let mut marks = said.to_lowercase();
    for name in names.iter().filter_map(|name| value.pointer(name)?.as_str()) {
        marks.push(' ');
        marks.push_str(&name.to_lowercase());
    }
    // Enough for any mark, and bounded.
    marks.chars().take(4000).collect()
}

/// Tokens of the conversation, and how many there may be.
fn lengths(value: &Value, marks: &str) -> (Option<u64>, Option<u64>) {
    let number = |name: &str| value.pointer(name).and_then(Value::as_u64);
    let after = |starts: &[&str]| {
        starts.iter().find_map(|start| {
            let (_, rest) = marks.split_once(start)?;
            let digits: String = rest
                .chars()
                .skip_while(|c| !c.is_ascii_digit())
                .take_while(|c| c.is_ascii_digit() || *c == ',')
                .filter(char::is_ascii_digit)
                .collect();
            // What a number is of stands right before it.
            let far = rest.find(|c: char| c.is_ascii_digit()).is_none_or(|at| at > 20);
            if far { None } else { digits.parse().ok() }
        })
    };
    let tokens = number("/error/n_prompt_tokens").or_else(|| {
        after(&[
            "resulted in ",
            "you requested a total of ",
            "you requested ",
            "you passed ",
            "the input (",
            "is too long: ",
            "token count (",
            "given: ",
            "request (",
        ])
    });
    let limit = number("/error/n_ctx").or_else(|| {
        after(&[
            "maximum context length is ",
            "maximum context length of ",
            "context length is only ",
            "context length of only ",
            "context length (",
            "available context size (",
            "tokens > ",
            "must be <= ",
            "tokens allowed (",
        ])
    });
    (tokens, limit)
}

fn looks_like_a_page(answer: &Answer<'_>) -> bool {
    answer.kind.starts_with("text/html") || answer.body.trim_start().starts_with('<')
}

/// The title of a page, else that it is one.
fn title(body: &str) -> String {
    let small = body.to_ascii_lowercase();
    let title = small.split_once("<title>").and_then(|(before, rest)| {
        let start = before.len() + "<title>".len();
        let end = start + rest.find("</title>")?;
        body.get(start..end)
    });
    match title {
        Some(title) => format!("a page: {title}"),
        None => format!("a page: {body}"),
    }
}
