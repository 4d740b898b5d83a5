//! Edits of YAML, by lines. Only block mappings of the plainest shape are edited; the rest is refused.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Deeper than any client's configuration.
const DEEPEST: usize = 100;

/// The one document as a value. Anchors, aliases and tags are refused: a text edit could not tell
/// what else it changes.
pub(super) fn value(text: &str) -> Result<Value, String> {
    let (mut open, mut documents, mut root) = (Vec::new(), 0, Value::Null);
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let done = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                continue;
            }
            Event::Alias(_) => return Err("it uses an alias".to_owned()),
            Event::Scalar(text, style, 0, None) => scalar(&text, style),
            Event::SequenceStart(0, None) => {
                open.push(Open::Sequence(Vec::new()));
                continue;
            }
            Event::MappingStart(0, None) => {
                open.push(Open::Mapping(Map::new(), None));
                continue;
            }
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                return Err("it uses an anchor or a tag".to_owned());
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Sequence(values)) => Value::Array(values),
                Some(Open::Mapping(values, _)) => Value::Object(values),
                None => return Err("it ends more than it begins".to_owned()),
            },
            _ => continue,
        };
        if open.len() > DEEPEST {
            return Err("it nests too deep".to_owned());
        }
        match open.last_mut() {
            None => root = done,
            Some(parent) => parent.take(done)?,
        }
    }
    match (documents, root) {
        (0 | 1, Value::Null) => Ok(Value::Object(Map::new())),
        (1, root) => Ok(root),
        _ => Err("it holds several documents".to_owned()),
    }
}

enum Open {
    Sequence(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

impl Open {
    fn take(&mut self, value: Value) -> Result<(), String> {
        match self {
            Self::Sequence(values) => values.push(value),
            Self::Mapping(values, key) => match key.take() {
                Some(key) if values.contains_key(&key) => {
                    return Err(format!("{key:?} stands twice"));
                }
                Some(name) => {
                    values.insert(name, value);
                }
                None if value.is_array() || value.is_object() => {
                    return Err("a key is no text".to_owned());
                }
                None => {
                    *key = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
            },
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null") => Value::Null,
        (ScalarStyle::Plain, "true") => Value::Bool(true),
        (ScalarStyle::Plain, "false") => Value::Bool(false),
        (ScalarStyle::Plain, text) => {
            text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
        }
        _ => Value::from(text),
    }
}

/// Adds an entry below `key`, or makes the scalars in which it differs those that are wanted.
pub(super) fn set(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let mut lines = Lines::of(text)?;
    let section = lines.section(key)?;
    match lines.child(&section, name)? {
        None => {
            let block = block(name, entry, section.indent);
            lines.insert(section.end, &block);
        }
        Some(child) => {
            let there = value(text)?;
            let there = there.get(key).and_then(|servers| servers.get(name));
            for (field, wanted) in entry.as_object().into_iter().flatten() {
                if there.and_then(|there| there.get(field)) == Some(wanted) {
                    continue;
                }
                let wanted = plain(wanted).ok_or_else(|| {
                    format!("{field} of the entry {name:?} is another; remove the entry first")
                })?;
                lines.replace_scalar(&child, field, &wanted)?;
            }
        }
    }
    Ok(lines.text())
}

pub(super) fn remove(text: &str, key: &str, name: &str) -> Result<String, String> {
    let mut lines = Lines::of(text)?;
    let section = lines.section(key)?;
    let child = lines.child(&section, name)?.ok_or("the entry was not found")?;
    lines.all.drain(child.start..child.end);
    let left = lines.section(key)?;
    if !(left.start + 1..left.end).any(|at| lines.is_content(at)) {
        lines.all[left.start] = format!("{key}: {{}}");
    }
    Ok(lines.text())
}

/// Makes one scalar another, where a field of that name stands once in the text.
pub(super) fn replace_scalar(text: &str, field: &str, wanted: &str) -> Result<String, String> {
    let mut lines = Lines::of(text)?;
    let all = Block { start: 0, end: lines.all.len(), indent: 0 };
    let wanted = plain(&Value::from(wanted)).ok_or("it is no scalar")?;
    lines.replace_scalar(&all, field, &wanted)?;
    Ok(lines.text())
}

/// Lines from `start` up to `end`, and the indentation of what is listed in them.
struct Block {
    start: usize,
    end: usize,
    indent: usize,
}

struct Lines {
    all: Vec<String>,
    ending: &'static str,
    ended: bool,
}

impl Lines {
    fn of(text: &str) -> Result<Self, String> {
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let ended = text.is_empty() || text.ends_with('\n');
        let read = Self { all: lines, ending, ended };
        if read.text() != text {
            return Err("its line endings are mixed".to_owned());
        }
        if read.all.iter().any(|line| line.starts_with("...")) {
            return Err("it ends before its end".to_owned());
        }
        Ok(Self { ended: true, ..read })
    }

    fn text(&self) -> String {
        let text = self.all.join(self.ending);
        if self.ended && !self.all.is_empty() { text + self.ending } else { text }
    }

    fn indent(&self, at: usize) -> usize {
        self.all[at].len() - self.all[at].trim_start_matches(' ').len()
    }

    fn is_content(&self, at: usize) -> bool {
        let line = self.all[at].trim();
        !line.is_empty() && !line.starts_with('#')
    }

    /// The block mapping under a key in the first column; made at the end where there is none.
    fn section(&mut self, key: &str) -> Result<Block, String> {
        let head = format!("{key}:");
        let heads: Vec<usize> = (0..self.all.len())
            .filter(|at| self.all[*at].strip_prefix(&head).is_some_and(starts_value))
            .collect();
        let start = match heads[..] {
            [] => {
                self.all.push(head.clone());
                self.all.len() - 1
            }
            [at] => at,
            _ => return Err(format!("{key:?} stands twice")),
        };
        let rest = self.all[start][head.len()..].to_owned();
        let (inline, comment) = match rest.find(" #") {
            Some(at) => rest.split_at(at),
            None => (rest.as_str(), ""),
        };
        match inline.trim() {
            "" => {}
            "{}" | "null" | "~" => self.all[start] = format!("{head}{comment}"),
            _ => return Err(format!("{key:?} is not a block of lines")),
        }
        let end = self.end(start, 1);
        let first = (start + 1..end).find(|at| self.is_content(*at));
        let indent = first.map_or(2, |at| self.indent(at));
        Ok(Block { start, end, indent })
    }

    /// Behind the last line of content that is indented at least so far.
    fn end(&self, start: usize, indent: usize) -> usize {
        let mut end = start + 1;
        for at in start + 1..self.all.len() {
            if self.is_content(at) {
                if self.indent(at) < indent {
                    break;
                }
                end = at + 1;
            }
        }
        end
    }

    fn child(&self, section: &Block, name: &str) -> Result<Option<Block>, String> {
        let head = format!("{name}:");
        let is_child = |at: &usize| self.is_content(*at) && self.indent(*at) == section.indent;
        let Some(start) = (section.start + 1..section.end).filter(is_child).find(|at| {
            self.all[*at][section.indent..].strip_prefix(&head).is_some_and(starts_value)
        }) else {
            return Ok(None);
        };
        if self.all[start].trim() != head {
            return Err(format!("the entry {name:?} is not a block of lines"));
        }
        let end = self.end(start, section.indent + 1);
        let first = (start + 1..end).find(|at| self.is_content(*at));
        Ok(Some(Block { start, end, indent: first.map_or(0, |at| self.indent(at)) }))
    }

    fn insert(&mut self, at: usize, block: &str) {
        self.all.splice(at..at, block.lines().map(str::to_owned));
    }

    /// Keeps what stands before the value, and a comment behind it.
    fn replace_scalar(&mut self, block: &Block, field: &str, wanted: &str) -> Result<(), String> {
        let head = format!("{field}: ");
        let is_field = |line: &str| line.trim_start_matches([' ', '-']).starts_with(&head);
        let found: Vec<usize> =
            (block.start..block.end).filter(|at| is_field(&self.all[*at])).collect();
        let [at] = found[..] else {
            return Err(format!("{field} does not stand once in a line of its own"));
        };
        let line = &self.all[at];
        let (before, rest) = line.split_at(line.find(&head).unwrap_or(0) + head.len());
        let comment = rest.find(" #").map_or("", |at| &rest[at..]);
        self.all[at] = format!("{before}{wanted}{comment}");
        Ok(())
    }
}

fn starts_value(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t'])
}

/// An entry as lines.
pub(super) fn block(name: &str, entry: &Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let mut text = format!("{pad}{name}:\n");
    for (field, value) in entry.as_object().into_iter().flatten() {
        let shown = plain(value).unwrap_or_else(|| value.to_string());
        writeln!(text, "{pad}  {field}: {shown}").unwrap_or_default();
    }
    text
}

/// A scalar; `None` of a list or a mapping. JSON's are YAML's, too.
pub(super) fn plain(value: &Value) -> Option<String> {
    let is_word = |text: &str| {
        text.starts_with(|c: char| c == '/' || c.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_.+-".contains(&byte))
            && !matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n")
    };
    match value {
        Value::Array(_) | Value::Object(_) => None,
        Value::String(text) if is_word(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
