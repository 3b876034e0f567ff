import { mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf, WorkspaceError } from '../../errors.ts';
import { removeFolder, syncPath } from '../../files/index.ts';
import { temporaryPath } from '../../run-folder/index.ts';
import { type KeyedDeps, type Kind, noteUse } from './entries.ts';

/** An entry in the making. Removed at the end of the scope unless placed; maintenance removes the entry of a dead process. */
export interface EntryBuild {
  /** An empty folder, seen by no other process. */
  readonly path: string;
  /** Gives the entry its place. @returns false when the place has a sound entry of another process, which stays */
  place(at: string, rival: Rival): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Judges an entry of another process at the same place. */
interface Rival {
  /** Whether a sound entry is there. May set a damaged entry aside. */
  isSound(): Promise<boolean>;
  /** Whether the place has no entry with a trustworthy record, as after a power cut: no run uses such an entry. */
  isTorn(): boolean;
}

export function beginEntry(deps: KeyedDeps, kind: Kind): EntryBuild {
  const path = temporaryPath(deps, kind.name);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return {
    path,
    place: (at, rival) => place(deps, kind, { path, at, rival }),
    [Symbol.asyncDispose]: () => removeFolder(path),
  };
}

/** Each needs another process that places or removes at the same moment. */
const maxRounds = 5;

async function place(
  deps: KeyedDeps,
  kind: Kind,
  { path, at, rival }: { path: string; at: string; rival: Rival },
): Promise<boolean> {
  if (kind.isSynced) await syncPath(path);
  noteUse(deps, kind, path);
  deps.onPoint(`${kind.name}.filled`);
  for (let round = 1; round <= maxRounds; round++) {
    if (await rival.isSound()) return false;
    if (renamed(path, at)) {
      if (kind.isSynced) await syncPath(dirname(at));
      deps.onPoint(`${kind.name}.placed`);
      return true;
    }
    // Another process may have placed its entry since the look, and runs may use the entry already.
    if (rival.isTorn()) await removeEntry(deps, kind, at);
  }
  throw new WorkspaceError('EIO', `The folder ${at} could not be placed.`);
}

/** @returns false when the place is taken, or when maintenance has just removed the empty folder above */
function renamed(from: string, to: string): boolean {
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) throw error;
    return false;
  }
}

interface Removal {
  /** Asked once the entry has lost its name: a user of the entry since the last look gets the entry back. @default no user */
  isUsed?: () => Promise<boolean>;
}

/**
 * Removes an entry, or a group of entries, in view of other processes: the folder loses its name first, so another process finds a whole
 * folder or none. Hard links of its files stay. Does nothing when another process was faster.
 */
export async function removeEntry(
  deps: { dataDir: string },
  kind: Pick<Kind, 'name'>,
  path: string,
  { isUsed = async () => false }: Removal = {},
): Promise<void> {
  const aside = temporaryPath(deps, kind.name);
  mkdirSync(dirname(aside), { recursive: true, mode: 0o700 });
  if (!moved(path, aside, ['ENOENT'])) return;
  // A process without the entry may have placed another one: then its user finds the difference.
  if ((await isUsed()) && moved(aside, path, ['ENOTEMPTY', 'EEXIST'])) return;
  await removeFolder(aside);
}

function moved(from: string, to: string, expected: readonly string[]): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!expected.includes(errnoOf(error) ?? '')) throw error;
    return false;
  }
}
