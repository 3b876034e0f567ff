import unittest

from contacts import open_store


class StoreTest(unittest.TestCase):
    def test_finds(self):
        store = open_store(":memory:")
        store.add("Ada Lovelace", "ada@example.org", "first")
        self.assertEqual(
            store.find("Love"), [{"id": 1, "name": "Ada Lovelace", "email": "ada@example.org", "note": "first"}]
        )
        store.close()
