//! Keeps the state directory small and sound: marks bases as used, removes old ones and leftovers.
//!
//! Everything here runs under the workspace's lock.

use super::base::verify;
use super::blobs::Blobs;
use super::build::bases;
use super::error::Error;
use super::listing::Listing;
use super::state::{lock_file, write_whole};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Marks a base as used now and keeps it from being pruned for as long as the file stays open.
pub(super) fn take(home: &Path, now: SystemTime) -> Result<File, Error> {
    let path = home.join("lock");
    let take = || -> io::Result<File> {
        let file = lock_file(&path)?;
        file.lock_shared()?;
        file.set_modified(now)?;
        Ok(file)
    };
    take().map_err(|error| Error::state(&path, error))
}

/// Beside a base's tree: a file a pin, whose time of change is when it ends.
const PINS: &str = "pins";

/// Keeps a base from being pruned until then, for whoever is named.
pub(super) fn pin(home: &Path, by: &str, until: SystemTime) -> Result<(), Error> {
    let pins = home.join(PINS);
    let pinned = || -> io::Result<()> {
        fs::create_dir_all(&pins)?;
        File::create(pins.join(by))?.set_modified(until)
    };
    pinned().map_err(|error| Error::state(&pins, error))
}

/// Lets go of what is pinned for somebody.
pub(super) fn unpin(state: &Path, by: &str) -> Result<(), Error> {
    let unpinned = || -> io::Result<()> {
        for home in homes(state)? {
            match fs::remove_file(home.join(PINS).join(by)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    };
    unpinned().map_err(|error| Error::state(&bases(state), error))
}

fn is_pinned(home: &Path, now: SystemTime) -> io::Result<bool> {
    for pin in entries(&home.join(PINS))? {
        if pin.metadata()?.modified()? > now {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the bases beyond the `keep` most recently used, less those pinned or in use, and what they leave.
pub(super) fn prune(
    state: &Path,
    keep: usize,
    now: SystemTime,
    blobs: &Blobs,
) -> Result<(), Error> {
    let pruned = || -> io::Result<()> {
        let mut used: Vec<(SystemTime, PathBuf)> = Vec::new();
        for home in homes(state)? {
            used.push((home.join("lock").metadata()?.modified()?, home));
        }
        used.sort();
        let beyond = used.len().saturating_sub(keep);
        for (_, home) in used.into_iter().take(beyond) {
            if !is_pinned(&home, now)? && lock_file(&home.join("lock"))?.try_lock().is_ok() {
                remove(state, &home)?;
            }
        }
        blobs.sweep()
    };
    pruned().map_err(|error| Error::state(&bases(state), error))
}

/// Sweeps what an interrupted process left. In the first freeze after a restart of the machine
/// every base is read again: a base is not forced to the disk file by file (that takes longer than
/// to copy it), so a power cut may have cost it content.
pub(super) fn recover(state: &Path) -> Result<(), Error> {
    sweep_unfinished(state)?;
    let Ok(boot) = fs::read("/proc/sys/kernel/random/boot_id") else { return Ok(()) };
    let marker = state.join("boot");
    if fs::read(&marker).is_ok_and(|marked| marked == boot) {
        return Ok(());
    }
    let recovered = || -> io::Result<()> {
        for home in homes(state)? {
            let listing = fs::read(home.join("listing.json")).ok();
            let listing = listing.and_then(|bytes| Listing::from_json(&bytes));
            let sound = listing.is_some_and(|listing| verify(&home.join("tree"), &listing).is_ok());
            if !sound {
                remove(state, &home)?;
            }
        }
        // What no sound base links to was not looked at.
        for blob in entries(&state.join("blobs"))? {
            if std::os::unix::fs::MetadataExt::nlink(&blob.symlink_metadata()?) == 1 {
                fs::remove_file(blob)?;
            }
        }
        write_whole(&marker, &boot)
    };
    recovered().map_err(|error| Error::state(&bases(state), error))
}

/// Removes what is half built or half removed.
pub(super) fn sweep_unfinished(state: &Path) -> Result<(), Error> {
    let swept = || -> io::Result<()> {
        fs::create_dir_all(bases(state))?;
        for leftover in [bases(state).join(".new"), bases(state).join(".old")] {
            match fs::remove_dir_all(leftover) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(())
    };
    swept().map_err(|error| Error::state(&bases(state), error))
}

/// Out of sight first, so that no half-removed base stands under its name.
pub(super) fn remove(state: &Path, home: &Path) -> io::Result<()> {
    let old = bases(state).join(".old");
    fs::rename(home, &old)?;
    fs::remove_dir_all(&old)
}

pub(super) fn homes(state: &Path) -> io::Result<Vec<PathBuf>> {
    let mut homes = entries(&bases(state))?;
    homes.retain(|home| {
        !home.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    });
    Ok(homes)
}

/// What is in a directory, sorted; nothing if it is absent.
fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut paths = listed.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
