import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { beginEntry, entriesOf, evictEntries, folderOfKind, type Kind, noteUse } from '../store/keyed/index.ts';

/** Entries of tests: a file of some kilobytes, and a record with its digest. */
export const testKind: Kind = { name: 'prepared', folder: 'things', groups: 1, mark: 'record.json', isSynced: true };

const recordSchema = z.strictObject({ key: z.string(), digest: z.string() });
const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

export type Verdict = 'sound' | 'torn' | 'missing';

/** Reads an entry as a user does. */
export function judge(entry: string): Verdict {
  try {
    const record = recordSchema.safeParse(JSON.parse(readFileSync(join(entry, 'record.json'), 'utf8'))).data;
    const isSound = record?.key === basename(entry) && digest(readFileSync(join(entry, 'content'))) === record.digest;
    return isSound ? 'sound' : 'torn';
  } catch (error) {
    if (error instanceof SyntaxError) return 'torn';
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
}

interface Deps {
  dataDir: string;
  now: () => number;
  onPoint: (point: string) => void;
}

export const entryAt = (dataDir: string, key: string): string => join(folderOfKind(dataDir, testKind), 'group', key);

/** Makes an entry as the rooms with entries do. @returns whether this process placed it */
export async function make(deps: Deps, key: string): Promise<boolean> {
  await using build = beginEntry(deps, testKind);
  // The same from every maker: a reader may read the record of an entry and the content of the next.
  const content = `${key}\n`.repeat(600);
  writeFileSync(join(build.path, 'content'), content);
  deps.onPoint('content');
  writeFileSync(join(build.path, 'record.json'), JSON.stringify({ key, digest: digest(content) }));
  const at = entryAt(deps.dataDir, key);
  return await build.place(at, {
    isSound: async () => judge(at) === 'sound',
    isTorn: () => judge(at) !== 'sound',
  });
}

const input = z.strictObject({ dataDir: z.string(), seed: z.int(), rounds: z.int(), dieAt: z.int().default(0) });

/** A separate process that makes, uses and evicts entries in random order, and may die at the n-th point. Prints how many were torn. */
async function main(): Promise<void> {
  const { dataDir, seed, rounds, dieAt } = input.parse(JSON.parse(process.argv[2] ?? ''));
  let points = 0;
  const onPoint = () => {
    points += 1;
    if (points === dieAt) process.kill(process.pid, 'SIGKILL');
  };
  const deps = { dataDir, now: Date.now, onPoint };
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  let torn = 0;
  for (let round = 0; round < rounds; round++) {
    const entry = entryAt(dataDir, `key-${random(4)}`);
    const choice = random(4);
    if (choice === 0) await evictEntries(deps, testKind, { bytes: random(2) * 20_000 });
    else if (choice === 1) noteUse(deps, testKind, entry);
    else await make(deps, basename(entry));
    for (const one of await entriesOf(dataDir, testKind)) if (judge(one) === 'torn') torn += 1;
  }
  process.stdout.write(String(torn));
}

if (process.argv[1] === import.meta.filename) await main();
