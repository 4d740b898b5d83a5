//! Edits that tests do not notice, through the binary: what is listed, with which evidence, and what is not.
#![allow(clippy::disallowed_methods, reason = "the binary is a process")]

use crate::cases::Home;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const SHOP: &str = r#"import os


def total(prices):
    return sum(prices)


def largest(one, other):
    if one >= other:
        return one
    return other


def label(name, count):
    return name + ": " + str(count)


def ticket():
    return os.urandom(8).hex()


def refund(cents):
    return -cents


class Basket:
    def __init__(self):
        self.items = []
        self.sizes = []

    def put(self, item):
        self.items.append(item)
        self.sizes.append(len(item))
"#;

const TESTS: &str = r#"import unittest

from shop import Basket, label, largest, ticket, total


class ShopTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([2, 3]), 5)

    def test_largest(self):
        self.assertEqual([largest(1, 2), largest(2, 1), largest(2, 2)], [2, 2, 2])

    def test_label(self):
        self.assertTrue(label("tea", 3).startswith("tea"))

    def test_label_is_a_text(self):
        self.assertIsInstance(label("tea", 4), str)

    def test_ticket(self):
        self.assertEqual(len(ticket()), 16)

    def test_basket(self):
        basket = Basket()
        basket.put("tea")
        self.assertEqual(basket.items, ["tea"])
"#;

fn shop() -> Home {
    let home = Home::new();
    home.write("repo/shop.py", SHOP);
    home.write("repo/tests/__init__.py", "");
    home.write("repo/tests/test_shop.py", TESTS);
    home
}

/// Runs `unnoticed` to its answer and its exit code.
#[track_caller]
fn unnoticed(home: &Home, arguments: &str) -> (Value, i32) {
    let mut command = home.binary();
    command.arg("unnoticed").args(arguments.split_whitespace()).arg("--json");
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    (answer, output.status.code().unwrap())
}

fn edits(answer: &Value) -> &[Value] {
    answer["edits"].as_array().unwrap()
}

fn of_function<'a>(answer: &'a Value, name: &str) -> Vec<&'a Value> {
    edits(answer).iter().filter(|edit| edit["function"] == name).collect()
}

const ALL: &str = ". --seed 3 --limit 1000 --runs 1000";

#[test]
fn what_tests_execute_and_do_not_notice_is_listed_and_nothing_else() {
    let (answer, code) = unnoticed(&shop(), ALL);
    let counts = &answer["counts"];
    let count = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!(code, 1);
    let noticed = of_function(&answer, "total");
    assert!(noticed.is_empty(), "{noticed:?}");
    // `>=` to `>`: no call can tell.
    assert!(of_function(&answer, "largest").is_empty(), "{answer}");
    assert!(count("no_difference") > 0, "{counts}");
    assert!(of_function(&answer, "ticket").is_empty(), "random values are no evidence: {answer}");
    assert!(of_function(&answer, "refund").is_empty() && count("not_reached") > 0, "{counts}");
    let ends = ["failed", "timed_out", "failed_plainly", "lost", "unseen"];
    let ends = ends.iter().chain(&["no_difference", "unstable", "unnoticed"]);
    assert_eq!(ends.map(|name| count(name)).sum::<u64>(), count("tried"), "{counts}");
    assert_eq!(count("unnoticed"), edits(&answer).len() as u64);

    let labels = of_function(&answer, "label");
    let dropped =
        labels.iter().find(|edit| edit["diff"].as_str().unwrap().contains("str(count + "));
    let edit = dropped.or(labels.first()).unwrap_or_else(|| panic!("{answer}"));
    assert_eq!((&edit["file"], &edit["line"]), (&"shop.py".into(), &15.into()), "{edit}");
    let tests = ["test_label", "test_label_is_a_text"]
        .map(|test| Value::from(format!("tests/test_shop.py::ShopTest::{test}")));
    assert_eq!(edit["tests"], Value::from(tests.to_vec()), "{edit}");
    let evidence = &edit["evidence"];
    assert_eq!((&evidence["function"], &evidence["kind"]), (&"label".into(), &"result".into()));
    assert_eq!(evidence["arguments"], "name='tea', count=3");
    assert_eq!(
        (&evidence["before"], &evidence["outside"]),
        (&"returns 'tea: 3'".into(), &true.into())
    );
    assert_ne!(evidence["before"], evidence["after"]);
}

#[test]
fn what_a_call_leaves_in_its_object_is_evidence() {
    let (answer, _) =
        unnoticed(&shop(), ". --target shop.py:put --seed 3 --limit 1000 --runs 1000");
    let removed = |edit: &&Value| {
        edit["diff"].as_str().unwrap().contains("-        self.sizes.append(len(item))\n")
            && edit["evidence"]["kind"] == "arguments"
    };
    let edit = edits(&answer).iter().find(removed).unwrap_or_else(|| panic!("{answer}"));
    let evidence = &edit["evidence"];
    assert!(evidence["before"].as_str().unwrap().contains("sizes=[3]"), "{evidence}");
    assert!(!evidence["after"].as_str().unwrap().contains("sizes=[3]"), "{evidence}");
}

#[test]
fn the_same_seed_gives_the_same_list_and_a_second_call_goes_on() {
    let (one, other) = (shop(), shop());
    let arguments = ". --seed 5 --limit 2 --runs 1000";
    let (first, _) = unnoticed(&one, arguments);
    assert_eq!(edits(&first), edits(&unnoticed(&other, arguments).0));
    assert_eq!(edits(&first).len(), 2, "{first}");
    let (second, _) = unnoticed(&one, arguments);
    assert_eq!(second["counts"]["unnoticed"], 2, "{second}");
    let new: Vec<bool> = edits(&second).iter().map(|edit| edit["new"].as_bool().unwrap()).collect();
    assert_eq!(new, [false, false, true, true]);
    let (listed, code) = unnoticed(&one, ". --list");
    assert_eq!((edits(&listed).len(), code), (4, 1));
    assert_eq!(listed["counts"]["tried"], 0);
    // Another tree: nothing is known of it, and that is said.
    one.write("repo/shop.py", &format!("{SHOP}\n\nTEA = 1\n"));
    let (listed, code) = unnoticed(&one, ". --list");
    assert_eq!((edits(&listed).len(), code), (0, 0));
    assert_eq!(listed["of_other_trees"], 4);
}

#[test]
fn what_was_found_before_an_interruption_is_kept() {
    let home = shop();
    let mut command = home.binary();
    command.args(["unnoticed", ".", "--seed", "3", "--limit", "1000", "--runs", "1000"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("unnoticed: ")));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    lines.for_each(drop);
    let code = child.wait().unwrap().code();
    // It may have come to its end before the signal did.
    assert!(matches!(code, Some(1 | 3)), "{code:?}");
    assert!(!edits(&unnoticed(&home, ". --list").0).is_empty());
}

const CRATE: &str = r#"//! A shop.

pub fn total(prices: &[u32]) -> u32 {
    prices.iter().sum()
}

pub fn label(name: &str, count: u32) -> String {
    let shown = count + 1;
    format!("{name}: {shown}")
}

/// Nothing that could be shown.
pub struct Shelf(u32);

impl Shelf {
    pub fn new() -> Self {
        Shelf(1)
    }

    pub fn room(&self) -> u32 {
        self.0 + 2
    }

    pub fn fill(&mut self, level: &mut u32) {
        *level += 5;
        self.0 += 0;
    }
}

pub fn refund(cents: i64) -> i64 {
    -cents
}
"#;

const CRATE_TESTS: &str = r#"use shop::{label, total, Shelf};

#[test]
fn totals() {
    assert_eq!(total(&[2, 3]), 5);
}

#[test]
fn labels() {
    assert!(label("tea", 3).starts_with("tea"));
}

#[test]
fn shelves() {
    let mut level = 1;
    let mut shelf = Shelf::new();
    shelf.fill(&mut level);
    assert!(level > 1 && shelf.room() > 0);
}
"#;

#[test]
fn calls_of_rust_functions_are_told_apart_by_their_values() {
    let home = Home::new();
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    home.write("repo/Cargo.toml", manifest);
    home.write("repo/src/lib.rs", CRATE);
    home.write("repo/tests/shop.rs", CRATE_TESTS);
    let mut command = home.binary();
    for name in ["PATH", "CARGO_HOME", "RUSTUP_HOME"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if let (Some(user), true) = (std::env::var_os("HOME"), std::env::var_os("CARGO_HOME").is_none())
    {
        let user = std::path::PathBuf::from(user);
        command.env("CARGO_HOME", user.join(".cargo"));
        command.env("RUSTUP_HOME", user.join(".rustup"));
    }
    let arguments = "unnoticed . --seed 1 --limit 100 --runs 100 --json";
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    for name in ["total", "refund"] {
        assert!(of_function(&answer, name).is_empty(), "{answer}");
    }
    let labels = of_function(&answer, "label");
    let edit = labels.first().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(edit["line"], 8, "{edit}");
    assert_eq!(edit["tests"], Value::from(vec!["tests/shop.rs::labels"]), "{edit}");
    let evidence = &edit["evidence"];
    assert_eq!(evidence["arguments"], "name=\"tea\", count=3", "{edit}");
    assert_eq!(evidence["before"], "returns \"tea: 4\"", "{edit}");
    let fill = of_function(&answer, "Shelf::fill");
    let edit = fill.iter().find(|edit| edit["line"] == 25).unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(edit["evidence"]["kind"], "arguments", "{edit}");
    assert!(edit["evidence"]["before"].as_str().unwrap().contains("level=6"), "{edit}");
}

const DESCRIBED: &str = r#"
import collections, datetime, enum, sys
sys.path.insert(0, sys.argv[1])
import describe

class Trap:
    def __init__(self):
        self.public, self._private = [1], {"b", "a"}
    def __repr__(self):
        raise SystemExit("code of the tree was called")
    __eq__ = __hash__ = __str__ = __getattr__ = __iter__ = __len__ = __bool__ = __repr__

class Slots:
    __slots__ = ("x", "_y")
    def __init__(self):
        self.x, self._y = 1, 2

class Names(list):
    pass

class Colour(enum.Enum):
    RED = 1

ring = [1]
ring.append(ring)
values = [Trap(), Slots(), Names("ab"), Colour.RED, ring, {"k": (1.5, None)}, datetime.date(2024, 2, 1),
          {3, 1, 2}, object(), lambda: 0, ValueError("x", 2), collections.deque([1]), list(range(70))[:61],
          "<object at 0x7f00deadbeef>", (n for n in ()), b"ab", {"a": 1}.keys()]
for value in values:
    print(describe.unmarked(describe.value(value)))
print(describe.public(describe.value(Trap())))
"#;

#[test]
fn values_are_described_without_their_own_code_and_the_same_in_every_run() {
    let runners = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars/python/runners");
    let said = |seed: &str| {
        let mut python = std::process::Command::new("python3");
        let output =
            python.env("PYTHONHASHSEED", seed).args(["-c", DESCRIBED]).arg(&runners).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let expect = "Trap( _private={'a', 'b'} public=[1])\n\
        Slots( _y=2 x=1)\n\
        Names(['a', 'b'])\n\
        Colour.RED\n\
        [1, (itself)]\n\
        {'k': (1.5, None)}\n\
        datetime.date(2024, 2, 1)\n\
        {1, 2, 3}\n\
        object()\n\
        <function <lambda>>\n\
        ValueError('x', 2)\n\
        deque([1])\n\
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, \
        26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, \
        50, 51, 52, 53, 54, 55, 56, 57, 58, 59, … 61 in all]\n\
        '<object at 0x…>'\n\
        generator()\n\
        b'ab'\n\
        dict_keys(['a'])\n\
        Trap( public=[1])\n";
    assert_eq!(said("0"), expect);
    assert_eq!(said("1"), expect);
}

const SHOP_JS: &str = r"'use strict';

function total(prices) {
  return prices.reduce((sum, price) => sum + price, 0);
}

function label(name, count) {
  return name + ': ' + String(count + 1);
}

function* each(prices) {
  for (const price of prices) yield price + 1;
}

class Basket {
  constructor() {
    this.items = [];
    this.size = 0;
  }

  async put(item) {
    this.items.push(item);
    this.size += item.length;
    return this.items.length;
  }
}

module.exports = { total, label, each, Basket };
";

const TESTS_JS: &str = r"'use strict';
const assert = require('node:assert');
const test = require('node:test');
const { total, label, each, Basket } = require('../src/shop.js');

test('total', () => assert.equal(total([2, 3]), 5));
test('total of one', () => assert.equal(total([2]), 2));
test('label', () => assert.ok(label('tea', 3).startsWith('tea')));
test('label is a text', () => assert.equal(typeof label('tea', 4), 'string'));
test('each', () => assert.equal([...each([1, 2])].length, 2));
test('put', async () => {
  const basket = new Basket();
  await basket.put('tea');
  assert.deepEqual(basket.items, ['tea']);
});
";

#[test]
fn calls_of_javascript_are_recorded_and_what_cannot_be_is_counted_as_unseen() {
    let home = Home::new();
    home.write("repo/package.json", r#"{"name": "shop", "scripts": {"test": "node --test"}}"#);
    home.write("repo/src/shop.js", SHOP_JS);
    home.write("repo/test/shop.test.js", TESTS_JS);
    let (answer, code) = unnoticed(&home, ALL);
    assert_eq!(code, 1, "{answer}");
    let counts = &answer["counts"];
    assert!(of_function(&answer, "total").is_empty(), "{answer}");
    let labels = of_function(&answer, "label");
    let edit = labels.first().unwrap_or_else(|| panic!("{answer}"));
    let evidence = &edit["evidence"];
    assert_eq!(evidence["test"], "test/shop.test.js", "{edit}");
    assert_eq!((&evidence["kind"], &evidence["outside"]), (&"result".into(), &true.into()));
    assert!(evidence["before"].as_str().unwrap().starts_with("returns 'tea: "), "{edit}");
    assert_ne!(evidence["before"], evidence["after"]);
    // What a method leaves in its object, told when its promise has settled.
    let put = of_function(&answer, "Basket.put");
    let left = |edit: &&&Value| edit["evidence"]["after"].as_str().unwrap().contains("Basket");
    assert!(put.iter().any(|edit| left(&edit)), "{answer}");
    // A generator runs piece by piece: no call of it is recorded.
    assert!(of_function(&answer, "each").is_empty(), "{answer}");
    assert!(counts["unseen"].as_u64().unwrap() > 0, "{counts}");
}
