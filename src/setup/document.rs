//! A client's file as a document: what names this server in it, and the text with the entry put in
//! or taken out.
//!
//! The one rule: a new text is given out only if it reads as what was there, with the entry changed
//! and nothing else.

use super::client::{Client, Format, Place};
use super::entry::{self, Entry};
use super::{Error, Registered, SERVER, jsonc, tables, yaml};
use serde_json::{Map, Value, json};

pub(super) struct Document<'a> {
    place: &'a Place,
    text: &'a str,
    value: Value,
}

impl<'a> Document<'a> {
    pub(super) fn of(place: &'a Place, text: &'a str) -> Result<Self, Error> {
        let document = Self { place, text, value: Value::Null };
        let value = document.parse(text)?;
        Ok(Self { value, ..document })
    }

    /// Entries that start this program, under whatever name.
    pub(super) fn ours(&self) -> Vec<Registered> {
        let registered = |(name, entry): (String, &Value)| {
            let command = entry::command(entry).filter(|command| entry::is_ours(command))?;
            Some(Registered { name, command: command.to_owned() })
        };
        self.entries().into_iter().filter_map(registered).collect()
    }

    /// An entry of our name that starts something else is not ours to change.
    pub(super) fn refuse_foreign(&self) -> Result<(), Error> {
        let Some(entry) = self.entry() else { return Ok(()) };
        match entry::command(entry) {
            Some(command) if entry::is_ours(command) => Ok(()),
            command => Err(Error::Foreign {
                path: self.place.path.display().to_string(),
                command: command.unwrap_or("not a command of this machine").to_owned(),
            }),
        }
    }

    /// The text with the entry; `None` where it is there already.
    pub(super) fn with(&self, entry: &Entry) -> Result<Option<String>, Error> {
        match self.entry() {
            Some(there) => {
                self.changed(entry, entry.over(there), &Value::Object(entry.own.clone()))
            }
            None => self.changed(entry, entry.whole(), &entry.whole()),
        }
    }

    /// The text with what a new entry gets besides, in one that its client has just made; `None` where
    /// that is there.
    pub(super) fn completed(&self, entry: &Entry) -> Result<Option<String>, Error> {
        let Some(Value::Object(there)) = self.entry() else { return Ok(None) };
        let mut missing = entry.besides.clone();
        missing.retain(|key, _| !there.contains_key(key));
        let mut wanted = there.clone();
        wanted.extend(missing.clone());
        self.changed(entry, Value::Object(wanted), &Value::Object(missing))
    }

    /// Whether an entry of our name is there.
    pub(super) fn has_entry(&self) -> bool {
        self.entry().is_some()
    }

    /// The text with `change` laid over the entry, which is to read as `wanted` then.
    fn changed(
        &self,
        entry: &Entry,
        wanted: Value,
        change: &Value,
    ) -> Result<Option<String>, Error> {
        if self.entry() == Some(&wanted) {
            return Ok(None);
        }
        let key = self.place.client.servers_key();
        let text = match self.place.client.format() {
            Format::Jsonc => jsonc::set(self.text, key, SERVER, change),
            Format::Toml => tables::set(self.text, key, SERVER, change),
            Format::Yaml => yaml::set(self.text, key, SERVER, change),
            Format::OwnYaml => self.own_yaml(entry),
        };
        let text = text.map_err(|reason| self.refusal(reason))?;
        let mut expected = self.value.clone();
        place_in(&mut expected, self.place.client, wanted);
        self.proven(text, &expected).map(Some)
    }

    /// The text without the entry, empty where nothing else was in it; `None` where it is not there.
    pub(super) fn without(&self) -> Result<Option<String>, Error> {
        if self.entry().is_none() {
            return Ok(None);
        }
        let key = self.place.client.servers_key();
        let text = match self.place.client.format() {
            Format::Jsonc => jsonc::remove(self.text, key, SERVER),
            Format::Toml => tables::remove(self.text, key, SERVER),
            Format::Yaml => yaml::remove(self.text, key, SERVER),
            Format::OwnYaml if self.entries().len() == 1 => return Ok(Some(String::new())),
            Format::OwnYaml => Err("it names other servers, too".to_owned()),
        };
        let text = text.map_err(|reason| self.refusal(reason))?;
        let mut expected = self.value.clone();
        if let Some(Value::Object(servers)) = expected.get_mut(key) {
            servers.shift_remove(SERVER);
        }
        self.proven(text, &expected).map(Some)
    }

    fn own_yaml(&self, entry: &Entry) -> Result<String, String> {
        match entry.own.get("command").and_then(Value::as_str) {
            Some(command) if !self.text.trim().is_empty() => {
                yaml::replace_scalar(self.text, "command", command)
            }
            _ => Ok(own_file(entry)),
        }
    }

    fn entries(&self) -> Vec<(String, &Value)> {
        match self.value.get(self.place.client.servers_key()) {
            Some(Value::Object(servers)) => {
                servers.iter().map(|(name, entry)| (name.clone(), entry)).collect()
            }
            Some(Value::Array(servers)) => {
                servers.iter().map(|entry| (name_of(entry).to_owned(), entry)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn entry(&self) -> Option<&Value> {
        self.entries().into_iter().find(|(name, _)| name == SERVER).map(|(_, entry)| entry)
    }

    fn proven(&self, text: String, expected: &Value) -> Result<String, Error> {
        match self.parse(&text) {
            Ok(reads) if same(&reads, expected, self.place.client) => Ok(text),
            _ => Err(self.refusal("an edit of it would change more than the entry".to_owned())),
        }
    }

    fn parse(&self, text: &str) -> Result<Value, Error> {
        let value = match self.place.client.format() {
            Format::Jsonc => jsonc::value(text),
            Format::Toml => tables::value(text),
            Format::Yaml | Format::OwnYaml => yaml::value(text),
        };
        match value {
            Ok(value) if value.is_object() => Ok(value),
            Ok(_) => Err(self.refusal("it does not list settings by name".to_owned())),
            Err(reason) => Err(self.refusal(reason)),
        }
    }

    fn refusal(&self, reason: String) -> Error {
        Error::NotUnderstood { path: self.place.path.display().to_string(), reason }
    }
}

fn name_of(entry: &Value) -> &str {
    entry.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// The entry put into the value of the whole file, as the edit of the text is meant.
fn place_in(value: &mut Value, client: Client, wanted: Value) {
    let key = client.servers_key();
    if client.format() == Format::OwnYaml {
        let servers = value.get_mut(key).and_then(Value::as_array_mut);
        match servers.and_then(|servers| servers.iter_mut().find(|entry| name_of(entry) == SERVER))
        {
            Some(there) => *there = wanted,
            None => *value = own_value(wanted),
        }
        return;
    }
    if let Value::Object(settings) = value {
        let servers = settings.entry(key).or_insert(Value::Null);
        if servers.is_null() {
            *servers = Value::Object(Map::new());
        }
        if let Value::Object(servers) = servers {
            servers.insert(SERVER.to_owned(), wanted);
        }
    }
}

/// A list that lost its last entry may be there empty or not at all.
fn same(reads: &Value, expected: &Value, client: Client) -> bool {
    let without_empty = |value: &Value| {
        let mut value = value.clone();
        let is_empty =
            |servers: &Value| servers.as_object().is_some_and(Map::is_empty) || servers.is_null();
        if let Value::Object(settings) = &mut value
            && settings.get(client.servers_key()).is_some_and(is_empty)
        {
            settings.shift_remove(client.servers_key());
        }
        value
    };
    without_empty(reads) == without_empty(expected)
}

/// Continue's block files.
fn own_value(entry: Value) -> Value {
    let mut named = json!({ "name": SERVER });
    if let (Value::Object(named), Value::Object(entry)) = (&mut named, entry) {
        named.extend(entry);
    }
    json!({ "name": "ssr-mcp", "version": "0.0.1", "schema": "v1", "mcpServers": [named] })
}

pub(super) fn own_file(entry: &Entry) -> String {
    let fields = entry.own.iter().map(|(field, value)| {
        let shown = yaml::plain(value).unwrap_or_else(|| value.to_string());
        format!("    {field}: {shown}\n")
    });
    let fields: String = fields.collect();
    format!("name: ssr-mcp\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: {SERVER}\n{fields}")
}
