"""Rules that give transactions a category: the first one that matches wins.

    food     payee ~ shop and amount < 100
    rent     payee = Landlord
    travel   payee ~ rail or payee ~ air and not note ~ refund
"""
from ledger.money import Money


class RuleError(ValueError):
    pass


def tokens(text):
    """Words; quotes keep blanks together."""
    found, word, quoted = [], "", False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif letter.isspace() and not quoted:
            if word:
                found.append(word)
            word = ""
        else:
            word += letter
    if quoted:
        raise RuleError("a quote is not closed")
    if word:
        found.append(word)
    return found


class Parser:
    """`or` binds weakest, then `and`, then `not`."""

    def __init__(self, words):
        self.words = words
        self.place = 0

    def peek(self):
        return self.words[self.place] if self.place < len(self.words) else None

    def take(self):
        word = self.peek()
        if word is None:
            raise RuleError("the rule ends too early")
        self.place += 1
        return word

    def either(self):
        test = self.both()
        while self.peek() == "or":
            self.take()
            test = _or(test, self.both())
        return test

    def both(self):
        test = self.single()
        while self.peek() == "and":
            self.take()
            test = _and(test, self.single())
        return test

    def single(self):
        if self.peek() == "not":
            self.take()
            test = self.single()
            return lambda transaction: not test(transaction)
        return comparison(self.take(), self.take(), self.take())


def _or(left, right):
    return lambda transaction: left(transaction) or right(transaction)


def _and(left, right):
    return lambda transaction: left(transaction) and right(transaction)


def size(transaction):
    """The money that changes hands: what all positive postings add up to, in cents."""
    return sum(p.amount.cents for p in transaction.postings if p.amount.cents > 0)


def comparison(field, operator, value):
    if field == "amount":
        cents = Money.parse(value).cents
        if operator == "<":
            return lambda transaction: size(transaction) < cents
        if operator == ">":
            return lambda transaction: size(transaction) > cents
        if operator == "=":
            return lambda transaction: size(transaction) == cents
    elif field in ("payee", "note"):
        wanted = value.lower()
        if operator == "=":
            return lambda transaction: getattr(transaction, field).lower() == wanted
        if operator == "~":
            return lambda transaction: wanted in getattr(transaction, field).lower()
    raise RuleError("cannot test %s %s" % (field, operator))


class Rules:
    def __init__(self, text, default="other"):
        self.default = default
        self.rules = []
        for line in text.splitlines():
            line = line.partition("#")[0].strip()
            if line:
                category, _, condition = line.partition(" ")
                parser = Parser(tokens(condition))
                test = parser.either()
                if parser.peek() is not None:
                    raise RuleError("what does %r mean?" % parser.peek())
                self.rules.append((category, test))

    def category(self, transaction):
        for category, test in self.rules:
            if test(transaction):
                return category
        return self.default

    def group(self, transactions):
        groups = {}
        for transaction in transactions:
            groups.setdefault(self.category(transaction), []).append(transaction)
        return groups
