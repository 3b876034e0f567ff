import { createHash } from 'node:crypto';
import { WorkspaceError } from '../errors.ts';
import type { Git } from './git.ts';
import { describeObjects, streamBlobs } from './stream-blobs.ts';

/** A damaged blob ends the git process that reads it: one process for each. A missing blob costs nothing. */
const mostDamaged = 200;

interface Blobs {
  gitDir: string;
  oids: readonly string[];
}

/**
 * The blobs that the repository has lost, or cannot read as they were stored: every blob is read whole, and its hash compared. Slow:
 * for a call that has failed, and before a write that must not fail half-way.
 * @throws WorkspaceError EWORKSPACECORRUPT for more than 200 damaged blobs
 */
export async function findDamaged(deps: { git: Git }, { gitDir, oids }: Blobs): Promise<Set<string>> {
  const asked = [...new Set(oids)];
  const missing = await findMissing(deps, { gitDir, oids: asked });
  const damaged = new Set<string>();
  for (let left = asked.filter((oid) => !missing.has(oid)); left.length > 0; ) {
    const read = await readUntilDamaged(deps, { gitDir, oids: left });
    for (const oid of read.damaged) damaged.add(oid);
    left = left.slice(read.next);
    if (damaged.size > mostDamaged)
      throw new WorkspaceError('EWORKSPACECORRUPT', `More than ${mostDamaged} objects of the run are damaged.`);
  }
  return new Set([...missing, ...damaged]);
}

async function findMissing(deps: { git: Git }, { gitDir, oids }: Blobs): Promise<Set<string>> {
  const rows = await describeObjects(deps, { gitDir, oids });
  return new Set(oids.filter((oid, index) => rows[index]?.startsWith(`${oid} blob `) !== true));
}

/** @returns the damaged blobs, and how many blobs are judged */
async function readUntilDamaged(deps: { git: Git }, blobs: Blobs): Promise<{ damaged: string[]; next: number }> {
  const damaged: string[] = [];
  let next = 0;
  let hash = createHash('sha1');
  const receiver = {
    begin: (_: number, size: number) => {
      hash = createHash('sha1').update(`blob ${size}\0`);
    },
    piece: (bytes: Buffer) => void hash.update(bytes),
    end: () => {
      const oid = blobs.oids[next++] ?? '';
      if (hash.digest('hex') !== oid) damaged.push(oid);
    },
  };
  try {
    await streamBlobs(deps, blobs, receiver);
  } catch (error) {
    if (!isDamage(error) || next >= blobs.oids.length) throw error;
    damaged.push(blobs.oids[next++] ?? '');
  }
  return { damaged, next };
}

/** Whether a lost or damaged object can be the cause: git says of such an object only that it failed. */
export const isDamage = (error: unknown): boolean =>
  error instanceof WorkspaceError && (error.code === 'EWORKSPACECORRUPT' || error.code === 'EGITFAILED');
