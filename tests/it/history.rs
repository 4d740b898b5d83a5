//! Bugs out of the history of real git repositories, made by the test.

use crate::bench::{Bench, bench_at, machine, path, write_tree};
use crate::support::{git, git_init};
use ssr_mcp::consistency::{self, Minima};
use ssr_mcp::diff::Patch;
use ssr_mcp::injector::{self, Injected, NotInjected, Request, Strategy, Target, wanted_history};
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::Tree;
use ssr_mcp::workspace::{History, NoHistory, Wanted, Workspace};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const BASKET: &str = "\
from shop import price


class Basket:
    def __init__(self):
        self.items = []

    def add(self, name, amount):
        self.items.append((name, amount))

    def total(self):
        return sum(amount for _, amount in self.items)

    def mean(self):
        return price.rounded(self.total() / len(self.items))

    def label(self):
        return price.fmt(self.total())
";

const PRICE: &str = "\
def rounded(value):
    return int(value + 0.5)


def discounted(value, percent):
    return rounded(value * (100 - percent) / 100)


def fmt(cents):
    return '%d.%d' % (cents // 100, cents % 100)
";

const TEST_BASKET: &str = "\
import unittest
from shop.basket import Basket


class BasketTest(unittest.TestCase):
    def basket(self, *amounts):
        basket = Basket()
        for amount in amounts:
            basket.add('thing', amount)
        return basket

    def test_total(self):
        self.assertEqual(self.basket(100, 250).total(), 350)

    def test_mean(self):
        self.assertEqual(self.basket(100, 300).mean(), 200)

    def test_label(self):
        self.assertEqual(self.basket(1250).label(), '12.50')
";

const TEST_PRICE: &str = "\
import unittest
from shop import price


class PriceTest(unittest.TestCase):
    def test_rounded(self):
        self.assertEqual(price.rounded(1.2), 1)
        self.assertEqual(price.rounded(1.7), 2)

    def test_discounted(self):
        self.assertEqual(price.discounted(200, 10), 180)
        self.assertEqual(price.discounted(100, 100), 0)
";

/// A directory for one repository and the state of playing on it.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        git_init(&project.root());
        project
    }

    fn root(&self) -> std::path::PathBuf {
        self.dir.path().canonicalize().unwrap().join("repo")
    }

    fn write(&self, file: &str, text: &str) {
        write_tree(&self.root(), &[(file, text.as_bytes())]);
    }

    /// Replaces the one place where `old` stands.
    #[track_caller]
    fn edit(&self, file: &str, old: &str, new: &str) {
        let text = std::fs::read_to_string(self.root().join(file)).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old:?} in {file}:\n{text}");
        self.write(file, &text.replace(old, new));
    }

    fn commit(&self, message: &str) -> String {
        git(&self.root(), &["add", "--all"]);
        git(&self.root(), &["commit", "--quiet", "--message", message]);
        git(&self.root(), &["rev-parse", "HEAD"])
    }

    fn bench(self) -> Bench {
        let root = self.root();
        bench_at(self.dir, &root, &machine(), None)
    }
}

/// Eight commits: two fixes with their tests, a rename of a file and of a function since, a comment,
/// and code put in front of a fix.
struct Shop {
    project: Project,
    rounding: String,
    empty: String,
}

fn shop() -> Shop {
    let project = Project::new();
    project.write("shop/__init__.py", "");
    project.write("shop/basket.py", BASKET);
    project.write("shop/price.py", PRICE);
    project.write("tests/__init__.py", "");
    project.write("tests/test_basket.py", TEST_BASKET);
    project.write("tests/test_price.py", TEST_PRICE);
    project.commit("start");
    project.edit("shop/price.py", "    return int(value + 0.5)", "    return round(value)");
    project.edit(
        "tests/test_price.py",
        "        self.assertEqual(price.rounded(1.7), 2)\n",
        "        self.assertEqual(price.rounded(1.7), 2)\n        \
         self.assertEqual(price.rounded(2.5), 2)\n",
    );
    let rounding = project.commit("Fix rounding: halves go to even\n\nThey went up, always.");
    project.edit("shop/basket.py", "class Basket:\n", "# What is bought.\nclass Basket:\n");
    project.commit("say what a basket is");
    project.edit(
        "shop/basket.py",
        "        return price.rounded(",
        "        if not self.items:\n            return 0\n        return price.rounded(",
    );
    project.edit(
        "tests/test_basket.py",
        "        self.assertEqual(self.basket(100, 300).mean(), 200)\n",
        "        self.assertEqual(self.basket(100, 300).mean(), 200)\n        \
         self.assertEqual(self.basket().mean(), 0)\n",
    );
    let empty = project.commit("Fix crash of the mean of an empty basket");
    git(&project.root(), &["mv", "shop/price.py", "shop/money.py"]);
    git(&project.root(), &["mv", "tests/test_price.py", "tests/test_money.py"]);
    for file in ["shop/basket.py", "tests/test_money.py"] {
        let text = std::fs::read_to_string(project.root().join(file)).unwrap();
        project.write(file, &text.replace("price", "money"));
    }
    project.commit("price is money");
    project.edit("shop/money.py", "def rounded(value)", "CENTS = 100\n\n\ndef rounded(value)");
    project.edit("shop/money.py", "(cents // 100, cents % 100)", "divmod(cents, CENTS)");
    project.commit("one name for a hundred");
    project.edit("shop/money.py", "'%d.%d'", "'%d.%02d'");
    project.edit(
        "tests/test_basket.py",
        ".label(), '12.50')\n",
        ".label(), '12.50')\n        self.assertEqual(self.basket(1205).label(), '12.05')\n",
    );
    project.commit("labels: two digits for cents, which were wrong below ten");
    project.edit("shop/basket.py", "def label", "def text");
    project.edit("tests/test_basket.py", "(1250).label", "(1250).text");
    project.edit("tests/test_basket.py", "(1205).label", "(1205).text");
    project.commit("rename label to text");
    Shop { project, rounding, empty }
}

fn history_of(bench: &Bench) -> Result<History, NoHistory> {
    let harness = &bench.harness;
    let wanted = wanted_history(harness, &Languages::builtin()).unwrap();
    let root = &harness.base().root;
    let state = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(root, state.path()).unwrap();
    workspace.history(harness.base(), &wanted, &|| false)
}

fn request(bench: &Bench, seed: u64) -> Request {
    Request {
        strategy: Strategy::History,
        seed,
        target: None,
        changed_files: 1,
        failing_tests: 1,
        passing_tests: 4,
        candidates: 40,
        history: Some(Arc::new(history_of(bench).unwrap())),
    }
}

fn inject(bench: &Bench, request: &Request, known: &BTreeSet<String>) -> Result<Injected, NotInjected> {
    let known = |digest: &str| known.contains(digest);
    injector::inject(&bench.harness, &Languages::builtin(), request, &known).unwrap()
}

/// Every bug that the history gives, all of them valid.
fn all_bugs(bench: &Bench, request: &Request) -> Vec<Injected> {
    let (mut known, mut bugs) = (BTreeSet::new(), Vec::new());
    loop {
        let injected = match inject(bench, request, &known) {
            Ok(injected) => injected,
            Err(none) => {
                println!("{none:?}");
                break;
            }
        };
        let report =
            consistency::check(&bench.harness, &injected.artifact, &Minima::default()).unwrap();
        assert!(report.valid, "{}\n{report:#?}", injected.summary);
        assert!(known.insert(injected.tree_digest.clone()), "{} came twice", injected.summary);
        bugs.push(injected);
    }
    bugs
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn fixes_are_undone_into_bugs_that_pass_every_check() {
    let shop = shop();
    let (rounding, empty) = (shop.rounding.clone(), shop.empty.clone());
    let bench = shop.project.bench();
    println!("{:?}", wanted_history(&bench.harness, &Languages::builtin()));
    println!("{:?} {:?}", bench.harness.baseline().unwrap().reach, bench.harness.baseline().unwrap().excluded);
    for commit in history_of(&bench).unwrap().commits {
        println!("{} {:?}", commit.summary, commit.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>());
    }
    let bugs = all_bugs(&bench, &request(&bench, 1));
    for bug in &bugs {
        println!("{} {:?}\n{}\n{}", bug.summary, bug.origin, text(&bug.artifact.bug_inject), text(&bug.artifact.test_weaken));
    }
    let of = |id: &str| {
        let undoes = |bug: &&Injected| {
            let commits = &bug.origin.as_ref().unwrap().commits;
            commits.len() == 1 && commits[0].id == id
        };
        bugs.iter().find(undoes).unwrap_or_else(|| panic!("{id} was not undone"))
    };
    let bug = of(&rounding);
    assert_eq!(bug.strategy, Strategy::History);
    let patch = text(&bug.artifact.bug_inject);
    assert!(patch.contains("a/shop/money.py"), "through the rename:\n{patch}");
    assert!(patch.contains("-    return round(value)\n+    return int(value + 0.5)\n"), "{patch}");
    assert!((bug.origin.as_ref().unwrap().similarity - 1.0).abs() < 1e-9);
    // The older test lacks the assertion that the fix brought.
    let weaken = text(&bug.artifact.test_weaken);
    assert!(weaken.contains("\n-        self.assertEqual(money.rounded(2.5), 2)\n"), "{weaken}");
    let bug = of(&empty);
    assert!(bug.summary.contains("Fix crash of the mean"), "{}", bug.summary);
    let weaken = text(&bug.artifact.test_weaken);
    assert!(weaken.contains("\n-        self.assertEqual(self.basket().mean(), 0)\n"), "{weaken}");
}
