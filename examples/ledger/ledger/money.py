"""Amounts of money: a whole number of cents in one currency."""
from functools import total_ordering

SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP"}


class MoneyError(ValueError):
    """An amount that cannot be read or combined."""


@total_ordering
class Money:
    __slots__ = ("cents", "currency")

    def __init__(self, cents, currency="EUR"):
        if not isinstance(cents, int):
            raise MoneyError("cents must be a whole number")
        self.cents = cents
        self.currency = currency

    @classmethod
    def parse(cls, text):
        """Reads `12.50 EUR`, `-3`, `$1,200.5`."""
        text = text.strip()
        negative = text.startswith("-")
        if negative:
            text = text[1:].strip()
        currency = "EUR"
        if text and text[0] in SYMBOLS:
            currency = SYMBOLS[text[0]]
            text = text[1:]
        elif " " in text:
            text, currency = text.rsplit(" ", 1)
        whole, dot, fraction = text.strip().replace(",", "").partition(".")
        if not whole.isdigit() or (dot and not fraction.isdigit()) or len(fraction) > 2:
            raise MoneyError("not an amount: %r" % text)
        if len(currency) != 3 or not currency.isupper():
            raise MoneyError("not a currency: %r" % currency)
        cents = int(whole) * 100 + int(fraction.ljust(2, "0") or "0")
        return cls(-cents if negative else cents, currency)

    def _same(self, other):
        if self.currency != other.currency:
            raise MoneyError("cannot mix %s and %s" % (self.currency, other.currency))

    def __add__(self, other):
        self._same(other)
        return Money(self.cents + other.cents, self.currency)

    def __sub__(self, other):
        self._same(other)
        return Money(self.cents - other.cents, self.currency)

    def __neg__(self):
        return Money(-self.cents, self.currency)

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.cents == other.cents and self.currency == other.currency

    def __lt__(self, other):
        self._same(other)
        return self.cents < other.cents

    def __hash__(self):
        return hash((self.cents, self.currency))

    def __bool__(self):
        return self.cents != 0

    def __repr__(self):
        return "Money(%d, %r)" % (self.cents, self.currency)

    def __str__(self):
        sign = "-" if self.cents < 0 else ""
        whole, fraction = divmod(abs(self.cents), 100)
        return "%s%s.%02d %s" % (sign, "{:,}".format(whole), fraction, self.currency)

    def share(self, percent):
        """A percentage, rounded half away from zero."""
        scaled = abs(self.cents) * percent
        rounded = (scaled + 50) // 100
        return Money(rounded if self.cents >= 0 else -rounded, self.currency)

    def split(self, weights):
        """Parts in proportion to the weights that add up to the whole; the first ones take the odd cents."""
        total = sum(weights)
        if total <= 0 or any(weight < 0 for weight in weights):
            raise MoneyError("weights must be positive")
        size = abs(self.cents)
        parts = [size * weight // total for weight in weights]
        left = size - sum(parts)
        for place in range(len(parts)):
            if left == 0:
                break
            if weights[place] > 0:
                parts[place] += 1
                left -= 1
        sign = 1 if self.cents >= 0 else -1
        return [Money(sign * part, self.currency) for part in parts]


def total(amounts, currency="EUR"):
    """The sum of amounts; zero of the currency where there are none."""
    amounts = list(amounts)
    result = Money(0, amounts[0].currency if amounts else currency)
    for amount in amounts:
        result = result + amount
    return result
