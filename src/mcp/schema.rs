//! JSON schemas that every client takes: flat, without references, closed objects.

use super::tool::LONGEST_WAIT;
use crate::session::JobLine;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = generate::<T>(Contract::Deserialize);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    for property in properties.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
        // "Not given" is no value: a null would contradict the property's type.
        if let Value::Object(property) = property {
            property.remove("default");
        }
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    Arc::new(schema)
}

/// The same for a tool whose work is a job.
pub(super) fn job_input<T: JsonSchema>(wait: f64) -> Arc<JsonObject> {
    let mut schema = (*input::<T>()).clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(
            "wait_s".to_owned(),
            json!({
                "type": "number",
                "minimum": 0,
                "maximum": LONGEST_WAIT,
                "description": format!(
                    "Seconds to wait for the answer before the job's id is all that comes back. Default: {wait}."
                )
            }),
        );
    }
    Arc::new(schema)
}

/// A job whose answer is a `T`.
pub(super) fn job_output<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = (*output::<JobLine>()).clone();
    let mut answer = generate::<T>(Contract::Serialize);
    answer.insert("type".to_owned(), json!(["object", "null"]));
    answer.insert("description".to_owned(), json!("The answer; null until the job is done."));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("result".to_owned(), Value::Object(answer));
        let next = "What to call for the answer, where it is not here.";
        properties.insert("next".to_owned(), json!({ "type": "string", "description": next }));
    }
    Arc::new(schema)
}

/// An answer, with the notes that any tool may add.
pub(super) fn output<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = generate::<T>(Contract::Serialize);
    schema.insert("type".to_owned(), json!("object"));
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        properties.insert(
            "notes".to_owned(),
            json!({
                "type": "array",
                "items": { "type": "string" },
                "description": "What was odd about the call, e.g. an argument that is unknown."
            }),
        );
    }
    Arc::new(schema)
}

fn generate<T: JsonSchema>(contract: Contract) -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.contract = contract;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    schema.remove("title");
    schema.remove("description");
    schema.remove("$schema");
    schema
}

/// Takes out what some clients refuse (formats that are Rust's, not JSON Schema's) and the line
/// breaks of our sources.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}
