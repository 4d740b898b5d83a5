"""Transactions and the text format they are kept in.

    2024-03-01 * Corner shop ; weekly
        expenses:food       23.40 EUR
        assets:cash        -20.00 EUR
        assets:card

The amount of one posting may be left out: it balances the others.
"""
from ledger.money import Money, total
from ledger.periods import parse_day


class JournalError(ValueError):
    def __init__(self, line, reason):
        super().__init__("line %d: %s" % (line, reason))
        self.line = line
        self.reason = reason


class Posting:
    def __init__(self, account, amount):
        self.account = account
        self.amount = amount


class Transaction:
    def __init__(self, day, payee, postings, cleared=False, note=""):
        self.day = day
        self.payee = payee
        self.postings = postings
        self.cleared = cleared
        self.note = note

    def amount_of(self, account):
        """What the transaction moves in an account and those below it."""
        found = [p.amount for p in self.postings if below(p.account, account)]
        return total(found, self.postings[0].amount.currency)


def below(account, parent):
    """Whether an account is another one or lies below it."""
    return account == parent or account.startswith(parent + ":")


def parse(text):
    """All transactions of a journal, in the order of the text."""
    transactions = []
    block = []
    for number, line in enumerate(text.splitlines() + [""], start=1):
        if line.lstrip().startswith("#"):
            continue
        if line.strip() and (line[0].isspace() or not block):
            block.append((number, line))
        elif block:
            transactions.append(_transaction(block))
            block = [(number, line)] if line.strip() else []
    if block:
        transactions.append(_transaction(block))
    return transactions


def _transaction(block):
    number, head = block[0]
    if head[0].isspace():
        raise JournalError(number, "a posting without a transaction")
    head, _, note = head.partition(";")
    words = head.split(None, 1)
    try:
        day = parse_day(words[0])
    except ValueError as error:
        raise JournalError(number, str(error))
    payee = words[1].strip() if len(words) > 1 else ""
    cleared = payee.startswith("*")
    if cleared:
        payee = payee[1:].strip()
    postings = [_posting(number, line) for number, line in block[1:]]
    _balance(block[0][0], postings)
    return Transaction(day, payee, postings, cleared, note.strip())


def _posting(number, line):
    parts = line.partition(";")[0].strip().split("  ", 1)
    account = parts[0].strip()
    amount = parts[1].strip() if len(parts) > 1 else ""
    try:
        return Posting(account, Money.parse(amount) if amount else None)
    except ValueError as error:
        raise JournalError(number, str(error))


def _balance(number, postings):
    if len(postings) < 2:
        raise JournalError(number, "a transaction needs two postings")
    known = [posting.amount for posting in postings if posting.amount is not None]
    missing = [posting for posting in postings if posting.amount is None]
    if len(missing) > 1 or not known:
        raise JournalError(number, "only one amount may be left out")
    try:
        rest = total(known)
    except ValueError as error:
        raise JournalError(number, str(error))
    if missing:
        missing[0].amount = -rest
    elif rest:
        raise JournalError(number, "off by %s" % rest)


def balances(transactions, until=None):
    """Account to balance; days after `until` do not count."""
    result = {}
    for transaction in transactions:
        if until is not None and transaction.day > until:
            continue
        for posting in transaction.postings:
            before = result.get(posting.account, Money(0, posting.amount.currency))
            result[posting.account] = before + posting.amount
    return {account: amount for account, amount in sorted(result.items()) if amount}
