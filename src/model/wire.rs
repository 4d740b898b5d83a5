//! The protocol's JSON: a request as its body, and a body as a reply.

use super::classify::{self, Answer, Asked};
use super::think;
use super::{
    Error, Finish, Key, Lacking, Message, Reasoning, ReasoningField, Reply, Request, Role, Tokens,
    ToolCall, Usage,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Longest name that is taken from outside, in bytes.
pub(super) const LONGEST_NAME: usize = 200;

/// How a server words what the protocol leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The name of the most tokens of a reply: the older one is refused by newer models of `OpenAI`'s.
    pub(super) limit: &'static str,
    /// What it is known to tell of tokens.
    pub(super) tells: Tells,
    /// It narrows what tokens are drawn from unless it is told not to.
    pub(super) narrows: bool,
}

/// What a server can be asked for of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tells {
    Nothing,
    Probabilities,
    /// Ids, too.
    All,
    /// Ids, too, but of a whole reply alone: a stream that is asked for them is refused.
    AllOfWhole,
}

pub(super) fn body(model: &str, request: &Request<'_>, dialect: Dialect) -> Map<String, Value> {
    let sampling = &request.sampling;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), request.messages.iter().map(message).collect());
    body.insert("temperature".to_owned(), json!(sampling.temperature));
    body.insert(dialect.limit.to_owned(), json!(sampling.max_tokens));
    body.insert("stream".to_owned(), json!(false));
    if let Some(top_p) = sampling.top_p {
        body.insert("top_p".to_owned(), json!(top_p));
    }
    if let Some(seed) = sampling.seed {
        body.insert("seed".to_owned(), json!(seed));
    }
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| json!({ "type": "function", "function": tool });
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    body
}

/// Asks for what a policy can be trained on, as far as the server knows how.
pub(super) fn ask_for_tokens(body: &mut Map<String, Value>, dialect: Dialect) {
    let streams = body.get("stream").and_then(Value::as_bool) == Some(true);
    let ids = match dialect.tells {
        Tells::All => true,
        Tells::AllOfWhole => !streams,
        Tells::Nothing | Tells::Probabilities => false,
    };
    let mut ask = |name: &str, value: Value| {
        body.entry(name).or_insert(value);
    };
    if dialect.tells != Tells::Nothing {
        ask("logprobs", json!(true));
    }
    if ids {
        ask("return_token_ids", json!(true));
    }
    if dialect.narrows {
        ask("top_k", json!(0));
        ask("top_p", json!(1.0));
        ask("min_p", json!(0.0));
    }
}

fn message(message: &Message) -> Value {
    let mut content = message.content.clone();
    let mut object = Map::new();
    object.insert("role".to_owned(), json!(message.role.name()));
    match &message.reasoning {
        Some(Reasoning { text, field: ReasoningField::Think }) => {
            content = think::join(text, &content);
        }
        Some(Reasoning { text, field: ReasoningField::Reasoning }) => {
            object.insert("reasoning".to_owned(), json!(text));
        }
        Some(Reasoning { text, field: ReasoningField::ReasoningContent }) => {
            object.insert("reasoning_content".to_owned(), json!(text));
        }
        None => {}
    }
    object.insert("content".to_owned(), json!(content));
    if !message.tool_calls.is_empty() {
        let call = |call: &ToolCall| {
            json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments },
            })
        };
        object.insert("tool_calls".to_owned(), message.tool_calls.iter().map(call).collect());
    }
    if let Some(id) = &message.tool_call_id {
        object.insert("tool_call_id".to_owned(), json!(id));
    }
    Value::Object(object)
}

/// What a body of status 200 says. `offered`: whether tools were.
pub(super) fn reply(
    value: &Value,
    asked: &Asked<'_>,
    offered: bool,
    wall: Duration,
) -> Result<Reply, Error> {
    let url = || asked.url.to_owned();
    let choices = value.get("choices").and_then(Value::as_array);
    let error = value.get("error").filter(|error| !error.is_null());
    let choice = match (choices.and_then(|choices| choices.first()), error) {
        (Some(choice), _) => choice,
        (None, Some(_)) => return Err(classify::error_of(value, asked)),
        (None, None) => {
            let said = match choices {
                Some(_) => "choices is empty".to_owned(),
                None => asked.evidence(&value.to_string()),
            };
            return Err(Error::NoChoices { url: url(), said });
        }
    };
    let mut message = assistant(choice);
    let told = asked.key.is_some_and(|key| key_taken_out(key, &mut message));
    let finish =
        Finish::of(choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default());
    let reply = Reply {
        finish,
        usage: usage(value),
        model: value
            .get("model")
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty())
            .unwrap_or(asked.model)
            .to_owned(),
        wall,
        // Its tokens would tell it, too.
        tokens: if told { None } else { tokens(value, choice) },
        weights: weights(value),
        message,
    };
    let Some(lacking) = lacking(&reply.message, offered) else { return Ok(reply) };
    if reply.finish == Finish::ContentFilter {
        let said = "it stopped by content_filter, before a word".to_owned();
        return Err(Error::Filtered { url: url(), said });
    }
    Err(Error::Empty { url: url(), lacking, reply: Box::new(reply) })
}

/// Whether a server repeated the key.
fn key_taken_out(key: &Key, message: &mut Message) -> bool {
    let thought = message.reasoning.as_mut().map(|reasoning| &mut reasoning.text);
    let calls =
        message.tool_calls.iter_mut().flat_map(|call| [&mut call.name, &mut call.arguments]);
    let texts = std::iter::once(&mut message.content).chain(thought).chain(calls);
    texts.map(|text| key.taken_out(text)).filter(|told| *told).count() > 0
}

fn lacking(message: &Message, offered: bool) -> Option<Lacking> {
    let calls = !message.tool_calls.is_empty();
    if !message.content.trim().is_empty() || (calls && offered) {
        None
    } else if calls {
        Some(Lacking::AllButCalls)
    } else if message.reasoning.is_some() {
        Some(Lacking::AllButReasoning)
    } else {
        Some(Lacking::Everything)
    }
}

fn assistant(choice: &Value) -> Message {
    let null = Value::Null;
    let message = choice.get("message").unwrap_or(&null);
    let mut content = text(message.get("content").or_else(|| choice.get("text")).unwrap_or(&null));
    if content.is_empty() {
        content = text(message.get("refusal").unwrap_or(&null));
    }
    let named = |name: &str, field| {
        let text = message.get(name).and_then(Value::as_str)?.to_owned();
        (!text.is_empty()).then_some(Reasoning { text, field })
    };
    let mut reasoning = named("reasoning_content", ReasoningField::ReasoningContent)
        .or_else(|| named("reasoning", ReasoningField::Reasoning));
    if reasoning.is_none()
        && let Some((thought, rest)) = think::split(&content)
    {
        let (thought, rest) = (thought.to_owned(), rest.to_owned());
        reasoning = Some(Reasoning { text: thought, field: ReasoningField::Think });
        content = rest;
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let mut tool_calls: Vec<ToolCall> =
        calls.into_iter().flatten().enumerate().map(|(at, call)| tool_call(at, call)).collect();
    if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
        tool_calls.push(tool_call(tool_calls.len(), &json!({ "function": call })));
    }
    Message { tool_calls, reasoning, ..Message::new(Role::Assistant, content) }
}

/// A text, or the texts of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn tool_call(at: usize, call: &Value) -> ToolCall {
    let function = call.get("function").unwrap_or(call);
    let word = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    ToolCall {
        id: word(call.get("id")).filter(|id| !id.is_empty()).unwrap_or(format!("call_{at}")),
        name: word(function.get("name")).unwrap_or_default(),
        arguments: match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        },
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let usage = value.get("usage")?;
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    Some(Usage {
        prompt_tokens: number("prompt_tokens")?,
        completion_tokens: number("completion_tokens")?,
        cached_tokens: usage
            .pointer("/prompt_tokens_details/cached_tokens")
            .and_then(Value::as_u64)
            .or_else(|| number("prompt_cache_hit_tokens")),
    })
}

/// vLLM: `prompt_token_ids` beside `choices`, `token_ids` in the choice. `SGLang`: both in the choice, the second as
/// `response_token_ids`. llama.cpp: an `id` with each probability.
fn tokens(value: &Value, choice: &Value) -> Option<Tokens> {
    let logged = choice.pointer("/logprobs/content").and_then(Value::as_array);
    let of_each = |name: &str| {
        let logged = logged.filter(|logged| !logged.is_empty())?;
        logged.iter().map(|token| token.get(name).cloned()).collect::<Option<Vec<Value>>>()
    };
    let tokens = Tokens {
        prompt_ids: ids(value.get("prompt_token_ids"))
            .or_else(|| ids(choice.get("prompt_token_ids"))),
        completion_ids: ids(choice.get("token_ids"))
            .or_else(|| ids(choice.get("response_token_ids")))
            .or_else(|| ids(of_each("id").map(Value::Array).as_ref())),
        logprobs: of_each("logprob")
            .and_then(|values| values.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()),
    };
    (tokens != Tokens::default()).then_some(tokens)
}

/// `SGLang` says it of a whole reply, not of a stream.
fn weights(value: &Value) -> Option<String> {
    let said = value.pointer("/metadata/weight_version")?.as_str()?;
    (!said.is_empty() && said.len() <= LONGEST_NAME).then(|| said.to_owned())
}

fn ids(value: Option<&Value>) -> Option<Vec<u32>> {
    let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    value?.as_array()?.iter().map(id).collect()
}

/// Reads what came as JSON, bytes that are no text replaced.
pub(super) fn json(answer: &Answer<'_>, asked: &Asked<'_>) -> Result<Value, Error> {
    serde_json::from_str(answer.body).map_err(|_| classify::not_json(answer, asked))
}
