import unittest

from ledger.money import Money, MoneyError, total


class ParseTest(unittest.TestCase):
    def test_plain_amounts(self):
        self.assertEqual(Money.parse("12.50 EUR"), Money(1250))
        self.assertEqual(Money.parse("3"), Money(300))
        self.assertEqual(Money.parse("0.05"), Money(5))
        self.assertEqual(Money.parse("7.5 USD"), Money(750, "USD"))

    def test_signs_and_symbols(self):
        self.assertEqual(Money.parse("-3.10"), Money(-310))
        self.assertEqual(Money.parse("$1,200.5"), Money(120050, "USD"))
        self.assertEqual(Money.parse("- £2"), Money(-200, "GBP"))

    def test_what_is_no_amount(self):
        for text in ["", "x", "1.234", "1.", "1.x", "--1", "1 euro", "1 EURO", "1.2.3"]:
            with self.subTest(text), self.assertRaises(MoneyError):
                Money.parse(text)

    def test_cents_are_whole(self):
        with self.assertRaises(MoneyError):
            Money(1.5)


class ArithmeticTest(unittest.TestCase):
    def test_sums_and_differences(self):
        self.assertEqual(Money(150) + Money(275), Money(425))
        self.assertEqual(Money(150) - Money(275), Money(-125))
        self.assertEqual(-Money(150), Money(-150))

    def test_currencies_do_not_mix(self):
        for combine in (Money.__add__, Money.__sub__, Money.__lt__):
            with self.assertRaises(MoneyError):
                combine(Money(1), Money(1, "USD"))
        self.assertNotEqual(Money(1), Money(1, "USD"))
        self.assertNotEqual(Money(1), 1)

    def test_order_and_truth(self):
        self.assertLess(Money(-5), Money(3))
        self.assertGreaterEqual(Money(3), Money(3))
        self.assertTrue(Money(-1))
        self.assertFalse(Money(0))
        self.assertEqual(len({Money(1), Money(1), Money(1, "USD")}), 2)

    def test_text(self):
        self.assertEqual(str(Money(123456789)), "1,234,567.89 EUR")
        self.assertEqual(str(Money(-5, "USD")), "-0.05 USD")
        self.assertEqual(repr(Money(-5)), "Money(-5, 'EUR')")

    def test_total(self):
        self.assertEqual(total([Money(1, "USD"), Money(2, "USD")]), Money(3, "USD"))
        self.assertEqual(total([], "GBP"), Money(0, "GBP"))


class ShareTest(unittest.TestCase):
    def test_shares_round_half_away_from_zero(self):
        self.assertEqual(Money(1050).share(50), Money(525))
        self.assertEqual(Money(5).share(50), Money(3))
        self.assertEqual(Money(-5).share(50), Money(-3))
        self.assertEqual(Money(1).share(49), Money(0))

    def test_splits_lose_no_cent(self):
        self.assertEqual(Money(100).split([1, 1, 1]), [Money(34), Money(33), Money(33)])
        self.assertEqual(Money(-101).split([1, 1]), [Money(-51), Money(-50)])
        self.assertEqual(Money(5).split([0, 1, 1]), [Money(0), Money(3), Money(2)])
        self.assertEqual(total(Money(9999).split([3, 5, 7])), Money(9999))

    def test_bad_weights(self):
        for weights in ([], [0], [2, -1]):
            with self.subTest(weights), self.assertRaises(MoneyError):
                Money(1).split(weights)
