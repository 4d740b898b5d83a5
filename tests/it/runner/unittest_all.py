import sys
import unittest


class TestAll(unittest.TestCase):
    def test_pass(self):
        """A docstring that must not replace the name."""

    def test_fail(self):
        self.assertEqual(1, 2)

    def test_error(self):
        raise ValueError

    def test_leaves(self):
        sys.exit(0)

    def test_skip(self):
        self.skipTest("no")

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    def test_subs(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)

    def test_subs_skip(self):
        for n in range(3):
            with self.subTest(n=n):
                if n == 1:
                    self.skipTest("no")

    def test_prints(self):
        print('--- report begin ---\n{"test": "x", "outcome": "passed"}\n{"end": 1}\n--- report end ---', end="")


@unittest.skip("all")
class TestSkipped(unittest.TestCase):
    def test_one(self):
        pass


class TestClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError

    def test_never(self):
        pass


class TestDown(unittest.TestCase):
    def tearDown(self):
        raise ValueError

    def test_down(self):
        pass
