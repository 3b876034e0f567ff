import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FileFacts, ImportFact } from '../facts.ts';
import { FactsCache } from './facts-cache.ts';
import { type CachePlace, type OpenStore, openStore } from './open-store.ts';
import { packFacts, unpackFacts } from './pack-facts.ts';

/** A blob read with a hint, and its facts. */
export interface Blob {
  id: number;
  bytes: number;
  language: string | null;
  /** The reason of missing facts. */
  reason: string | null;
  symbols: number;
}

export interface Found {
  oid: string;
  hint: string;
  bytes: number;
  language?: string | undefined;
  /** Exactly one of these three fields is set. */
  reason?: string | undefined;
  facts?: FileFacts | undefined;
  text?: string | undefined;
}

export interface ListedFile {
  path: string;
  oid: string;
  isLink: boolean;
}

/** Snapshots whose paths are kept. */
const maxListings = 4;

/** Another process cleaned the database, so ids in memory may be gone. */
class StoreChangedError extends Error {
  override name = 'StoreChangedError';
}

/** The facts of a run, in its file. Memory keeps a copy of requested blobs: the facts of a blob never change. */
export class GraphStore {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #blobs = new Map<string, Blob>();
  readonly #names = new Map<string, number>();
  readonly #facts = new FactsCache();
  #forgotten: number;

  constructor(place: CachePlace) {
    const { database, file }: OpenStore = openStore(place);
    this.#database = database;
    this.file = file;
    this.#forgotten = this.#timesForgotten();
    // Two hundred thousand strings at most; a tree of 5,000 files has 5,000 rows.
    const rows = this.#all('SELECT id, oid, hint, bytes, language, reason, symbols FROM blob LIMIT 200000');
    for (const { oid, hint, ...blob } of rows as unknown as (Blob & { oid: string; hint: string })[]) {
      this.#blobs.set(`${oid} ${hint}`, blob);
    }
  }

  /** Reads from a single state of the database, independent of the writes of other processes. @throws StoreChangedError */
  reading<Result>(act: () => Result): Result {
    this.#database.exec('BEGIN');
    try {
      if (this.#timesForgotten() !== this.#forgotten) throw new StoreChangedError();
      return act();
    } finally {
      if (this.#database.isTransaction) this.#database.exec('COMMIT');
    }
  }

  blob(oid: string, hint: string): Blob | undefined {
    const key = `${oid} ${hint}`;
    const known = this.#blobs.get(key);
    if (known !== undefined) return known;
    const sql = 'SELECT id, bytes, language, reason, symbols FROM blob WHERE oid = ? AND hint = ?';
    const row = this.#prepare(sql).get(oid, hint) as unknown as Blob | undefined;
    if (row !== undefined) this.#blobs.set(key, row);
    return row;
  }

  facts(id: number): FileFacts {
    return this.#facts.get(id, () => {
      const text = this.#text(id);
      return { facts: unpackFacts(text), weight: text.length };
    });
  }

  text(id: number): string {
    return this.#text(id);
  }

  imports(id: number): ImportFact[] {
    const row = this.#prepare('SELECT imports FROM blob WHERE id = ?').get(id);
    if (row === undefined) throw new StoreChangedError();
    return JSON.parse(String(row.imports ?? '[]')) as ImportFact[];
  }

  /** Blobs with a declaration of the name, with the positions in their symbols. */
  declaring(name: string): { blob: number; places: number[] }[] {
    const sql = 'SELECT blob, places FROM symbol WHERE name = (SELECT id FROM name WHERE text = ?)';
    return this.#all(sql, name).map(({ blob, places }) => ({ blob: Number(blob), places: JSON.parse(String(places)) }));
  }

  blobsUsing(name: string): number[] {
    const sql = 'SELECT blob FROM reference WHERE name = (SELECT id FROM name WHERE text = ?)';
    return this.#all(sql, name).map(({ blob }) => Number(blob));
  }

  blobsOfModule(name: string): number[] {
    return this.#all('SELECT blob FROM module WHERE name = ?', name).map(({ blob }) => Number(blob));
  }

  /** Every name with a given part. The part may be empty. */
  *names(part: string): Iterable<{ id: number; text: string }> {
    const sql = 'SELECT id, text FROM name WHERE instr(text, ?) > 0';
    for (const { id, text } of this.#prepare(sql).iterate(part)) yield { id: Number(id), text: String(text) };
  }

  /** Blobs with a declaration of the name with this id. */
  blobsDeclaring(name: number): number[] {
    return this.#all('SELECT blob FROM symbol WHERE name = ?', name).map(({ blob }) => Number(blob));
  }

  /** Adds the found facts, all or nothing. Facts found first by another process stay. */
  keep(found: readonly Found[]): void {
    this.#transact(() => {
      for (const one of found) this.#keepOne(one);
    });
  }

  /** The files of a snapshot; undefined when they are not known. */
  listing(snapshot: string): ListedFile[] | undefined {
    const row = this.#prepare('SELECT entries FROM listing WHERE snapshot = ?').get(snapshot);
    if (row === undefined) return undefined;
    const entries = JSON.parse(String(row.entries)) as [path: string, oid: string, isLink: number][];
    return entries.map(([path, oid, isLink]) => ({ path, oid, isLink: isLink === 1 }));
  }

  /** Snapshots with a listing, the latest first. */
  listed(): string[] {
    return this.#all('SELECT snapshot FROM listing ORDER BY used DESC').map(({ snapshot }) => String(snapshot));
  }

  list(snapshot: string, files: Iterable<ListedFile>): void {
    const entries = JSON.stringify(Array.from(files, ({ path, oid, isLink }) => [path, oid, Number(isLink)]));
    this.#transact(() => {
      const used = '(SELECT coalesce(max(used), 0) + 1 FROM listing)';
      this.#prepare(`INSERT OR REPLACE INTO listing VALUES (?, ${used}, ?)`).run(snapshot, entries);
      const old = 'SELECT snapshot FROM listing ORDER BY used DESC LIMIT -1 OFFSET ?';
      this.#prepare(`DELETE FROM listing WHERE snapshot IN (${old})`).run(maxListings);
    });
  }

  /** Whether most of a store's permitted space is in use. */
  isLarge(): boolean {
    const of = (name: string) => Number(Object.values(this.#prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    return of('page_count') - of('freelist_count') > of('max_page_count') / 2;
  }

  /** Forgets every blob outside of the given set. */
  forgetOthers(needed: ReadonlySet<number>): void {
    this.#transact(() => {
      this.#database.exec('CREATE TEMP TABLE needed (id INTEGER PRIMARY KEY)');
      const add = this.#database.prepare('INSERT INTO needed VALUES (?)');
      for (const id of needed) add.run(id);
      for (const table of ['symbol', 'reference', 'module']) {
        this.#database.exec(`DELETE FROM ${table} WHERE blob NOT IN (SELECT id FROM needed)`);
      }
      this.#database.exec('DELETE FROM blob WHERE id NOT IN (SELECT id FROM needed); DROP TABLE needed');
      this.#database.exec('UPDATE forgotten SET times = times + 1');
    });
    this.#forgotten = this.#timesForgotten();
    this.#blobs.clear();
    this.#facts.clear();
  }

  close(): void {
    this.#database.close();
  }

  #keepOne({ oid, hint, bytes, language, reason, facts, text }: Found): void {
    const kept = facts === undefined ? (text ?? null) : packFacts(facts);
    const imports = facts === undefined || facts.imports.length === 0 ? null : JSON.stringify(facts.imports);
    const sql =
      'INSERT OR IGNORE INTO blob (oid, hint, bytes, language, reason, symbols, imports, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
    const symbols = facts?.symbols.length ?? 0;
    const { changes, lastInsertRowid } = this.#prepare(sql).run(
      oid,
      hint,
      bytes,
      language ?? null,
      reason ?? null,
      symbols,
      imports,
      kept,
    );
    if (changes === 0 || facts === undefined) return;
    const blob = Number(lastInsertRowid);
    const places = new Map<string, number[]>();
    const modules = new Set<string>();
    facts.symbols.forEach(({ name, kind, container }, index) => {
      const at = places.get(name) ?? [];
      at.push(index);
      places.set(name, at);
      if (kind === 'module') modules.add([...container, name].join('.'));
    });
    const declare = this.#prepare('INSERT INTO symbol VALUES (?, ?, ?)');
    for (const [name, at] of places) declare.run(this.#nameId(name), blob, JSON.stringify(at));
    const use = this.#prepare('INSERT INTO reference VALUES (?, ?)');
    for (const name of new Set(facts.references.map((one) => one.name))) use.run(this.#nameId(name), blob);
    const open = this.#prepare('INSERT INTO module VALUES (?, ?)');
    for (const name of modules) open.run(name, blob);
  }

  #nameId(name: string): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#prepare('INSERT OR IGNORE INTO name (text) VALUES (?)').run(name);
    const id = Number(this.#prepare('SELECT id FROM name WHERE text = ?').get(name)?.id);
    if (this.#names.size >= maxNames) this.#names.clear();
    this.#names.set(name, id);
    return id;
  }

  #timesForgotten(): number {
    return Number(this.#prepare('SELECT times FROM forgotten').get()?.times);
  }

  #text(id: number): string {
    const row = this.#prepare('SELECT text FROM blob WHERE id = ?').get(id);
    if (row === undefined) throw new StoreChangedError();
    return String(row.text ?? '');
  }

  #transact(act: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      act();
      this.#database.exec('COMMIT');
    } catch (error) {
      // Names added in the transaction are gone.
      this.#names.clear();
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #all(sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
    return this.#prepare(sql).all(...values);
  }
}

const maxNames = 200_000;
