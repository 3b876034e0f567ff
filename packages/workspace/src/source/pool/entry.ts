import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { errnoOf } from '../../errors.ts';
import * as keyed from '../../store/keyed/index.ts';

/**
 * Packs with exactly the objects of one tree of a source, or of the commits before a commit: `<tenant>/<source>/<trees or histories>/<name>`.
 * Not synced: the packs are on disk, and the next reader notices an entry with a lost name.
 */
export const sourceKind: keyed.Kind = {
  name: 'source',
  folder: 'sources',
  groups: 3,
  mark: 'entry.json',
  isSynced: false,
};

const entrySchema = z.strictObject({
  format: z.literal(1),
  packs: z.array(z.string().regex(/^pack-[0-9a-f]{40}$/)),
  /** Its own name: a folder copied to another name holds other objects. Absent in entries of earlier versions. */
  name: z.string().optional(),
});

export const entryFile = (entry: string): string => join(entry, 'entry.json');

export const entryText = (name: string, packs: string[]): string =>
  JSON.stringify({ format: 1, packs, name } satisfies z.infer<typeof entrySchema>);

/** Paths without `.pack`; undefined for a missing or torn entry. */
export function packsOf(entry: string): string[] | undefined {
  try {
    const { data } = entrySchema.safeParse(JSON.parse(readFileSync(entryFile(entry), 'utf8')));
    if (data?.name !== undefined && data.name !== basename(entry)) return undefined;
    return data?.packs.map((pack) => join(entry, pack));
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The packs of an entry, every byte as written. A damaged entry is set aside, and the run makes the objects itself. */
export async function soundPacks(deps: Deps, entry: string): Promise<string[] | undefined> {
  const packs = packsOf(entry);
  const why: keyed.Damage = packs && (await keyed.findDamagedPacks(deps, { entry, packs }));
  if (why === undefined) return packs;
  keyed.setAside(deps, sourceKind, { entry, why });
  return undefined;
}

/** Entries of the same kind kept per source: its latest states. */
const mostOfSource = 4;

/** Removes the older states of a source. @param source its folder */
export async function evictSource(deps: Deps, source: string): Promise<void> {
  for (const group of await keyed.pathsIn(source))
    await keyed.evictGroup(deps, sourceKind, { group, most: mostOfSource });
}

/** Removes the least recently used entries until the rest fit, and the entries unused for `limits.trashMs`. */
export async function evictSources(deps: Deps): Promise<void> {
  const { poolBytes: bytes, trashMs: idleMs } = deps.limits;
  await keyed.evictEntries(deps, sourceKind, { bytes, idleMs });
  for (const source of await keyed.groupsOf(deps.dataDir, { ...sourceKind, groups: 2 })) {
    const groups = await Promise.all((await keyed.pathsIn(source)).map(keyed.pathsIn));
    if (groups.flat().length === 0) await keyed.removeEntry(deps, sourceKind, source);
  }
}
