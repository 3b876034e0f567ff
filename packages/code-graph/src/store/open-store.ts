import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { extractorVersion } from '../extract/extractor-version.ts';

const schemaVersion = 1;

/**
 * `blob`: the facts about a blob read as a file with the hint; `text` is its packed facts, or the text of a configuration. `symbol` and
 * `reference`: the blobs with a declaration or a use of a name; `places` are positions in the symbols of the blob. An id is never used
 * again. `module`: the blobs with a module of the full name. `forgotten`: counts removals of blobs. After a removal, ids in the memory of
 * other processes may be gone. `listing`: the paths of a snapshot, as JSON.
 */
const schema = `
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

/** The place of a run's store, and the place of the origin's store for a fork. */
export interface CachePlace {
  path: string;
  origin: string | undefined;
  /** The most bytes of a store. */
  maxBytes: number;
}

export interface OpenStore {
  database: DatabaseSync;
  /** Path of the database. Every new store has a new name, so a file of this name is this store. */
  file: string;
}

/** 'HPgr': the file is a graph. */
const applicationId = 0x48506772;
/** Facts of another extractor version have another format. */
const format = schemaVersion * 1000 + extractorVersion;
const pageBytes = 4096;
const busyMs = 5000;
const abandonedMs = 600_000;

/**
 * Opens the store of a run, or makes a store: from the facts of the fork's origin, if readable. A store with doubtful content (garbage, a
 * cut file, another format) is thrown away: everything in a store can be made again.
 */
export function openStore(place: CachePlace): OpenStore {
  makeFolder(place.path);
  removeLeftovers(place.path);
  const file = fileIn(place.path);
  const opened = file === undefined ? undefined : openSound(file, place.maxBytes);
  if (opened !== undefined) return opened;
  if (existsSync(folderOf(place.path))) throwAway(place.path);
  return make(place);
}

/** Takes a store from its name. Processes with the store open keep their data, and notice the loss of the file. */
export function throwAway(path: string): void {
  const away = join(path, `old-${token()}`);
  try {
    renameSync(folderOf(path), away);
  } catch {
    return; // another process was faster
  }
  remove(away);
}

/** Never makes the folder of the run: the run may have been discarded. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
  }
}

const folderOf = (path: string): string => join(path, 'graph');

function fileIn(path: string): string | undefined {
  const folder = folderOf(path);
  const name = existsSync(folder) ? readdirSync(folder).find((one) => /^[0-9a-f]+\.sqlite$/.test(one)) : undefined;
  return name === undefined ? undefined : join(folder, name);
}

/** Undefined for an unsound file. */
function openSound(file: string, maxBytes: number): OpenStore | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = connect(file, maxBytes);
    const isOurs = pragma(database, 'application_id') === applicationId && pragma(database, 'user_version') === format;
    if (isOurs && pragma(database, 'quick_check') === 'ok') return { database, file };
  } catch {
    // not a database, or a broken database
  }
  database?.close();
  return undefined;
}

function connect(file: string, maxBytes: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyMs });
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${16 * 1024 * 1024};
      PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}; PRAGMA cell_size_check = ON`);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

const pragma = (database: DatabaseSync, name: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];

/** Builds the store aside and renames the store into its place. The first of several makers wins. */
function make(place: CachePlace): OpenStore {
  const aside = join(place.path, `making-${token()}`);
  mkdirSync(aside, { mode: 0o700 });
  const name = `${token()}.sqlite`;
  try {
    if (!copyOrigin(place, join(aside, name))) makeEmpty(place, join(aside, name));
    renameSync(aside, folderOf(place.path));
  } catch (error) {
    remove(aside);
    const others = fileIn(place.path);
    if (others === undefined) throw error;
  }
  const file = fileIn(place.path);
  const opened = file && openSound(file, place.maxBytes);
  if (opened === undefined || opened === '')
    throw new Error(`The store of the code graph at ${place.path} cannot be made.`);
  return opened;
}

function makeEmpty({ maxBytes }: CachePlace, file: string): void {
  const database = connect(file, maxBytes);
  database.exec(`${schema}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${format}`);
  database.close();
}

/** Copies the facts. The listings stay: the other run may have snapshots hidden from this run. */
function copyOrigin({ origin, maxBytes }: CachePlace, file: string): boolean {
  const from = origin === undefined ? undefined : fileIn(origin);
  const store = from === undefined ? undefined : openSound(from, maxBytes);
  if (store === undefined) return false;
  try {
    store.database.prepare('VACUUM INTO ?').run(file);
    const copy = connect(file, maxBytes);
    copy.exec(`DELETE FROM listing; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${format}`);
    copy.close();
    return true;
  } catch {
    rmSync(file, { force: true });
    return false;
  } finally {
    store.database.close();
  }
}

/** Removes the files of processes killed while they made or removed a store. */
function removeLeftovers(path: string): void {
  for (const name of readdirSync(path)) {
    const at = join(path, name);
    const isOld = name.startsWith('old-');
    if (!isOld && !name.startsWith('making-')) continue;
    const changed = statSync(at, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (isOld || Date.now() - changed > abandonedMs) remove(at);
  }
}

/** A process with the store open may make a file at the same moment; the next process to open a store removes the rest. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // see above
  }
}

const token = (): string => randomBytes(8).toString('hex');
