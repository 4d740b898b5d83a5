//! What an endpoint can do, found out by small requests.

use super::{BaseUrl, Client, Error, Reasoning, ReasoningField, Reply, Tokens, Usage};
use crate::sandbox::Cancel;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Most tokens of a reply that has to be whole. Models that think first need some.
const TOKENS: u32 = 128;
/// Of one whose beginning tells enough.
const FEW: u32 = 24;
const TOOL: &str = "note";
const SEED: u64 = 7;

/// What became of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Works(String),
    /// Why it does not.
    Not(String),
}

/// What an endpoint can do.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The model that the server says answered.
    pub model: String,
    pub usage: Option<Usage>,
    pub wall: Duration,
    /// The beginning of what it said.
    pub said: String,
    /// By name, in their order; empty where only one request was wanted.
    pub findings: Vec<(&'static str, Finding)>,
}

/// Asks for a word, and, unless it is to be brief, tries what else there is: some six small requests.
pub fn probe(client: &Client, brief: bool, cancel: &Cancel) -> Result<Probed, Error> {
    let first =
        usable(ask(client, "Answer with one word: ready", TOKENS, json!({}), false, cancel))?;
    let mut findings = Vec::new();
    if !brief {
        let mut thought = first.message.reasoning.clone();
        let tokens = tokens(client, cancel)?;
        findings.push(("tools", found(tools(client, cancel), cancel)?));
        findings.push(("logprobs", logprobs(&tokens)));
        findings.push(("token_ids", token_ids(&tokens)));
        findings.push(("seeds", found(seeds(client, cancel), cancel)?));
        findings.push(("json_schema", found(schema(client, cancel), cancel)?));
        if let Ok(reply) = &tokens {
            thought = thought.or_else(|| reply.message.reasoning.clone());
        }
        findings.insert(0, ("reasoning", reasoning(thought.as_ref())));
    }
    Ok(Probed {
        model: first.model,
        usage: first.usage,
        wall: first.wall,
        said: first.message.content.chars().take(80).collect(),
        findings,
    })
}

/// Whether the model calls a tool when it is told to. A server that refuses the question does not; an error is one
/// that any question would meet.
pub(super) fn calls_tools(client: &Client, cancel: &Cancel) -> Result<bool, Error> {
    match tools(client, cancel) {
        Ok(finding) => Ok(matches!(finding, Finding::Works(_))),
        Err(
            Error::Rejected { .. }
            | Error::ErrorObject { .. }
            | Error::NoChoices { .. }
            | Error::Server { .. },
        ) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The URL that replies are asked of, and what was made of the one that was given.
pub fn explained(base: &BaseUrl) -> String {
    let notes: Vec<String> = base.notes().iter().map(ToString::to_string).collect();
    let url = base.below("chat/completions");
    if notes.is_empty() { url.into() } else { format!("{url} ({})", notes.join("; ")) }
}

fn ask(
    client: &Client,
    prompt: &str,
    most: u32,
    more: Value,
    offered: bool,
    cancel: &Cancel,
) -> Result<Reply, Error> {
    let limit = client.provider().kind.dialect().limit;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(super::Chat::model(client)));
    body.insert("messages".to_owned(), json!([{ "role": "user", "content": prompt }]));
    body.insert(limit.to_owned(), json!(most));
    body.insert("stream".to_owned(), json!(false));
    if let Value::Object(more) = more {
        body.extend(more);
    }
    client.send(&body, offered, cancel)
}

/// A reply that lacks words is one for a probe.
fn usable(reply: Result<Reply, Error>) -> Result<Reply, Error> {
    match reply {
        Err(Error::Empty { reply, .. }) => Ok(*reply),
        other => other,
    }
}

/// A question that was refused is a finding; one that was cancelled is not.
fn found(finding: Result<Finding, Error>, cancel: &Cancel) -> Result<Finding, Error> {
    match finding {
        Err(_) if cancel.is_cancelled() => Err(Error::Cancelled),
        Err(error) => Ok(Finding::Not(error.to_string())),
        Ok(finding) => Ok(finding),
    }
}

fn tools(client: &Client, cancel: &Cancel) -> Result<Finding, Error> {
    let tool = json!({
        "type": "function",
        "function": {
            "name": TOOL,
            "description": "Keeps a note.",
            "parameters": {
                "type": "object",
                "properties": { "text": { "type": "string", "description": "The note." } },
                "required": ["text"],
            },
        },
    });
    let prompt = "Call the tool `note` with the text: hello";
    let reply = usable(ask(client, prompt, TOKENS, json!({ "tools": [tool] }), true, cancel))?;
    let Some(call) = reply.message.tool_calls.first() else {
        return Ok(Finding::Not("it was told to call a tool and answered in text".to_owned()));
    };
    let arguments = serde_json::from_str::<Value>(&call.arguments);
    Ok(if call.name == TOOL && arguments.is_ok_and(|value| value["text"].is_string()) {
        Finding::Works("a tool was called when it was told so".to_owned())
    } else {
        Finding::Not(format!("it called {:?} with {:?}", call.name, call.arguments))
    })
}

/// A reply with all that the kind of server is known to give of tokens. Where it is not known, or all at once is
/// refused, probabilities alone are asked for.
fn tokens(client: &Client, cancel: &Cancel) -> Result<Result<Reply, Error>, Error> {
    let questions =
        [json!({ "logprobs": true, "return_token_ids": true }), json!({ "logprobs": true })];
    let mut last = Err(Error::Cancelled);
    for question in questions {
        last = usable(ask(client, "Count to three.", FEW, question, false, cancel));
        match &last {
            Ok(_) => break,
            Err(_) if cancel.is_cancelled() => return Err(Error::Cancelled),
            Err(_) => {}
        }
    }
    Ok(last)
}

fn logprobs(reply: &Result<Reply, Error>) -> Finding {
    match reply {
        Err(error) => Finding::Not(error.to_string()),
        Ok(Reply { tokens: Some(Tokens { logprobs: Some(logprobs), .. }), .. }) => {
            Finding::Works(format!("{} came", logprobs.len()))
        }
        Ok(_) => Finding::Not("they were asked for and none came".to_owned()),
    }
}

fn token_ids(reply: &Result<Reply, Error>) -> Finding {
    let tokens = match reply {
        Err(error) => return Finding::Not(error.to_string()),
        Ok(reply) => reply.tokens.clone().unwrap_or_default(),
    };
    match (tokens.prompt_ids, tokens.completion_ids) {
        (Some(prompt), Some(completion)) => Finding::Works(format!(
            "{} of the prompt, {} of the reply",
            prompt.len(),
            completion.len()
        )),
        (None, Some(_)) => {
            Finding::Not("those of the reply came, those of the prompt did not".to_owned())
        }
        (Some(_), None) => {
            Finding::Not("those of the prompt came, those of the reply did not".to_owned())
        }
        (None, None) => Finding::Not("they were asked for and none came".to_owned()),
    }
}

fn seeds(client: &Client, cancel: &Cancel) -> Result<Finding, Error> {
    let once = || {
        let more = json!({ "seed": SEED, "temperature": 1 });
        usable(ask(client, "Make up a name for a boat.", FEW, more, false, cancel))
    };
    let (first, second) = (once()?, once()?);
    Ok(if first.message == second.message {
        Finding::Works("one seed gave the same reply twice".to_owned())
    } else {
        Finding::Not("one seed gave two replies".to_owned())
    })
}

fn schema(client: &Client, cancel: &Cancel) -> Result<Finding, Error> {
    let schema = json!({
        "type": "object",
        "properties": { "calm": { "type": "boolean" } },
        "required": ["calm"],
        "additionalProperties": false,
    });
    let format = json!({
        "response_format": {
            "type": "json_schema",
            "json_schema": { "name": "sea", "strict": true, "schema": schema },
        },
    });
    // The prompt does not ask for JSON: what follows the schema was made to.
    let reply = usable(ask(client, "Is the sea calm today?", TOKENS, format, false, cancel))?;
    let value = serde_json::from_str::<Value>(reply.message.content.trim());
    let follows = value.is_ok_and(|value| {
        value.as_object().is_some_and(|object| object.len() == 1 && value["calm"].is_boolean())
    });
    Ok(if follows {
        Finding::Works("a reply followed one".to_owned())
    } else {
        Finding::Not("a reply did not follow one".to_owned())
    })
}

fn reasoning(thought: Option<&Reasoning>) -> Finding {
    match thought.map(|thought| thought.field) {
        Some(ReasoningField::Reasoning) => Finding::Works("it comes as reasoning".to_owned()),
        Some(ReasoningField::ReasoningContent) => {
            Finding::Works("it comes as reasoning_content".to_owned())
        }
        Some(ReasoningField::Think) => {
            Finding::Works("it stands in the content as <think>".to_owned())
        }
        None => Finding::Not("none came".to_owned()),
    }
}
