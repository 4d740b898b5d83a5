//! JSON schemas that every client takes: flat, without references, closed objects.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = generate::<T>(Contract::Deserialize);
    schema.entry("properties").or_insert_with(|| json!({}));
    schema.insert("additionalProperties".to_owned(), json!(false));
    Arc::new(schema)
}

/// An answer, with the notes that any tool may add.
pub(super) fn output<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = generate::<T>(Contract::Serialize);
    schema.insert("type".to_owned(), json!("object"));
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        properties.insert("notes".to_owned(), json!({
            "type": "array",
            "items": { "type": "string" },
            "description": "What was odd about the call, e.g. an argument that is unknown."
        }));
    }
    Arc::new(schema)
}

fn generate<T: JsonSchema>(contract: Contract) -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.contract = contract;
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    schema.remove("title");
    schema.remove("description");
    schema.remove("$schema");
    schema
}
