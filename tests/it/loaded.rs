//! Screens in a process that has the tests loaded, beside those from the beginning: the same answers, of every
//! candidate.

use crate::bench::{Bench, bench_of, machine, path, pytest_machine};
use ssr_mcp::harness::{Asked, Live, Loaded, Screened};
use ssr_mcp::tree::{Changes, File};
use ssr_mcp::verdict::TestId;
use std::collections::BTreeMap;
use std::time::Duration;

const SHOP: &str = "\
import os

RATE = 2
SEEN = []

def named(name):
    def wrap(function):
        function.name = name
        return function
    return wrap

def price(count):
    return count * RATE

@named('total')
def total(counts):
    return sum(price(count) for count in counts) + 1

class Cart:
    def size(self):
        if os.path.exists('left'):
            return -1
        return len(SEEN)
";

const PYTEST: &str = "\
import shop

def test_price():
    assert shop.price(3) == 6

def test_total():
    assert shop.total.name == 'total'
    assert shop.Cart().size() == 0
    assert shop.total([1, 2]) == 6

def test_both():
    assert shop.total([]) == 0
";

const UNITTEST: &str = "\
import unittest
import shop

class Shop(unittest.TestCase):
    def test_price(self):
        assert shop.price(3) == 6

    def test_total(self):
        assert shop.total.name == 'total'
        assert shop.Cart().size() == 0
        assert shop.total([1, 2]) == 6

    def test_both(self):
        assert shop.total([]) == 0
";

/// `shop.py` with the first of each pair replaced by the second.
fn shop(edits: &[(&str, &str)]) -> Changes {
    let mut text = SHOP.to_owned();
    for (old, new) in edits {
        assert_eq!(text.matches(old).count(), 1, "{old:?}");
        text = text.replace(old, new);
    }
    let mut changes = Changes::new();
    changes.write(path("shop.py"), File::plain(text.into_bytes()));
    changes
}

fn candidates() -> Vec<Changes> {
    let sum = "sum(price(count) for count in counts) + 1";
    let mut apart = shop(&[]);
    apart.write(path("more/apart.py"), File::plain(*b"VALUE = 1\n"));
    vec![
        // In functions that nobody calls on import.
        shop(&[("len(SEEN)", "len(SEEN) + 1")]),
        shop(&[("count * RATE", "count")]),
        shop(&[(sum, "sum(counts)")]),
        shop(&[(sum, "[price(count) for count in counts]")]),
        // On import, or called then.
        shop(&[("RATE = 2", "RATE = 3")]),
        shop(&[("function.name = name", "function.name = 'other'")]),
        shop(&[("price(count):", "price(count, more=1):")]),
        // What ends a run, and what lasts beyond one.
        shop(&[(sum, "os._exit(0)")]),
        shop(&[(sum, "exec('while True: pass')")]),
        shop(&[("RATE = 2", "RATE = 2 2")]),
        shop(&[(sum, "SEEN.append(1) or open('left', 'w').close()")]),
        shop(&[(sum, "open('shop.py', 'a').write('# more') and 0")]),
        shop(&[("len(SEEN)", "os.system('sleep 100 &') + len(SEEN)")]),
        apart,
        shop(&[(" + 1", "")]),
        shop(&[("len(SEEN)", "never_reached")]),
    ]
}

fn screens(bench: &Bench, tests: &[&str], first: &[&str]) {
    let tests: Vec<TestId> = tests.iter().map(|test| (*test).to_owned()).collect();
    let first: Vec<TestId> = first.iter().map(|test| (*test).to_owned()).collect();
    let files = [path("tests/test_shop.py")];
    let (harness, nothing) = (&bench.harness, Changes::new());
    let usual = Duration::from_millis(500);
    let all = Asked { tests: &tests, ..Asked::default() };
    let on_task = harness.screen(&nothing, std::slice::from_ref(&nothing), &all, &files, usual);
    let start: BTreeMap<TestId, (u32, bool)> = on_task.unwrap().remove(0).stages;
    assert_eq!(start.len(), tests.len());
    let stages = start.iter().filter(|(test, _)| first.contains(test));
    let stages = stages.map(|(test, stage)| (test.clone(), *stage)).collect();
    let asked = Asked { first: &first, stages, ..all };
    let candidates = candidates();
    // Each by itself: in a screen from the beginning they share a sandbox.
    let mut plain: Vec<Screened> = Vec::new();
    for candidate in &candidates {
        let one = std::slice::from_ref(candidate);
        plain.extend(harness.screen(&nothing, one, &asked, &files, usual).unwrap());
    }
    let live = Live::default();
    let loaded =
        Loaded { changes: &nothing, tests: &tests, test_files: &files, usual, start: &start };
    let mut answered = 0;
    for (number, (candidate, plain)) in candidates.iter().zip(&plain).enumerate() {
        let one = std::slice::from_ref(candidate);
        let said = harness.screen_live(&live, &loaded, one, &asked).unwrap();
        if let [Some(said)] = &said[..] {
            assert_eq!(said, plain, "candidate {number}");
            answered += 1;
        }
    }
    // What a candidate does to its process costs that process; no more.
    assert_eq!(answered, candidates.len(), "some were not answered");
    // All at once, up to the one that repairs it.
    let said = harness.screen_live(&Live::default(), &loaded, &candidates[..4], &asked).unwrap();
    assert_eq!(said.into_iter().flatten().collect::<Vec<_>>(), plain[..4]);
    let said = harness.screen_live(&live, &loaded, &candidates[13..], &asked).unwrap();
    let said: Vec<_> = said.into_iter().flatten().collect();
    assert_eq!(said, plain[13..15], "it ends at the first that passes");
    live.leave();
    let again = harness.screen_live(&live, &loaded, &candidates[..1], &asked).unwrap();
    assert_eq!(again[0].as_ref(), Some(&plain[0]));
    // A process that says something else of the tree than a screen did is not asked.
    let wrong = BTreeMap::new();
    let elsewhere = Loaded { start: &wrong, ..loaded };
    let said = harness.screen_live(&Live::default(), &elsewhere, &candidates[..1], &asked).unwrap();
    assert_eq!(said, [None]);
}

#[test]
fn a_process_with_the_tests_loaded_says_what_a_screen_from_the_beginning_says() {
    let tree = |tests| [("shop.py", SHOP.as_bytes()), ("tests/test_shop.py", tests)];
    let by_pytest = bench_of(&tree(PYTEST.as_bytes()), &pytest_machine(), None);
    let [total, both] = ["tests/test_shop.py::test_total", "tests/test_shop.py::test_both"];
    screens(&by_pytest, &[total, both], &[both]);
    let by_unittest = bench_of(&tree(UNITTEST.as_bytes()), &machine(), None);
    let [total, both] =
        ["tests/test_shop.py::Shop::test_total", "tests/test_shop.py::Shop::test_both"];
    screens(&by_unittest, &[total, both], &[]);
}
