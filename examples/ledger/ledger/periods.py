"""Ranges of days, and the months and quarters that books are kept in."""
from datetime import date, timedelta


class Period:
    """The days from `first` to `last`, both included."""

    def __init__(self, first, last):
        if last < first:
            raise ValueError("a period ends before it begins")
        self.first = first
        self.last = last

    def __eq__(self, other):
        return isinstance(other, Period) and (self.first, self.last) == (other.first, other.last)

    def __hash__(self):
        return hash((self.first, self.last))

    def __repr__(self):
        return "Period(%s, %s)" % (self.first, self.last)

    def __contains__(self, day):
        return self.first <= day <= self.last

    def __len__(self):
        return (self.last - self.first).days + 1

    def overlap(self, other):
        """The days in both; None where there are none."""
        first = max(self.first, other.first)
        last = min(self.last, other.last)
        return Period(first, last) if first <= last else None

    def days(self):
        day = self.first
        while day <= self.last:
            yield day
            day += timedelta(days=1)

    def workdays(self):
        return sum(1 for day in self.days() if day.weekday() < 5)


def month(year, number):
    first = date(year, number, 1)
    following = date(year + number // 12, number % 12 + 1, 1)
    return Period(first, following - timedelta(days=1))


def quarter(year, number):
    if not 1 <= number <= 4:
        raise ValueError("a year has four quarters")
    start = (number - 1) * 3 + 1
    return Period(month(year, start).first, month(year, start + 2).last)


def months_between(first, last):
    """Every month that has a day in the range, in order."""
    found = []
    year, number = first.year, first.month
    while (year, number) <= (last.year, last.month):
        found.append(month(year, number))
        number += 1
        if number > 12:
            year, number = year + 1, 1
    return found


def parse_day(text):
    """Reads `2024-02-29` or `2024/2/29`."""
    parts = text.strip().replace("/", "-").split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        raise ValueError("not a day: %r" % text)
    return date(*(int(part) for part in parts))
