import pytest


def test_@a@():
    values = [@1@, @2@, @3@]
    assert sorted(values, reverse=True) == [@3@, @2@, @1@]


def test_@b@():
    assert @4@ == @5@


def test_@c@():
    first, second = object(), object()
    assert first == second


@pytest.mark.parametrize("left, right", [([@1@, @2@], [@1@, @3@]), ({"@c@": @6@}, {"@c@": @7@}), ("@a@", "@b@")])
def test_@d@(left, right):
    assert left == right


def test_@e@():
    with pytest.raises(ValueError):
        assert int("@8@") == @8@


class Test@F@:
    def test_@g@(self):
        assert not isinstance(@9@, int)
