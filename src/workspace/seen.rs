//! What the developer sees: the files of a directory that belong to the project.
//!
//! In a git repository: tracked files with their content on disk, and untracked files that are not
//! ignored. In a plain folder: everything, less what its `.gitignore` and `.ignore` files name.
//! Caches are left out unless tracked; `skip::never` is left out always.

use super::error::Error;
use super::files::Stamp;
use super::git::{self, Repository};
use super::listing::{RawPath, escape, joined, under};
use super::skip;
use ignore::{DirEntry, WalkBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    File(Stamp),
    /// The target.
    Link(Vec<u8>),
    Directory,
}

/// Everything seen below a root, and what was left out with the reason.
pub(super) struct Sight<'a> {
    root: &'a Path,
    /// Largest file taken, bytes.
    file_limit: u64,
    pub(super) found: BTreeMap<RawPath, Found>,
    pub(super) left_out: BTreeMap<String, String>,
}

/// Looks at `root`, which is canonical. Reads names and metadata, no content.
pub(super) fn look(root: &Path, file_limit: u64) -> Result<Sight<'_>, Error> {
    let mut sight = Sight { root, file_limit, found: BTreeMap::new(), left_out: BTreeMap::new() };
    match git::around(root)? {
        Some(repository) if !repository.ignores_root() => sight.repository(b"", &repository)?,
        // An ignored directory is nothing to git: all of it is what the developer sees.
        _ => sight.walk(b"", false).map(drop)?,
    }
    Ok(sight)
}

impl Sight<'_> {
    /// The part of a repository that begins at `at`.
    fn repository(&mut self, at: &[u8], repository: &Repository) -> Result<(), Error> {
        let nested = self.walk(at, true)?;
        let tracked = match repository.tracked() {
            Ok(tracked) => tracked,
            Err(reason) => {
                let why = format!(
                    "the git index cannot be read ({reason}): tracked files that are ignored are \
                    left out"
                );
                self.left_out.insert(escape(&joined(at, b".git/index")), why);
                Vec::new()
            }
        };
        let mut submodules = BTreeSet::new();
        for (path, is_submodule) in tracked {
            let path = joined(at, &path);
            if is_submodule {
                self.submodule(&path)?;
                submodules.insert(path);
            } else {
                self.tracked_file(&path)?;
            }
        }
        for path in nested.difference(&submodules) {
            let why = "a git repository of its own that this one does not track; open it by \
                itself to play on it";
            self.left_out.insert(escape(path), why.to_owned());
        }
        Ok(())
    }

    fn submodule(&mut self, path: &[u8]) -> Result<(), Error> {
        let dir = under(self.root, path);
        if !self.add_directories(path) {
            return Ok(());
        }
        match git::at(&dir)? {
            Some(repository) => self.repository(path, &repository),
            None if dir.join(".git").symlink_metadata().is_ok() => self.walk(path, false).map(drop),
            None => {
                let why = "the submodule is not checked out; run `git submodule update --init` if \
                    tests need it";
                self.left_out.insert(escape(path), why.to_owned());
                Ok(())
            }
        }
    }

    /// A tracked file that the walk may have passed by, because it is ignored or in a cache.
    fn tracked_file(&mut self, path: &[u8]) -> Result<(), Error> {
        if self.found.contains_key(path) || self.left_out.contains_key(&escape(path)) {
            return Ok(());
        }
        let whole = under(self.root, path);
        let parent =
            path.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |slash| &path[..slash]);
        if whole.symlink_metadata().is_err() || !self.has_real_directories(parent) {
            return Ok(());
        }
        if path.split(|byte| *byte == b'/').any(skip::never) {
            let why = "tracked, but byte code, version control and editors' copies are never \
                shown: they can hold the original of what a bug changes";
            self.left_out.insert(escape(path), why.to_owned());
            return Ok(());
        }
        self.add_directories(parent);
        match whole.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            _ => self.add(path.to_vec()),
        }
    }

    /// Whether `path` and what is above it are directories and no links.
    fn has_real_directories(&self, path: &[u8]) -> bool {
        prefixes(path).all(|path| {
            matches!(self.found.get(path), Some(Found::Directory))
                || under(self.root, path).symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
        })
    }

    /// Adds `path` and what is above it, where they are directories.
    fn add_directories(&mut self, path: &[u8]) -> bool {
        let real = self.has_real_directories(path);
        if real {
            self.found.extend(prefixes(path).map(|path| (path.to_vec(), Found::Directory)));
        }
        real
    }

    /// Adds what is below `at`. In a repository, directories that are repositories themselves are
    /// not entered but returned.
    fn walk(&mut self, at: &[u8], in_repository: bool) -> Result<BTreeSet<RawPath>, Error> {
        let top = under(self.root, at);
        let nested = Arc::new(Mutex::new(BTreeSet::new()));
        let walk = WalkBuilder::new(&top)
            .standard_filters(false)
            .parents(in_repository)
            .git_ignore(true)
            .git_global(in_repository)
            .git_exclude(in_repository)
            .require_git(in_repository)
            .ignore(!in_repository)
            .filter_entry({
                let nested = Arc::clone(&nested);
                move |entry| entry.depth() == 0 || is_wanted(entry, in_repository, &nested)
            })
            .build();
        for entry in walk {
            let entry = entry.map_err(|error| walk_error(&top, error))?;
            if let Ok(path) = entry.path().strip_prefix(&top)
                && entry.depth() > 0
            {
                self.add(joined(at, path.as_os_str().as_bytes()))?;
            }
        }
        let nested = std::mem::take(&mut *nested.lock().unwrap_or_else(PoisonError::into_inner));
        let below = |path: PathBuf| {
            Some(path.strip_prefix(self.root).ok()?.as_os_str().as_bytes().to_vec())
        };
        Ok(nested.into_iter().filter_map(below).collect())
    }

    fn add(&mut self, path: RawPath) -> Result<(), Error> {
        let whole = under(self.root, &path);
        let failed = |error| Error::source_file(&whole, error);
        let metadata = whole.symlink_metadata().map_err(failed)?;
        let kind = metadata.file_type();
        let found = if kind.is_dir() {
            Ok(Found::Directory)
        } else if kind.is_symlink() {
            let target = whole.read_link().map_err(failed)?;
            if stays_inside(self.root, &whole, &target) {
                Ok(Found::Link(target.into_os_string().into_vec()))
            } else {
                Err(format!("a symbolic link to {}, outside of the directory", target.display()))
            }
        } else if !kind.is_file() {
            Err("a socket, FIFO or device".to_owned())
        } else if metadata.len() > self.file_limit {
            Err(format!(
                "{} MiB, above the limit of {} MiB for one file; a test that needs it fails in \
                the copy: give it a smaller file, or ignore the file if none does",
                metadata.len() >> 20,
                self.file_limit >> 20
            ))
        } else {
            Ok(Found::File(Stamp::of(&metadata)))
        };
        match found {
            Ok(found) => drop(self.found.insert(path, found)),
            Err(why) => drop(self.left_out.insert(escape(&path), why)),
        }
        Ok(())
    }
}

fn is_wanted(entry: &DirEntry, in_repository: bool, nested: &Mutex<BTreeSet<PathBuf>>) -> bool {
    let name = entry.file_name().as_bytes();
    if skip::never(name) {
        return false;
    }
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    if skip::is_cache(entry.path(), name) {
        return false;
    }
    let is_nested = in_repository && entry.path().join(".git").symlink_metadata().is_ok();
    if is_nested {
        nested.lock().unwrap_or_else(PoisonError::into_inner).insert(entry.path().to_path_buf());
    }
    !is_nested
}

/// Whether a link leads below `root`: by what it resolves to, or by its text where it dangles.
/// Links that dangle or go in a circle are kept: the developer sees them so, and nobody follows
/// them on this side of the sandbox.
fn stays_inside(root: &Path, link: &Path, target: &Path) -> bool {
    let whole = link.parent().unwrap_or(root).join(target);
    whole.canonicalize().unwrap_or_else(|_| plain(&whole)).starts_with(root)
}

/// `path` with `..` taken by name.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn walk_error(top: &Path, error: ignore::Error) -> Error {
    let path = match &error {
        ignore::Error::WithPath { path, .. } => path.clone(),
        ignore::Error::WithDepth { err, .. } => match &**err {
            ignore::Error::WithPath { path, .. } => path.clone(),
            _ => top.to_path_buf(),
        },
        _ => top.to_path_buf(),
    };
    let text = error.to_string();
    Error::source_file(&path, error.into_io_error().unwrap_or_else(|| io::Error::other(text)))
}

/// `a`, `a/b`, `a/b/c` of `a/b/c`; nothing of the empty path.
fn prefixes(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let inner =
        path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &path[..slash]);
    inner.chain((!path.is_empty()).then_some(path))
}
