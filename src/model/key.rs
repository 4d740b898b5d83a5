//! An API key: sent to its host and shown nowhere.

use super::{Error, KeyShape};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// Shortest part of a key that is looked for in what is shown: servers repeat keys with their middle left out.
const TELLING: usize = 8;
/// What stands for a key in what is shown.
const HIDDEN: &str = "[key]";

/// A secret: no part of it is ever printed.
#[derive(Clone)]
pub struct Key {
    secret: SecretString,
    shape: KeyShape,
}

impl Key {
    /// White space around a key is no part of it: editors and shells put line breaks there. `source` names where it
    /// comes from.
    pub fn new(text: &str, source: impl Into<String>) -> Result<Self, Error> {
        let key = text.trim();
        let shape = KeyShape {
            source: source.into(),
            length: key.chars().count(),
            trimmed: key.len() != text.trim_end_matches('\n').len(),
        };
        match flaw(key) {
            Some(flaw) => Err(Error::KeyUnusable { key: shape, reason: flaw.to_owned() }),
            None => Ok(Self { secret: key.into(), shape }),
        }
    }

    pub fn shape(&self) -> &KeyShape {
        &self.shape
    }

    /// For the `Authorization` header.
    pub(super) fn bearer(&self) -> Result<http::HeaderValue, Error> {
        let mut value =
            http::HeaderValue::from_str(&format!("Bearer {}", self.secret.expose_secret()))
                .map_err(|error| Error::KeyUnusable {
                    key: self.shape.clone(),
                    reason: error.to_string(),
                })?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Takes the key out of what a server repeats of it as a model's words; whether it was there. Its beginning alone is
    /// that of many keys, and may be meant.
    pub(super) fn taken_out(&self, text: &mut String) -> bool {
        let key = self.secret.expose_secret();
        let there = text.contains(key);
        if there {
            *text = text.replace(key, HIDDEN);
        }
        there
    }

    /// The text without the key, nor its beginning or end.
    pub fn hidden(&self, text: &str) -> String {
        let key = self.secret.expose_secret();
        let mut text = text.replace(key, HIDDEN);
        // It is ASCII: every place is a boundary.
        if key.len() > 2 * TELLING {
            text =
                text.replace(&key[..TELLING], HIDDEN).replace(&key[key.len() - TELLING..], HIDDEN);
        }
        text
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.shape)
    }
}

/// Keeps this process's memory from core dumps and from other processes of the user; those that it starts begin
/// anew.
pub fn keep_from_dumps() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!("a core dump of this process would hold its keys ({error})");
    }
}

fn flaw(key: &str) -> Option<&'static str> {
    let quotes = ['"', '\'', '`'];
    if key.is_empty() {
        Some("it is empty")
    } else if key.starts_with(quotes) || key.ends_with(quotes) {
        Some("it stands in quotes")
    } else if key.starts_with("Bearer ") {
        Some("it begins with \"Bearer\", which is added")
    } else if key.contains(char::is_whitespace) {
        Some("it has white space in it")
    } else if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        Some("it has characters that no key has")
    } else {
        None
    }
}
