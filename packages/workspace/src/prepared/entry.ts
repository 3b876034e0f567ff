import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { preparedFromSchema } from '@holdpoint/contract';
import { z } from 'zod';
import type { Call, Deps } from '../deps.ts';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { requireRecord, runFolder, writeMark } from '../run-folder/index.ts';
import { evictEntries, folderOfKind, type Kind, measureEntries, removeEntry, setAside } from '../store/keyed/index.ts';
import { assertSnapshot } from '../tree/index.ts';

/**
 * The changes of the commands of `prepare`, kept for other runs of the tenant: a pack with a tree of the new and changed files, and this
 * file. An entry is written aside and renamed, and nothing changes an entry afterwards.
 */
const oid = z.string().regex(/^[0-9a-f]{40}$/);
const bits = z.int().min(0).max(0o777);
const leafSchema = z.strictObject({ path: z.string(), mode: z.int(), oid });
const entrySchema = z.strictObject({
  format: z.literal(1),
  key: z.string(),
  /** The tree of the new and changed files; null: there are none. */
  tree: oid.nullable(),
  /** The origin of the entry, for people. */
  made_from: preparedFromSchema.optional(),
  /** The tree for which the changes fit; absent: every tree with the same changed files. */
  source: oid.optional(),
  /** The original state of changed or removed files of the source. Paths as in diffs. */
  before: z.array(leafSchema.extend({ removed: z.boolean() })),
  empty: z.array(z.string()),
  permissions: z.strictObject({
    usual: z.strictObject({ file: bits, executable: bits, folder: bits }),
    others: z.array(z.tuple([z.string(), bits])),
  }),
  /** SHA-256 digest of the times of its files. */
  times: z.string().optional(),
  /** Hex name and SHA-256 digests of the pack; absent when the tree is null. */
  pack: z.strictObject({ name: oid, bytes: z.int(), pack: z.string(), index: z.string() }).optional(),
});
export type Entry = z.infer<typeof entrySchema>;

export const preparedKind: Kind = {
  name: 'prepared',
  folder: 'prepared',
  groups: 1,
  mark: 'entry.json',
  isSynced: true,
};

/** The folder of an entry. No two tenants have a folder in common. */
export function entryFolder(dataDir: string, { tenant, key }: { tenant: string; key: string }): string {
  if (!/^[0-9a-f]{64}$/.test(key))
    throw new WorkspaceError('EWORKSPACECORRUPT', `${key} is not the key of a prepared tree.`);
  return join(folderOfKind(dataDir, preparedKind), createHash('sha256').update(tenant).digest('hex').slice(0, 32), key);
}

export const entryFile = (folder: string): string => join(folder, 'entry.json');
export const packFile = (folder: string, name: string, kind: 'pack' | 'idx'): string =>
  join(folder, `pack-${name}.${kind}`);

/** The text of an entry: its digest, and its JSON on a single line. */
export function writeEntry(entry: Entry): string {
  const body = JSON.stringify(entrySchema.parse(entry));
  return `${digestOf(body)}\n${body}\n`;
}

/** An entry with every byte as written; `damaged` for an entry with other bytes. Undefined: there is none. */
async function readEntry(folder: string, key: string): Promise<Entry | 'damaged' | undefined> {
  try {
    const entry = readRecord(folder, key);
    if (entry === undefined) return 'damaged';
    const { pack, times } = entry;
    if (times !== undefined && (await fileDigest(join(folder, 'times'))) !== times) return 'damaged';
    if (pack !== undefined) {
      if ((await fileDigest(packFile(folder, pack.name, 'pack'))) !== pack.pack) return 'damaged';
      if ((await fileDigest(packFile(folder, pack.name, 'idx'))) !== pack.index) return 'damaged';
    }
    return entry;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

/** Whether an entry has no readable record. */
export function isTorn(folder: string, key: string): boolean {
  try {
    return readRecord(folder, key) === undefined;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true;
    throw error;
  }
}

function readRecord(folder: string, key: string): Entry | undefined {
  const [digest = '', body = '', ...rest] = readFileSync(entryFile(folder), 'utf8').split('\n');
  if (digestOf(body) !== digest || rest.join('\n') !== '') return undefined;
  const entry = entrySchema.safeParse(JSON.parse(body)).data;
  return entry?.key === key ? entry : undefined;
}

/** An entry with every byte as written. A damaged entry is set aside. */
export async function soundEntry(deps: Deps, folder: string, key: string): Promise<Entry | undefined> {
  const entry = await readEntry(folder, key);
  if (entry !== 'damaged') return entry;
  setAside(deps, preparedKind, { entry: folder, why: 'Its bytes are not as they were written.' });
  return undefined;
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/** Removes the least recently used entries, until the rest fit. */
export const evictPrepared = (deps: Deps): Promise<void> =>
  evictEntries(deps, preparedKind, { bytes: deps.limits.preparedBytes });

/** A run linking its objects at this moment has them. */
export const removePrepared = (deps: Deps, entry: string): Promise<void> => removeEntry(deps, preparedKind, entry);

/** The kept amount, and the permitted amount. */
export async function measurePrepared(deps: Deps): Promise<{ entries: number; bytes: number; most: number }> {
  return { ...(await measureEntries(deps.dataDir, preparedKind)), most: deps.limits.preparedBytes };
}

export async function markPrepared(deps: Deps, { runId, snapshot }: Call<'markPrepared'>): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  assertSnapshot(folder, snapshot);
  await writeMark(folder, snapshot);
}
