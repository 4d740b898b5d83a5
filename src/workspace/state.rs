//! The state directory of one workspace: its name, its version, its lock, whole-file writes.

use super::error::Error;
use super::listing::{escape, unescape};
use crate::tree::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Raised when a change of layout would mislead an older version.
const SCHEMA: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Card {
    schema: u64,
    /// Canonical root, `listing::escape`d. For people: the directory's name is a digest of it.
    root: String,
}

/// Makes or opens the state directory of `root` below `state_root`.
pub(super) fn open(root: &Path, state_root: &Path) -> Result<PathBuf, Error> {
    let state_root = resolved(state_root).map_err(|error| Error::state(state_root, error))?;
    if state_root.starts_with(root) {
        return Err(Error::StateInside { state_root, root: root.to_path_buf() });
    }
    let digest = hex(&Sha256::digest(root.as_os_str().as_bytes()));
    let state = state_root.join(&digest[..16]);
    private_directory(&state).map_err(|error| Error::state(&state, error))?;
    check_card(&state, root)?;
    Ok(state)
}

/// Refuses the state of a newer version; writes the card where it is absent or half-written.
fn check_card(state: &Path, root: &Path) -> Result<(), Error> {
    let path = state.join("workspace.json");
    let wanted = Card { schema: SCHEMA, root: escape(root.as_os_str().as_bytes()) };
    match fs::read(&path) {
        Ok(bytes) => {
            // Only the number is looked at: the rest may look different in a newer version.
            let found = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
            let schema = found.as_ref().and_then(|card| card.get("schema")?.as_u64());
            match schema {
                Some(found) if found > SCHEMA => {
                    let state = state.to_path_buf();
                    return Err(Error::NewerState { state, found, known: SCHEMA });
                }
                Some(_) => return Ok(()),
                None => {}
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::state(&path, error)),
    }
    let _held = lock(state)?;
    let text = serde_json::to_vec_pretty(&wanted).expect("a card of a number and text is JSON");
    write_whole(&path, &text).map_err(|error| Error::state(&path, error))
}

/// The root of the workspace that a state directory is of, as its card says.
pub(super) fn root_of(state: &Path) -> Option<PathBuf> {
    let card: Card = serde_json::from_slice(&fs::read(state.join("workspace.json")).ok()?).ok()?;
    Some(PathBuf::from(OsString::from_vec(unescape(&card.root))))
}

/// `path` with links resolved as far as it exists, without making anything.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut existing = path.as_path();
    let mut missing = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(mut whole) => {
                whole.extend(missing.iter().rev());
                return Ok(whole);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
                    return Err(error);
                };
                missing.push(name.to_owned());
                existing = parent;
            }
            Err(error) => return Err(error),
        }
    }
}

fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Waits for the workspace's lock. Held until dropped; the system drops it with the process.
pub(super) fn lock(state: &Path) -> Result<File, Error> {
    let path = state.join("lock");
    let lock = lock_file(&path).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|error| Error::state(&path, error))
}

/// Opens a file that exists to be locked, making it if absent.
pub(super) fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Replaces a file so that readers see the old content or the new, whole and on the disk. The
/// caller holds the workspace's lock.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let partial = path.with_extension("new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&partial, path)
}
