//! A checkpoint as a file: replaced in one step, so that whoever is killed leaves a whole one.

use super::super::Error;
use super::super::lock::locked;
use super::super::open::create_private;
use crate::sandbox::Cancel;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often it is looked whether another trainer has ended.
const TICK: Duration = Duration::from_millis(100);

/// Writes a file beside it, and gives that its name once it is on the disk.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let replace = || -> io::Result<()> {
        let beside = beside(path, &std::process::id().to_string());
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        // The name, too.
        File::open(directory(path))?.sync_all()
    };
    replace().map_err(|error| {
        Error::harness(anyhow::anyhow!(
            "the checkpoint {} cannot be written ({error}); the one before it is whole. Free space there, or \
             name another file with --out",
            path.display()
        ))
    })
}

/// Refuses a place that cannot be written to before anything is played.
pub(super) fn refuse_early(path: &Path) -> Result<(), Error> {
    let directory = directory(path);
    if path.is_dir() || !directory.is_dir() {
        return Err(Error::usage(format!(
            "{} is no place for a checkpoint: name a file in a directory that exists with --out",
            path.display()
        )));
    }
    Ok(())
}

/// Removes what killed trainers left half written.
pub(super) fn sweep(path: &Path) {
    let prefix = beside(path, "");
    let Some(prefix) = prefix.file_name().and_then(|name| name.to_str()) else { return };
    let Ok(entries) = fs::read_dir(directory(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let own = |pid: &str| !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
        if pid.is_some_and(own) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

fn beside(path: &Path, pid: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.ssr-mcp-{pid}"))
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Who trains in a workspace holds its lock. Waits for another one, and says so.
pub(super) fn hold(state: &Path, cancel: &Cancel, say: &dyn Fn(&str)) -> Result<File, Error> {
    let dir = state.join("policy");
    create_private(&dir)?;
    let mut told = false;
    loop {
        if let Some((_, lock)) = locked(&dir, "train")? {
            return Ok(lock);
        }
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if !told {
            say("another process trains in this workspace; waiting until it has ended");
            told = true;
        }
        std::thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn what_is_written_replaces_what_was_there_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("one.policy");
        refuse_early(&path).unwrap();
        for content in ["first", "second"] {
            write(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        // What a killed trainer left; what others left is theirs.
        for name in [".one.policy.ssr-mcp-12", ".one.policy.ssr-mcp-x", ".two.policy.ssr-mcp-12"] {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        sweep(&path);
        let mut left: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [".one.policy.ssr-mcp-x", ".two.policy.ssr-mcp-12", "one.policy"]);
    }

    #[test]
    fn a_place_that_cannot_hold_a_file_is_refused_before_anything_is_played() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), dir.path().join("gone/one.policy")] {
            assert!(refuse_early(&path).is_err_and(|error| error.to_string().contains("--out")));
        }
    }

    #[test]
    fn a_second_trainer_says_that_it_waits_and_gives_up_when_it_is_cancelled() {
        let dir = tempfile::tempdir().unwrap();
        let cancel = Cancel::new();
        let said = Mutex::new(Vec::new());
        let say = |text: &str| {
            said.lock().unwrap().push(text.to_owned());
            cancel.cancel();
        };
        let held = hold(dir.path(), &Cancel::new(), &|text| panic!("{text}")).unwrap();
        let second = hold(dir.path(), &cancel, &say);
        assert!(matches!(second, Err(Error::Cancelled)));
        let said = said.into_inner().unwrap();
        assert!(said.len() == 1 && said[0].contains("another process trains"), "{said:?}");
        drop(held);
        hold(dir.path(), &Cancel::new(), &|text| panic!("{text}")).unwrap();
    }
}
