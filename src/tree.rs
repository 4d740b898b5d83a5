//! A source tree as values: checked relative paths, files, and changes laid over a base.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// A relative path inside a source tree: UTF-8, `/`-separated, normalised, never leaving the tree.
///
/// Construction refuses whatever could reach outside the tree or into version control, so code that
/// holds a `RelPath` may join it to a root without looking again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Arc<str>);

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    #[error("the path is empty")]
    Empty,
    #[error("the path is absolute")]
    Absolute,
    #[error("the path leaves the tree (`..`)")]
    Leaves,
    #[error("the path has an empty or `.` component")]
    NotNormalised,
    #[error("the path is not UTF-8")]
    NotUtf8,
    #[error("the path holds a NUL, a control character, a backslash or a colon")]
    BadCharacter,
    #[error("the path names a version-control directory or file (`.git` in any spelling)")]
    VersionControl,
    #[error("the path is longer than 4096 bytes")]
    TooLong,
}

impl RelPath {
    /// Checks and takes a path. Paths of a patch and paths of `test_files.txt` all come through here.
    pub fn parse(path: &[u8]) -> Result<Self, PathRefusal> {
        let path = std::str::from_utf8(path).map_err(|_| PathRefusal::NotUtf8)?;
        if path.is_empty() {
            return Err(PathRefusal::Empty);
        }
        if path.len() > 4096 {
            return Err(PathRefusal::TooLong);
        }
        if path.starts_with('/') {
            return Err(PathRefusal::Absolute);
        }
        if path.chars().any(|c| c.is_control() || c == '\\' || c == ':') {
            return Err(PathRefusal::BadCharacter);
        }
        for part in path.split('/') {
            match part {
                "" | "." => return Err(PathRefusal::NotNormalised),
                ".." => return Err(PathRefusal::Leaves),
                part if names_version_control(part) => return Err(PathRefusal::VersionControl),
                _ => {}
            }
        }
        Ok(Self(path.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The directory part without a trailing slash; empty at the root.
    pub fn parent(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(parent, _)| parent)
    }

    /// The part of the file name after its last dot; empty where there is none.
    pub fn extension(&self) -> &str {
        self.file_name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// Whether a file system may take `part` for `.git`, `.gitattributes` or `.gitmodules`.
///
/// HFS+ ignores some invisible characters and NTFS drops trailing dots and spaces, cuts at a colon
/// and answers to the short name `GIT~1`.
fn names_version_control(part: &str) -> bool {
    let visible = |c: &char| !matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String = part.chars().filter(visible).flat_map(char::to_lowercase).collect();
    let plain = plain.trim_end_matches(['.', ' ']);
    let short = |stem: &str| {
        plain.strip_prefix(stem).is_some_and(|rest| {
            rest.strip_prefix('~')
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    matches!(plain, ".git" | ".gitattributes" | ".gitmodules")
        || short("git")
        || short("gitatt")
        || short("gitmod")
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for RelPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for RelPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = String::deserialize(deserializer)?;
        Self::parse(path.as_bytes()).map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// One regular file: its bytes and whether its mode is 100755 rather than 100644.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    pub bytes: Arc<[u8]>,
    pub executable: bool,
}

impl File {
    /// A file of mode 100644.
    pub fn plain(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { bytes: bytes.into(), executable: false }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = if self.executable { "100755" } else { "100644" };
        write!(f, "File({mode}, {:?})", String::from_utf8_lossy(&self.bytes))
    }
}

/// Anything that files can be read from by path.
pub trait Tree: Send + Sync {
    /// The file at `path`; `None` if there is no regular file.
    fn read(&self, path: &RelPath) -> Option<File>;
    /// Every regular file, sorted.
    fn paths(&self) -> Vec<RelPath>;
    /// Whether a regular file is there. Cheaper than `read` where the tree is on disk.
    fn has(&self, path: &RelPath) -> bool {
        self.read(path).is_some()
    }
}

/// What differs from some base tree: new content by path, or `None` for a deleted file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(BTreeMap<RelPath, Option<File>>);

impl Changes {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn write(&mut self, path: RelPath, file: File) {
        self.0.insert(path, Some(file));
    }

    pub fn delete(&mut self, path: RelPath) {
        self.0.insert(path, None);
    }

    /// Forgets what was changed at `path`, so that the base shows through again.
    pub fn restore(&mut self, path: &RelPath) {
        self.0.remove(path);
    }

    /// `None`: unchanged. `Some(None)`: deleted.
    pub fn get(&self, path: &RelPath) -> Option<Option<&File>> {
        self.0.get(path).map(Option::as_ref)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&RelPath, Option<&File>)> {
        self.0.iter().map(|(path, file)| (path, file.as_ref()))
    }

    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.0.keys()
    }

    /// These changes with `later` on top of them.
    #[must_use]
    pub fn then(&self, later: &Self) -> Self {
        let mut all = self.0.clone();
        all.extend(later.0.iter().map(|(path, file)| (path.clone(), file.clone())));
        Self(all)
    }

    /// These changes less the entries that say what `base` says anyway.
    #[must_use]
    pub fn against(&self, base: &dyn Tree) -> Self {
        let differs = |(path, file): &(&RelPath, &Option<File>)| base.read(path) != **file;
        Self(
            self.0
                .iter()
                .filter(differs)
                .map(|(path, file)| (path.clone(), file.clone()))
                .collect(),
        )
    }

    /// SHA-256 over paths, modes and contents, in hexadecimal. Equal changes have equal digests.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (path, file) in &self.0 {
            hash.update((path.as_str().len() as u64).to_le_bytes());
            hash.update(path.as_str());
            match file {
                None => hash.update([0]),
                Some(file) => {
                    hash.update([1 + u8::from(file.executable)]);
                    hash.update((file.bytes.len() as u64).to_le_bytes());
                    hash.update(&file.bytes);
                }
            }
        }
        hex(&hash.finalize())
    }
}

impl FromIterator<(RelPath, Option<File>)> for Changes {
    fn from_iter<I: IntoIterator<Item = (RelPath, Option<File>)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// A changes map read alone is a tree of the files it writes.
impl Tree for Changes {
    fn read(&self, path: &RelPath) -> Option<File> {
        self.0.get(path).cloned().flatten()
    }

    fn paths(&self) -> Vec<RelPath> {
        self.0.iter().filter(|(_, file)| file.is_some()).map(|(path, _)| path.clone()).collect()
    }
}

/// A base tree with changes laid over it.
#[derive(Clone, Copy)]
pub struct Overlaid<'a> {
    pub base: &'a dyn Tree,
    pub changes: &'a Changes,
}

impl Tree for Overlaid<'_> {
    fn read(&self, path: &RelPath) -> Option<File> {
        match self.changes.get(path) {
            Some(changed) => changed.cloned(),
            None => self.base.read(path),
        }
    }

    fn paths(&self) -> Vec<RelPath> {
        let mut paths: Vec<_> = self
            .base
            .paths()
            .into_iter()
            .filter(|path| self.changes.get(path).is_none())
            .chain(
                self.changes
                    .iter()
                    .filter(|(_, file)| file.is_some())
                    .map(|(path, _)| path.clone()),
            )
            .collect();
        paths.sort();
        paths
    }

    fn has(&self, path: &RelPath) -> bool {
        match self.changes.get(path) {
            Some(changed) => changed.is_some(),
            None => self.base.has(path),
        }
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}
