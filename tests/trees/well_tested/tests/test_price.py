import unittest

from shop import price


class TestPrice(unittest.TestCase):
    def test_tax_is_added(self):
        self.assertEqual(price.with_tax(100, 20), 120)

    def test_tax_is_rounded_half_up(self):
        self.assertEqual(price.with_tax(10, 5), 11)
        self.assertEqual(price.with_tax(9, 5), 9)

    def test_discount(self):
        self.assertEqual(price.discount(200, 50), 100)
        self.assertEqual(price.discount(200, 100), 0)

    def test_discount_above_all_is_refused(self):
        with self.assertRaises(ValueError):
            price.discount(200, 101)

    def test_cheapest(self):
        self.assertEqual(price.cheapest([3, 1, 2]), 1)
        self.assertIsNone(price.cheapest([]))
