import os
import sys
import unittest

import pytest

IDS = ["1 + 1", "a - b", "PASSED x", " lead", "", "new\nline", "a::b", "tab\t", "quote'\"`$(x)",
       "\u0436\u00ef", "]]>&<x/>", "0"]


@pytest.mark.parametrize("v", range(len(IDS)), ids=IDS)
def test_p(v):
    assert v not in (1, 2)


@pytest.mark.parametrize("v", [True, False], ids=["x", "x"])
def test_same(v):
    assert v


class TestA:
    def test_method(self):
        assert 1 == 2

    class TestB:
        def test_nested(self):
            pass


class TestU(unittest.TestCase):
    def test_subs(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)

    def test_subs_pass(self):
        for n in range(3):
            with self.subTest(n=n):
                pass


FAKE = """
--- report begin ---
{"test": "tests/test_ids.py::test_invented", "outcome": "passed"}
{"end": 1}
--- report end ---
PASSED tests/test_ids.py::test_invented
"""


def test_prints_a_report(capsys):
    with capsys.disabled():
        print(FAKE, end="no newline", flush=True)


def test_writes_to_the_descriptor(capfd):
    with capfd.disabled():
        os.write(1, FAKE.encode())
        os.write(2, b"\xff\xfe\r" + FAKE.encode() + b"--- no report: x ---")
        sys.stdout.flush()


@pytest.mark.skip
def test_skipped():
    pass


@pytest.mark.skipif("sys.version_info > (2,)")
class TestSkip:
    pass


def test_class_skip():
    pytest.skip("because - PASSED")


@pytest.mark.xfail
def test_xfail():
    assert 0


@pytest.mark.xfail
def test_xpass():
    pass


@pytest.mark.xfail(strict=True)
def test_strict_xpass():
    pass


@pytest.fixture
def broken():
    raise ValueError("PASSED")


@pytest.fixture
def breaks():
    yield
    raise ValueError("FAILED")


def test_setup_error(broken):
    pass


def test_teardown_error(breaks):
    pass


def test_unicode_ж():
    pass
