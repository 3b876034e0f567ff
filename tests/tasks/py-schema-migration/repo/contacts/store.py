import sqlite3

from .migrations import migrate


class Store:
    def __init__(self, db):
        self._db = db

    def add(self, name, email=None, note=""):
        cursor = self._db.execute("INSERT INTO person (name, email, note) VALUES (?, ?, ?)", (name, email, note))
        self._db.commit()
        return cursor.lastrowid

    def find(self, text):
        rows = self._db.execute("SELECT id, name, email, note FROM person WHERE name LIKE ? ORDER BY id", (f"%{text}%",))
        return [dict(zip(("id", "name", "email", "note"), row)) for row in rows]

    def close(self):
        self._db.close()


def open_store(path):
    db = sqlite3.connect(path)
    migrate(db)
    return Store(db)
