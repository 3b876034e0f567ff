import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Deps, errnoOf } from '../deps.ts';
import { syncPath } from '../files/index.ts';
import type { RunFolder } from '../run-folder/index.ts';
import { objectsIn } from '../store/objects/index.ts';

/** The objects of a shadow repository at a moment. */
export interface Stored {
  /** Paths without `.pack`. */
  readonly packs: readonly string[];
  readonly loose: readonly { path: string; oid: string }[];
}

/** A writer of objects creates a ref to them at once. A day covers a process frozen in between. */
const idleMs = 24 * 3_600_000;

export function findStored(folder: RunFolder): Stored {
  const objects = join(folder.shadow, 'objects');
  const packs = readdirSync(join(objects, 'pack'));
  const loose = readdirSync(objects).filter((name) => /^[0-9a-f]{2}$/.test(name));
  return {
    packs: packs
      // A pack in transfer has no index yet, or has a `.keep` file.
      .filter((name) => name.endsWith('.pack') && packs.includes(name.replace(/pack$/, 'idx')))
      .filter((name) => !packs.includes(name.replace(/pack$/, 'keep')))
      .map((name) => join(objects, 'pack', name.slice(0, -'.pack'.length))),
    loose: loose.flatMap((first) =>
      readdirSync(join(objects, first))
        .filter((rest) => /^[0-9a-f]{38}$/.test(rest))
        .map((rest) => ({ path: join(objects, first, rest), oid: first + rest })),
    ),
  };
}

/** Removes objects contained in the new pack, and objects without a ref for a day. */
export async function removeSuperseded(
  deps: Pick<Deps, 'now'>,
  { folder, stored, packed }: { folder: RunFolder; stored: Stored; packed: ReadonlySet<string> },
): Promise<void> {
  for (const pack of stored.packs) {
    if (!objectsIn(`${pack}.idx`).every((oid) => packed.has(oid)) && !isIdle(deps, `${pack}.pack`)) continue;
    // The index first: without an index git ignores the pack.
    for (const kind of ['idx', 'rev', 'bitmap', 'pack']) rmSync(`${pack}.${kind}`, { force: true });
  }
  for (const { path, oid } of stored.loose) if (packed.has(oid) || isIdle(deps, path)) rmSync(path, { force: true });
  await syncPath(join(folder.shadow, 'objects', 'pack'));
}

/** git updates the mtime of a pack or object before using the file again. */
function isIdle(deps: Pick<Deps, 'now'>, path: string): boolean {
  try {
    return deps.now() - lstatSync(path).mtimeMs > idleMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
