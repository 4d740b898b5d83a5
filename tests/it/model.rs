//! A client against a server that answers as it is told: every failure explains itself.

use crate::endpoint::{Endpoint, Say, completion};
use serde_json::{Value, json};
use ssr_mcp::model::{
    BaseUrl, Chat, Client, Error, Finish, Key, Kind, Lacking, Message, Patience, Provider, Proxies,
    Proxy, Reasoning, ReasoningField, Reply, Request, Sampling, Settings, Tool,
};
use ssr_mcp::sandbox::Cancel;
use std::time::{Duration, Instant};

mod failures;
mod replies;
mod secure;
mod speed;
mod waiting;

const SAMPLING: Sampling = Sampling { temperature: 0.0, top_p: None, max_tokens: 64, seed: None };

/// One that does not wait long between tries.
fn provider(url: &str) -> Provider {
    let patience =
        Patience { tries: 3, first: Duration::from_millis(1), most: Duration::from_secs(2) };
    let base = BaseUrl::of(url, false).unwrap();
    Provider { patience, ..Provider::new("test", Kind::Other, base) }
}

fn with_key(url: &str, key: &str) -> Provider {
    Provider { key: Some(Key::new(key, "TEST_API_KEY").unwrap()), ..provider(url) }
}

fn client(provider: Provider) -> Client {
    let known = Settings { native_tools: Some(true), context: Some(1000) };
    Client::new(provider, "small", known, 1).unwrap()
}

fn ask_with(client: &Client, tools: &[Tool], cancel: &Cancel) -> Result<Reply, Error> {
    let messages = [Message::system("be brief"), Message::user("hello")];
    client.reply(&Request { messages: &messages, tools, sampling: SAMPLING }, cancel)
}

fn ask(client: &Client) -> Result<Reply, Error> {
    ask_with(client, &[], &Cancel::new())
}

/// What comes of one answer, and how it is told.
#[track_caller]
fn failure(say: Say) -> (Error, String) {
    let server = Endpoint::saying([say]);
    let error = ask(&client(with_key(&server.url(), "sk-0123456789abcdef-TAIL0123"))).unwrap_err();
    let text = error.to_string();
    assert!(!text.contains("0123456789"), "a key is told: {text}");
    (error, text)
}

fn said(status: u16, value: Value) -> Say {
    Say::Json(status, value)
}

fn tool() -> Tool {
    let parameters = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    Tool { name: "note".to_owned(), description: "Keeps a note.".to_owned(), parameters }
}
