//! Edits of TOML.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table, TableLike, value as item};

pub(super) fn value(text: &str) -> Result<Value, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| one_line(&error.to_string()))?;
    serde_json::to_value(table).map_err(|error| error.to_string())
}

/// Sets an entry as a whole, or the keys in which it differs.
pub(super) fn set(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let (mut document, crlf) = parse(text)?;
    let first = document.is_empty();
    let servers = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| format!("{key} is not a table"))?;
    let fields = entry.as_object().ok_or("the entry is not an object")?;
    if servers.get(name).is_none() {
        let mut table = Table::new();
        if !first {
            table.decor_mut().set_prefix("\n");
        }
        servers.insert(name, Item::Table(table));
    }
    let there = servers.get_mut(name).and_then(Item::as_table_like_mut);
    let there = there.ok_or_else(|| format!("{key}.{name} is not a table"))?;
    for (name, wanted) in fields {
        put(there, name, wanted)?;
    }
    Ok(rendered(&document, crlf))
}

pub(super) fn remove(text: &str, key: &str, name: &str) -> Result<String, String> {
    let (mut document, crlf) = parse(text)?;
    let servers = document.get_mut(key).and_then(Item::as_table_like_mut);
    servers.and_then(|servers| servers.remove(name)).ok_or("the entry was not found")?;
    Ok(rendered(&document, crlf))
}

/// A value that is there already keeps its layout.
fn put(table: &mut dyn TableLike, name: &str, wanted: &Value) -> Result<(), String> {
    let wanted_item = literal(wanted)?;
    match table.get_mut(name) {
        Some(there) if same(there, wanted) => {}
        Some(there) => {
            let decor = there.as_value().map(|value| value.decor().clone());
            *there = wanted_item;
            if let (Some(value), Some(decor)) = (there.as_value_mut(), decor) {
                *value.decor_mut() = decor;
            }
        }
        None => {
            table.insert(name, wanted_item);
        }
    }
    Ok(())
}

fn same(there: &Item, wanted: &Value) -> bool {
    match wanted {
        Value::String(wanted) => there.as_str() == Some(wanted),
        Value::Array(wanted) => there.as_array().is_some_and(|there| {
            there.iter().map(|value| value.as_str()).eq(wanted.iter().map(Value::as_str))
        }),
        Value::Number(wanted) => {
            there.as_integer().is_some() && there.as_integer() == wanted.as_i64()
        }
        _ => false,
    }
}

/// Entries have texts, whole numbers and lists of texts.
fn literal(value: &Value) -> Result<Item, String> {
    match value {
        Value::String(text) => Ok(item(text.as_str())),
        Value::Number(number) => {
            number.as_i64().map(item).ok_or_else(|| format!("{number} is not a whole number"))
        }
        Value::Array(values) => {
            let texts: toml_edit::Array = values.iter().filter_map(Value::as_str).collect();
            Ok(item(texts))
        }
        other => Err(format!("{other} is not written as TOML")),
    }
}

/// The document, and whether its lines end in CRLF. The editor writes LF, so mixed endings would
/// change lines that are none of ours.
fn parse(text: &str) -> Result<(DocumentMut, bool), String> {
    let crlf = text.contains("\r\n");
    let plain = text.replace("\r\n", "\n");
    if crlf && plain.replace('\n', "\r\n") != text {
        return Err("its line endings are mixed".to_owned());
    }
    let document: DocumentMut =
        plain.parse().map_err(|error: toml_edit::TomlError| one_line(&error.to_string()))?;
    if document.to_string() != plain {
        return Err("it cannot be written as it was read".to_owned());
    }
    Ok((document, crlf))
}

fn rendered(document: &DocumentMut, crlf: bool) -> String {
    let text = document.to_string();
    if crlf { text.replace('\n', "\r\n") } else { text }
}

/// The parser draws the place over several lines.
fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.contains('|')).map(str::trim).collect();
    lines.join(", ").trim_end_matches(", ").to_owned()
}
