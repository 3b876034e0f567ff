def create(db):
    db.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT)")


def add_notes(db):
    db.execute("ALTER TABLE person ADD COLUMN note TEXT NOT NULL DEFAULT ''")


MIGRATIONS = [create, add_notes]


def migrate(db):
    """Brings a database to the present schema."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        step(db)
        db.execute(f"PRAGMA user_version = {number}")
    db.commit()
