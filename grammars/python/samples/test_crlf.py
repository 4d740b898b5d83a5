import pytest


def add(a, b):
    total = a + b
    return total


def test_add():
    total = add(1, 2)

    assert total == 3
    if total:
        assert add(2, 2) == 4
    else:
        total = 0


def test_other():
    assert add(0, 0) == 0