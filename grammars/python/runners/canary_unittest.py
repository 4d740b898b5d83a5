import unittest


class Test@F@(unittest.TestCase):
    def test_@a@(self):
        values = [@1@, @2@, @3@]
        self.assertEqual(sorted(values, reverse=True), [@3@, @2@, @1@])

    def test_@b@(self):
        self.assertEqual(@4@, @5@)

    def test_@c@(self):
        self.assertEqual(object(), object())

    def test_@d@(self):
        self.assertEqual([@1@, {"@c@": @6@}, "@a@"], [@1@, {"@c@": @7@}, "@a@"])

    def test_@e@(self):
        with self.assertRaises(ValueError):
            self.assertEqual(int("@8@"), @8@)

    def test_@g@(self):
        assert not isinstance(@9@, int)
