import unittest

from layers import Settings, merge


class SettingsTest(unittest.TestCase):
    def test_merges(self):
        self.assertEqual(merge({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}), {"a": {"x": 1, "y": 3}})

    def test_removes(self):
        self.assertEqual(merge({"a": 1, "b": 2}, {"a": None}), {"b": 2})

    def test_reads(self):
        settings = Settings({"log": {"level": "debug"}})
        self.assertEqual(settings.get("log.level"), "debug")
        self.assertEqual(settings.get("log.size", 5), 5)
