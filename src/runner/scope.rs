//! Repositories of several packages: the one that a file belongs to.

use crate::tree::{File, RelPath, Tree};

/// What makes a directory a package.
const MANIFESTS: [&str; 7] = [
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "go.mod",
    "CMakeLists.txt",
];

/// A file that the tests are chosen by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub file: RelPath,
    /// Whether the tests of its package are enough; else it only says which framework.
    pub only: bool,
}

/// Directories of the packages that hold a file, innermost first, without the root.
pub(super) fn packages<'f>(tree: &dyn Tree, file: &'f RelPath) -> Vec<&'f str> {
    let paths = tree.paths();
    let has = |path: &str| paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok();
    let mut found = Vec::new();
    let mut directory = file.parent();
    while !directory.is_empty() {
        if MANIFESTS.iter().any(|manifest| has(&format!("{directory}/{manifest}"))) {
            found.push(directory);
        }
        directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
    }
    found
}

/// A directory of a tree as a tree of its own.
pub(super) struct Below<'t> {
    pub tree: &'t dyn Tree,
    /// Empty for all of it.
    pub directory: &'t str,
}

impl Below<'_> {
    /// A path of this tree in the whole one.
    pub(super) fn whole(&self, path: &RelPath) -> Option<RelPath> {
        if self.directory.is_empty() {
            return Some(path.clone());
        }
        RelPath::parse(format!("{}/{path}", self.directory).as_bytes()).ok()
    }
}

impl Tree for Below<'_> {
    fn read(&self, path: &RelPath) -> Option<File> {
        self.tree.read(&self.whole(path)?)
    }

    fn paths(&self) -> Vec<RelPath> {
        let mut paths = self.tree.paths();
        if !self.directory.is_empty() {
            let inner = |path: RelPath| {
                let rest = path.as_str().strip_prefix(self.directory)?.strip_prefix('/')?;
                RelPath::parse(rest.as_bytes()).ok()
            };
            paths = paths.into_iter().filter_map(inner).collect();
        }
        paths
    }
}
