//! Every single structural edit of the code that passing tests may reach: what is tried where no bug is
//! wanted, but the answer to whether the tests notice.

use super::begin::spoken;
use super::choice::{root, weighted};
use super::code::{Code, Ground, Opened, Reached, is_within};
use super::site::Site;
use super::{Strategy, Target, direct, features};
use crate::dice::Dice;
use crate::harness::{Error, Harness};
use crate::policy::{Options, Past};
use crate::syntax::{Language, Languages, Parsed};
use crate::text::{Edit, apply_edits};
use crate::tree::{File, RelPath, Tree};
use std::collections::BTreeSet;

/// The code files that passing tests may reach; opened one at a time.
pub struct Singles {
    languages: Languages,
    symbol: Option<String>,
    files: Vec<Reached>,
}

/// A code file and its edits.
pub struct Editable {
    opened: Opened,
    /// The test files that may execute it.
    pub tests: Vec<RelPath>,
}

impl Singles {
    /// The files, or why there are none.
    pub fn survey(
        harness: &Harness,
        languages: &Languages,
        target: Option<&Target>,
    ) -> Result<Result<Self, String>, Error> {
        let languages = match spoken(harness, languages) {
            Ok(languages) => languages,
            Err(reason) => return Ok(Err(reason)),
        };
        let baseline = harness.baseline()?;
        let test_files = harness.runner().test_files(harness.base()).into_iter().collect();
        let ground = Ground {
            tree: harness.base(),
            languages: &languages,
            reach: &baseline.reach,
            entered: &baseline.entered,
            test_files: &test_files,
            sways: &|path| harness.runner().sways(path),
        };
        let code = match Code::survey(&ground, Strategy::Direct, target) {
            Ok(code) => code,
            Err(reason) => return Ok(Err(reason)),
        };
        let (symbol, files) = (code.symbol().map(str::to_owned), code.files().to_vec());
        Ok(Ok(Self { languages, symbol, files }))
    }

    /// The places of all files, drawn by seed: larger ones tend to come sooner.
    pub fn order(&self, dice: &mut Dice) -> Vec<usize> {
        let mut weights: Vec<f64> = self.files.iter().map(|file| root(file.size.max(1))).collect();
        let mut order = Vec::new();
        while let Some(next) = weighted(dice, &weights) {
            weights[next] = 0.0;
            order.push(next);
        }
        order
    }

    pub fn open(&self, harness: &Harness, place: usize) -> Result<Editable, Error> {
        let Reached { path, tests, .. } = self.files[place].clone();
        let baseline = harness.baseline()?;
        let file = harness.base().read(&path).unwrap_or_else(|| File::plain(Vec::new()));
        let language =
            self.languages.for_path(&path).expect("a reached file has a language").clone();
        let parsed = language.parse(file.bytes.clone());
        let mut sites = direct::sites(&parsed, &language);
        if let Some(symbol) = &self.symbol {
            sites.retain(|site| site.function.is_some_and(|at| is_within(&parsed, at, symbol)));
        }
        let entered = baseline.entered.get(&path).cloned().unwrap_or_default();
        let mentioned = BTreeSet::new();
        let opened = Opened { path, file, language, parsed, sites, mentioned, entered };
        Ok(Editable { opened, tests })
    }
}

impl Editable {
    pub fn language(&self) -> &Language {
        &self.opened.language
    }

    pub fn path(&self) -> &RelPath {
        &self.opened.path
    }

    pub fn parsed(&self) -> &Parsed {
        &self.opened.parsed
    }

    /// How many edits there are; what follows takes their places.
    pub fn len(&self) -> usize {
        self.opened.sites.len()
    }

    pub fn is_empty(&self) -> bool {
        self.opened.sites.is_empty()
    }

    fn site(&self, place: usize) -> &Site {
        &self.opened.sites[place]
    }

    pub fn edits(&self, place: usize) -> &[Edit] {
        &self.site(place).edits
    }

    /// The innermost function that it is in.
    pub fn function(&self, place: usize) -> Option<usize> {
        self.site(place).function
    }

    /// The outermost one.
    pub fn outermost(&self, place: usize) -> Option<usize> {
        let functions = self.opened.parsed.functions();
        let mut at = self.site(place).function?;
        while let Some(parent) = functions.get(at)?.parent {
            at = parent;
        }
        Some(at)
    }

    /// The test files that a bug of this edit alone would be told by.
    pub fn told_by(&self, place: usize) -> BTreeSet<RelPath> {
        let told = self
            .opened
            .told_by(self.site(place))
            .map(|told| self.tests.iter().filter(|test| told.contains(*test)).cloned().collect());
        told.unwrap_or_else(|| self.tests.iter().cloned().collect())
    }

    /// From 0 to 1: how much an edit of its kind tells.
    pub fn appeal(&self, place: usize) -> f64 {
        self.site(place).appeal
    }

    /// Every edit as an option of the policy, in their places.
    pub fn options(&self, past: &Past) -> Options {
        let of = (Strategy::Direct.name(), self.tests.len());
        features::options(&self.opened, &|_| true, of, past)
    }

    /// What was done, by a stable name.
    pub fn operator(&self, place: usize) -> &'static str {
        self.site(place).family
    }

    pub fn describe(&self, place: usize) -> String {
        self.site(place).describe(&self.opened.path, &self.opened.parsed)
    }

    /// The whole file with the edit.
    pub fn edited(&self, place: usize) -> Option<File> {
        let file = &self.opened.file;
        let bytes = apply_edits(&file.bytes, self.edits(place)).ok()?;
        Some(File { bytes: bytes.into(), executable: file.executable })
    }
}
