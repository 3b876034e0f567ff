import unittest

from graph import order
from targets import read_targets


class OrderTest(unittest.TestCase):
    def test_order(self):
        targets = read_targets(["app: lib css # all\n", "lib: core\n", "css:\n", "core:\n"])
        self.assertEqual(order(targets), ["core", "lib", "css", "app"])

    def test_what_has_no_line(self):
        self.assertEqual(order({"a": ["b"]}), ["b", "a"])
