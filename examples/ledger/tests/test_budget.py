import unittest
from datetime import date

from ledger.budget import Budget, remaining, spent, warnings
from ledger.journal import parse
from ledger.money import Money
from ledger.periods import Period, month


def costs(*days_and_amounts):
    text = "".join("%s x\n  expenses  %s\n  cash\n" % pair for pair in days_and_amounts)
    return parse(text)


class BudgetTest(unittest.TestCase):
    def setUp(self):
        self.food = Budget("food", Money(31000))

    def test_allowance_of_whole_and_part_months(self):
        self.assertEqual(self.food.allowance(month(2024, 1)), Money(31000))
        self.assertEqual(self.food.allowance(Period(date(2024, 1, 1), date(2024, 2, 29))), Money(62000))
        self.assertEqual(self.food.allowance(Period(date(2024, 1, 31), date(2024, 2, 1))), Money(1000 + 1068))

    def test_spent_within_a_period(self):
        found = costs(("2024-01-31", "1"), ("2024-02-01", "2"), ("2024-02-29", "4"), ("2024-03-01", "8"))
        self.assertEqual(spent(found, month(2024, 2)), Money(600))
        self.assertEqual(spent([], month(2024, 2)), Money(0))

    def test_remaining_starts_anew_each_month(self):
        found = costs(("2024-01-05", "300"), ("2024-02-05", "320"))
        rows = remaining(self.food, found, date(2024, 1, 1), date(2024, 3, 1))
        self.assertEqual([row[1:] for row in rows], [
            (Money(31000), Money(30000), Money(1000)),
            (Money(31000), Money(32000), Money(-1000)),
            (Money(31000), Money(0), Money(31000))])

    def test_remaining_is_carried_where_asked(self):
        found = costs(("2024-01-05", "300"), ("2024-02-05", "330"))
        rows = remaining(Budget("food", Money(31000), carry=True), found, date(2024, 1, 1), date(2024, 3, 1))
        self.assertEqual([row[3] for row in rows], [Money(1000), Money(-1000), Money(30000)])
        self.assertEqual(rows[1][0], month(2024, 2))


class WarningsTest(unittest.TestCase):
    def setUp(self):
        self.food = Budget("food", Money(31000))

    def test_over(self):
        found = costs(("2024-01-03", "310.01"))
        self.assertEqual(warnings(self.food, found, date(2024, 1, 3)), "food is over its budget by 0.01 EUR")

    def test_on_the_way(self):
        found = costs(("2024-01-03", "80"))
        self.assertEqual(warnings(self.food, found, date(2024, 1, 7)), "food is on the way to 354.28 EUR")
        self.assertEqual(warnings(self.food, found, date(2024, 1, 6)), "")
        self.assertEqual(warnings(self.food, found, date(2024, 1, 9)), "")

    def test_within(self):
        found = costs(("2024-01-03", "310"), ("2023-12-31", "50"), ("2024-02-01", "50"))
        self.assertEqual(warnings(self.food, found, date(2024, 1, 31)), "")
