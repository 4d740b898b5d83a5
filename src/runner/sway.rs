//! Which files decide about a test run without being code under test or tests.

use super::detect::Reader;
use super::spec::Spec;
use super::{embedded, settings};
use crate::tree::RelPath;
use std::collections::BTreeSet;

/// What `sways` and `shadows` need to know of the original tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Ground {
    /// Directories named like test directories that hold test files.
    test_directories: BTreeSet<String>,
    /// Directories that tests import from.
    roots: BTreeSet<String>,
    /// Modules and packages that stand in those directories already: `root/name`.
    modules: BTreeSet<String>,
    /// Module names that belong to others.
    reserved: BTreeSet<String>,
    /// Modules of the tree in the directories that code is imported from, whatever its tests do.
    own: BTreeSet<String>,
}

impl Ground {
    /// `installed`: top-level modules that the tests may import from elsewhere.
    pub(super) fn survey(
        spec: &Spec,
        reader: &Reader<'_>,
        test_files: &[RelPath],
        installed: BTreeSet<String>,
    ) -> Self {
        let paths = reader.paths();
        let named = |part: &str| spec.sways.test_directories.iter().any(|name| name == part);
        let mut ground = Self::default();
        let marker = &spec.shadows.module_marker;
        let markers: BTreeSet<&str> =
            paths.iter().filter(|path| path.file_name() == marker).map(RelPath::parent).collect();
        for file in test_files {
            let parts: Vec<_> = file.parent().split('/').collect();
            if let Some(depth) = parts.iter().position(|part| named(part)) {
                ground.test_directories.insert(parts[..=depth].join("/"));
            }
            ground.roots.insert(import_root(file.parent(), &markers));
        }
        ground.roots.extend(spec.shadows.roots.iter().cloned());
        if let Some(settings) = &spec.tests.settings {
            ground.roots.extend(settings::read(settings, reader).roots);
        }
        ground.modules = paths
            .iter()
            .flat_map(|path| ground.module_of(spec, path).collect::<Vec<_>>())
            .map(|(root, module)| format!("{root}/{module}"))
            .collect();
        let of_tests = |root: &str| !spec.shadows.roots.iter().any(|known| known == root);
        ground.own = paths
            .iter()
            .flat_map(|path| ground.module_of(spec, path).collect::<Vec<_>>())
            .filter(|(root, _)| !of_tests(root))
            .map(|(_, module)| module.to_owned())
            .collect();
        let listed = embedded::file(spec.folder(), &spec.shadows.module_list);
        ground.reserved = spec.shadows.modules.iter().cloned().collect();
        ground.reserved.extend(listed.lines().map(str::to_owned));
        ground.reserved.extend(installed);
        ground
    }

    pub(super) fn sways(&self, spec: &Spec, path: &RelPath) -> bool {
        let inside = |directory: &String| below(path, directory).is_some();
        spec.sways.files.hit(path.as_str()) || self.test_directories.iter().any(inside)
    }

    pub(super) fn shadows(&self, spec: &Spec, path: &RelPath) -> bool {
        let hides = |(root, module): (&str, &str)| {
            (self.reserved.contains(module) || self.own.contains(module))
                && !self.modules.contains(&format!("{root}/{module}"))
        };
        spec.shadows.files.hit(path.as_str()) || self.module_of(spec, path).any(hides)
    }

    /// The top-level modules that a file makes importable: import directory and module name.
    fn module_of<'a>(
        &'a self,
        spec: &'a Spec,
        path: &'a RelPath,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let suffix = format!(".{}", spec.shadows.module_extension);
        let code = !spec.shadows.module_extension.is_empty() && path.as_str().ends_with(&suffix);
        self.roots.iter().filter(move |_| code).filter_map(move |root| {
            let rest = below(path, root)?;
            let (first, _) = rest.split_once('/').unwrap_or((rest, ""));
            Some((root.as_str(), first.strip_suffix(&suffix).unwrap_or(first)))
        })
    }
}

/// The nearest directory, from `directory` upwards, that is no package itself.
fn import_root(directory: &str, packages: &BTreeSet<&str>) -> String {
    let mut root = directory;
    while !root.is_empty() && packages.contains(root) {
        root = root.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    root.to_owned()
}

/// The rest of a path below a directory; the empty directory is the root.
fn below<'a>(path: &'a RelPath, directory: &str) -> Option<&'a str> {
    if directory.is_empty() {
        return Some(path.as_str());
    }
    path.as_str().strip_prefix(directory)?.strip_prefix('/')
}
