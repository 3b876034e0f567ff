import sys
import time
import unittest

from graph import order

LIMIT = sys.getrecursionlimit()


class HiddenTest(unittest.TestCase):
    def test_cycle_is_named(self):
        for targets in ({"x": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]}, {"c": ["a"], "a": ["b"], "b": ["c"]}):
            with self.assertRaises(ValueError) as caught:
                order(targets)
            text = str(caught.exception)
            self.assertTrue(any(cycle in text for cycle in ("a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c")), text)
            self.assertNotIn("x", text.replace("exception", ""))

    def test_a_target_that_needs_itself(self):
        with self.assertRaises(ValueError) as caught:
            order({"a": ["a"]})
        self.assertIn("a -> a", str(caught.exception))

    def test_a_diamond_is_no_cycle(self):
        self.assertEqual(order({"a": ["b", "c"], "b": ["d"], "c": ["d"]}), ["d", "b", "c", "a"])

    def test_a_long_chain(self):
        count = 20_000
        targets = {f"t{n}": [f"t{n + 1}"] for n in range(count)}
        started = time.monotonic()
        self.assertEqual(order(targets)[0], f"t{count}")
        self.assertLess(time.monotonic() - started, 20)
        self.assertEqual(sys.getrecursionlimit(), LIMIT)

    def test_a_long_cycle(self):
        count = 5000
        with self.assertRaises(ValueError):
            order({f"t{n}": [f"t{(n + 1) % count}"] for n in range(count)})
