//! Edits of JSON with comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// Comments and trailing commas; no other freedom, since clients differ in what else they take.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A file with nothing but comments is an empty object.
pub(super) fn value(text: &str) -> Result<Value, String> {
    let root = parse(text)?;
    if root.value().is_none() {
        return Ok(Value::Object(Map::new()));
    }
    root.to_serde_value().ok_or_else(|| "it has a number that is none".to_owned())
}

/// Sets an entry as a whole, or the keys in which it differs.
pub(super) fn set(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let root = parse(text)?;
    let object = root.object_value_or_create().ok_or("it is not an object")?;
    let servers =
        object.object_value_or_create(key).ok_or_else(|| format!("{key:?} is not an object"))?;
    put(&servers, name, entry);
    let text = root.to_string();
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

pub(super) fn remove(text: &str, key: &str, name: &str) -> Result<String, String> {
    let root = parse(text)?;
    let entry = root
        .object_value()
        .and_then(|object| object.object_value(key))
        .and_then(|servers| servers.get(name))
        .ok_or("the entry was not found")?;
    entry.remove();
    Ok(root.to_string())
}

fn put(object: &CstObject, name: &str, value: &Value) {
    let Some(there) = object.get(name) else {
        object.append(name, input(value));
        return;
    };
    match (there.object_value(), value) {
        (Some(there), Value::Object(value)) => {
            value.iter().for_each(|(name, value)| put(&there, name, value));
        }
        _ if there.to_serde_value().as_ref() == Some(value) => {}
        _ => there.set_value(input(value)),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => CstInputValue::Object(
            values.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| error.to_string())
}
