import unittest

from ledger.journal import parse
from ledger.rules import RuleError, Rules, size, tokens

RULES = """
food    payee ~ shop and amount < 100   # small ones
rent    payee = Landlord
travel  payee ~ rail or payee ~ air and not note ~ refund
exact   amount = 12.34
large   amount > 500
quoted  payee = "two words"
"""


def spend(payee, amount, note=""):
    return parse("2024-01-01 %s ; %s\n  expenses  %s\n  cash\n" % (payee, note, amount))[0]


class RulesTest(unittest.TestCase):
    def setUp(self):
        self.rules = Rules(RULES)

    def check(self, category, *transaction):
        self.assertEqual(self.rules.category(spend(*transaction)), category)

    def test_payees(self):
        self.check("food", "The SHOP", "99.99")
        self.check("other", "The shop", "100")
        self.check("rent", "landlord", "3")
        self.check("other", "landlord & co", "3")
        self.check("quoted", "Two words", "3")

    def test_amounts(self):
        self.check("exact", "x", "12.34")
        self.check("large", "x", "500.01")
        self.check("other", "x", "500")

    def test_and_binds_more_than_or(self):
        self.check("travel", "Rail", "10", "refund")
        self.check("other", "Airline", "10", "a refund")
        self.check("travel", "Airline", "10", "holiday")

    def test_the_first_rule_wins(self):
        self.check("food", "airshop", "5")
        self.check("rent", "Landlord", "700")

    def test_default(self):
        self.assertEqual(Rules("", default="none").category(spend("x", "1")), "none")

    def test_groups(self):
        groups = self.rules.group([spend("shop", "1"), spend("x", "1"), spend("shop", "2")])
        self.assertEqual([(name, len(group)) for name, group in groups.items()], [("food", 2), ("other", 1)])

    def test_size_counts_what_comes_in(self):
        three = parse("2024-01-01 x\n  a  3\n  b  4\n  c  -7\n")[0]
        self.assertEqual(size(three), 700)

    def test_tokens(self):
        self.assertEqual(tokens('a "b c"  d'), ["a", "b c", "d"])
        self.assertEqual(tokens(""), [])
        with self.assertRaises(RuleError):
            tokens('a "b')

    def test_rules_that_make_no_sense(self):
        for rule in ["a", "a payee", "a payee = x y", "a payee < x", "a amount ~ 3", "a colour = red",
                     "a payee = x or", "a not"]:
            with self.subTest(rule), self.assertRaises(RuleError):
                Rules(rule)
