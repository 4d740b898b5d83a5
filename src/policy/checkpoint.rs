//! Weights as a file: portable text with its version, its length and its hash.
//!
//! ```text
//! ssr-mcp-policy 1 <bytes of what follows> <SHA-256 of what follows>
//! fact<TAB>steps<TAB>12
//! table<TAB>weights
//! shared<TAB>0.5<TAB>template=Operator
//! ```

use super::weights::LARGEST_WEIGHT;
use super::{Scope, Weights};
use crate::tree::hex;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const MAGIC: &str = "ssr-mcp-policy";
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;
/// The longest first line: a version and a length that are no such numbers end the reading early.
const LONGEST_HEAD: usize = 128;

/// The table of the last weights.
pub const WEIGHTS: &str = "weights";
/// The table of their mean over the last steps, where there is one.
pub const AVERAGE: &str = "average";

/// Named tables of weights, and facts beside them. Equal content has equal bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    pub tables: BTreeMap<String, Weights>,
    pub facts: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("this is no policy of ssr-mcp: it does not begin with `{MAGIC}`")]
    Foreign,
    #[error(
        "the policy has version {found}, and this ssr-mcp reads version {VERSION}: use the ssr-mcp that \
         wrote it, or train again"
    )]
    Version { found: u32 },
    #[error("the policy is cut off: {found} of {wanted} bytes are there. Copy it again")]
    Truncated { wanted: usize, found: usize },
    #[error("the policy is cut off within its first line. Copy it again")]
    Headless,
    #[error("{0} bytes stand behind the end of the policy: it is not the file that was written")]
    Trailing(usize),
    #[error(
        "the policy's content is not what its hash says: it was damaged or edited. Copy it again"
    )]
    Hash,
    #[error("line {line} of the policy cannot be read: {what}")]
    Malformed { line: usize, what: &'static str },
    #[error("the policy lacks `{0}`: it was not written by `train`")]
    Missing(&'static str),
}

impl Checkpoint {
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = self.body();
        let digest = hex(&Sha256::digest(body.as_bytes()));
        format!("{MAGIC} {VERSION} {} {digest}\n{body}", body.len()).into_bytes()
    }

    /// The hash of the content: equal for equal checkpoints.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(self.body().as_bytes()))
    }

    /// What is played with: the mean where there is one, else the weights.
    pub fn policy(&self) -> Result<&Weights, Refusal> {
        let mean = self.tables.get(AVERAGE).filter(|mean| !mean.is_empty());
        mean.or(self.tables.get(WEIGHTS)).ok_or(Refusal::Missing(WEIGHTS))
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let body = opened(bytes)?;
        let body = std::str::from_utf8(body)
            .map_err(|_| Refusal::Malformed { line: 1, what: "it is no UTF-8" })?;
        let mut read = Self::default();
        let mut table: Option<String> = None;
        for (number, line) in body.lines().enumerate() {
            let malformed = |what| Refusal::Malformed { line: number + 2, what };
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["fact", key, value] => {
                    read.facts.insert(unescaped(key), unescaped(value));
                }
                ["table", name] => {
                    let name = unescaped(name);
                    read.tables.entry(name.clone()).or_default();
                    table = Some(name);
                }
                [scope, weight, name] => {
                    let scope = Scope::from_name(scope)
                        .ok_or(malformed("nobody has a weight of that scope"))?;
                    let weight: f64 = weight.parse().map_err(|_| malformed("no number"))?;
                    if weight.is_nan() || weight.abs() > LARGEST_WEIGHT {
                        return Err(malformed("a weight is not finite, or far too large"));
                    }
                    let table = table.as_ref().ok_or(malformed("a weight before any table"))?;
                    let table = read.tables.entry(table.clone()).or_default();
                    table.set(scope, &unescaped(name), weight);
                }
                _ => return Err(malformed("it has neither two nor three fields")),
            }
        }
        Ok(read)
    }

    fn body(&self) -> String {
        let mut body = String::new();
        for (key, value) in &self.facts {
            writeln!(body, "fact\t{}\t{}", escaped(key), escaped(value)).ok();
        }
        for (name, weights) in &self.tables {
            writeln!(body, "table\t{}", escaped(name)).ok();
            for (scope, name, weight) in weights.iter() {
                // The shortest text that reads back to the same number.
                writeln!(body, "{}\t{weight:?}\t{}", scope.name(), escaped(name)).ok();
            }
        }
        body
    }
}

/// What stands behind the first line, once length and hash are right.
fn opened(bytes: &[u8]) -> Result<&[u8], Refusal> {
    let prefix = format!("{MAGIC} ");
    let shared = bytes.len().min(prefix.len());
    if bytes[..shared] != prefix.as_bytes()[..shared] {
        return Err(Refusal::Foreign);
    }
    let head = bytes.iter().take(LONGEST_HEAD).position(|byte| *byte == b'\n');
    let Some(end) = head else {
        return Err(if bytes.len() < LONGEST_HEAD {
            Refusal::Headless
        } else {
            Refusal::Malformed { line: 1, what: "the first line does not end" }
        });
    };
    let malformed = |what| Refusal::Malformed { line: 1, what };
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| malformed("it is no UTF-8"))?;
    let mut fields = head.split(' ').skip(1);
    let version = fields.next().and_then(|version| version.parse().ok());
    let version: u32 = version.ok_or(malformed("it has no version"))?;
    if version != VERSION {
        return Err(Refusal::Version { found: version });
    }
    let wanted = fields.next().and_then(|length| length.parse().ok());
    let wanted: usize = wanted.ok_or(malformed("it has no length"))?;
    let digest = fields.next().ok_or(malformed("it has no hash"))?;
    let body = &bytes[end + 1..];
    match body.len() {
        found if found < wanted => Err(Refusal::Truncated { wanted, found }),
        found if found > wanted => Err(Refusal::Trailing(found - wanted)),
        _ if hex(&Sha256::digest(body)) != digest => Err(Refusal::Hash),
        _ => Ok(body),
    }
}

fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => result.push_str("\\\\"),
            '\t' => result.push_str("\\t"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            other => result.push(other),
        }
    }
    result
}

fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('t')) => result.push('\t'),
            ('\\', Some('n')) => result.push('\n'),
            ('\\', Some('r')) => result.push('\r'),
            ('\\', Some(other)) | (other, _) => result.push(other),
        }
    }
    result
}
