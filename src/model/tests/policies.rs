//! What servers of trained policies are asked and say: adapters, tokens, and which weights answered.

use super::super::classify::Asked;
use super::super::{Kind, Model, Recording, Reply, Rollout, listing, wire};
use crate::store::Store;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn an_adapters_context_is_that_of_the_model_below_it() {
    let model = |id: &str, context| Model { id: id.to_owned(), context };
    // As vLLM 0.32 says it.
    let list = json!({ "object": "list", "data": [
        { "id": "base", "root": "/m", "parent": null, "max_model_len": 8192 },
        { "id": "policy", "root": "/a/1", "parent": "base", "max_model_len": null },
        { "id": "stray", "parent": "nobody", "max_model_len": null },
        { "id": "own", "parent": "base", "max_model_len": 4096 },
        { "id": "loop", "parent": "loop" },
    ] });
    let expect = [
        model("base", Some(8192)),
        model("loop", None),
        model("own", Some(4096)),
        model("policy", Some(8192)),
        model("stray", None),
    ];
    assert_eq!(listing::models(&list), expect);
    assert_eq!(
        listing::models(&json!(["b", { "name": "a" }])),
        [model("a", None), model("b", None)]
    );
}

#[test]
fn token_ids_are_asked_for_where_that_refuses_no_reply() {
    let asked = |kind: Kind, stream: bool| {
        let mut body = serde_json::Map::from_iter([("stream".to_owned(), json!(stream))]);
        wire::ask_for_tokens(&mut body, kind.dialect());
        (body.contains_key("logprobs"), body.contains_key("return_token_ids"))
    };
    assert_eq!([false, true].map(|stream| asked(Kind::Vllm, stream)), [(true, true), (true, true)]);
    assert_eq!(
        [false, true].map(|stream| asked(Kind::SgLang, stream)),
        [(true, true), (true, false)]
    );
    assert_eq!(asked(Kind::LlamaCpp, false), (true, false));
    assert_eq!(asked(Kind::OpenAi, false), (false, false));
}

fn reply(metadata: &Value) -> Reply {
    let asked = Asked { url: "", model: "m", key: None, key_variable: "", doubled_version: false };
    let value = json!({
        "choices": [{
            "message": { "content": "a" },
            "token_ids": [3],
            "logprobs": { "content": [{ "logprob": -0.5 }] },
        }],
        "prompt_token_ids": [1, 2],
        "usage": { "prompt_tokens": 2, "completion_tokens": 1 },
        "metadata": metadata,
    });
    wire::reply(&value, &asked, false, Duration::ZERO).unwrap()
}

#[test]
fn a_server_says_which_weights_answered_or_does_not() {
    assert_eq!(reply(&json!({ "weight_version": "7" })).weights.as_deref(), Some("7"));
    for metadata in
        [json!(null), json!({ "weight_version": "" }), json!({ "weight_version": "7".repeat(201) })]
    {
        assert_eq!(reply(&metadata).weights, None);
    }
}

#[test]
fn a_turn_by_other_weights_than_its_rollouts_first_is_not_trained_on_as_one_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(dir.path()).unwrap());
    let recording = Recording::new(store.clone(), || 7);
    let keep = |weights: &str, reply: &Reply| {
        let rollout =
            Rollout { id: "r".to_owned(), weights: weights.to_owned(), ..Rollout::default() };
        recording.record(&rollout, &serde_json::Map::new(), reply, "").unwrap();
    };
    let (silent, seven) = (reply(&json!(null)), reply(&json!({ "weight_version": "7" })));
    keep("", &seven);
    keep("", &silent);
    // Who says it knows better than the server.
    keep("8", &seven);
    keep("7", &silent);
    assert_eq!(store.rollout("r").unwrap().unwrap().weights_version, "7");
    let turns = store.rollout_turns("r").unwrap();
    let why: Vec<&str> = turns.iter().map(|turn| turn.untrainable.as_str()).collect();
    let other = "not trainable on-policy: it was made by the weights \"8\", and its rollout was begun by \"7\"";
    assert_eq!(why, ["", "", other, ""]);
}
