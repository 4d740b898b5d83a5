//! A tree for a person to work in, beside the developer's own: laid out once like a tree that is shown
//! (nothing tells what was changed), writable, and read back as what the person changed in it.

use super::Workspace;
use super::base::Base;
use super::build;
use super::error::Error;
use super::files::{Stamp, read_steady, set_base_time};
use super::listing::{Entry, Listing, escape, joined, under, unescape};
use super::products::Products;
use super::shown;
use crate::tree::{Changes, File, Overlaid, PathRefusal, RelPath, hex};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Contents beyond these are named and not read, as in a sandbox: a source tree has no such files.
const LARGEST_FILE: u64 = 16 << 20;
const LARGEST_SET: u64 = 256 << 20;

/// What a person did to a practice tree.
#[derive(Clone, Debug, Default)]
pub struct Edited {
    /// Over what was laid out.
    pub changes: Changes,
    /// What is no part of a repair, and why: products of work, links, what is too large or no regular file.
    pub left_out: Vec<(String, String)>,
    /// When the changed files were saved, seconds since 1970.
    pub saved: BTreeSet<i64>,
}

impl Workspace {
    /// Makes the tree at `place`, whole or not at all; one that is there stays as it is. Links that lead
    /// into the developer's tree lead into this one.
    pub fn lay_out(&self, base: &Base, changes: &Changes, place: &Path) -> Result<(), Error> {
        let failed = |error| Error::state(place, error);
        if place.symlink_metadata().is_ok() {
            return Ok(());
        }
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let partial = place.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let listing = shown::listing(base.listing(), changes);
        let made = || -> io::Result<()> {
            if partial.symlink_metadata().is_ok() {
                fs::remove_dir_all(&partial)?;
            }
            build::directory(&partial, None)?;
            shown::tree(&partial, base, changes, &listing, None)?;
            for (path, entry) in listing.0.iter().rev() {
                let at = under(&partial, path);
                match entry {
                    Entry::Link(target) => {
                        if let Some(target) = moved(target, &self.root, place) {
                            fs::remove_file(&at)?;
                            symlink(target, &at)?;
                            set_base_time(&at)?;
                        }
                    }
                    Entry::Directory => set_base_time(&at)?,
                    Entry::File { .. } => {}
                }
            }
            set_base_time(&partial)?;
            fs::rename(&partial, place)
        };
        match made() {
            // Another process was faster.
            Err(_) if place.symlink_metadata().is_ok() => {
                fs::remove_dir_all(&partial).unwrap_or_default();
                Ok(())
            }
            other => other.map_err(failed),
        }
    }

    /// What was changed in the tree at `place` since it was laid out; `None` where there is none.
    pub fn edited(
        &self,
        base: &Base,
        changes: &Changes,
        place: &Path,
    ) -> Result<Option<Edited>, Error> {
        if !place.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return Ok(None);
        }
        let listing = shown::listing(base.listing(), changes);
        let products = Products::of(&Overlaid { base, changes });
        let mut walk = Walk {
            place,
            root: &self.root,
            listing: &listing,
            products: &products,
            found: Edited::default(),
            seen: BTreeSet::new(),
            size: 0,
        };
        walk.all()?;
        Ok(Some(walk.found))
    }
}

/// Where a link of the developer's tree leads that is absolute and stays inside of it.
fn moved(target: &str, root: &Path, place: &Path) -> Option<PathBuf> {
    let target = unescape(target);
    let inside = Path::new(OsStr::from_bytes(&target)).strip_prefix(root).ok()?;
    Some(place.join(inside))
}

struct Walk<'a> {
    place: &'a Path,
    root: &'a Path,
    listing: &'a Listing,
    products: &'a Products,
    found: Edited,
    seen: BTreeSet<Vec<u8>>,
    size: u64,
}

impl Walk<'_> {
    fn all(&mut self) -> Result<(), Error> {
        let mut pending = vec![Vec::new()];
        while let Some(dir) = pending.pop() {
            let at = under(self.place, &dir);
            let names = || -> io::Result<Vec<Vec<u8>>> {
                let names =
                    fs::read_dir(&at)?.map(|entry| Ok(entry?.file_name().as_bytes().to_vec()));
                names.collect()
            };
            let mut names = match names() {
                Ok(names) => names,
                Err(error) => {
                    self.leave_out(&dir, format!("unreadable: {error}"));
                    self.keep_below(&dir);
                    continue;
                }
            };
            names.sort();
            for name in names {
                let path = joined(&dir, &name);
                // What vanishes meanwhile is gone.
                let Ok(found) = under(self.place, &path).symlink_metadata() else { continue };
                if !found.is_dir() {
                    self.entry(&path, &found)?;
                } else if self.enters(&path) {
                    pending.push(path);
                }
            }
        }
        let gone = self.listing.0.iter().filter(|(path, entry)| {
            matches!(entry, Entry::File { .. }) && !self.seen.contains(*path)
        });
        let gone: Vec<RelPath> = gone.filter_map(|(path, _)| RelPath::parse(path).ok()).collect();
        for path in gone {
            self.found.changes.delete(path);
        }
        Ok(())
    }

    /// Whether a directory's content may be the person's work.
    fn enters(&mut self, path: &[u8]) -> bool {
        if self.listing.0.contains_key(path) {
            return true;
        }
        let inside = RelPath::parse(&joined(path, b"x"));
        let why = match inside {
            Err(PathRefusal::VersionControl) => "version control",
            Ok(inside) if self.products.has(&inside) => "a product of work in the tree",
            _ => return true,
        };
        self.leave_out(path, why.to_owned());
        false
    }

    fn entry(&mut self, path: &[u8], found: &Metadata) -> Result<(), Error> {
        let known = self.listing.0.get(path);
        if found.is_symlink() {
            let target = fs::read_link(under(self.place, path)).unwrap_or_default();
            let same = match known {
                Some(Entry::Link(known)) => {
                    let laid = moved(known, self.root, self.place);
                    laid.unwrap_or_else(|| OsStr::from_bytes(&unescape(known)).into()) == target
                }
                _ => false,
            };
            if !same {
                self.leave_out(path, "a symbolic link".to_owned());
            }
            return Ok(());
        }
        if !found.is_file() {
            self.leave_out(path, "no regular file".to_owned());
            return Ok(());
        }
        self.seen.insert(path.to_vec());
        self.file(path, found, known)
    }

    fn file(&mut self, path: &[u8], found: &Metadata, known: Option<&Entry>) -> Result<(), Error> {
        let size = found.size();
        if size > LARGEST_FILE || self.size.saturating_add(size) > LARGEST_SET {
            self.leave_out(path, format!("a file too large to list: {size} bytes"));
            return Ok(());
        }
        let executable = found.mode() & 0o100 != 0;
        let at = under(self.place, path);
        let bytes = match read_steady(&at, Stamp::of(found)) {
            Ok(bytes) => bytes,
            Err(Error::Unreadable { source, .. }) => {
                self.leave_out(path, format!("unreadable: {source}"));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if let Some(Entry::File { sha256, executable: was, .. }) = known
            && *was == executable
            && *sha256 == hex(&Sha256::digest(&bytes))
        {
            return Ok(());
        }
        match RelPath::parse(path) {
            Err(refusal) => self.leave_out(path, refusal.to_string()),
            Ok(path) if known.is_none() && self.products.has(&path) => {
                self.leave_out(
                    path.as_str().as_bytes(),
                    "a product of work in the tree".to_owned(),
                );
            }
            Ok(path) => {
                self.size += size;
                self.found.saved.insert(found.mtime());
                self.found.changes.write(path, File { bytes: bytes.into(), executable });
            }
        }
        Ok(())
    }

    /// What cannot be looked at is not taken for deleted.
    fn keep_below(&mut self, dir: &[u8]) {
        let inside = joined(dir, b"");
        let below = self.listing.0.keys().filter(|path| path.starts_with(&inside)).cloned();
        self.seen.extend(below);
    }

    fn leave_out(&mut self, path: &[u8], why: String) {
        self.seen.insert(path.to_vec());
        self.found.left_out.push((escape(path), why));
    }
}
