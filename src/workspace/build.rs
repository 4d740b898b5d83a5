//! Builds the directory of a base: hard links to blobs, made aside and renamed into place.

use super::blobs::{Blobs, Owner, own};
use super::error::Error;
use super::files::set_base_time;
use super::listing::{Entry, Listing, under, unescape};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

/// Where the bases of a state directory lie.
pub(super) fn bases(state: &Path) -> PathBuf {
    state.join("bases")
}

/// The directory of one base: one per content and owner.
pub(super) fn home(state: &Path, id: &str, owner: Owner) -> PathBuf {
    let name = match owner {
        None => id.to_owned(),
        Some((uid, gid)) => format!("{id}-{uid}-{gid}"),
    };
    bases(state).join(name)
}

/// Makes `home` from blobs that are all there. The caller holds the workspace's lock.
pub(super) fn build(
    state: &Path,
    home: &Path,
    listing: &Listing,
    blobs: &Blobs,
    owner: Owner,
) -> Result<(), Error> {
    let fill = |tree: &Path| -> io::Result<()> {
        for (path, entry) in &listing.0 {
            place(&under(tree, path), entry, blobs, owner)?;
        }
        Ok(())
    };
    finish(state, home, listing, owner, fill)
}

/// Makes `home` with a tree that `fill` fills. The caller holds the workspace's lock.
pub(super) fn finish(
    state: &Path,
    home: &Path,
    listing: &Listing,
    owner: Owner,
    fill: impl Fn(&Path) -> io::Result<()>,
) -> Result<(), Error> {
    let partial = bases(state).join(".new");
    let made = || -> io::Result<()> {
        let tree = partial.join("tree");
        fs::create_dir_all(&partial)?;
        directory(&tree, owner)?;
        fill(&tree)?;
        // Deepest first: a new entry gives its directory a new time.
        for (path, _) in listing.0.iter().rev().filter(|(_, entry)| **entry == Entry::Directory) {
            set_base_time(&under(&tree, path))?;
        }
        set_base_time(&tree)?;
        fs::write(partial.join("listing.json"), listing.to_json())?;
        fs::write(partial.join("lock"), "")?;
        fs::rename(&partial, home)
    };
    made().map_err(|error| Error::state(home, error))
}

fn place(path: &Path, entry: &Entry, blobs: &Blobs, owner: Owner) -> io::Result<()> {
    match entry {
        Entry::Directory => directory(path, owner),
        Entry::File { sha256, executable, .. } => {
            link_or_copy(&blobs.path(sha256, *executable), path, owner)
        }
        Entry::Link(target) => {
            symlink(OsStr::from_bytes(&unescape(target)), path)?;
            owner.map_or(Ok(()), |(uid, gid)| lchown(path, Some(uid), Some(gid)))?;
            set_base_time(path)
        }
    }
}

pub(super) fn directory(path: &Path, owner: Owner) -> io::Result<()> {
    fs::create_dir(path)?;
    own(path, owner)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// A file system may have no hard links, or no more of them for one file (65,000 on ext4).
fn link_or_copy(blob: &Path, path: &Path, owner: Owner) -> io::Result<()> {
    match fs::hard_link(blob, path) {
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::EMLINK | libc::EPERM | libc::ENOTSUP)) =>
        {
            fs::copy(blob, path)?;
            own(path, owner)?;
            set_base_time(path)
        }
        linked => linked,
    }
}
