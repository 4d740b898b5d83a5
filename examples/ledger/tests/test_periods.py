import unittest
from datetime import date

from ledger.periods import Period, month, months_between, parse_day, quarter


class PeriodTest(unittest.TestCase):
    def setUp(self):
        self.week = Period(date(2024, 2, 26), date(2024, 3, 3))

    def test_both_ends_belong(self):
        self.assertIn(date(2024, 2, 26), self.week)
        self.assertIn(date(2024, 3, 3), self.week)
        self.assertNotIn(date(2024, 2, 25), self.week)
        self.assertNotIn(date(2024, 3, 4), self.week)
        self.assertEqual(len(self.week), 7)
        self.assertEqual(len(Period(date(2024, 1, 1), date(2024, 1, 1))), 1)

    def test_backwards_is_refused(self):
        with self.assertRaises(ValueError):
            Period(date(2024, 1, 2), date(2024, 1, 1))

    def test_overlap(self):
        february = month(2024, 2)
        self.assertEqual(self.week.overlap(february), Period(date(2024, 2, 26), date(2024, 2, 29)))
        self.assertEqual(february.overlap(self.week), self.week.overlap(february))
        self.assertIsNone(february.overlap(month(2024, 3)))
        touching = Period(date(2024, 2, 29), date(2024, 3, 9))
        self.assertEqual(len(february.overlap(touching)), 1)

    def test_days_and_workdays(self):
        self.assertEqual(len(list(self.week.days())), 7)
        self.assertEqual(list(self.week.days())[-1], date(2024, 3, 3))
        self.assertEqual(self.week.workdays(), 5)
        self.assertEqual(month(2024, 2).workdays(), 21)

    def test_equality(self):
        self.assertEqual(month(2024, 2), Period(date(2024, 2, 1), date(2024, 2, 29)))
        self.assertEqual(len({month(2024, 2), month(2024, 2), month(2023, 2)}), 2)


class CalendarTest(unittest.TestCase):
    def test_months_end_right(self):
        self.assertEqual(month(2023, 2).last, date(2023, 2, 28))
        self.assertEqual(month(2023, 12), Period(date(2023, 12, 1), date(2023, 12, 31)))
        self.assertEqual(month(2024, 4).last, date(2024, 4, 30))

    def test_quarters(self):
        self.assertEqual(quarter(2024, 1), Period(date(2024, 1, 1), date(2024, 3, 31)))
        self.assertEqual(quarter(2024, 4), Period(date(2024, 10, 1), date(2024, 12, 31)))
        for number in (0, 5):
            with self.assertRaises(ValueError):
                quarter(2024, number)

    def test_months_between(self):
        found = months_between(date(2023, 11, 30), date(2024, 2, 1))
        self.assertEqual([(p.first.year, p.first.month) for p in found],
                         [(2023, 11), (2023, 12), (2024, 1), (2024, 2)])
        self.assertEqual(months_between(date(2024, 2, 1), date(2024, 1, 31)), [])

    def test_parse_day(self):
        self.assertEqual(parse_day("2024-02-29"), date(2024, 2, 29))
        self.assertEqual(parse_day(" 2024/2/9 "), date(2024, 2, 9))
        for text in ["", "2024-2", "2023-02-29", "a-b-c", "2024-1-1-1"]:
            with self.subTest(text), self.assertRaises(ValueError):
                parse_day(text)
