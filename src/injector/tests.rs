//! Pure tests: trees in memory, no sandbox.

mod combining;
mod drawing;
mod features;
mod learning;
mod locating;
mod removing;
mod weakening;

use super::code::{Code, Ground};
use super::draft::{Draft, Used, draw, draw_file};
use super::{Strategy, Target};
use crate::dice::Dice;
use crate::syntax::{Language, Languages};
use crate::tree::{Changes, File, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub(super) const MONEY: &str = "\
\"\"\"Amounts.\"\"\"

LIMIT = 100


def clamp(value, low=0, high=LIMIT):
    if value < low:
        return low
    if value > high:
        return high
    return value


def total(amounts):
    result = 0
    for amount in amounts:
        if amount <= 0:
            continue
        result += clamp(amount)
    return result


def _note(message):
    print(message)


class Account:
    def __init__(self, balance):
        self.balance = balance
        _note(\"opened\")

    def pay(self, amount):
        if amount > self.balance:
            raise ValueError(\"too much\")
        self.balance = self.balance - amount
        return self.balance
";

pub(super) const TEST_MONEY: &str = "\
import pytest
from money import Account, clamp, total


@pytest.mark.parametrize(\"value\", [1, 2])
def test_clamp(value):
    assert clamp(value) == value
    assert clamp(-1) == 0
    assert clamp(101) == 100


def test_total():
    amounts = [1, 2, 3]
    assert total(amounts) == 6


class TestAccount:
    def test_pay(self):
        account = Account(10)
        account.pay(4)
        assert account.balance == 6

    def test_too_much(self):
        with pytest.raises(ValueError):
            Account(1).pay(2)
";

pub(super) fn path(text: &str) -> RelPath {
    RelPath::parse(text.as_bytes()).expect("a good path")
}

pub(super) fn tree(files: &[(&str, &str)]) -> Changes {
    files
        .iter()
        .map(|(name, text)| (path(name), Some(File::plain(text.as_bytes().to_vec()))))
        .collect()
}

/// Loaded once: the queries take longer to compile than all of these tests.
static LANGUAGES: LazyLock<Languages> = LazyLock::new(Languages::builtin);

pub(super) fn python() -> Language {
    LANGUAGES.by_name("python").expect("built in").clone()
}

/// A language as a test runner has it.
pub(super) fn only(name: &str) -> Languages {
    LANGUAGES.only(&[name.to_owned()]).expect("built in")
}

/// Every code file is reached by every test file.
pub(super) struct Repository {
    pub tree: Changes,
    pub languages: Languages,
    pub reach: BTreeMap<RelPath, BTreeSet<RelPath>>,
    pub entered: crate::harness::Entered,
    pub test_files: BTreeSet<RelPath>,
}

impl Repository {
    pub(super) fn new(language: &str, code: &[(&str, &str)], tests: &[(&str, &str)]) -> Self {
        let test_files: BTreeSet<RelPath> = tests.iter().map(|(name, _)| path(name)).collect();
        let reach = code.iter().map(|(name, _)| (path(name), test_files.clone())).collect();
        let tree = tree(&[code, tests].concat());
        Self { tree, languages: only(language), reach, entered: BTreeMap::new(), test_files }
    }

    pub(super) fn money() -> Self {
        Self::new("python", &[("money.py", MONEY)], &[("test_money.py", TEST_MONEY)])
    }

    pub(super) fn survey(
        &self,
        strategy: Strategy,
        target: Option<&Target>,
    ) -> Result<Code<'_>, String> {
        let ground = Ground {
            tree: &self.tree,
            languages: &self.languages,
            reach: &self.reach,
            entered: &self.entered,
            test_files: &self.test_files,
            sways: &|path| path.file_name() == "conftest.py",
        };
        Code::survey(&ground, strategy, target)
    }

    /// Up to `count` drafts.
    pub(super) fn drafts(
        &self,
        strategy: Strategy,
        target: Option<&Target>,
        seed: u64,
        count: usize,
    ) -> Vec<Draft> {
        let mut code = self.survey(strategy, target).expect("something to edit");
        let mut dice = Dice::new(seed);
        let (mut used, mut done) = (Used::default(), BTreeSet::new());
        let mut drafts = Vec::new();
        while drafts.len() < count
            && let Some(file) = draw_file(&mut dice, code.files(), &done)
        {
            let tests = code.files()[file].tests.clone();
            match draw(&mut dice, strategy, code.open(file), &tests, &mut used) {
                Some(draft) => drafts.push(draft),
                None => {
                    done.insert(file);
                }
            }
        }
        drafts
    }
}

pub(super) fn text(file: &File) -> String {
    String::from_utf8(file.bytes.to_vec()).expect("UTF-8")
}
