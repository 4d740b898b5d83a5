import unittest

import pytest

from ledger import Ledger, LedgerError, split


def assert_total(ledger, total):
    assert ledger.total == total


@pytest.mark.parametrize("size", [1, 2])
def test_split(size):
    """Every item is in one piece."""
    pieces = split([1, 2, 3], size)
    assert sum(len(piece) for piece in pieces) == 3

    assert pieces[0][0] == 1  # the first one


def test_only_assertion():
    assert Ledger(3).opening == 3


# Refuses what is too much.
def test_refuses():
    ledger = Ledger()
    with pytest.raises(LedgerError):
        ledger.move("a", "b", 2000)
    for name in "ab":
        assert name not in ledger.accounts


class TestMoves(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger()

    def test_move(self):
        self.ledger.accounts.update(a=5, b=0)
        self.assertEqual(self.ledger.move("a", "b", 2), 2)
        assert_total(self.ledger, 5)
        with self.assertRaises(LedgerError) as caught:
            self.ledger.move("a", "c", 1)
        self.assertIn("c", str(caught.exception))


class TestFee:
    def test_fee(self):
        assert Ledger.fee(0) == 0
