//! Artifact folders on disk: five small files, written whole or not at all.

use super::{Error, place};
use crate::artifact::Artifact;
use crate::sandbox::is_running;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Largest part, bytes. A diff that is larger is no bug anybody would read.
const LARGEST: u64 = 16 << 20;

/// Both name sets: this project's, and the one of the paper's prompts.
const NAMES: [&str; 8] = [
    "bug_inject.diff",
    "bug_patch.diff",
    "parse_test_output.py",
    "test_files.txt",
    "test_parser.py",
    "test_patch.diff",
    "test_script.sh",
    "test_weaken.diff",
];

/// Reads the parts that are there; other files are ignored, links and special files refused.
pub(super) fn read(dir: &Path) -> Result<Artifact, Error> {
    if !dir.is_dir() {
        return Err(Error::usage(format!(
            "there is no artifact folder {}; name a folder with {} and the other four parts, or an \
             artifact's id",
            dir.display(),
            NAMES[0]
        )));
    }
    let mut files = BTreeMap::new();
    for name in NAMES {
        if let Some(bytes) = part(&dir.join(name))? {
            files.insert(name.to_owned(), bytes);
        }
    }
    Artifact::from_files(&files)
        .map_err(|malformed| Error::usage(format!("the artifact {}: {malformed}", dir.display())))
}

fn part(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let refuse =
        |why: String| Error::usage(format!("the artifact's part {} {why}", path.display()));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(format!("cannot be read ({error})"))),
        Ok(found) if !found.is_file() => {
            return Err(refuse("is not a regular file; put the file itself there".to_owned()));
        }
        Ok(_) => {}
    }
    // Neither a link nor a FIFO that was put there since is followed or waited for.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut bytes = Vec::new();
    file.and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(format!("cannot be read ({error})")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(refuse(format!("has more than {LARGEST} bytes; no part may be so large")));
    }
    Ok(Some(bytes))
}

/// Refuses, before any work, a folder that [`write`] would refuse afterwards. Only with a seed of the
/// caller's can the artifact that is there be the one that will come out.
pub(super) fn refuse_early(dir: &Path, seeded: bool) -> Result<(), Error> {
    if occupied(dir) {
        return if seeded && read(dir).is_ok() { Ok(()) } else { Err(taken(dir)) };
    }
    place::can_be_made(dir).map_err(|error| unwritable(dir, &error))
}

/// Refuses a folder in the repository: its next copy would hold the bug, and with it the repair.
pub(super) fn refuse_inside(dir: &Path, root: &Path) -> Result<(), Error> {
    let Some(above) = dir.ancestors().find(|above| above.exists()) else { return Ok(()) };
    let mut place = fs::canonicalize(above).unwrap_or_else(|_| above.to_owned());
    // What is not there yet is no link: `..` behind it leads back.
    for part in dir.strip_prefix(above).unwrap_or(Path::new("")).components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            part => place.push(part),
        }
    }
    if place.starts_with(root) {
        return Err(Error::usage(format!(
            "{} lies in the repository, which is never written to, and whose next copy would hold the bug \
             and its repair; name a folder elsewhere with --out",
            dir.display()
        )));
    }
    Ok(())
}

fn taken(dir: &Path) -> Error {
    Error::usage(format!(
        "{} exists and is not this artifact; name another folder with --out",
        dir.display()
    ))
}

pub(super) fn unwritable(dir: &Path, error: &io::Error) -> Error {
    Error::harness(anyhow::anyhow!(
        "the artifact cannot be written to {} ({error}); make room there or name another folder",
        dir.display()
    ))
}

/// Writes the five parts to `dir`: to a sibling first, then by one rename. A folder that holds this
/// very artifact is left as it is; anything else that is there is never overwritten.
pub(super) fn write(dir: &Path, artifact: &Artifact) -> Result<(), Error> {
    if occupied(dir) {
        return match read(dir) {
            Ok(there) if there.id() == artifact.id() => Ok(()),
            _ => Err(taken(dir)),
        };
    }
    let parent = dir.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(|error| unwritable(dir, &error))?;
    let sibling = sibling_of(dir);
    let written = write_parts(&sibling, artifact).and_then(|()| fs::rename(&sibling, dir));
    if let Err(error) = written {
        // What was begun is ours; that it cannot be removed either changes nothing.
        fs::remove_dir_all(&sibling).unwrap_or_default();
        return Err(unwritable(dir, &error));
    }
    Ok(())
}

/// Whether something other than an empty directory is there.
fn occupied(dir: &Path) -> bool {
    match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => fs::symlink_metadata(dir).is_ok(),
    }
}

fn sibling_of(dir: &Path) -> PathBuf {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    dir.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Removes what processes that are gone had begun to write in a directory of ours.
pub(super) fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let begun = name.to_str().filter(|name| name.starts_with('.'));
        let process = begun.and_then(|name| name.strip_suffix(".tmp")?.rsplit_once('.'));
        let Some(id) = process.and_then(|(_, id)| id.parse().ok()) else { continue };
        if !is_running(id)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!("{} cannot be removed: {error}", entry.path().display());
        }
    }
}

fn write_parts(dir: &Path, artifact: &Artifact) -> io::Result<()> {
    fs::create_dir(dir)?;
    for (name, bytes) in artifact.to_files() {
        let path = dir.join(name);
        fs::write(&path, bytes)?;
        if Path::new(name).extension().is_some_and(|extension| extension == "sh") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
