//! For each template: the known repair is proposed, and early enough.

use super::{outcomes, path, place, surveyed};

/// Takes `good`, breaks it by putting `bad` where `right` stands, and wants the repair among the
/// first `within` proposals.
#[track_caller]
fn check(name: &str, good: &str, right: &str, bad: &str, test: &str, within: usize) {
    assert_eq!(good.matches(right).count(), 1, "{right:?} must be there once");
    let broken = good.replacen(right, bad, 1);
    let rust = path(name).extension() == "rs";
    let tests = if rust { "tests/it.rs" } else { "tests/test_it.py" };
    let id = if rust { "it" } else { "tests/test_it.py::test_it" };
    let outcomes = outcomes(&[id], &[]);
    let proposals = surveyed(&[(name, &broken), (tests, test)], &[tests], &outcomes, None);
    let failing = outcomes.keys().cloned().collect();
    let found = place(&proposals, &failing, &path(name), good);
    match found {
        Some(found) => assert!(found < within, "{found} of {} proposals", proposals.len()),
        None => panic!("not among {} proposals for\n{broken}", proposals.len()),
    }
}

const SEARCH: &str = "\
def find(items, wanted):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1
";
const SEARCH_TEST: &str = "\
from find import find

def test_it():
    assert find([1, 4, 9], 9) == 2
    assert find([], 1) == -1
";

#[test]
fn a_boundary_is_put_back() {
    check("find.py", SEARCH, "low <= high", "low < high", SEARCH_TEST, 40);
}

#[test]
fn an_arithmetic_operator_is_put_back() {
    check("find.py", SEARCH, "(low + high)", "(low - high)", SEARCH_TEST, 60);
}

#[test]
fn a_returned_constant_is_put_back() {
    check("find.py", SEARCH, "return -1", "return -2", SEARCH_TEST, 80);
}

#[test]
fn a_lost_plus_one_is_put_back() {
    check("find.py", SEARCH, "low = middle + 1", "low = middle", SEARCH_TEST, 300);
}

#[test]
fn a_wrong_variable_is_put_back() {
    check("find.py", SEARCH, "return middle", "return low", SEARCH_TEST, 200);
}

#[test]
fn exchanged_arguments_are_put_back() {
    let good = "\
def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)
";
    let test = "from gcd import gcd\n\ndef test_it():\n    assert gcd(12, 18) == 6\n";
    check("gcd.py", good, "gcd(b, a % b)", "gcd(a % b, b)", test, 30);
}

#[test]
fn a_lost_not_and_an_added_not_are_undone() {
    let good = "\
def kept(values, seen):
    result = []
    for value in values:
        if value not in seen and not value.hidden:
            result.append(value)
    return result
";
    let test = "from kept import kept\n\ndef test_it():\n    assert kept([1], []) == [1]\n";
    check("kept.py", good, "not value.hidden", "value.hidden", test, 60);
    check("kept.py", good, "value not in seen", "value in seen", test, 60);
    let bare = good.replace(" and not value.hidden", "");
    check("kept.py", &bare, "if value not in seen:", "if not value not in seen:", test, 60);
}

#[test]
fn a_call_that_was_wrapped_around_is_taken_off() {
    let good = "\
def total(rows):
    amount = 0
    for row in rows:
        amount += row.price
    return amount

def count(rows):
    return len(rows)
";
    let test = "from total import total\n\ndef test_it():\n    assert total([]) == 0\n";
    check("total.py", good, "return amount", "return abs(amount)", test, 60);
}

#[test]
fn a_call_that_stood_nowhere_else_is_made_anew() {
    let good = "\
class Box:
    def __init__(self, size):
        self.size = size

    def check(self):
        if self.size < 0:
            raise ValueError('size')

    def grow(self, by):
        self.size += by
        self.check()
";
    let test = "import pytest\nfrom box import Box\n\ndef test_it():\n    \
                with pytest.raises(ValueError):\n        Box(1).grow(-2)\n";
    check("box.py", good, "        self.check()\n", "", test, 150);
    let good = "\
def plural(word):
    return word + 's'

def table(word):
    return plural(word)
";
    let test = "from table import table\n\ndef test_it():\n    assert table('a') == 'as'\n";
    check("table.py", good, "return plural(word)", "return None", test, 60);
    check("table.py", good, "return plural(word)", "return word", test, 60);
}

#[test]
fn what_stands_in_for_a_missing_value_and_what_fills_a_text_come_back() {
    let good = "\
def shown(name, marks=None):
    marks = marks or {}
    return 'name: %s' % name + marks.get('end', '')
";
    let test = "from shown import shown\n\ndef test_it():\n    assert shown('a') == 'name: a'\n";
    check("shown.py", good, "marks or {}", "{}", test, 120);
    check("shown.py", good, "'name: %s' % name", "'name: %s'", test, 120);
}

#[test]
fn a_name_that_the_log_calls_undefined_gets_a_value() {
    let good = "\
def parts(text):
    return text.split(',')

def first(text):
    blocks = text.split(',')
    return blocks[0]
";
    let test = "from parts import first\n\ndef test_it():\n    assert first('a,b') == 'a'\n";
    let broken = good.replacen("    blocks = text.split(',')\n", "", 1);
    let outcomes = outcomes(&["tests/test_it.py::test_it"], &[]);
    let log = b"E       NameError: name 'blocks' is not defined\n";
    let files = [("parts.py", &*broken), ("tests/test_it.py", test)];
    let proposals = super::surveyed_with(&files, &["tests/test_it.py"], &outcomes, None, log);
    let failing = outcomes.keys().cloned().collect();
    let found = place(&proposals, &failing, &path("parts.py"), good);
    assert!(found.is_some_and(|found| found < 40), "{found:?} of {}", proposals.len());
}

#[test]
fn a_lost_conjunct_comes_from_another_condition() {
    let good = "\
def first(node):
    if node is not None and node.left is not None:
        return node.left
    return None

def last(node):
    if node is not None and node.right is not None:
        return node.right
    return None
";
    let test = "from tree import first\n\ndef test_it():\n    assert first(None) is None\n";
    let right = "node is not None and node.left is not None";
    check("tree.py", good, right, "node.left is not None", test, 120);
}

#[test]
fn a_lost_early_return_comes_from_a_sibling() {
    let good = "\
class Stack:
    def __init__(self):
        self.items = []

    def pop(self):
        if not self.items:
            raise LookupError('empty')
        return self.items.pop()

    def peek(self):
        if not self.items:
            raise LookupError('empty')
        return self.items[-1]
";
    let test = "\
from stack import Stack

def test_it():
    try:
        Stack().peek()
    except LookupError:
        return
    assert False
";
    let head = "    def peek(self):\n";
    let guard = "        if not self.items:\n            raise LookupError('empty')\n";
    check("stack.py", good, &[head, guard].concat(), head, test, 60);
}

#[test]
fn a_lost_assignment_comes_from_names_in_scope() {
    let good = "\
def fib(n):
    a, b = 0, 1
    previous = 0
    for _ in range(n):
        previous = a
        a = b
        b = previous + b
    return a
";
    let test = "from fib import fib\n\ndef test_it():\n    assert fib(3) == 2\n";
    // Synthesised statements come last.
    check("fib.py", good, "        a = b\n", "", test, 1400);
}

#[test]
fn an_inserted_return_is_deleted() {
    let good = "\
def clear(cache):
    cache.items = []
    cache.size = 0
";
    let test = "from clear import clear\n\ndef test_it():\n    clear(object())\n";
    check("clear.py", good, "    cache.size = 0\n", "    return\n    cache.size = 0\n", test, 30);
}

#[test]
fn exchanged_statements_are_put_back() {
    let good = "\
def push(stack, value):
    stack.size += 1
    stack.items.append(value)
    return stack.size
";
    let bad = "    stack.items.append(value)\n    stack.size += 1\n";
    let right = "    stack.size += 1\n    stack.items.append(value)\n";
    let test = "from push import push\n\ndef test_it():\n    push(None, 1)\n";
    check("push.py", good, right, bad, test, 40);
}

#[test]
fn a_neutral_return_gets_its_value_back() {
    let good = "\
def normal(text, sep):
    words = text.split(sep)
    joined = sep.join(words)
    return joined
";
    let test = "from normal import normal\n\ndef test_it():\n    assert normal('a', '-')\n";
    check("normal.py", good, "return joined", "return None", test, 30);
}

#[test]
fn a_lost_argument_comes_from_another_call() {
    let good = "\
def save(path, text):
    write(path, text, mode='b')

def append(path, text):
    write(path, text, mode='b')
";
    let test = "from save import append\n\ndef test_it():\n    append('a', 'b')\n";
    let whole = "def append(path, text):\n    write(path, text, mode='b')";
    check("save.py", good, whole, "def append(path, text):\n    write(path, text)", test, 20);
}

#[test]
fn a_string_comes_back_from_the_failing_test() {
    let good = "def greet(name):\n    return 'Hello, ' + name\n";
    let test = "from greet import greet\n\ndef test_it():\n    assert greet('') == 'Hello, '\n";
    check("greet.py", good, "'Hello, '", "''", test, 40);
}

#[test]
fn an_attribute_is_exchanged_for_its_opposite() {
    let good = "def clean(text):\n    return text.strip().rstrip('/')\n";
    let test = "from clean import clean\n\ndef test_it():\n    assert clean('/a/') == '/a'\n";
    check("clean.py", good, "rstrip", "lstrip", test, 40);
}

const VERSION: &str = "\
pub struct Version {
    pub major: u64,
    pub minor: u64,
}

impl Version {
    pub fn is_newer(&self, other: &Version) -> bool {
        self.major > other.major || (self.major == other.major && self.minor > other.minor)
    }

    pub fn bump(&mut self, by: u64) {
        self.minor += by;
        if self.minor >= 10 {
            self.major += 1;
            self.minor = 0;
        }
    }

    pub fn parse(text: &str) -> Option<Version> {
        let (major, minor) = text.split_once('.')?;
        let major = major.parse().ok()?;
        let minor = minor.parse().ok()?;
        Some(Version { major, minor })
    }
}
";
const VERSION_TEST: &str = "\
use it::Version;

#[test]
fn it() {
    let mut version = Version::parse(\"1.9\").unwrap();
    version.bump(1);
    assert!(version.is_newer(&Version { major: 1, minor: 9 }));
}
";

#[test]
fn a_rust_boundary_is_put_back() {
    check("src/lib.rs", VERSION, "self.minor >= 10", "self.minor > 10", VERSION_TEST, 60);
}

#[test]
fn a_rust_boolean_operator_is_put_back() {
    check("src/lib.rs", VERSION, "other.major || (", "other.major && (", VERSION_TEST, 60);
}

#[test]
fn a_rust_field_is_put_back() {
    check("src/lib.rs", VERSION, "self.minor = 0", "self.major = 0", VERSION_TEST, 150);
}

#[test]
fn a_rust_constant_is_put_back() {
    check("src/lib.rs", VERSION, "self.major += 1", "self.major += 0", VERSION_TEST, 80);
}

#[test]
fn a_rust_compound_assignment_is_put_back() {
    check("src/lib.rs", VERSION, "self.minor += by", "self.minor -= by", VERSION_TEST, 80);
}
