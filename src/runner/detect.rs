//! Chooses the framework that a tree's tests are written for.

use super::spec::{Evidence, Globs, Spec, Tests};
use super::{Error, Overrides, settings};
use crate::tree::{RelPath, Tree};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A tree whose files are read once, however many specifications ask.
pub(super) struct Reader<'a> {
    tree: &'a dyn Tree,
    paths: Vec<RelPath>,
    read: RefCell<BTreeMap<RelPath, Arc<[u8]>>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tree: &'a dyn Tree) -> Self {
        Self { tree, paths: tree.paths(), read: RefCell::default() }
    }

    pub(super) fn bytes(&self, path: &RelPath) -> Arc<[u8]> {
        let read = || self.tree.read(path).map_or_else(|| Arc::from([]), |file| file.bytes);
        self.read.borrow_mut().entry(path.clone()).or_insert_with(read).clone()
    }

    pub(super) fn matching<'b>(&'b self, globs: &'b Globs) -> impl Iterator<Item = &'b RelPath> {
        self.paths.iter().filter(|path| globs.hit(path.as_str()))
    }

    pub(super) fn paths(&self) -> &[RelPath] {
        &self.paths
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    /// Every file of a name, wherever it lies.
    pub(super) fn named<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b RelPath> {
        self.paths.iter().filter(move |path| path.file_name() == name)
    }

    fn holds(&self, evidence: &Evidence) -> bool {
        let starts =
            |line: &[u8]| evidence.lines.iter().any(|start| line.starts_with(start.as_bytes()));
        let named = evidence.lines.is_empty() && evidence.words.is_empty();
        self.matching(&evidence.files).any(|path| {
            let bytes = self.bytes(path);
            let speaks = |word: &String| contains(&bytes, word.as_bytes());
            named
                || bytes.split(|byte| *byte == b'\n').any(starts)
                || evidence.words.iter().any(speaks)
        })
    }

    /// Files whose names and contents say that they hold tests.
    pub(super) fn test_files(&self, tests: &Tests) -> Vec<RelPath> {
        let said = tests.settings.as_ref().map(|settings| settings::read(settings, self));
        let said = said.unwrap_or_default();
        let speaks = |path: &&RelPath| {
            let bytes = self.bytes(path);
            tests.words.is_empty()
                || tests.words.iter().any(|word| contains(&bytes, word.as_bytes()))
        };
        self.matching(said.names.as_ref().unwrap_or(&tests.files))
            .filter(|path| !tests.not.hit(path.as_str()) && said.looks_at(path))
            .filter(speaks)
            .cloned()
            .collect()
    }
}

/// The specification to use. `holds_tests` narrows what the globs say (a Rust file below `tests/` is a
/// test only where it is a target).
pub(super) fn choose(
    reader: &Reader<'_>,
    specs: Vec<Spec>,
    overrides: &Overrides,
    holds_tests: &dyn Fn(&Spec) -> bool,
) -> Result<Spec, Error> {
    if let Some(name) = &overrides.framework {
        let known = specs.iter().map(|spec| spec.name.clone()).collect();
        let named = specs.into_iter().find(|spec| spec.name == *name);
        let spec = named.ok_or(Error::UnknownFramework { name: name.clone(), known })?;
        return if holds_tests(&spec) {
            Ok(spec)
        } else {
            Err(Error::NoTestsFor { framework: spec.name })
        };
    }
    let fits = |spec: &Spec| {
        let asks = spec.asks.iter().any(|evidence| reader.holds(evidence));
        let suits = asks || spec.suits.iter().any(|evidence| reader.holds(evidence));
        (suits && holds_tests(spec)).then_some((!asks, spec.rank))
    };
    let mut best: BTreeMap<String, ((bool, u32), Spec)> = BTreeMap::new();
    for spec in specs {
        if let Some(order) = fits(&spec)
            && best.get(spec.folder()).is_none_or(|(before, _)| order < *before)
        {
            best.insert(spec.folder().to_owned(), (order, spec));
        }
    }
    if best.len() > 1 {
        let frameworks = best.into_values().map(|(_, spec)| spec.name).collect();
        return Err(Error::Ambiguous { frameworks });
    }
    best.into_values().next().map(|(_, spec)| spec).ok_or(Error::NoTests)
}

pub(super) fn contains(bytes: &[u8], word: &[u8]) -> bool {
    word.is_empty() || bytes.windows(word.len()).any(|window| window == word)
}
