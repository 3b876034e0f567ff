import copy
import unittest

from layers import Settings, merge
from layers.defaults import DEFAULTS

ORIGINAL = copy.deepcopy(DEFAULTS)


class HiddenTest(unittest.TestCase):
    def test_settings_are_apart(self):
        Settings({"server": {"port": 1, "tls": {"enabled": True}}})
        self.assertEqual(Settings().get("server.port"), 8080)
        self.assertEqual(Settings().get("server.tls.enabled"), False)
        self.assertEqual(DEFAULTS, ORIGINAL)

    def test_lists_are_apart(self):
        one = Settings()
        one.get("log.outputs").append("file")
        one.get("server.tls.ciphers").clear()
        self.assertEqual(DEFAULTS, ORIGINAL)

    def test_layers_stay_as_they_are(self):
        layer = {"plugins": {"a": {"on": True, "tags": ["x"]}}}
        before = copy.deepcopy(layer)
        one = Settings(layer, {"plugins": {"a": {"on": False}}})
        one.get("plugins.a.tags").append("y")
        self.assertEqual(layer, before)
        self.assertEqual(one.get("plugins.a"), {"on": False, "tags": ["x", "y"]})

    def test_merge_changes_neither(self):
        base, over = {"a": {"x": [1]}}, {"a": {"y": [2]}, "b": {"c": None, "d": 1}}
        copies = copy.deepcopy((base, over))
        merged = merge(base, over)
        merged["a"]["y"].append(3)
        merged["a"]["x"].append(3)
        self.assertEqual((base, over), copies)
        self.assertEqual(merged["b"], {"d": 1})
