"""Two operations."""


def add(a, b):
    return a + b


def scale(values, factor):
    return [value * factor for value in values]
