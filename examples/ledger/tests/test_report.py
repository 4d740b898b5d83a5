import unittest
from datetime import date

from ledger.journal import parse
from ledger.money import Money
from ledger.report import balance_sheet, bars, rolled_up, table

JOURNAL = """\
2024-03-01 Shop
    expenses:food:fresh   20
    expenses:food          5.50
    assets:cash
2024-03-05 Employer
    assets:bank         1500
    income
"""


class TableTest(unittest.TestCase):
    def test_columns_are_padded(self):
        text = table([("a", 1, "x"), ("long", 100, "yy")])
        self.assertEqual(text, "a       1  x\nlong  100  yy")

    def test_heads_have_a_rule(self):
        text = table([("a", Money(5))], heads=("name", "sum"))
        self.assertEqual(text, "name       sum\n----  --------\na     0.05 EUR")

    def test_mixed_columns_stand_to_the_left(self):
        self.assertEqual(table([("a", 1), ("b", "xx")]), "a  1\nb  xx")

    def test_nothing(self):
        self.assertEqual(table([]), "")


class SheetTest(unittest.TestCase):
    def test_parents_hold_what_children_hold(self):
        found = rolled_up({"a:b": Money(1), "a:b:c": Money(2), "ab": Money(4)})
        self.assertEqual(found, {"a": Money(3), "a:b": Money(3), "a:b:c": Money(2), "ab": Money(4)})

    def test_whole_sheet(self):
        self.assertEqual(balance_sheet(parse(JOURNAL)), """\
assets      1,474.50 EUR
  bank      1,500.00 EUR
  cash        -25.50 EUR
expenses       25.50 EUR
  food         25.50 EUR
    fresh      20.00 EUR
income     -1,500.00 EUR""")

    def test_depth_and_day(self):
        text = balance_sheet(parse(JOURNAL), until=date(2024, 3, 4), depth=2)
        self.assertEqual(text, """\
assets    -25.50 EUR
  cash    -25.50 EUR
expenses   25.50 EUR
  food     25.50 EUR""")


class BarsTest(unittest.TestCase):
    def test_the_largest_is_as_wide_as_asked(self):
        text = bars({"a": Money(1000), "b": Money(-500), "c": Money(1), "d": Money(0)}, width=4)
        self.assertEqual(text, "a  10.00 EUR  ####\nb  -5.00 EUR  ##\nc   0.01 EUR  #\nd   0.00 EUR")

    def test_no_bars(self):
        self.assertEqual(bars({}), "")
        self.assertEqual(bars({"a": Money(0)}), "a  0.00 EUR")
