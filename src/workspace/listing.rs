//! A listing: what stands at every path of a base, and the id made from it.

use crate::tree::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A relative path as bytes: also those that are not UTF-8 or that no patch may name.
pub(super) type RawPath = Vec<u8>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Entry {
    File {
        /// Of the content, in hexadecimal.
        sha256: String,
        size: u64,
        executable: bool,
    },
    /// The target's bytes, `escape`d.
    Link(String),
    Directory,
}

/// Sorted by path, so that a directory comes before what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing(pub(super) BTreeMap<RawPath, Entry>);

impl Listing {
    /// SHA-256 over paths, kinds, modes and contents, in hexadecimal.
    pub(super) fn id(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for (path, entry) in &self.0 {
            part(path);
            match entry {
                Entry::File { sha256, executable: false, .. } => {
                    [part(b"f"), part(sha256.as_bytes())]
                }
                Entry::File { sha256, executable: true, .. } => {
                    [part(b"x"), part(sha256.as_bytes())]
                }
                Entry::Link(target) => [part(b"l"), part(target.as_bytes())],
                Entry::Directory => [part(b"d"), part(b"")],
            };
        }
        hex(&hash.finalize())
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let named: BTreeMap<_, _> = self.0.iter().map(|(path, e)| (escape(path), e)).collect();
        serde_json::to_vec(&named).expect("entries of text and numbers are JSON")
    }

    pub(super) fn from_json(bytes: &[u8]) -> Option<Self> {
        let named: BTreeMap<String, Entry> = serde_json::from_slice(bytes).ok()?;
        Some(Self(named.into_iter().map(|(path, entry)| (unescape(&path), entry)).collect()))
    }
}

/// Any bytes as text: `%` and what is not UTF-8 become `%XX`.
pub(super) fn escape(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            write!(text, "%{byte:02X}").ok();
        }
    }
    text
}

/// The bytes that `escape` was given.
pub(super) fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let value =
            escaped.and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    bytes
}

/// The bytes of a path as a path.
pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// `path` below `root`.
pub(super) fn under(root: &Path, path: &[u8]) -> PathBuf {
    root.join(as_path(path))
}

/// `name` in `directory`; the empty directory is the root.
pub(super) fn joined(directory: &[u8], name: &[u8]) -> RawPath {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}
