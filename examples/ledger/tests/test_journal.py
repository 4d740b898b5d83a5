import unittest
from datetime import date

from ledger.journal import JournalError, balances, below, parse
from ledger.money import Money

TEXT = """\
# A comment.
2024-03-01 * Corner shop ; weekly
    expenses:food       23.40 EUR
    assets:cash        -20.00 EUR  ; a note
    assets:card

2024-03-05 Employer
    assets:bank         1,500.00
    income:salary
2024-03-09 Landlord
    expenses:rent       700
    # in between
    assets:bank        -700
"""


class ParseTest(unittest.TestCase):
    def test_heads(self):
        shop, employer, landlord = parse(TEXT)
        self.assertEqual(shop.day, date(2024, 3, 1))
        self.assertEqual((shop.payee, shop.note, shop.cleared), ("Corner shop", "weekly", True))
        self.assertEqual((employer.payee, employer.note, employer.cleared), ("Employer", "", False))
        self.assertEqual(landlord.payee, "Landlord")

    def test_a_missing_amount_balances(self):
        shop, employer, _ = parse(TEXT)
        self.assertEqual([p.amount for p in shop.postings], [Money(2340), Money(-2000), Money(-340)])
        self.assertEqual(employer.postings[1].amount, Money(-150000))

    def test_amount_of_an_account_and_those_below(self):
        shop = parse(TEXT)[0]
        self.assertEqual(shop.amount_of("assets"), Money(-2340))
        self.assertEqual(shop.amount_of("expenses:food"), Money(2340))
        self.assertEqual(shop.amount_of("income"), Money(0))

    def test_below(self):
        self.assertTrue(below("a:b", "a"))
        self.assertTrue(below("a", "a"))
        self.assertFalse(below("ab", "a"))
        self.assertFalse(below("a", "a:b"))

    def test_empty(self):
        self.assertEqual(parse(""), [])
        self.assertEqual(parse("\n\n# nothing\n"), [])

    def check_error(self, text, line, words):
        with self.assertRaises(JournalError) as caught:
            parse(text)
        self.assertEqual(caught.exception.line, line)
        self.assertIn(words, str(caught.exception))

    def test_errors_name_the_line(self):
        self.check_error("\n  a  1\n", 2, "without a transaction")
        self.check_error("soon Shop\n  a  1\n  b\n", 1, "not a day")
        self.check_error("2024-01-01 Shop\n  a  x\n  b\n", 2, "not an amount")

    def test_transactions_must_balance(self):
        self.check_error("2024-01-01 Shop\n  a  1\n  b  -1.01\n", 1, "off by -0.01 EUR")
        self.check_error("2024-01-01 Shop\n  a  1\n", 1, "two postings")
        self.check_error("2024-01-01 Shop\n  a  1\n  b\n  c\n", 1, "only one amount")
        self.check_error("2024-01-01 Shop\n  a  1 EUR\n  b  -1 USD\n", 1, "cannot mix")


class BalancesTest(unittest.TestCase):
    def test_all(self):
        self.assertEqual(balances(parse(TEXT)), {
            "assets:bank": Money(80000), "assets:card": Money(-340), "assets:cash": Money(-2000),
            "expenses:food": Money(2340), "expenses:rent": Money(70000), "income:salary": Money(-150000)})

    def test_until_a_day(self):
        found = balances(parse(TEXT), until=date(2024, 3, 5))
        self.assertEqual(found["assets:bank"], Money(150000))
        self.assertNotIn("expenses:rent", found)

    def test_what_is_even_is_left_out(self):
        text = "2024-01-01 Loan\n  a  5\n  b\n2024-01-02 Back\n  a  -5\n  b\n"
        self.assertEqual(balances(parse(text)), {})
