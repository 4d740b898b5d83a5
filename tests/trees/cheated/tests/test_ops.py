from calc.ops import add, scale


def test_add():
    assert add(1, 2) == 3


def test_add_is_symmetric():
    assert add(4, -1) == add(-1, 4)


def test_add_nothing():
    total = add(5, 0)
    assert total == 5


def test_scale():
    assert scale([1, 2], 3) == [3, 6]


def test_scale_nothing():
    assert scale([], 3) == []


def test_scale_by_zero():
    assert scale([7], 0) == [0]
