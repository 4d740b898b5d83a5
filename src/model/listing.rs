//! Which models a server offers, and how long their conversations may be.

use super::client::{ASIDE, Endpoint};
use super::http::{Body, Received};
use super::{Error, Kind, wire};
use crate::sandbox::Cancel;
use serde_json::Value;
use url::Url;

/// One model of `/models`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub id: String,
    /// Tokens, where the server says it.
    pub context: Option<u64>,
}

impl Endpoint {
    /// Sorted by id. An error where the server has no list.
    pub(super) fn models(&self, cancel: &Cancel) -> Result<Vec<Model>, Error> {
        let value = self.get(self.provider.base.below("models"), cancel)?;
        Ok(models(&value))
    }

    /// What a server says of a model's context; `None` where it says nothing.
    pub(super) fn context_of(&self, model: &str, cancel: &Cancel) -> Option<u64> {
        // llama.cpp's list has what a model was trained on; what each conversation gets is elsewhere.
        if self.provider.kind == Kind::LlamaCpp
            && let Ok(props) = self.get(self.provider.base.beside("props"), cancel)
            && let Some(context) = props.pointer("/default_generation_settings/n_ctx")
        {
            return context.as_u64();
        }
        let models = self.models(cancel).unwrap_or_default();
        models.into_iter().find(|offered| offered.id == model)?.context
    }

    fn get(&self, url: Url, cancel: &Cancel) -> Result<Value, Error> {
        let shown = url.to_string();
        let asked = self.asked(&shown, "");
        let received: Received =
            self.http.exchange(self.http.request(url, None), ASIDE, &asked, cancel)?;
        let answer = received.answer();
        match &received.body {
            Body::Text(_) if (200..300).contains(&received.status) => wire::json(&answer, &asked),
            _ => Err(super::classify::refusal(&answer, &asked, 1)),
        }
    }
}

/// `{"data": [..]}`; some have the list alone, or call it `models`. vLLM names an adapter's base as its parent, and
/// says the context of that alone.
pub(super) fn models(value: &Value) -> Vec<Model> {
    let list = ["data", "models"].iter().find_map(|name| value.get(*name)?.as_array());
    let list = list.or_else(|| value.as_array()).map(Vec::as_slice).unwrap_or_default();
    let model = |entry: &Value| {
        let parent = || {
            let parent = entry.get("parent")?.as_str()?;
            list.iter().find(|other| id(other) == Some(parent)).and_then(context)
        };
        Some(Model { id: id(entry)?.to_owned(), context: context(entry).or_else(parent) })
    };
    let mut models: Vec<Model> = list.iter().filter_map(model).collect();
    models.sort_by(|a, b| a.id.cmp(&b.id));
    models.dedup();
    models
}

fn id(entry: &Value) -> Option<&str> {
    let id = ["id", "name", "model"].iter().find_map(|name| entry.get(*name)?.as_str());
    id.or_else(|| entry.as_str())
}

fn context(entry: &Value) -> Option<u64> {
    ["max_model_len", "context_length", "context_window", "max_context_length"]
        .iter()
        .find_map(|name| entry.get(*name)?.as_u64())
}
