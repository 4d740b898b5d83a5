//! The listing cache: which content a file had when it was last read, so that it is not read again.

use super::files::Stamp;
use super::listing::{RawPath, escape, unescape};
use super::state::write_whole;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file written this shortly before it was read may be written again without a new time; git
/// calls such an entry racily clean.
const RACY: i64 = 2_000_000_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    stamp: Stamp,
    sha256: String,
    /// When it was read, nanoseconds since 1970.
    at: i64,
}

#[derive(Debug)]
pub(super) struct Known {
    path: PathBuf,
    files: BTreeMap<RawPath, Seen>,
    changed: bool,
}

impl Known {
    /// An absent or half-written cache is an empty one.
    pub(super) fn load(state: &Path) -> Self {
        let path = state.join("listing.json");
        let named: BTreeMap<String, Seen> = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let files = named.into_iter().map(|(path, seen)| (unescape(&path), seen)).collect();
        Self { path, files, changed: false }
    }

    /// The content's digest, if the file can not have been written since it was read.
    pub(super) fn digest(&self, path: &[u8], stamp: Stamp) -> Option<&str> {
        let seen = self.files.get(path).filter(|seen| seen.stamp == stamp)?;
        let settled = stamp.modified.max(stamp.changed).saturating_add(RACY) <= seen.at;
        settled.then_some(&*seen.sha256)
    }

    pub(super) fn learn(&mut self, path: &[u8], stamp: Stamp, sha256: &str, at: i64) {
        self.files.insert(path.to_vec(), Seen { stamp, sha256: sha256.to_owned(), at });
        self.changed = true;
    }

    pub(super) fn forget(&mut self, path: &[u8]) {
        self.changed |= self.files.remove(path).is_some();
    }

    /// Drops what `keep` refuses.
    pub(super) fn retain(&mut self, keep: impl Fn(&[u8]) -> bool) {
        let before = self.files.len();
        self.files.retain(|path, _| keep(path));
        self.changed |= self.files.len() != before;
    }

    pub(super) fn save(&self) -> io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        let named: BTreeMap<_, _> =
            self.files.iter().map(|(path, seen)| (escape(path), seen)).collect();
        let text = serde_json::to_vec(&named).expect("stamps and text are JSON");
        write_whole(&self.path, &text)
    }
}
