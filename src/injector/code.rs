//! The code that may be edited: files that passing tests reach, opened one at a time.

use super::names::{hint, near_files, near_functions};
use super::site::Site;
use super::words::{Usage, words_of};
use super::{Strategy, Target, direct, removal};
use crate::syntax::{Language, Languages, Parsed};
use crate::tree::{File, RelPath, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// What a search may edit, for one strategy and one target.
pub(super) struct Code<'a> {
    tree: &'a dyn Tree,
    languages: &'a Languages,
    strategy: Strategy,
    symbol: Option<String>,
    files: Vec<Reached>,
    entered: &'a crate::harness::Entered,
    opened: BTreeMap<usize, Opened>,
    usage: Option<Usage>,
    /// The runner's test files.
    test_files: BTreeSet<RelPath>,
}

/// A code file and the test files that may execute it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub path: RelPath,
    pub size: usize,
    pub tests: Vec<RelPath>,
}

/// A code file that was read and parsed.
pub(super) struct Opened {
    pub path: RelPath,
    pub file: File,
    pub language: Language,
    pub parsed: Parsed,
    pub sites: Vec<Site>,
    /// Identifiers of the test files that reach it.
    pub mentioned: BTreeSet<Vec<u8>>,
    /// Where bodies of outermost functions begin (line) to the test files that enter them.
    pub entered: BTreeMap<u32, BTreeSet<RelPath>>,
}

impl Opened {
    /// The test files that can tell a site's edits; `None` where any that reaches the file may.
    pub(super) fn told_by(&self, site: &Site) -> Option<&BTreeSet<RelPath>> {
        let mut function = site.function.and_then(|at| self.parsed.functions().get(at))?;
        while let Some(parent) = function.parent.and_then(|at| self.parsed.functions().get(at)) {
            function = parent;
        }
        let body = &function.body;
        let inside = |edit: &crate::text::Edit| {
            body.start < edit.range.start && edit.range.end < body.end || (edit.range == *body)
        };
        let entered = self.entered.get(&self.parsed.line_of(body.start))?;
        site.edits.iter().all(inside).then_some(entered)
    }
}

/// What is known of the repository before any search.
pub(super) struct Ground<'a> {
    pub tree: &'a dyn Tree,
    /// Those that the test runner runs.
    pub languages: &'a Languages,
    /// Source file to the test files whose tests may execute it.
    pub reach: &'a BTreeMap<RelPath, BTreeSet<RelPath>>,
    /// The same by function; see [`crate::harness::Entered`].
    pub entered: &'a crate::harness::Entered,
    /// The runner's test files.
    pub test_files: &'a BTreeSet<RelPath>,
    /// Whether a file sways tests without being one.
    pub sways: &'a dyn Fn(&RelPath) -> bool,
}

impl Ground<'_> {
    fn is_test(&self, path: &RelPath) -> bool {
        let by_name = |language: &Language| {
            language.is_test_path(path) || language.is_test_support_path(path)
        };
        self.test_files.contains(path)
            || self.languages.for_path(path).is_some_and(by_name)
            || (self.sways)(path)
    }

    /// The paths of the code files that passing tests reach.
    pub(super) fn code_files(&self) -> BTreeSet<RelPath> {
        self.reached().into_iter().map(|file| file.path).collect()
    }

    /// The code files that passing tests reach, sorted.
    fn reached(&self) -> Vec<Reached> {
        self.reach
            .iter()
            .filter_map(|(path, tests)| {
                let tests: Vec<RelPath> =
                    tests.iter().filter(|test| self.test_files.contains(*test)).cloned().collect();
                let of_language = self.languages.for_path(path).is_some();
                let playable = of_language && !self.is_test(path) && !tests.is_empty();
                let size = playable.then(|| self.tree.read(path))??.bytes.len();
                Some(Reached { path: path.clone(), size, tests })
            })
            .collect()
    }
}

impl<'a> Code<'a> {
    /// The files to play on, or why there are none.
    pub(super) fn survey(
        ground: &Ground<'a>,
        strategy: Strategy,
        target: Option<&Target>,
    ) -> Result<Self, String> {
        let mut files = ground.reached();
        if files.is_empty() {
            return Err(format!(
                "no {} code file is reached by a passing test; there is nothing to put a bug into",
                ground.languages.names()
            ));
        }
        if let Some(target) = target {
            let file = &target.file;
            files = match files.iter().find(|reached| reached.path == *file) {
                Some(found) => vec![found.clone()],
                None => return Err(no_file(ground, file, &files)),
            };
        }
        let symbol = target.and_then(|target| target.symbol.clone());
        let mut code = Self {
            tree: ground.tree,
            languages: ground.languages,
            strategy,
            symbol,
            files,
            entered: ground.entered,
            opened: BTreeMap::new(),
            usage: None,
            test_files: ground.test_files.clone(),
        };
        if let Some(target) = target {
            code.must_have_sites(target)?;
        }
        Ok(code)
    }

    pub(super) fn files(&self) -> &[Reached] {
        &self.files
    }

    pub(super) fn languages(&self) -> &'a Languages {
        self.languages
    }

    /// The function that the target names.
    pub(super) fn symbol(&self) -> Option<&str> {
        self.symbol.as_deref()
    }

    pub(super) fn is_test(&self, path: &RelPath) -> bool {
        self.test_files.contains(path)
    }

    /// A file, and which identifiers the language's files use.
    pub(super) fn open_with_usage(&mut self, index: usize) -> (&Opened, &Usage) {
        if self.usage.is_none() {
            self.usage = Some(usage(self.tree, self.languages));
        }
        self.open(index);
        (&self.opened[&index], self.usage.get_or_insert_default())
    }

    /// A file parsed, without what else an opened one has.
    pub(super) fn parsed(&self, index: usize) -> Option<Parsed> {
        let path = &self.files.get(index)?.path;
        Some(self.languages.for_path(path)?.parse(self.tree.read(path)?.bytes))
    }

    /// Parses a file on first use.
    pub(super) fn open(&mut self, index: usize) -> &Opened {
        if !self.opened.contains_key(&index) {
            let opened = self.parse(index);
            self.opened.insert(index, opened);
        }
        &self.opened[&index]
    }

    fn parse(&mut self, index: usize) -> Opened {
        let Reached { path, tests, .. } = self.files[index].clone();
        let file = self.tree.read(&path).unwrap_or_else(|| File::plain(Vec::new()));
        let language =
            self.languages.for_path(&path).expect("a reached file has a language").clone();
        let parsed = language.parse(file.bytes.clone());
        let mut sites = match self.strategy {
            Strategy::Removal => {
                let usage = self.usage.get_or_insert_with(|| usage(self.tree, self.languages));
                removal::sites(&parsed, &language, &path, usage)
            }
            Strategy::Direct | Strategy::Mixed => direct::sites(&parsed, &language),
            Strategy::History | Strategy::HigherOrder | Strategy::Feature => Vec::new(),
        };
        if let Some(symbol) = &self.symbol {
            sites.retain(|site| site.function.is_some_and(|at| is_within(&parsed, at, symbol)));
        }
        let mentioned = words_of(self.tree, &tests);
        let entered = self.entered.get(&path).cloned().unwrap_or_default();
        let mut opened = Opened { path, file, language, parsed, sites, mentioned, entered };
        // What no passing test enters, none notices.
        let mut sites = std::mem::take(&mut opened.sites);
        sites.retain(|site| opened.told_by(site).is_none_or(|tests| !tests.is_empty()));
        Opened { sites, ..opened }
    }

    /// A target without anything to do in it is told apart from bad luck.
    fn must_have_sites(&mut self, target: &Target) -> Result<(), String> {
        let strategy = self.strategy;
        let opened = self.open(0);
        let functions = opened.parsed.functions();
        if let Some(symbol) = &target.symbol {
            let is = |function: &crate::syntax::Function| is_called(function, symbol);
            if !functions.iter().any(is) {
                let names = functions.iter().map(|function| function.qualified.as_str());
                let hint = hint(&near_functions(symbol, names));
                return Err(format!("{} has no function `{symbol}`{hint}", target.file));
            }
        }
        if opened.sites.is_empty() && strategy != Strategy::History {
            let what = target.symbol.as_ref().map_or_else(
                || target.file.to_string(),
                |symbol| format!("`{symbol}` of {}", target.file),
            );
            return Err(format!(
                "{what} has no place for the strategy `{}`; name another function or leave the target out",
                strategy.name()
            ));
        }
        Ok(())
    }
}

/// Every identifier of the languages' files.
fn usage(tree: &dyn Tree, languages: &Languages) -> Usage {
    let of_language = |path: &RelPath| languages.for_path(path).is_some();
    Usage::of(tree, tree.paths().into_iter().filter(of_language).collect())
}

pub(super) fn is_called(function: &crate::syntax::Function, symbol: &str) -> bool {
    let plain = |name: &str| name.replace("::", ".");
    let (qualified, symbol) = (plain(&function.qualified), plain(symbol));
    function.name == symbol || qualified == symbol || qualified.ends_with(&format!(".{symbol}"))
}

pub(super) fn is_within(parsed: &Parsed, mut function: usize, symbol: &str) -> bool {
    loop {
        let Some(found) = parsed.functions().get(function) else { return false };
        if is_called(found, symbol) {
            return true;
        }
        match found.parent {
            Some(parent) => function = parent,
            None => return false,
        }
    }
}

/// Why a target file is not among the playable ones.
fn no_file(ground: &Ground<'_>, file: &RelPath, playable: &[Reached]) -> String {
    if !ground.tree.has(file) {
        let names = playable.iter().map(|reached| reached.path.as_str());
        format!("the repository has no file {file}{}", hint(&near_files(file.as_str(), names)))
    } else if ground.languages.for_path(file).is_none() {
        let language = ground.languages.names();
        format!("{file} is not {language} code, the language of the test runner; name a code file")
    } else if ground.is_test(file) {
        format!(
            "{file} belongs to the tests, and a bug may change code files only; name a code file"
        )
    } else {
        format!(
            "no passing test reaches {file}, so no bug in it would be noticed; name another file"
        )
    }
}
