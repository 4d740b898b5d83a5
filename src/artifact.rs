//! The five parts of a bug artifact, their aliases, their errors, and the content id.
//! (SSR, arXiv 2512.18552, section 2.)

use crate::tree::{PathRefusal, RelPath, hex};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[cfg(test)]
mod tests;

/// A bug artifact. Never changes; its id is its content.
///
/// `test_files.txt` is kept as its paths, in their order: reading drops blank lines and carriage
/// returns, and files, JSON and id are of the text written from the paths, one to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// `bug_inject.diff`: original code to buggy code, code files only.
    pub bug_inject: Vec<u8>,
    /// `test_weaken.diff`: original tests to weakened tests, test files only.
    pub test_weaken: Vec<u8>,
    /// `test_script.sh`: a bash script that runs the chosen tests from the tree's root.
    pub test_script: Vec<u8>,
    /// `test_parser.py`: log on standard input, one JSON object `{id: "passed" | "failed"}` on
    /// standard output.
    pub test_parser: Vec<u8>,
    /// `test_files.txt`, parsed: the files that are restored before every grading.
    pub test_files: Vec<RelPath>,
}

/// One of the five parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    BugInject,
    TestWeaken,
    TestScript,
    TestParser,
    TestFiles,
}

/// What is wrong with a part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("{} is missing: an artifact has five parts", part_names(*.0))]
    Missing(Part),
    #[error("{0} is empty: every part has content")]
    Empty(Part),
    #[error("{} and {} are both there and differ: give one", .0.name(), .0.alias().unwrap_or_default())]
    Conflict(Part),
    #[error("{}, line {line}: {path:?} is refused: {reason}", Part::TestFiles.name())]
    TestFile { line: usize, path: String, reason: PathRefusal },
    #[error("{}, line {line}: {path} is listed twice: name each file once", Part::TestFiles.name())]
    DuplicateTestFile { line: usize, path: RelPath },
    #[error("the artifact is not a JSON object from file names to contents")]
    NotAnObject,
    #[error("{name} is neither a string nor an object {{\"base64\": \"..\"}}")]
    NotText { name: String },
    #[error("{name} is not valid base64: {reason}")]
    Base64 { name: String, reason: String },
}

impl Part {
    pub const ALL: [Self; 5] =
        [Self::BugInject, Self::TestWeaken, Self::TestScript, Self::TestParser, Self::TestFiles];

    /// The canonical file name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BugInject => "bug_inject.diff",
            Self::TestWeaken => "test_weaken.diff",
            Self::TestScript => "test_script.sh",
            Self::TestParser => "test_parser.py",
            Self::TestFiles => "test_files.txt",
        }
    }

    /// The file name in the paper's prompts, where it is another.
    pub fn alias(self) -> Option<&'static str> {
        match self {
            Self::BugInject => Some("bug_patch.diff"),
            Self::TestWeaken => Some("test_patch.diff"),
            Self::TestParser => Some("parse_test_output.py"),
            Self::TestScript | Self::TestFiles => None,
        }
    }

    /// The part that a file name means, canonical or alias.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name || part.alias() == Some(name))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn part_names(part: Part) -> String {
    match part.alias() {
        None => part.name().to_owned(),
        Some(alias) => format!("{} ({alias})", part.name()),
    }
}

impl Artifact {
    /// From file names (either name set) to contents; names that are no part are ignored. A part may
    /// be given under both its names if the contents are the same.
    pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, Malformed> {
        let text = |part: Part| text_of(part, files).map(<[u8]>::to_vec);
        Ok(Self {
            bug_inject: text(Part::BugInject)?,
            test_weaken: text(Part::TestWeaken)?,
            test_script: text(Part::TestScript)?,
            test_parser: text(Part::TestParser)?,
            test_files: test_files(text_of(Part::TestFiles, files)?)?,
        })
    }

    /// Canonical file names to contents.
    pub fn to_files(&self) -> BTreeMap<&'static str, Vec<u8>> {
        Part::ALL.into_iter().map(|part| (part.name(), self.content(part))).collect()
    }

    /// The content of one part's file.
    pub fn content(&self, part: Part) -> Vec<u8> {
        match part {
            Part::BugInject => self.bug_inject.clone(),
            Part::TestWeaken => self.test_weaken.clone(),
            Part::TestScript => self.test_script.clone(),
            Part::TestParser => self.test_parser.clone(),
            Part::TestFiles => self
                .test_files
                .iter()
                .flat_map(|path| [path.as_str(), "\n"])
                .collect::<String>()
                .into(),
        }
    }

    /// Reads what [`Artifact::to_json`] writes; aliases are taken here too.
    pub fn from_json(json: &Value) -> Result<Self, Malformed> {
        let object = json.as_object().ok_or(Malformed::NotAnObject)?;
        let parts = object.iter().filter(|(name, _)| Part::from_name(name).is_some());
        let files = parts.map(|(name, value)| Ok((name.clone(), bytes_of(name, value)?)));
        Self::from_files(&files.collect::<Result<_, _>>()?)
    }

    /// One object, canonical file name to content: a string, or `{"base64": ".."}` where the bytes
    /// are not UTF-8.
    pub fn to_json(&self) -> Value {
        let value = |bytes: Vec<u8>| match String::from_utf8(bytes) {
            Ok(text) => Value::String(text),
            Err(error) => serde_json::json!({ "base64": STANDARD.encode(error.into_bytes()) }),
        };
        let entries =
            Part::ALL.into_iter().map(|part| (part.name().to_owned(), value(self.content(part))));
        Value::Object(entries.collect::<Map<_, _>>())
    }

    /// SHA-256 over the five parts (name, length and content of each, sorted by name), hexadecimal.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        for (name, content) in self.to_files() {
            for bytes in [name.as_bytes(), &content] {
                hash.update((bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
            }
        }
        hex(&hash.finalize())
    }
}

fn text_of(part: Part, files: &BTreeMap<String, Vec<u8>>) -> Result<&[u8], Malformed> {
    let by_alias = part.alias().and_then(|alias| files.get(alias));
    let content = match (files.get(part.name()), by_alias) {
        (None, None) => return Err(Malformed::Missing(part)),
        (Some(one), Some(other)) if one != other => return Err(Malformed::Conflict(part)),
        (Some(content), _) | (None, Some(content)) => content,
    };
    if content.trim_ascii().is_empty() { Err(Malformed::Empty(part)) } else { Ok(content) }
}

fn test_files(text: &[u8]) -> Result<Vec<RelPath>, Malformed> {
    let mut paths = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, name) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = index + 1;
        let name = name.strip_suffix(b"\r").unwrap_or(name);
        if name.trim_ascii().is_empty() {
            continue;
        }
        let path = RelPath::parse(name).map_err(|reason| Malformed::TestFile {
            line,
            path: String::from_utf8_lossy(name).into_owned(),
            reason,
        })?;
        if !seen.insert(path.clone()) {
            return Err(Malformed::DuplicateTestFile { line, path });
        }
        paths.push(path);
    }
    Ok(paths)
}

fn bytes_of(name: &str, value: &Value) -> Result<Vec<u8>, Malformed> {
    let name = || name.to_owned();
    match value {
        Value::String(text) => Ok(text.clone().into_bytes()),
        Value::Object(object) if object.len() == 1 => {
            let text = object.get("base64").and_then(Value::as_str);
            let text = text.ok_or_else(|| Malformed::NotText { name: name() })?;
            STANDARD
                .decode(text)
                .map_err(|error| Malformed::Base64 { name: name(), reason: error.to_string() })
        }
        _ => Err(Malformed::NotText { name: name() }),
    }
}
