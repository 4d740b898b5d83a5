//! `JUnit` XML, as the log carries it: each line behind `xml `, and the ids to leave out; or, where the
//! framework's own do not say where a test is written, the ids to read and what they are called instead.

use super::NoReport;
use crate::verdict::{Outcome, Verdicts};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read(block: &[&[u8]]) -> Result<Verdicts, NoReport> {
    let mut text = Vec::new();
    let mut excluded = BTreeSet::new();
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    let mut broken: Option<Vec<String>> = None;
    for line in block.iter().filter(|line| !line.is_empty()) {
        if let Some(xml) = line.strip_prefix(b"xml ") {
            text.extend_from_slice(xml);
            text.push(b'\n');
        } else if let Some(id) = line.strip_prefix(b"exclude ") {
            excluded.insert(serde_json::from_slice::<String>(id).map_err(unreadable)?);
        } else if let Some(names) = line.strip_prefix(b"id ") {
            let (id, name) = serde_json::from_slice(names).map_err(unreadable)?;
            wanted.insert(id, name);
        } else if let Some(id) = line.strip_prefix(b"error ") {
            let id = serde_json::from_slice::<String>(id).map_err(unreadable)?;
            broken.get_or_insert_default().push(id);
        } else {
            return Err(unreadable(String::from_utf8_lossy(line)));
        }
    }
    let text = String::from_utf8(text).map_err(unreadable)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let allowed = |c: char| c >= ' ' || matches!(c, '\t' | '\n' | '\r');
    if text.contains("<!DOCTYPE") || text.contains("<!ENTITY") || !text.chars().all(allowed) {
        return Err(unreadable("it has a document type or a character that XML forbids"));
    }
    let mut verdicts = Verdicts::default();
    if broken.is_some() || !wanted.is_empty() {
        return renamed(cases(text)?, wanted, broken.unwrap_or_default());
    }
    for (id, outcome) in cases(text)? {
        if !excluded.contains(&id) {
            verdicts.add(id, outcome);
        }
    }
    Ok(verdicts)
}

/// The wanted ids under their names, and what could not be built.
fn renamed(
    cases: Vec<(String, Outcome)>,
    mut wanted: BTreeMap<String, String>,
    broken: Vec<String>,
) -> Result<Verdicts, NoReport> {
    let mut verdicts = Verdicts::default();
    for id in broken {
        verdicts.add(id, Outcome::Error);
    }
    let names = wanted.clone();
    for (id, outcome) in cases {
        if let Some(name) = names.get(&id) {
            wanted.remove(&id);
            verdicts.add(name.clone(), outcome);
        }
    }
    match wanted.into_values().next() {
        Some(name) => Err(NoReport::Incomplete(format!("{name:?} has no outcome"))),
        None => Ok(verdicts),
    }
}

struct Case {
    id: String,
    outcome: Outcome,
}

/// Every test case with its outcome, in the order of the report.
fn cases(text: &str) -> Result<Vec<(String, Outcome)>, NoReport> {
    let mut reader = quick_xml::Reader::from_str(text);
    // What is open, outermost first; of a suite its name.
    let mut open: Vec<(String, String)> = Vec::new();
    let mut current: Option<Case> = None;
    let mut found = Vec::new();
    let mut suites = false;
    loop {
        let (start, empty) = match reader.read_event().map_err(unreadable)? {
            Event::Start(start) => (start, false),
            Event::Empty(start) => (start, true),
            Event::End(_) => {
                close(open.pop(), &mut current, &mut found);
                continue;
            }
            Event::Eof if open.is_empty() && suites => return Ok(found),
            Event::Eof => return Err(unreadable("it is no whole JUnit XML")),
            _ => continue,
        };
        let tag = start.local_name().as_ref().to_owned();
        let mut name = attribute(&start, "name")?;
        let inside = open.last().map(|(tag, _)| tag.as_str());
        match (tag.as_str(), inside) {
            ("testsuites", None) => {
                suites = true;
                name.clear();
            }
            ("testsuite", None | Some("testsuites" | "testsuite")) => suites = true,
            ("testcase", Some("testsuites" | "testsuite")) => {
                let suite = open.last().map_or("", |(_, name)| name);
                current = Some(Case { id: identifier(&start, suite)?, outcome: Outcome::Passed });
            }
            (kind, Some("testcase")) => {
                if let (Some(case), Some(outcome)) = (&mut current, outcome(kind)) {
                    case.outcome = worse(case.outcome, outcome);
                }
            }
            (_, None) => return Err(unreadable("it is no JUnit XML")),
            _ => {}
        }
        open.push((tag, name));
        if empty {
            close(open.pop(), &mut current, &mut found);
        }
    }
}

fn close(
    closed: Option<(String, String)>,
    current: &mut Option<Case>,
    found: &mut Vec<(String, Outcome)>,
) {
    if closed.is_some_and(|(tag, _)| tag == "testcase")
        && let Some(case) = current.take()
    {
        found.push((case.id, case.outcome));
    }
}

/// `file::Class::name` where the report tells the file (pytest's xunit1), else `classname::name`.
fn identifier(case: &BytesStart<'_>, suite: &str) -> Result<String, NoReport> {
    let name = attribute(case, "name")?;
    let mut scope = attribute(case, "classname")?;
    let file = attribute(case, "file")?.replace('\\', "/");
    if !file.is_empty() {
        let module =
            file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem).replace('/', ".");
        if scope == module {
            scope.clear();
        } else if let Some(rest) = scope.strip_prefix(&format!("{module}.")) {
            scope = rest.replace('.', "::");
        }
    }
    let suite = if file.is_empty() && scope.is_empty() { suite } else { "" };
    let parts = [suite, &file, &scope, &name];
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("::"))
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<String, NoReport> {
    match element.try_get_attribute(name).map_err(unreadable)? {
        Some(value) => {
            Ok(value.normalized_value(XmlVersion::Implicit1_0).map_err(unreadable)?.into_owned())
        }
        None => Ok(String::new()),
    }
}

fn outcome(kind: &str) -> Option<Outcome> {
    match kind {
        "failure" => Some(Outcome::Failed),
        "error" => Some(Outcome::Error),
        "skipped" => Some(Outcome::Skipped),
        _ => None,
    }
}

fn worse(one: Outcome, other: Outcome) -> Outcome {
    let rank = |outcome| match outcome {
        Outcome::Failed => 3,
        Outcome::Error => 2,
        Outcome::Skipped => 1,
        Outcome::Passed | Outcome::Missing => 0,
    };
    if rank(other) > rank(one) { other } else { one }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn unreadable(reason: impl ToString) -> NoReport {
    NoReport::Unreadable(reason.to_string())
}
