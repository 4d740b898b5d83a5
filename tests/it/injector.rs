//! The injector on the real sandbox: what it makes passes the checks.

use crate::bench::{Bench, bench_of, machine, path, pytest_machine};
use ssr_mcp::consistency::{self, Minima};
use ssr_mcp::diff::Patch;
use ssr_mcp::injector::{self, Injected, NotInjected, Request, Strategy, Target};
use ssr_mcp::syntax::Languages;
use ssr_mcp::tree::RelPath;
use std::collections::BTreeSet;

const MONEY: &str = "\
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


def split(amount, parts):
    share = amount // parts
    rest = amount - share * parts
    return [share + 1] * rest + [share] * (parts - rest)
";

const NAMES: &str = "\
def initials(name):
    parts = [part for part in name.split(' ') if part]
    return ''.join(part[0].upper() for part in parts)


def shorten(name, width):
    if len(name) <= width:
        return name
    return name[:width - 1] + '.'
";

const TEST_MONEY: &str = "\
import pytest
from shop.money import clamp, split, total


@pytest.mark.parametrize('value', [1, 2, 99])
def test_clamp_keeps(value):
    assert clamp(value) == value


def test_clamp_bounds():
    assert clamp(-1) == 0
    assert clamp(101) == 100
    assert clamp(0) == 0
    assert clamp(100) == 100


class TestTotal:
    def test_sum(self):
        assert total([1, 2, 3]) == 6

    def test_negative(self):
        amounts = [5, -1, 0]
        assert total(amounts) == 5


def test_split():
    assert split(10, 3) == [4, 3, 3]
    assert sum(split(7, 2)) == 7
";

const TEST_NAMES: &str = "\
from shop.names import initials, shorten


def test_initials():
    assert initials('ada lovelace') == 'AL'


def test_spaces():
    assert initials(' ada  l ') == 'AL'


def test_shorten():
    assert shorten('lovelace', 5) == 'love.'


def test_short_enough():
    assert shorten('ada', 3) == 'ada'
";

fn shop() -> Bench {
    bench_of(
        &[
            ("pytest.ini", b"[pytest]\n"),
            ("shop/__init__.py", b""),
            ("shop/money.py", MONEY.as_bytes()),
            ("shop/names.py", NAMES.as_bytes()),
            ("tests/test_money.py", TEST_MONEY.as_bytes()),
            ("tests/test_names.py", TEST_NAMES.as_bytes()),
        ],
        &pytest_machine(),
        None,
    )
}

fn request(strategy: Strategy, seed: u64) -> Request {
    Request {
        strategy,
        seed,
        target: None,
        changed_files: 1,
        failing_tests: 1,
        passing_tests: 4,
        candidates: 40,
        history: None,
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

fn changed(injected: &Injected) -> Vec<RelPath> {
    Patch::parse(&injected.artifact.bug_inject).unwrap().paths()
}

/// The artifact passes every check, with these minima.
#[track_caller]
fn check_valid(bench: &Bench, injected: &Injected, request: &Request) {
    let minima = Minima {
        passing_tests: request.passing_tests,
        changed_files: request.changed_files,
        failing_tests: request.failing_tests,
    };
    let report = consistency::check(&bench.harness, &injected.artifact, &minima).unwrap();
    assert!(report.valid, "{}\n{report:#?}", injected.summary);
    let weakening = String::from_utf8(injected.artifact.test_weaken.clone()).unwrap();
    assert!(!weakening.contains("\n+#"), "a weakening deletes:\n{weakening}");
    assert!(injected.summary.starts_with(injected.strategy.name()), "{}", injected.summary);
}

#[test]
fn bugs_of_both_strategies_pass_the_checks() {
    let bench = shop();
    let mut known = BTreeSet::new();
    for (strategy, seed) in
        [(Strategy::Direct, 1), (Strategy::Removal, 2), (Strategy::Direct, 3), (Strategy::Mixed, 4)]
    {
        let request = request(strategy, seed);
        let injected = inject(&bench, &request, &known).unwrap();
        check_valid(&bench, &injected, &request);
        assert!(known.insert(injected.tree_digest.clone()), "{} came twice", injected.summary);
    }
}

#[test]
fn the_same_seed_gives_the_same_artifact() {
    let (one, other) = (shop(), shop());
    for strategy in [Strategy::Direct, Strategy::Removal] {
        let request = request(strategy, 11);
        let artifact = |bench| inject(bench, &request, &BTreeSet::new()).unwrap().artifact;
        assert_eq!(artifact(&one).id(), artifact(&other).id());
    }
}

#[test]
fn a_known_bug_is_skipped_and_counted() {
    let bench = shop();
    let request = request(Strategy::Direct, 5);
    let first = inject(&bench, &request, &BTreeSet::new()).unwrap();
    let known = BTreeSet::from([first.tree_digest.clone()]);
    let second = inject(&bench, &request, &known).unwrap();
    assert_ne!(first.tree_digest, second.tree_digest);
    assert!(second.counts.duplicates > first.counts.duplicates, "{:?}", second.counts);
}

#[test]
fn a_target_confines_the_bug() {
    let bench = shop();
    let target = Target { file: path("shop/names.py"), symbol: Some("shorten".to_owned()) };
    let request = Request { target: Some(target), ..request(Strategy::Direct, 1) };
    let injected = inject(&bench, &request, &BTreeSet::new()).unwrap();
    assert_eq!(changed(&injected), [path("shop/names.py")]);
    assert!(injected.summary.contains("shorten"), "{}", injected.summary);
    check_valid(&bench, &injected, &request);
}

#[test]
fn a_bug_of_two_files_needs_both() {
    let bench = shop();
    for strategy in [Strategy::Direct, Strategy::Removal] {
        let request = Request { changed_files: 2, failing_tests: 2, ..request(strategy, 6) };
        let injected = inject(&bench, &request, &BTreeSet::new()).unwrap();
        assert_eq!(changed(&injected), [path("shop/money.py"), path("shop/names.py")]);
        check_valid(&bench, &injected, &request);
    }
}

#[test]
fn code_that_no_assertion_looks_at_gives_no_bug() {
    let bench = bench_of(
        &[
            ("pytest.ini", b"[pytest]\n"),
            ("lonely.py", b"def add(a, b):\n    return a + b\n"),
            (
                "tests/test_lonely.py",
                b"import lonely\n\n\ndef test_nothing():\n    assert lonely\n",
            ),
        ],
        &pytest_machine(),
        None,
    );
    let request = Request { passing_tests: 1, candidates: 5, ..request(Strategy::Direct, 1) };
    let none = inject(&bench, &request, &BTreeSet::new()).unwrap_err();
    assert!(none.counts.unnoticed > 0, "{none:?}");
    assert!(none.reason.contains("no test noticed"), "{}", none.reason);
}

#[test]
fn unittest_needs_nothing_but_python() {
    let tests = "\
import unittest
from money import clamp, total


class TestMoney(unittest.TestCase):
    def test_keeps(self):
        for value in (1, 50, 99):
            with self.subTest(value=value):
                self.assertEqual(clamp(value), value)

    def test_bounds(self):
        self.assertEqual(clamp(-5), 0)
        self.assertEqual(clamp(500), 100)

    def test_total(self):
        self.assertEqual(total([1, 2]), 3)

    def test_skips(self):
        amounts = [4, -2]
        self.assertEqual(total(amounts), 4)
";
    let bench = bench_of(
        &[("money.py", MONEY.as_bytes()), ("test_money.py", tests.as_bytes())],
        &machine(),
        None,
    );
    for (strategy, seed) in [(Strategy::Direct, 1), (Strategy::Removal, 1)] {
        let request = request(strategy, seed);
        let injected = inject(&bench, &request, &BTreeSet::new()).unwrap();
        check_valid(&bench, &injected, &request);
    }
}
