export const schemaVersion = 1;

/**
 * `blob`: the facts about a blob read as a file with the hint; `text` is its packed facts, or the text of a configuration. `symbol` and
 * `reference`: the blobs with a declaration or a use of a name; `places` are positions in the symbols of the blob. An id is never used
 * again. `module`: the blobs with a module of the full name. `forgotten`: counts removals of blobs. After a removal, ids in the memory of
 * other processes may be gone. `listing`: the paths of a snapshot, as JSON.
 */
export const schema = `
CREATE TABLE blob (
  id INTEGER PRIMARY KEY AUTOINCREMENT, oid TEXT NOT NULL, hint TEXT NOT NULL, bytes INTEGER NOT NULL, language TEXT, reason TEXT, symbols INTEGER NOT NULL,
  imports TEXT, text TEXT, UNIQUE (oid, hint)
) STRICT;
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE symbol (name INTEGER NOT NULL, blob INTEGER NOT NULL, places TEXT NOT NULL, PRIMARY KEY (name, blob)) STRICT, WITHOUT ROWID;
CREATE TABLE reference (name INTEGER NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY (name, blob)) STRICT, WITHOUT ROWID;
CREATE TABLE module (name TEXT NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY (name, blob)) STRICT, WITHOUT ROWID;
CREATE TABLE forgotten (times INTEGER NOT NULL) STRICT;
INSERT INTO forgotten VALUES (0);
CREATE TABLE listing (snapshot TEXT PRIMARY KEY, used INTEGER NOT NULL, entries TEXT NOT NULL) STRICT, WITHOUT ROWID`;
