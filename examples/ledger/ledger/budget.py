"""Budgets: what a category may cost a month, and what is left of it."""
from ledger.money import Money, total
from ledger.periods import Period, months_between
from ledger.rules import size


class Budget:
    def __init__(self, category, monthly, carry=False):
        self.category = category
        self.monthly = monthly
        self.carry = carry

    def allowance(self, period):
        """What a period may cost: whole months in full, parts of months by their days, rounded down."""
        cents = 0
        for whole in months_between(period.first, period.last):
            part = whole.overlap(period)
            cents += self.monthly.cents * len(part) // len(whole)
        return Money(cents, self.monthly.currency)


def spent(transactions, period):
    amounts = [Money(size(t), t.postings[0].amount.currency) for t in transactions if t.day in period]
    return total(amounts)


def remaining(budget, transactions, first, last):
    """One row a month: month, allowance, spent, left. What is left moves on where the budget carries it."""
    rows = []
    carried = Money(0, budget.monthly.currency)
    for period in months_between(first, last):
        allowed = budget.monthly + carried
        cost = spent(transactions, period)
        left = allowed - cost
        rows.append((period, allowed, cost, left))
        carried = left if budget.carry else Money(0, budget.monthly.currency)
    return rows


def warnings(budget, transactions, day):
    """Words about the month so far: over the budget, or on the way there."""
    this = months_between(day, day)[0]
    so_far = Period(this.first, day)
    cost = spent(transactions, so_far)
    if cost > budget.monthly:
        return "%s is over its budget by %s" % (budget.category, cost - budget.monthly)
    projected = cost.cents * len(this) // len(so_far)
    if projected > budget.monthly.cents and len(so_far) >= 7:
        return "%s is on the way to %s" % (budget.category, Money(projected, cost.currency))
    return ""
