//! A base: the frozen tree as it is read by others.

use super::files::BASE_TIME;
use super::listing::{Entry, Listing, RawPath, escape, joined, under, unescape};
use super::report::FreezeReport;
use crate::tree::{File, RelPath, Tree, hex};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A frozen copy of what the developer sees, made once per content, never written again.
///
/// Files are 0644 or 0755, directories 0755, everything with one old modification time (the same in
/// every base); what a patch writes over it is newer. While a clone of it lives, no other process
/// prunes it.
#[derive(Clone, Debug)]
pub struct Base {
    /// SHA-256 over the listing and contents.
    pub id: String,
    /// The directory that serves as the lowest layer.
    pub dir: PathBuf,
    /// The original root: where the tree appears in a sandbox.
    pub root: PathBuf,
    /// What freezing took, and what was left out.
    pub report: Arc<FreezeReport>,
    listing: Arc<Listing>,
    /// The regular files that can be named, with their mode's executable bit.
    files: Arc<BTreeMap<RelPath, bool>>,
    /// A shared lock that keeps the base from being pruned; let go with the last clone.
    _in_use: Arc<fs::File>,
}

/// How a base on disk differs from what was frozen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Drift {
    #[error(
        "{0:?} is missing from the frozen copy; delete the workspace's state directory and start \
        again"
    )]
    Missing(String),
    #[error(
        "{0:?} was changed in the frozen copy; delete the workspace's state directory and start \
        again"
    )]
    Changed(String),
    #[error(
        "{0:?} was added to the frozen copy; delete the workspace's state directory and start again"
    )]
    Added(String),
    #[error("the frozen copy cannot be read at {0:?}: {1}")]
    Unreadable(String, String),
}

impl Base {
    pub(super) fn new(
        id: String,
        home: &Path,
        root: PathBuf,
        report: FreezeReport,
        listing: Listing,
        in_use: fs::File,
    ) -> Self {
        let nameable = |(path, entry): (&RawPath, &Entry)| match entry {
            Entry::File { executable, .. } => Some((RelPath::parse(path).ok()?, *executable)),
            _ => None,
        };
        Self {
            id,
            dir: home.join("tree"),
            root,
            report: Arc::new(report),
            files: Arc::new(listing.0.iter().filter_map(nameable).collect()),
            listing: Arc::new(listing),
            _in_use: Arc::new(in_use),
        }
    }

    pub(super) fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Reads every file again and compares: kinds, contents, modes, times, and nothing besides.
    pub fn verify(&self) -> Result<(), Drift> {
        verify(&self.dir, &self.listing)
    }
}

impl Tree for Base {
    fn read(&self, path: &RelPath) -> Option<File> {
        let executable = *self.files.get(path)?;
        match fs::read(self.dir.join(path.as_str())) {
            Ok(bytes) => Some(File { bytes: bytes.into(), executable }),
            Err(error) => {
                tracing::error!(%path, %error, "a frozen file cannot be read");
                None
            }
        }
    }

    fn paths(&self) -> Vec<RelPath> {
        self.files.keys().cloned().collect()
    }

    fn has(&self, path: &RelPath) -> bool {
        self.files.contains_key(path)
    }
}

/// Compares the directory `tree` with `listing`.
pub(super) fn verify(tree: &Path, listing: &Listing) -> Result<(), Drift> {
    let mut unexpected = BTreeSet::new();
    list(tree, &[], &mut unexpected).map_err(|error| unreadable(b"", &error))?;
    for (path, entry) in &listing.0 {
        if !unexpected.remove(path) {
            return Err(Drift::Missing(escape(path)));
        }
        match is_as_frozen(&under(tree, path), entry) {
            Ok(true) => {}
            Ok(false) => return Err(Drift::Changed(escape(path))),
            Err(error) => return Err(unreadable(path, &error)),
        }
    }
    unexpected.first().map_or(Ok(()), |path| Err(Drift::Added(escape(path))))
}

fn unreadable(path: &[u8], error: &io::Error) -> Drift {
    Drift::Unreadable(escape(path), error.to_string())
}

fn is_as_frozen(path: &Path, entry: &Entry) -> io::Result<bool> {
    let metadata = path.symlink_metadata()?;
    let mode = metadata.mode() & 0o7777;
    let kind = match entry {
        Entry::Directory => metadata.is_dir() && mode == 0o755,
        Entry::Link(target) => {
            metadata.is_symlink() && fs::read_link(path)?.as_os_str().as_bytes() == unescape(target)
        }
        Entry::File { sha256, size, executable } => {
            metadata.is_file()
                && metadata.size() == *size
                && mode == if *executable { 0o755 } else { 0o644 }
                && hex(&Sha256::digest(fs::read(path)?)) == *sha256
        }
    };
    Ok(kind && metadata.mtime() == BASE_TIME)
}

fn list(dir: &Path, prefix: &[u8], found: &mut BTreeSet<RawPath>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = joined(prefix, entry.file_name().as_bytes());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &path, found)?;
        }
        found.insert(path);
    }
    Ok(())
}
