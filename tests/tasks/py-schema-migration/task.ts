import { edit, read, readAll, run } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const step = `def split_names(db):
    db.execute("ALTER TABLE person ADD COLUMN given TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE person ADD COLUMN family TEXT NOT NULL DEFAULT ''")
    for id, name in db.execute("SELECT id, name FROM person").fetchall():
        db.execute("UPDATE person SET given = ?, family = ? WHERE id = ?", (*split(name), id))
    db.execute("CREATE TABLE person_new (id INTEGER PRIMARY KEY, given TEXT NOT NULL, family TEXT NOT NULL, email TEXT, note TEXT NOT NULL DEFAULT '')")
    db.execute("INSERT INTO person_new SELECT id, given, family, email, note FROM person")
    db.execute("DROP TABLE person")
    db.execute("ALTER TABLE person_new RENAME TO person")
`;

export const task = defineTask({
  kind: 'migration',
  language: 'Python',
  needs: ['python3'],
  prompt:
    'Please migrate contacts to separate names: instead of the column name there are given and family (the last word; a single word is the family name, given is then empty; surplus spaces go away). Existing files must be migrated with all their data when they are opened, once. find() still searches the full name and returns dicts with id, name (the full name), given, family, email and note; add() keeps its arguments. And make sure that a migration that fails half-way leaves the file as it was.',
  tests: 'python3 -m unittest discover -s tests -t .',
  check: 'python3 -W ignore -m unittest tests.test_hidden',
  wrong: {
    'the first word': [
      {
        file: 'contacts/migrations.py',
        from: 'MIGRATIONS = [create, add_notes]',
        to: `def split(name):\n    first, _, rest = name.strip().partition(" ")\n    return (first, rest)\n\n\n${step}\n\nMIGRATIONS = [create, add_notes, split_names]`,
      },
      {
        file: 'contacts/store.py',
        from: 'SELECT id, name, email, note FROM person WHERE name LIKE',
        to: `SELECT id, trim(given || ' ' || family) AS name, email, note, given, family FROM person WHERE name LIKE`,
      },
    ],
  },
  *expert() {
    const [migrations = '', store = '', tests = ''] = yield* readAll(
      'contacts/migrations.py',
      'contacts/store.py',
      'tests/test_store.py',
    );
    found(migrations, /(PRAGMA user_version = )/);
    const listed = part(migrations, 'MIGRATIONS = [');
    yield* edit(
      'contacts/migrations.py',
      listed,
      `def split(name):
    """The given names and the family name, which is the last word."""
    *given, family = name.split() or [""]
    return " ".join(given), family


${step}

${listed.replace(']', ', split_names]')}`,
    );
    yield* edit(
      'contacts/migrations.py',
      part(migrations, '(version,) =', 'db.commit()'),
      `    level, db.isolation_level = db.isolation_level, None
    try:
        db.execute("BEGIN IMMEDIATE")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
            step(db)
            db.execute(f"PRAGMA user_version = {number}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.close()
        raise
    db.isolation_level = level`,
    );
    const insert = part(store, 'INSERT INTO person');
    yield* edit(
      'contacts/store.py',
      insert,
      `        cursor = self._db.execute(
            "INSERT INTO person (given, family, email, note) VALUES (?, ?, ?, ?)", (*split(name), email, note)
        )`,
    );
    yield* edit(
      'contacts/store.py',
      part(store, 'rows = self._db.execute', 'return [dict'),
      `        columns = ("id", "name", "given", "family", "email", "note")
        rows = self._db.execute(
            "SELECT id, trim(given || ' ' || family) AS full_name, given, family, email, note FROM person"
            " WHERE full_name LIKE ? ORDER BY id",
            (f"%{text}%",),
        )
        return [dict(zip(columns, row)) for row in rows]`,
    );
    yield* edit('contacts/store.py', part(store, 'from .migrations'), 'from .migrations import migrate, split');
    const expected = part(tests, 'store.find("Love"), [');
    yield* edit(
      'tests/test_store.py',
      expected,
      expected.replace('"email":', '"given": "Ada", "family": "Lovelace", "email":'),
    );
    const last = yield* run('python3 -m unittest discover -s tests -t . 2>&1');
    if (!last.includes('OK')) throw new Error(last);
    const old = `import sqlite3
from contacts import migrations, open_store
db = sqlite3.connect("/tmp/old.db")
migrations.create(db); migrations.add_notes(db); db.execute("PRAGMA user_version = 2")
db.execute("INSERT INTO person (name) VALUES ('Ludwig van Beethoven')"); db.commit(); db.close()
print(open_store("/tmp/old.db").find("Beet"))`;
    found(yield* run(`rm -f /tmp/old.db; python3 - <<'END'\n${old}\nEND`), /('given': 'Ludwig van')/);
    yield* read('contacts/migrations.py');
    expectExit(yield* run('git diff --stat'), 0);
    return 'Schema 3 has given and family; old files are migrated in one transaction, which a failure rolls back. add and find work as asked; the test is adapted. I tried it with a file of the old schema.';
  },
});
