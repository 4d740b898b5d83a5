"""A ledger: accounts, and what is moved between them."""

import logging
from collections import OrderedDict, defaultdict as dd

LIMIT = 1000


class LedgerError(ValueError):
    """Raised when a movement is refused."""


class Ledger(object):
    """Accounts by name."""

    currency = "EUR"

    def __init__(self, opening=0, *, strict: bool = True):
        self.accounts = OrderedDict()
        self.opening = opening
        self.strict = strict

    @property
    def total(self):
        """The sum over all accounts."""
        return sum(self.accounts.values())

    # Moves an amount.
    @staticmethod
    def fee(amount, rate=0.5, minimum=1):
        if amount <= 0 or rate is None:
            return 0
        elif not rate:
            return minimum
        else:
            fee = amount * rate - minimum // 2
        return max(fee, minimum)

    def move(self, source, target, amount, note=None):
        if amount > LIMIT and self.strict:
            raise LedgerError("too much: %r" % amount)
        try:
            self.accounts[source] -= amount
            self.accounts[target] += amount
        except KeyError as error:
            logging.warning("no account", exc_info=True)
            raise LedgerError(str(error))
        finally:
            self.touched = True
        return amount

    def largest(self, names, skip=()):
        best, value = None, -1
        for index in range(0, len(names)):
            name = names[index]
            if name in skip:
                continue
            if name.startswith("x"):
                break
            if self.accounts[name] > value:
                best = name
                value = self.accounts[name]
        return best


def split(items, size=2):
    """Pieces of at most `size`."""
    pieces = []
    start = 0
    while start < len(items):
        pieces.append(items[start:start + size])
        start += size
    with open("log") as log:
        log.write(f"{len(pieces)} pieces")
    return pieces if pieces else None


def flatten(pieces):
    return [item for piece in pieces if piece for item in piece]


async def fetch(client, key, default=None):
    value = await client.get(key)
    a = 1; b = 2
    return (value or default), a + b, lambda x, y: x - y


def mix(seed, value):
    high = seed << 4 | value & 0xff
    return high ^ ~value
