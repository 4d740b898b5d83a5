//! A stream of server-sent events, put together to the reply that it is.

use serde_json::{Map, Value, json};

/// What a stream's events came to.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Bytes of a line that has not ended.
    partial: Vec<u8>,
    /// Lines of an event that has not ended.
    data: String,
    /// The reply so far, but for what grows by pieces.
    whole: Map<String, Value>,
    choice: Choice,
    pub(super) ended: bool,
    /// An event that was no JSON.
    broken: Option<String>,
}

#[derive(Debug, Default)]
struct Choice {
    seen: bool,
    finish: Option<String>,
    content: String,
    reasoning: String,
    reasoning_content: String,
    calls: Vec<Call>,
    logprobs: Vec<Value>,
    ids: Vec<Value>,
    response_ids: Vec<Value>,
    prompt_ids: Option<Value>,
}

#[derive(Debug, Default)]
struct Call {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

/// Why no reply came out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// It ended before it said so.
    BrokenOff,
    /// An event that cannot be read.
    Unreadable(String),
}

impl Stream {
    /// Takes what came. True once nothing more is needed.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.partial);
                self.line(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
            }
            if self.ended {
                break;
            }
        }
        self.ended
    }

    /// The body that the server would have sent without streaming.
    pub(super) fn finish(mut self) -> Result<Value, Unfinished> {
        let rest = std::mem::take(&mut self.partial);
        self.line(String::from_utf8_lossy(&rest).trim_end());
        self.event();
        if let Some(broken) = self.broken {
            return Err(Unfinished::Unreadable(broken));
        }
        let mut whole = self.whole;
        if whole.get("error").is_some_and(|error| !error.is_null()) {
            return Ok(Value::Object(whole));
        }
        if !self.ended && self.choice.finish.is_none() {
            return Err(Unfinished::BrokenOff);
        }
        whole.insert("choices".to_owned(), self.choice.value());
        Ok(Value::Object(whole))
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            self.event();
        } else if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
    }

    fn event(&mut self) {
        let data = std::mem::take(&mut self.data);
        match data.trim() {
            "" => {}
            "[DONE]" => self.ended = true,
            text => match serde_json::from_str::<Value>(text) {
                Ok(Value::Object(event)) => self.chunk(event),
                _ => {
                    self.broken.get_or_insert_with(|| text.chars().take(200).collect());
                }
            },
        }
    }

    fn chunk(&mut self, mut chunk: Map<String, Value>) {
        if let Some(choices) = chunk.remove("choices")
            && let Some(choice) = choices
                .as_array()
                .into_iter()
                .flatten()
                .find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
        {
            self.choice.take(choice);
        }
        // Later events fill in what earlier ones left out, usage above all.
        for (name, value) in chunk {
            if !value.is_null() {
                self.whole.insert(name, value);
            }
        }
    }
}

impl Choice {
    fn take(&mut self, choice: &Value) {
        self.seen = true;
        let word =
            |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish.to_owned());
        }
        let logged = choice.pointer("/logprobs/content").and_then(Value::as_array);
        self.logprobs.extend(logged.into_iter().flatten().cloned());
        for (name, ids) in
            [("token_ids", &mut self.ids), ("response_token_ids", &mut self.response_ids)]
        {
            ids.extend(choice.get(name).and_then(Value::as_array).into_iter().flatten().cloned());
        }
        if let Some(ids) = choice.get("prompt_token_ids").filter(|ids| ids.is_array()) {
            self.prompt_ids = Some(ids.clone());
        }
        // A server that streams one whole message has it where it always is.
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        let Some(delta) = delta else {
            self.content.push_str(&word(choice.get("text")));
            return;
        };
        self.content.push_str(&word(delta.get("content")));
        self.reasoning.push_str(&word(delta.get("reasoning")));
        self.reasoning_content.push_str(&word(delta.get("reasoning_content")));
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (at, call) in (0u64..).zip(calls.into_iter().flatten()) {
            self.call(call.get("index").and_then(Value::as_u64).unwrap_or(at), call);
        }
    }

    fn call(&mut self, index: u64, piece: &Value) {
        let at = self.calls.iter().position(|call| call.index == index).unwrap_or_else(|| {
            self.calls.push(Call { index, ..Call::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        let word = |path: &str| piece.pointer(path).and_then(Value::as_str);
        if let Some(id) = word("/id").filter(|id| !id.is_empty()) {
            id.clone_into(&mut call.id);
        }
        if let Some(name) = word("/function/name") {
            // Some send the whole name again with every piece.
            if call.name != name {
                call.name.push_str(name);
            }
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => call.arguments.push_str(text),
            None | Some(Value::Null) => {}
            Some(other) => call.arguments.push_str(&other.to_string()),
        }
    }

    fn value(self) -> Value {
        if !self.seen {
            return json!([]);
        }
        let mut message = json!({ "role": "assistant", "content": self.content });
        for (name, text) in
            [("reasoning", self.reasoning), ("reasoning_content", self.reasoning_content)]
        {
            if !text.is_empty() {
                message[name] = json!(text);
            }
        }
        if !self.calls.is_empty() {
            let call = |call: &Call| {
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments },
                })
            };
            message["tool_calls"] = self.calls.iter().map(call).collect();
        }
        let mut choice = json!({ "index": 0, "message": message, "finish_reason": self.finish });
        if !self.logprobs.is_empty() {
            choice["logprobs"] = json!({ "content": self.logprobs });
        }
        for (name, ids) in [("token_ids", self.ids), ("response_token_ids", self.response_ids)] {
            if !ids.is_empty() {
                choice[name] = json!(ids);
            }
        }
        if let Some(ids) = self.prompt_ids {
            choice["prompt_token_ids"] = ids;
        }
        json!([choice])
    }
}

/// Takes out of a stream the event that counts tokens, for a client that did not ask for it: it has no choice, and not
/// every client bears that.
#[derive(Debug, Default)]
pub(super) struct WithoutUsage(Vec<u8>);

impl WithoutUsage {
    /// What may be passed on of what came so far: whole events.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(line);
            if self.0.ends_with(b"\n\n") || self.0.ends_with(b"\n\r\n") {
                let event = std::mem::take(&mut self.0);
                if !is_usage(&event) {
                    passed.extend(event);
                }
            }
        }
        passed
    }

    /// What did not end.
    pub(super) fn rest(self) -> Vec<u8> {
        self.0
    }
}

fn is_usage(event: &[u8]) -> bool {
    let text = String::from_utf8_lossy(event);
    let Some(data) = text.trim().strip_prefix("data:") else { return false };
    serde_json::from_str::<Value>(data.trim()).is_ok_and(|event| {
        event["usage"].is_object() && event["choices"].as_array().is_some_and(Vec::is_empty)
    })
}
