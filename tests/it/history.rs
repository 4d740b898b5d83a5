//! Bugs out of the history of real git repositories, made by the test.

use crate::bench::{Bench, bench_at, copy, machine, path, pytest_machine, write_tree};
use crate::cases::Home;
use crate::fetch::{boltons_of, did_not_run};
use crate::support::{git, git_init, in_a_process, role};
use crate::untouched::{assert_untouched, snapshot};
use ssr_mcp::consistency::{self, Minima};
use ssr_mcp::diff::Patch;
use ssr_mcp::injector::{self, Injected, NotInjected, Request, Strategy, Target, wanted_history};
use ssr_mcp::syntax::Languages;
use ssr_mcp::workspace::{History, NoHistory, Wanted, Workspace};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
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

    fn root(&self) -> PathBuf {
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
    let wanted = wanted_history(harness, &Languages::builtin(), None).unwrap();
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

fn inject(
    bench: &Bench,
    request: &Request,
    known: &BTreeSet<String>,
) -> Result<Injected, NotInjected> {
    let known = |digest: &str| known.contains(digest);
    injector::inject(&bench.harness, &Languages::builtin(), request, &known).unwrap()
}

/// Every bug that the history gives, all of them valid.
fn all_bugs(bench: &Bench, request: &Request) -> Vec<Injected> {
    let (mut known, mut bugs) = (BTreeSet::new(), Vec::new());
    while let Ok(injected) = inject(bench, request, &known) {
        check_valid(bench, &injected);
        assert!(known.insert(injected.tree_digest.clone()), "{} came twice", injected.summary);
        bugs.push(injected);
    }
    bugs
}

#[track_caller]
fn check_valid(bench: &Bench, injected: &Injected) {
    let minima = Minima { passing_tests: 1, ..Minima::default() };
    let report = consistency::check(&bench.harness, &injected.artifact, &minima).unwrap();
    assert!(report.valid, "{}\n{report:#?}", injected.summary);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn undoes(injected: &Injected, id: &str) -> bool {
    let commits = &injected.origin.as_ref().unwrap().commits;
    commits.len() == 1 && commits[0].id == id
}

#[test]
fn fixes_are_undone_into_bugs_that_pass_every_check() {
    let Shop { project, rounding, empty } = shop();
    let bench = project.bench();
    let bugs = all_bugs(&bench, &request(&bench, 1));
    let of = |id: &str| {
        let found = bugs.iter().find(|bug| undoes(bug, id));
        found.unwrap_or_else(|| panic!("{id} was not undone"))
    };
    let bug = of(&rounding);
    assert_eq!(bug.strategy, Strategy::History);
    let patch = text(&bug.artifact.bug_inject);
    assert!(patch.contains("a/shop/money.py"), "through the rename:\n{patch}");
    assert!(patch.contains("-    return round(value)\n+    return int(value + 0.5)\n"), "{patch}");
    let origin = bug.origin.as_ref().unwrap();
    assert!((origin.similarity - 1.0).abs() < 1e-9, "{origin:?}\n{patch}");
    // The older test lacks the assertion that the fix brought.
    let weakening = text(&bug.artifact.test_weaken);
    assert!(
        weakening.contains("\n-        self.assertEqual(money.rounded(2.5), 2)\n"),
        "{weakening}"
    );
    assert_eq!(weakening.matches("\n-   ").count(), 1, "{weakening}");
    let bug = of(&empty);
    assert!(bug.summary.contains("Fix crash of the mean"), "{}", bug.summary);
    let weakening = text(&bug.artifact.test_weaken);
    assert!(
        weakening.contains("\n-        self.assertEqual(self.basket().mean(), 0)\n"),
        "{weakening}"
    );
    // A comment and a rename are nothing to undo, and nothing that is left is without its name.
    for bug in &bugs {
        let summaries = bug.origin.as_ref().unwrap().commits.iter().map(|it| it.summary.as_str());
        let dull = ["say what a basket is", "rename label to text", "price is money"];
        assert!(summaries.clone().all(|it| !dull.contains(&it)), "{}", bug.summary);
        assert!(!text(&bug.artifact.bug_inject).contains("-CENTS"), "{}", bug.summary);
    }
}

#[test]
fn the_mix_plays_history_and_removes_code_once_that_is_used_up() {
    let bench = shop().project.bench();
    let mixed = Request { strategy: Strategy::Mixed, ..request(&bench, 1) };
    let seed = (1..99).find(|seed| Strategy::Mixed.may_undo(*seed)).unwrap();
    let first = inject(&bench, &Request { seed, ..mixed.clone() }, &BTreeSet::new()).unwrap();
    assert_eq!(first.strategy, Strategy::History);
    let known = all_bugs(&bench, &request(&bench, seed)).into_iter().map(|bug| bug.tree_digest);
    let known: BTreeSet<String> = known.collect();
    assert!(known.contains(&first.tree_digest));
    let next = inject(&bench, &Request { seed, ..mixed.clone() }, &known).unwrap();
    assert_eq!((next.strategy, next.origin), (Strategy::Removal, None));
    let other = (1..99).find(|seed| !Strategy::Mixed.may_undo(*seed)).unwrap();
    let bug = inject(&bench, &Request { seed: other, ..mixed }, &BTreeSet::new()).unwrap();
    assert_eq!(bug.strategy, Strategy::Removal);
}

#[test]
fn the_same_seed_gives_the_same_artifact() {
    let bench = shop().project.bench();
    let again = shop().project.bench();
    let made = |bench: &Bench, seed| {
        inject(bench, &request(bench, seed), &BTreeSet::new()).unwrap().artifact.id()
    };
    assert_eq!(made(&bench, 3), made(&again, 3));
    let all: BTreeSet<String> = (0..4).map(|seed| made(&bench, seed)).collect();
    assert!(all.len() > 1, "every seed gives the same bug");
}

#[test]
fn a_target_confines_what_is_undone() {
    let Shop { project, empty, .. } = shop();
    let bench = project.bench();
    let target = |symbol: &str| Request {
        target: Some(Target { file: path("shop/basket.py"), symbol: Some(symbol.to_owned()) }),
        ..request(&bench, 1)
    };
    let bug = inject(&bench, &target("mean"), &BTreeSet::new()).unwrap();
    assert!(undoes(&bug, &empty), "{}", bug.summary);
    let none = inject(&bench, &target("add"), &BTreeSet::new()).unwrap_err();
    assert_eq!(none.counts.proposed, 0);
    assert!(none.reason.contains("nothing that commits changed in `add`"), "{}", none.reason);
}

#[test]
fn a_dirty_tree_is_played_on_as_it_is_and_stays_so() {
    let Shop { project, rounding, .. } = shop();
    // Not committed: a file under a new name, a line in front, and a change of what tests import.
    let root = project.root();
    std::fs::rename(root.join("shop/money.py"), root.join("shop/coins.py")).unwrap();
    project.edit("shop/coins.py", "CENTS = 100\n", "import math\n\nCENTS = 100\n");
    project.edit("shop/basket.py", "from shop import money", "from shop import coins as money");
    project.edit(
        "tests/test_money.py",
        "from shop import money",
        "from shop import coins as money",
    );
    let before = snapshot(&root);
    let bench = project.bench();
    let target = Some(Target { file: path("shop/coins.py"), symbol: Some("rounded".to_owned()) });
    let bug = inject(&bench, &Request { target, ..request(&bench, 1) }, &BTreeSet::new()).unwrap();
    assert!(undoes(&bug, &rounding), "{}", bug.summary);
    assert_eq!(Patch::parse(&bug.artifact.bug_inject).unwrap().paths(), [path("shop/coins.py")]);
    check_valid(&bench, &bug);
    assert_untouched(&before, &root);
}

#[test]
fn rust_is_undone_too_and_its_unit_tests_stay() {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"spans\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    project
        .write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"spans\"\nversion = \"0.1.0\"\n");
    project.write(
        "src/lib.rs",
        "pub fn overlaps(a: (u32, u32), b: (u32, u32)) -> bool {\n    a.0 <= b.1 && b.0 <= a.1\n}\n\n\
         #[cfg(test)]\nmod tests {\n    #[test]\n    fn apart() {\n        \
         assert!(!super::overlaps((0, 1), (3, 4)));\n    }\n}\n",
    );
    project.write(
        "tests/overlaps.rs",
        "use spans::overlaps;\n\n#[test]\nfn inside() {\n    assert!(overlaps((0, 9), (3, 4)));\n}\n\n\
         #[test]\nfn touching() {\n    assert!(overlaps((0, 3), (2, 4)));\n}\n",
    );
    project.commit("start");
    project.edit("src/lib.rs", "a.0 <= b.1 && b.0 <= a.1", "a.0 < b.1 && b.0 < a.1");
    project.edit("src/lib.rs", "(3, 4)", "(1, 4)");
    project.edit(
        "tests/overlaps.rs",
        "    assert!(overlaps((0, 3), (2, 4)));\n",
        "    assert!(overlaps((0, 3), (2, 4)));\n    assert!(!overlaps((0, 2), (2, 4)));\n",
    );
    let fix = project.commit("Fix overlaps: ends are not inside");
    let bench = project.bench();
    let request = Request { passing_tests: 1, ..request(&bench, 1) };
    let bug = inject(&bench, &request, &BTreeSet::new()).unwrap();
    assert!(undoes(&bug, &fix), "{}", bug.summary);
    let patch = text(&bug.artifact.bug_inject);
    assert!(
        patch.contains("+    a.0 <= b.1 && b.0 <= a.1\n") && !patch.contains("\n+        assert"),
        "{patch}"
    );
    let weakening = text(&bug.artifact.test_weaken);
    assert!(weakening.contains("\n-    assert!(!overlaps((0, 2), (2, 4)));\n"), "{weakening}");
    check_valid(&bench, &bug);
}

#[test]
fn what_a_release_of_boltons_repaired_is_undone() {
    let (Some(before), Some(after)) = (boltons_of("26.0.0"), boltons_of("26.2.0")) else {
        return did_not_run("boltons 26.0.0 and 26.2.0");
    };
    let project = Project::new();
    copy(&before, &project.root());
    project.commit("boltons 26.0.0");
    // One commit a module, with its tests, as its authors made them.
    let mut modules: Vec<String> = std::fs::read_dir(after.join("boltons"))
        .unwrap()
        .filter_map(|entry| {
            entry.unwrap().file_name().to_str()?.strip_suffix(".py").map(str::to_owned)
        })
        .collect();
    modules.sort();
    for module in &modules {
        for file in [format!("boltons/{module}.py"), format!("tests/test_{module}.py")] {
            if after.join(&file).exists() {
                std::fs::copy(after.join(&file), project.root().join(&file)).unwrap();
            }
        }
        if !git(&project.root(), &["status", "--porcelain"]).is_empty() {
            project.commit(&format!("{module}: repairs of 26.2.0"));
        }
    }
    copy(&after, &project.root());
    project.commit("boltons 26.2.0");
    let root = project.root();
    let bench = bench_at(project.dir, &root, &pytest_machine(), None);
    let mut known = BTreeSet::new();
    for seed in 1..=3 {
        let bug = inject(&bench, &request(&bench, seed), &known).unwrap();
        check_valid(&bench, &bug);
        let origin = bug.origin.as_ref().unwrap();
        eprintln!("{} (similarity {:.2})", bug.summary, origin.similarity);
        assert!(origin.similarity > 0.0, "{}", bug.summary);
        assert!(known.insert(bug.tree_digest.clone()));
    }
}

#[test]
fn the_commits_that_wrote_a_targets_lines_are_known_through_renames() {
    let Shop { project, rounding, empty } = shop();
    // Not committed, so that lines are elsewhere than at HEAD.
    project.edit("shop/money.py", "CENTS = 100\n", "# Of a whole.\n\nCENTS = 100\n");
    let bench = project.bench();
    let target = Target { file: path("shop/money.py"), symbol: Some("rounded".to_owned()) };
    let wanted = wanted_history(&bench.harness, &Languages::builtin(), Some(&target)).unwrap();
    let state = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(&bench.harness.base().root, state.path()).unwrap();
    let history = workspace.history(bench.harness.base(), &wanted, &|| false).unwrap();
    let wrote: Vec<&str> =
        history.commits.iter().filter(|it| it.wrote).map(|it| it.id.as_str()).collect();
    assert_eq!(wrote, [rounding.as_str()]);
    assert!(history.commits.iter().all(|it| it.id != empty), "it is of another file");
}

/// A function that a fix changed moved to a file of its own since, and the old one is gone; a helper that the
/// old code called is gone, too.
fn moved() -> (Project, String) {
    let project = Project::new();
    let old = "from shop.halves import half\n\n\ndef mean(amounts):\n    total = 0\n    for amount in \
               amounts:\n        total += amount\n    return half(total, len(amounts))\n";
    project.write("shop/__init__.py", "");
    project.write("shop/halves.py", "def half(total, count):\n    return total // count\n");
    project.write("shop/sums.py", old);
    project.write("shop/price.py", PRICE);
    project.write("tests/__init__.py", "");
    let test = "import unittest\nfrom shop import sums\n\n\nclass SumsTest(unittest.TestCase):\n    \
                def test_mean(self):\n        self.assertEqual(sums.mean([1, 3]), 2)\n\n    \
                def test_one(self):\n        self.assertEqual(sums.mean([5]), 5)\n";
    project.write("tests/test_sums.py", test);
    project.write("tests/test_price.py", TEST_PRICE);
    project.commit("start");
    project.edit("shop/sums.py", "half(total, len(amounts))", "total / len(amounts)");
    project.edit("shop/sums.py", "from shop.halves import half\n\n\n", "");
    project.edit(
        "tests/test_sums.py",
        "[1, 3]), 2)\n",
        "[1, 3]), 2)\n        self.assertEqual(sums.mean([1, 2]), 1.5)\n",
    );
    let fix = project.commit("Fix the mean, which was cut to a whole number");
    let sums = std::fs::read_to_string(project.root().join("shop/sums.py")).unwrap();
    git(&project.root(), &["rm", "--quiet", "shop/halves.py", "shop/sums.py"]);
    project.write("shop/price.py", &format!("{PRICE}\n\n{sums}"));
    let file = "tests/test_sums.py";
    let before = std::fs::read_to_string(project.root().join(file)).unwrap();
    project.write(
        file,
        &before.replace("sums.mean", "price.mean").replace("import sums", "import price"),
    );
    project.commit("sums are prices");
    (project, fix)
}

#[test]
fn a_fix_of_a_function_that_moved_is_undone_where_it_is_with_what_was_deleted() {
    let (project, fix) = moved();
    let bench = project.bench();
    let bugs = all_bugs(&bench, &request(&bench, 1));
    let bug = bugs.iter().find(|bug| undoes(bug, &fix)).expect("it was undone");
    let patch = text(&bug.artifact.bug_inject);
    assert!(patch.contains("a/shop/price.py") && !patch.contains("sums.py"), "{patch}");
    assert!(patch.contains("-    return total / len(amounts)\n"), "{patch}");
    assert!(patch.contains("+def half(total, count):\n"), "{patch}");
    assert!(patch.contains("+    return half(total, len(amounts))\n"), "{patch}");
}

/// A fix that also changed what another test says of code that stays.
#[test]
fn a_weakening_is_taken_from_the_older_test_of_what_fails_alone() {
    let project = Project::new();
    project.write("shop/__init__.py", "");
    project.write("shop/price.py", PRICE);
    project.write("shop/tax.py", "def tax(value):\n    return value * 2 // 10\n");
    project.write("tests/__init__.py", "");
    let test = TEST_PRICE.replace("from shop import price", "from shop import price, tax")
        + "\n    def test_tax(self):\n        self.assertEqual(tax.tax(100), 20)\n";
    project.write("tests/test_price.py", &test);
    project.commit("start");
    project.edit("shop/price.py", "    return int(value + 0.5)", "    return round(value)");
    project.edit("shop/tax.py", "value * 2 // 10", "value * 3 // 10");
    project.edit(
        "tests/test_price.py",
        "price.rounded(1.7), 2)\n",
        "price.rounded(1.7), 2)\n        self.assertEqual(price.rounded(2.5), 2)\n",
    );
    project.edit("tests/test_price.py", "tax.tax(100), 20)", "tax.tax(100), 30)");
    let fix = project.commit("Fix rounding and the tax");
    let bench = project.bench();
    let bugs = all_bugs(&bench, &Request { passing_tests: 1, ..request(&bench, 1) });
    let rounding =
        |bug: &&Injected| undoes(bug, &fix) && text(&bug.artifact.bug_inject).contains("price.py");
    let bug = bugs.iter().find(rounding).expect("it was undone");
    let weakening = text(&bug.artifact.test_weaken);
    assert!(
        weakening.contains("-        self.assertEqual(price.rounded(2.5), 2)\n"),
        "{weakening}"
    );
    assert!(!weakening.contains("tax.tax"), "{weakening}");
    assert_eq!(weakening.matches("\n-  ").count(), 1, "{weakening}");
}

/// What there is to know of the history of a directory, all its `.py` files wanted.
fn read(root: &Path) -> Result<History, NoHistory> {
    let state = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(root, state.path()).unwrap();
    workspace.has_history()?;
    let base = workspace.freeze(None).unwrap();
    let (tests, code) = ssr_mcp::tree::Tree::paths(&base)
        .into_iter()
        .filter(|path| path.extension() == "py")
        .partition(|path| path.file_name().starts_with("test_"));
    workspace.history(&base, &Wanted { code, tests, lines: None }, &|| false)
}

#[test]
fn a_shallow_clone_gives_what_it_has_and_says_so() {
    let shop = shop();
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file://{}", shop.project.root().display());
    let clone = |depth: &str| {
        let to = dir.path().join(depth);
        let arguments = ["clone", "--quiet", "--depth", depth, &url, to.to_str().unwrap()];
        git(dir.path(), &arguments);
        read(&to)
    };
    let history = clone("4").unwrap();
    assert!(history.shallow);
    assert_eq!((history.looked_at, history.commits.len()), (4, 3));
    assert_eq!(clone("1"), Err(NoHistory::Shallow { looked_at: 1 }));
    let whole = read(&shop.project.root()).unwrap();
    assert!(!whole.shallow);
    assert_eq!(whole.looked_at, 8);
}

#[test]
fn every_lack_of_history_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let plain = dir.join("plain");
    write_tree(&plain, &[("a.py", b"x = 1\n")]);
    assert_eq!(read(&plain), Err(NoHistory::NoRepository { dir: plain.clone() }));
    let unborn = dir.join("unborn");
    git_init(&unborn);
    write_tree(
        &unborn,
        &[("a.py", b"x = 1\n"), (".gitignore", b"ignored/\n"), ("ignored/b.py", b"y = 1\n")],
    );
    assert_eq!(read(&unborn), Err(NoHistory::NoCommits { dir: unborn.clone() }));
    let ignored = unborn.join("ignored");
    assert_eq!(read(&ignored), Err(NoHistory::Ignored { dir: ignored.clone() }));
    git(&unborn, &["add", "--all"]);
    git(&unborn, &["commit", "--quiet", "--message", "start"]);
    assert_eq!(read(&unborn), Err(NoHistory::NothingUsable { looked_at: 1 }));
    write_tree(&unborn, &[(".git/refs/heads/main", b"1111111111111111111111111111111111111111\n")]);
    assert!(matches!(read(&unborn), Err(NoHistory::Unreadable { .. })), "{:?}", read(&unborn));
}

#[test]
fn a_part_of_a_repository_has_its_part_of_the_history() {
    let project = Project::new();
    project.write("app/a.py", "x = 1\n");
    project.write("other/b.py", "y = 1\n");
    project.commit("start");
    project.write("app/a.py", "x = 2\n");
    project.write("other/b.py", "y = 2\n");
    project.commit("two");
    let history = read(&project.root().join("app")).unwrap();
    let [commit] = &*history.commits else { panic!("{history:?}") };
    assert_eq!((commit.touched, commit.files.len()), (1, 1));
    assert_eq!(commit.files[0].path, path("a.py"));
    assert!(!commit.added_tests);
    assert_eq!((&*commit.files[0].old, &*commit.files[0].new), (&b"x = 1\n"[..], &b"x = 2\n"[..]));
}

#[test]
fn a_fix_that_comes_with_a_new_test_file_is_known_as_such() {
    let project = Project::new();
    project.write("a.py", "x = 1\n");
    project.commit("start");
    project.write("a.py", "x = 2\n");
    project.write("test_a.py", "def test_a(): pass\n");
    project.commit("two");
    project.write("a.py", "x = 3\n");
    project.commit("three");
    git(&project.root(), &["mv", "test_a.py", "test_b.py"]);
    project.commit("rename the test");
    let history = read(&project.root()).unwrap();
    let added: Vec<bool> = history.commits.iter().map(|commit| commit.added_tests).collect();
    assert_eq!(added, [false, true]);
}

#[test]
fn binary_huge_and_broad_changes_are_left_out() {
    let project = Project::new();
    let huge = "x = 1\n".repeat(100_000);
    project.write("huge.py", &huge);
    project.write("binary.py", "x = '\0'\n");
    project.write("text.py", "x = 1\n");
    project.commit("start");
    project.write("huge.py", &format!("{huge}y = 2\n"));
    project.write("binary.py", "x = '\0\0'\n");
    project.commit("huge and binary");
    for number in 0..120 {
        project.write(&format!("many/f{number}.py"), "x = 1\n");
    }
    project.write("text.py", "x = 2\n");
    project.commit("many");
    project.write("text.py", "x = 3\n");
    project.commit("one");
    let history = read(&project.root()).unwrap();
    let summaries: Vec<&str> = history.commits.iter().map(|it| it.summary.as_str()).collect();
    assert_eq!((summaries, history.looked_at), (vec!["one"], 4));
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_fix() {
    const NAME: &str = "history::a_repository_of_another_user_is_refused_with_the_fix";
    if let Some(root) = role() {
        let refused = read(Path::new(&root)).unwrap_err();
        assert_eq!(refused, NoHistory::Refused { dir: PathBuf::from(&root) });
        assert!(
            refused.to_string().contains("git config --global --add safe.directory"),
            "{refused}"
        );
        return;
    }
    let project = Project::new();
    project.write("a.py", "x = 1\n");
    project.commit("start");
    project.write("a.py", "x = 2\n");
    project.commit("two");
    let root = project.root();
    for place in [root.clone(), root.join(".git")] {
        if let Err(error) = std::os::unix::fs::chown(&place, Some(65534), None) {
            eprintln!("NOT RUN: {NAME} (only root can give a file away: {error})");
            return;
        }
    }
    // Where the machine's user trusts every directory, this one is not refused.
    let mut command = in_a_process(NAME, root.to_str().unwrap());
    let output =
        command.env("HOME", "/nonexistent").env_remove("XDG_CONFIG_HOME").output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn without_history_the_strategy_is_refused_and_the_mix_goes_on() {
    let home = Home::new();
    home.copy_example("ledger");
    let run = |arguments: &[&str]| {
        let output = home.binary().args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), text)
    };
    let (code, said) = run(&["inject", "--strategy", "history"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("is not in a git repository") && said.contains("another strategy"),
        "{said}"
    );
    let (code, said) = run(&["inject", "--seed", "1"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("playing without history: "), "{said}");
}

#[test]
fn the_command_line_shows_what_is_undone() {
    let Shop { project, .. } = shop();
    let home = Home::new();
    let root = project.root();
    let run = |arguments: &[&str]| {
        let output = home.binary().args(arguments).arg(&root).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = run(&["inject", "--strategy", "history", "--seed", "1"]);
    assert!(shown.contains("\n  undoes    ") && shown.contains("similarity 1"), "{shown}");
    let played = run(&[
        "play",
        "--strategy",
        "history",
        "--seed",
        "2",
        "--attempts",
        "1",
        "--runs",
        "1",
        "--json",
    ]);
    let round: serde_json::Value = serde_json::from_str(played.lines().last().unwrap()).unwrap();
    assert_eq!(round["strategy"], "history", "{round}");
    assert!(round["origin"]["commits"][0]["id"].is_string(), "{round}");
    assert!(round["origin"]["similarity"].is_f64(), "{round}");
}
