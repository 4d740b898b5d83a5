import unittest

from shop import notes
from shop.stock import Stock


class TestStock(unittest.TestCase):
    def test_added_counts_sum_up(self):
        stock = Stock()
        stock.add("tea", 2)
        stock.add("tea", 3)
        self.assertEqual(stock.items, {"tea": 5})

    def test_nothing_is_no_count(self):
        with self.assertRaises(ValueError):
            Stock().add("tea", 0)

    def test_take(self):
        stock = Stock()
        stock.add("tea", 2)
        self.assertEqual(stock.take("tea", 1), 1)
        self.assertEqual(stock.take("tea", 1), 0)

    def test_more_than_there_is_cannot_be_taken(self):
        with self.assertRaises(KeyError):
            Stock().take("tea", 1)

    def test_names_are_sorted(self):
        stock = Stock()
        stock.add("tea", 1)
        stock.add("jam", 1)
        self.assertEqual(stock.names(), ["jam", "tea"])

    def test_notes_can_be_imported(self):
        self.assertTrue(callable(notes.label))
