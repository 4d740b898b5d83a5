//! Freezing: from what the developer sees to a base, reading and copying only what is new.

use super::Workspace;
use super::base::Base;
use super::blobs::Blobs;
use super::build;
use super::error::Error;
use super::files::read_steady;
use super::known::Known;
use super::listing::{Entry, Listing, escape, under};
use super::prune;
use super::report::FreezeReport;
use super::seen::{self, Found, Sight};
use super::state;
use crate::tree::{RelPath, hex};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a tree that changes under our hands is looked at anew.
const ATTEMPTS: usize = 3;

/// What an editor holds of files and has not saved: it counts instead of what is on disk. A file that is not
/// there counts as one where its directory is.
pub type Unsaved = BTreeMap<RelPath, Arc<[u8]>>;

/// How to freeze.
#[derive(Clone, Debug)]
pub struct Freezing {
    /// Uid and gid that everything in the base must have, if it matters.
    pub owner: Option<(u32, u32)>,
    /// The present: tells which files were written too recently for their times to be trusted.
    pub now: SystemTime,
    /// Largest file copied, bytes. Larger ones are left out and named.
    pub file_limit: u64,
    /// How many bases are kept, the newest used first; those in use are kept besides.
    pub keep: usize,
    pub unsaved: Unsaved,
}

impl Freezing {
    /// No owner, files up to 256 MiB, four bases, everything saved.
    pub fn at(now: SystemTime) -> Self {
        Self { owner: None, now, file_limit: 256 << 20, keep: 4, unsaved: Unsaved::new() }
    }
}

pub(super) fn freeze(workspace: &Workspace, options: &Freezing) -> Result<Base, Error> {
    let state = &workspace.state;
    let _held = state::lock(state)?;
    prune::recover(state)?;
    let mut freezer = Freezer {
        workspace,
        options,
        blobs: Blobs::open(state, options.owner)?,
        known: Known::load(state),
        report: FreezeReport::default(),
    };
    let mut attempt = 1;
    loop {
        match freezer.attempt() {
            Err(Error::Changing { .. }) if attempt < ATTEMPTS => attempt += 1,
            outcome => return outcome,
        }
    }
}

/// A base that was made before.
pub(super) fn frozen(
    workspace: &Workspace,
    id: &str,
    options: &Freezing,
) -> Result<Option<Base>, Error> {
    let state = &workspace.state;
    let _held = state::lock(state)?;
    prune::recover(state)?;
    let home = build::home(state, id, options.owner);
    let listing = std::fs::read(home.join("listing.json")).ok();
    let Some(listing) = listing.and_then(|bytes| Listing::from_json(&bytes)) else {
        return Ok(None);
    };
    if listing.id() != id {
        return Ok(None);
    }
    let in_use = prune::take(&home, options.now)?;
    let report = FreezeReport { reused: true, ..FreezeReport::default() };
    let (id, root) = (id.to_owned(), workspace.root.clone());
    Ok(Some(Base::new(id, &home, root, report, listing, in_use)))
}

struct Freezer<'a> {
    workspace: &'a Workspace,
    options: &'a Freezing,
    blobs: Blobs,
    known: Known,
    report: FreezeReport,
}

impl Freezer<'_> {
    fn attempt(&mut self) -> Result<Base, Error> {
        let Workspace { root, state } = self.workspace;
        let sight = seen::look(root, self.options.file_limit)?;
        let listing = self.list(&sight)?;
        let id = listing.id();
        let home = build::home(state, &id, self.options.owner);
        let reused = home.is_dir();
        if !reused {
            self.complete(&listing, &sight)?;
            prune::sweep_unfinished(state)?;
            build::build(state, &home, &listing, &self.blobs, self.options.owner)?;
        }
        self.known.retain(|path| matches!(sight.found.get(path), Some(Found::File(_))));
        self.known.save().map_err(|error| Error::state(state, error))?;
        let in_use = prune::take(&home, self.options.now)?;
        if !reused {
            prune::prune(state, self.options.keep, self.options.now, &self.blobs)?;
        }
        let report = self.summary(&listing, sight, reused);
        Ok(Base::new(id, &home, root.clone(), report, listing, in_use))
    }

    /// Learns the content of every file. What had to be read goes into the blobs at once.
    fn list(&mut self, sight: &Sight<'_>) -> Result<Listing, Error> {
        let mut listing = Listing::default();
        let mut read_any = false;
        for (path, found) in &sight.found {
            let entry = match found {
                Found::Directory => Entry::Directory,
                Found::Link(target) => Entry::Link(escape(target)),
                Found::File(stamp) if let Some(text) = self.unsaved(path) => {
                    self.unsaved_entry(&text, stamp.executable)?
                }
                Found::File(stamp) => {
                    let sha256 = if let Some(sha256) = self.known.digest(path, *stamp) {
                        sha256.to_owned()
                    } else {
                        let bytes = read_steady(&under(&self.workspace.root, path), *stamp)?;
                        let sha256 = hex(&Sha256::digest(&bytes));
                        self.report.hashed += 1;
                        self.keep(&sha256, stamp.executable, &bytes)?;
                        self.known.learn(path, *stamp, &sha256, nanos(self.options.now));
                        read_any = true;
                        sha256
                    };
                    Entry::File { sha256, size: stamp.size, executable: stamp.executable }
                }
            };
            listing.0.insert(path.clone(), entry);
        }
        for (path, text) in &self.options.unsaved.clone() {
            let raw = path.as_str().as_bytes().to_vec();
            if is_new(sight, path) {
                let entry = self.unsaved_entry(text, false)?;
                listing.0.insert(raw, entry);
            }
        }
        // Reading takes a while: a tree that was switched meanwhile would give a mixture.
        if read_any { self.check_unchanged(sight).map(|()| listing) } else { Ok(listing) }
    }

    fn unsaved(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        let path = RelPath::parse(path).ok()?;
        self.options.unsaved.get(&path).cloned()
    }

    fn unsaved_entry(&mut self, text: &[u8], executable: bool) -> Result<Entry, Error> {
        let sha256 = hex(&Sha256::digest(text));
        self.keep(&sha256, executable, text)?;
        Ok(Entry::File { sha256, size: text.len() as u64, executable })
    }

    fn check_unchanged(&self, sight: &Sight<'_>) -> Result<(), Error> {
        let now = seen::look(&self.workspace.root, self.options.file_limit)?;
        if now.found == sight.found {
            return Ok(());
        }
        let differs = now.found.iter().find(|(path, found)| sight.found.get(*path) != Some(*found));
        let gone = || sight.found.keys().find(|path| !now.found.contains_key(*path));
        let path = differs.map(|(path, _)| path).or_else(gone);
        let root = &self.workspace.root;
        Err(Error::Changing { path: path.map_or_else(|| root.clone(), |path| under(root, path)) })
    }

    /// Makes sure of the blob of every file: those that the listing cache knew were not read, and
    /// their blobs may have been pruned.
    fn complete(&mut self, listing: &Listing, sight: &Sight<'_>) -> Result<(), Error> {
        for (path, found) in &sight.found {
            let (Found::File(stamp), Some(Entry::File { sha256, executable, .. })) =
                (found, listing.0.get(path))
            else {
                continue;
            };
            if self.unsaved(path).is_some() || self.blobs.has(sha256, *executable, stamp.size) {
                continue;
            }
            let whole = under(&self.workspace.root, path);
            let bytes = read_steady(&whole, *stamp)?;
            if hex(&Sha256::digest(&bytes)) != *sha256 {
                self.known.forget(path);
                return Err(Error::Changing { path: whole });
            }
            self.keep(sha256, *executable, &bytes)?;
        }
        Ok(())
    }

    fn keep(&mut self, sha256: &str, executable: bool, bytes: &[u8]) -> Result<(), Error> {
        if !self.blobs.has(sha256, executable, bytes.len() as u64) {
            self.blobs.put(sha256, executable, bytes)?;
            self.report.copied += 1;
        }
        Ok(())
    }

    fn summary(&self, listing: &Listing, sight: Sight<'_>, reused: bool) -> FreezeReport {
        let mut report = FreezeReport { reused, ..self.report.clone() };
        for entry in listing.0.values() {
            match entry {
                Entry::Directory => report.directories += 1,
                Entry::Link(_) => report.links += 1,
                Entry::File { size, .. } => {
                    report.files += 1;
                    report.bytes += size;
                }
            }
        }
        report.left_out = sight.left_out.into_iter().collect();
        report
    }
}

/// Whether a file that only an editor has would be one of the tree.
fn is_new(sight: &Sight<'_>, path: &RelPath) -> bool {
    let parent = path.parent().as_bytes();
    let has_directory =
        parent.is_empty() || matches!(sight.found.get(parent), Some(Found::Directory));
    has_directory && !sight.found.contains_key(path.as_str().as_bytes())
}

fn nanos(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
