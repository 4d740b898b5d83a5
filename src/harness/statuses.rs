//! A parser's standard output to verdicts: one JSON object, no id twice, known statuses only.

use super::NoVerdict;
use crate::verdict::{Outcome, Verdicts};
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;

/// Reads `{id: "passed" | "failed"}`; booleans and the usual spellings are accepted
/// (see [`Outcome::from_status`]).
pub(super) fn read(stdout: &[u8]) -> Result<Verdicts, NoVerdict> {
    let mut json = serde_json::Deserializer::from_slice(stdout);
    let entries = json
        .deserialize_map(Entries)
        .and_then(|entries| json.end().map(|()| entries))
        .map_err(|error| NoVerdict::NotJson(format!("{error}; it printed {}", glimpse(stdout))))?;
    let mut verdicts = Verdicts::default();
    for (id, status) in entries {
        if verdicts.of(&id) != Outcome::Missing {
            return Err(NoVerdict::Duplicate(id));
        }
        let outcome = match &status {
            serde_json::Value::Bool(true) => Some(Outcome::Passed),
            serde_json::Value::Bool(false) => Some(Outcome::Failed),
            serde_json::Value::String(status) => Outcome::from_status(status),
            _ => None,
        };
        match outcome {
            Some(outcome) => verdicts.add(id, outcome),
            None => return Err(NoVerdict::UnknownStatus { id, status: status.to_string() }),
        }
    }
    if verdicts.is_empty() { Err(NoVerdict::NoTests) } else { Ok(verdicts) }
}

/// The start of a text, on one line, for an error.
pub(super) fn glimpse(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "nothing".to_owned() } else { format!("{line:?}") }
}

/// Keeps every entry of an object, where a map would silently keep the last of equal keys.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, serde_json::Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one JSON object from test ids to statuses")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stdout: &str, expect: &str) {
        let got = match read(stdout.as_bytes()) {
            Ok(verdicts) => verdicts
                .iter()
                .map(|(id, outcome)| format!("{id}={outcome:?}"))
                .collect::<Vec<_>>()
                .join(" "),
            Err(problem) => problem.to_string(),
        };
        assert_eq!(got, expect);
    }

    #[test]
    fn strings_and_booleans_are_statuses() {
        check(
            r#"{"a": "passed", "b": "failed", "c": true, "d": false}"#,
            "a=Passed b=Failed c=Passed d=Failed",
        );
    }

    #[test]
    fn four_different_faults_have_four_different_errors() {
        check(r#"{"a": "passed", "a": "failed"}"#, "the parser reported \"a\" twice");
        check("{}", "the parser reported no test");
        check(
            r#"{"a": "perhaps"}"#,
            "the parser gave \"a\" the unknown status \"\\\"perhaps\\\"\"",
        );
        check(
            "passed",
            "the parser printed no JSON object: expected value at line 1 column 1; it printed \"passed\"",
        );
    }

    #[test]
    fn text_after_the_object_is_not_json() {
        check(
            "{\"a\": true}\nok",
            "the parser printed no JSON object: trailing characters at line 2 column 1; it printed \"{\\\"a\\\": true} ok\"",
        );
    }

    #[test]
    fn what_a_mangled_parser_prints_is_read_or_refused_with_a_reason_on_one_line() {
        let seeds: [&[u8]; 2] = [br#"{"t::a": "passed", "b": false, "c": "FAIL"}"#, b"{}"];
        let words: [&[u8]; 6] = [b"\"", b"1e999", b"\\ud800", b"null", b"[", b"\n"];
        crate::dice::mangled::check("statuses", &seeds, &words, &|input| match read(input) {
            Ok(verdicts) => assert!(!verdicts.is_empty() && verdicts.duplicates().is_empty()),
            Err(problem) => assert!(!problem.to_string().is_empty()),
        });
    }

    #[test]
    fn a_number_is_no_status() {
        check(r#"{"a": 1}"#, "the parser gave \"a\" the unknown status \"1\"");
    }
}
