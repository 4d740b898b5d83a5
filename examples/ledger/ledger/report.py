"""Reports in plain text."""
from ledger.journal import balances, below
from ledger.money import Money, total


def table(rows, heads=None):
    """Columns padded to their widest cell; amounts and numbers stand to the right."""
    lines = [heads] if heads else []
    lines += rows
    if not lines:
        return ""
    cells = [[str(cell) for cell in line] for line in lines]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    right = [all(isinstance(row[column], (Money, int)) for row in rows) for column in range(len(widths))]
    text = []
    for line in cells:
        padded = []
        for cell, width, to_right in zip(line, widths, right):
            padded.append(cell.rjust(width) if to_right else cell.ljust(width))
        text.append("  ".join(padded).rstrip())
    if heads:
        text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text)


def rolled_up(amounts):
    """Adds what every account's children hold to the account itself."""
    accounts = set()
    for account in amounts:
        parts = account.split(":")
        for depth in range(1, len(parts) + 1):
            accounts.add(":".join(parts[:depth]))
    return {
        account: total([amount for name, amount in amounts.items() if below(name, account)])
        for account in sorted(accounts)
    }


def balance_sheet(transactions, until=None, depth=None):
    """An indented tree of accounts with what each and all below it hold."""
    rows = []
    for account, amount in rolled_up(balances(transactions, until)).items():
        level = account.count(":")
        if depth is not None and level >= depth:
            continue
        rows.append(("  " * level + account.rsplit(":", 1)[-1], amount))
    return table(rows)


def bars(amounts, width=20):
    """One bar a line, the largest as wide as asked; what is not zero gets at least one mark."""
    largest = max((abs(amount.cents) for amount in amounts.values()), default=0)
    rows = []
    for name, amount in amounts.items():
        marks = abs(amount.cents) * width // largest if largest else 0
        if amount and marks == 0:
            marks = 1
        rows.append((name, amount, "#" * marks))
    return table(rows)
