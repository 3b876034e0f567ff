import os
import sqlite3
import tempfile
import unittest

from contacts import migrations, open_store


class HiddenTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "contacts.db")
        self.stores = []

    def tearDown(self):
        for store in self.stores:
            store.close()
        self.folder.cleanup()

    def open(self):
        store = open_store(self.path)
        self.stores.append(store)
        return store

    def old(self, *rows):
        db = sqlite3.connect(self.path)
        migrations.create(db)
        migrations.add_notes(db)
        db.execute("PRAGMA user_version = 2")
        db.executemany("INSERT INTO person (name, email, note) VALUES (?, ?, ?)", rows)
        db.commit()
        db.close()

    def test_old_data(self):
        self.old(("Ada Lovelace", "a@x", "n1"), ("Ludwig van Beethoven", None, ""), ("Plato", "p@x", "n3"), ("  Mary   Ann Evans ", None, ""))
        store = self.open()
        people = store.find("")
        self.assertEqual([(p["given"], p["family"]) for p in people], [("Ada", "Lovelace"), ("Ludwig van", "Beethoven"), ("", "Plato"), ("Mary Ann", "Evans")])
        self.assertEqual([p["name"] for p in people], ["Ada Lovelace", "Ludwig van Beethoven", "Plato", "Mary Ann Evans"])
        self.assertEqual([(p["id"], p["email"], p["note"]) for p in people][:3], [(1, "a@x", "n1"), (2, None, ""), (3, "p@x", "n3")])

    def test_twice(self):
        self.old(("Ada Lovelace", None, ""))
        self.open()
        again = self.open()
        self.assertEqual(len(again.find("")), 1)
        (version,) = sqlite3.connect(self.path).execute("PRAGMA user_version").fetchone()
        self.assertEqual(version, 3)

    def test_new_people(self):
        store = self.open()
        store.add("Grace Hopper", "g@x")
        store.add("Voltaire")
        self.assertEqual([p["family"] for p in store.find("")], ["Hopper", "Voltaire"])
        self.assertEqual([p["name"] for p in store.find("Grace Hop")], ["Grace Hopper"])
        self.assertEqual([p["given"] for p in store.find("opper")], ["Grace"])

    def test_the_column_is_gone(self):
        self.old(("Ada Lovelace", None, ""))
        self.open()
        columns = [row[1] for row in sqlite3.connect(self.path).execute("PRAGMA table_info(person)")]
        self.assertNotIn("name", columns)

    def test_a_failed_step_leaves_the_file_as_it_was(self):
        self.old(("Ada Lovelace", None, ""))
        real = list(migrations.MIGRATIONS)

        def broken(db):
            db.execute("DELETE FROM person")
            raise RuntimeError("no")

        migrations.MIGRATIONS[:] = [*real, broken]
        try:
            with self.assertRaises(RuntimeError):
                self.open()
        finally:
            migrations.MIGRATIONS[:] = real
        self.assertEqual(len(self.open().find("")), 1)
