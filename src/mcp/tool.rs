//! What a tool is: how it is announced, and the verb it calls.

use super::schema;
use crate::session::{Error, Job, Session};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Run = Box<dyn Fn(&Session, JsonObject, &Job) -> Result<Value, Error> + Send + Sync>;

pub(super) struct Entry {
    pub(super) tool: Tool,
    pub(super) run: Run,
}

/// What a tool does to the world, as the protocol's hints say it. No tool destroys anything or
/// reaches out of this machine.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Computes an answer; runs, if any, leave nothing behind.
    Reads,
    /// Adds to the state directory; the same call may give another answer.
    Adds,
}

/// How a tool is announced.
pub(super) struct Notice {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
}

impl Entry {
    /// `I` is decoded from the arguments, `O` encoded as the answer.
    pub(super) fn new<I, O>(
        notice: &Notice,
        verb: fn(&Session, I, &Job) -> Result<O, Error>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let reads = matches!(notice.effect, Effect::Reads);
        let annotations = ToolAnnotations::with_title(notice.title)
            .read_only(reads)
            .destructive(false)
            .idempotent(reads)
            .open_world(false);
        let input = schema::input::<I>();
        let known = input.clone();
        let tool = Tool::new(notice.name, notice.description, input)
            .with_title(notice.title)
            .with_raw_output_schema(schema::output::<O>())
            .with_annotations(annotations);
        let run = move |session: &Session, arguments: JsonObject, job: &Job| {
            let (arguments, notes) = split(&known, arguments);
            let input: I = serde_json::from_value(Value::Object(arguments))
                .map_err(|error| Error::Usage(misfit(&error)))?;
            let answer = verb(session, input, job)?;
            let answer =
                serde_json::to_value(answer).map_err(|error| Error::Harness(error.into()))?;
            Ok(with_notes(answer, &notes))
        };
        Self { tool, run: Box::new(run) }
    }
}

/// In words of the schema: a caller does not know the names of our types.
fn misfit(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.replace("usize", "a whole number").replace("u64", "a whole number");
    format!("the arguments do not fit: {}; see the tool's schema", text.replace("f64", "a number"))
}

/// Takes unknown arguments out, with a note each: some clients add keys of their own to every call.
fn split(schema: &JsonObject, arguments: JsonObject) -> (JsonObject, Vec<String>) {
    let known =
        |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    let (mut kept, mut notes) = (JsonObject::new(), Vec::new());
    for (name, value) in arguments {
        if known(&name) {
            kept.insert(name, value);
        } else {
            notes.push(format!("the argument {name:?} is unknown and was ignored"));
        }
    }
    (kept, notes)
}

fn with_notes(mut answer: Value, notes: &[String]) -> Value {
    if let (Value::Object(answer), false) = (&mut answer, notes.is_empty()) {
        answer.insert("notes".to_owned(), json!(notes));
    }
    answer
}
