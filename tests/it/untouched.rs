//! What the user's tree is at one moment, to be compared with what it is later.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Larger files are known by their size and times only.
const READ: u64 = 16 << 20;

/// Of one path: mode, size, seconds and nanoseconds of the last change of content, content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry(u32, u64, i64, i64, Vec<u8>);

/// Everything below a directory, and the directory itself; links are not followed. What this process
/// may not read is known by the rest.
pub(crate) fn snapshot(dir: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut all = BTreeMap::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(path) = todo.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let mut content = Vec::new();
        if metadata.is_dir() {
            todo.extend(
                fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path()),
            );
        } else if metadata.is_symlink() {
            content = fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec();
        } else if metadata.is_file() && metadata.len() <= READ {
            content = fs::read(&path).unwrap_or_default();
        }
        let (seconds, nanoseconds) = (metadata.mtime(), metadata.mtime_nsec());
        all.insert(path, Entry(metadata.mode(), metadata.len(), seconds, nanoseconds, content));
    }
    all
}

/// Fails with the first path that differs.
#[track_caller]
pub(crate) fn assert_untouched(before: &BTreeMap<PathBuf, Entry>, dir: &Path) {
    let now = snapshot(dir);
    let gone = before.keys().find(|path| !now.contains_key(*path));
    assert_eq!(gone, None, "gone");
    for (path, entry) in &now {
        assert_eq!(before.get(path), Some(entry), "{} was touched", path.display());
    }
}
