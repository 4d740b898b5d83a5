"""Prices in whole cents."""


def with_tax(cents, percent):
    """The price with tax, rounded half up."""
    return cents + (cents * percent + 50) // 100


def discount(cents, percent):
    if percent < 0 or percent > 100:
        raise ValueError("percent")
    return cents - cents * percent // 100


def cheapest(prices):
    best = None
    for price in prices:
        if best is None or price < best:
            best = price
    return best
