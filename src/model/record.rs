//! Keeps what models were asked and answered, token by token, so that a policy can be trained on it.
//!
//! Text is never made into tokens here: what a server does not tell stays unknown, and is said to be.

use super::{Reply, Tokens, Usage};
use crate::store::{self, RolloutTurn, Store};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Conversations that are known by their turns so far. One that is forgotten is kept whole once more.
const HEADS: usize = 256;

/// Whose turns these are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollout {
    pub id: String,
    /// What is worked on; empty where nobody says.
    pub task: String,
    /// injector or solver; empty where nobody says.
    pub role: String,
    /// Rollouts that are compared with each other; empty where nobody says.
    pub group: String,
    /// The version of the weights; empty where nobody says, so that the server's word counts.
    pub weights: String,
}

/// Writes turns to a store, from any number of threads.
pub struct Recording {
    store: Arc<Store>,
    /// Seconds since 1970.
    clock: fn() -> i64,
    heads: Mutex<VecDeque<Head>>,
}

/// Where a conversation stands.
struct Head {
    rollout: String,
    /// A digest a message, the last reply's included.
    messages: Vec<u64>,
    /// Of the last prompt and its completion.
    ids: Vec<u32>,
}

impl Recording {
    pub fn new(store: Arc<Store>, clock: fn() -> i64) -> Self {
        Self { store, clock, heads: Mutex::default() }
    }

    /// The rollout that a request goes on with: the one whose messages so far it begins with.
    pub fn going_on(&self, request: &Map<String, Value>) -> Option<String> {
        let messages = digests(messages(request));
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on = |head: &&Head| messages.starts_with(&head.messages);
        heads.iter().rev().find(goes_on).map(|head| head.rollout.clone())
    }

    /// Adds a turn. `server` is the URL that was asked.
    pub fn record(
        &self,
        rollout: &Rollout,
        request: &Map<String, Value>,
        reply: &Reply,
        server: &str,
    ) -> Result<(), store::Error> {
        let said = json!({
            "role": "assistant",
            "content": reply.message.content,
            "reasoning": reply.message.reasoning,
            "tool_calls": reply.message.tool_calls,
        });
        let asked = messages(request);
        let mut digests = digests(asked);
        let tokens = reply.tokens.clone().unwrap_or_default();
        let prompt = tokens.prompt_ids.as_deref().unwrap_or_default();
        let (kept_messages, kept_ids) = self.kept(&rollout.id, &digests, prompt);
        let row = self.row(rollout, request, reply, server);
        let begun_by = self.store.rollout(&rollout.id)?.map(|begun| begun.weights_version);
        let untrainable = untrainable(&tokens, reply.usage)
            .or_else(|| replaced(&begun_by.unwrap_or_default(), &row.weights_version));
        let turn = RolloutTurn {
            kept_messages: u32::try_from(kept_messages).unwrap_or(0),
            messages: Value::from(asked[kept_messages..].to_vec()).to_string(),
            request: without_messages(request),
            reply: said.to_string(),
            finish: reply.finish.word().to_owned(),
            kept_ids: u32::try_from(kept_ids).unwrap_or(0),
            prompt_ids: tokens.prompt_ids.as_ref().map(|ids| ids[kept_ids..].to_vec()),
            completion_ids: tokens.completion_ids.clone(),
            logprobs: tokens.logprobs.clone(),
            prompt_tokens: reply.usage.map(|usage| usage.prompt_tokens),
            completion_tokens: reply.usage.map(|usage| usage.completion_tokens),
            millis: u64::try_from(reply.wall.as_millis()).unwrap_or(u64::MAX),
            untrainable: untrainable.unwrap_or_default(),
        };
        self.store.add_rollout_turn(&row, &turn)?;
        digests.push(digest(&said));
        let ids = [prompt, tokens.completion_ids.as_deref().unwrap_or_default()].concat();
        let head = Head { rollout: rollout.id.clone(), messages: digests, ids };
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.retain(|known| known.rollout != rollout.id);
        heads.push_back(head);
        if heads.len() > HEADS {
            heads.pop_front();
        }
        Ok(())
    }

    /// What a rollout came to. `parts`: JSON. Nothing is added to it any more.
    pub fn end(
        &self,
        rollout: &str,
        reward: Option<f64>,
        parts: &str,
        truncated: bool,
    ) -> Result<(), store::Error> {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.retain(|known| known.rollout != rollout);
        drop(heads);
        self.store.end_rollout(rollout, reward, parts, truncated)
    }

    /// How many messages, and ids of the prompt, are those of the turn before. Of each all of that turn's, or none.
    fn kept(&self, rollout: &str, messages: &[u64], prompt: &[u32]) -> (usize, usize) {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(head) = heads.iter().find(|head| head.rollout == rollout) else { return (0, 0) };
        let all = |whole: bool, length: usize| if whole { length } else { 0 };
        (
            all(messages.starts_with(&head.messages), head.messages.len()),
            all(prompt.starts_with(&head.ids), head.ids.len()),
        )
    }

    fn row(
        &self,
        rollout: &Rollout,
        request: &Map<String, Value>,
        reply: &Reply,
        server: &str,
    ) -> store::Rollout {
        store::Rollout {
            id: rollout.id.clone(),
            task: rollout.task.clone(),
            role: rollout.role.clone(),
            group: rollout.group.clone(),
            model: reply.model.clone(),
            weights_version: match rollout.weights.as_str() {
                "" => reply.weights.clone().unwrap_or_default(),
                said => said.to_owned(),
            },
            server: server.to_owned(),
            sampler: sampler(request).to_string(),
            begun: (self.clock)(),
            reward: None,
            reward_parts: "{}".to_owned(),
            truncated: false,
        }
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recording")
    }
}

/// Why no policy can be trained on these as its own; `None` where one can. The last token of a reply, which ends it, is
/// part of it; llama.cpp leaves it out of a stream.
fn untrainable(tokens: &Tokens, usage: Option<Usage>) -> Option<String> {
    let Tokens { prompt_ids, completion_ids, logprobs } = tokens;
    let why = match (prompt_ids, completion_ids, logprobs) {
        (_, None, _) => "the server gave no ids of the reply's tokens".to_owned(),
        (None, _, _) => "the server gave no ids of the prompt's tokens".to_owned(),
        (Some(prompt), Some(completion), logprobs) => {
            let (sent, came) = (prompt.len() as u64, completion.len() as u64);
            match usage {
                None => "its tokens were not counted, so that ids may be missing".to_owned(),
                Some(usage) if usage.completion_tokens != came => {
                    format!(
                        "the server gave ids of {came} of the reply's {} tokens",
                        usage.completion_tokens
                    )
                }
                Some(usage) if usage.prompt_tokens != sent => {
                    format!(
                        "the server gave ids of {sent} of the prompt's {} tokens",
                        usage.prompt_tokens
                    )
                }
                Some(_)
                    if logprobs.as_ref().is_some_and(|known| known.len() == completion.len()) =>
                {
                    return None;
                }
                Some(_) => "the server gave no log-probability of each token".to_owned(),
            }
        }
    };
    Some(format!("not trainable on-policy: {why}"))
}

/// A rollout is known by the weights of its first turn.
fn replaced(first: &str, now: &str) -> Option<String> {
    (!first.is_empty() && !now.is_empty() && first != now).then(|| {
        format!("not trainable on-policy: it was made by the weights {now:?}, and its rollout was begun by {first:?}")
    })
}

fn messages(request: &Map<String, Value>) -> &[Value] {
    request.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn without_messages(request: &Map<String, Value>) -> String {
    let others = request.iter().filter(|(name, _)| *name != "messages");
    Value::Object(others.map(|(name, value)| (name.clone(), value.clone())).collect()).to_string()
}

/// What tokens were drawn by.
fn sampler(request: &Map<String, Value>) -> Value {
    const NAMES: [&str; 9] = [
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "seed",
        "presence_penalty",
        "frequency_penalty",
        "repetition_penalty",
        "logit_bias",
    ];
    let said =
        NAMES.iter().filter_map(|name| Some(((*name).to_owned(), request.get(*name)?.clone())));
    Value::Object(said.collect())
}

fn digests(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(digest).collect()
}

/// Of what clients send back as they got it: who said it, its text, its calls.
fn digest(message: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    text(message.get("role")).hash(&mut hasher);
    text(message.get("content")).hash(&mut hasher);
    text(message.get("tool_call_id")).hash(&mut hasher);
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        let function = call.get("function").unwrap_or(call);
        text(function.get("name")).hash(&mut hasher);
        text(function.get("arguments")).hash(&mut hasher);
    }
    hasher.finish()
}
