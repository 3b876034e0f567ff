import type { BigIntStats } from 'node:fs';
import { mkdirSync } from 'node:fs';
import { giveFolder } from '../files/give-away.ts';
import { type Directory, namesIn, openForOwner, openTree, statIn } from '../files/open-directory.ts';
import { isDotGit, join } from '../files/path-name.ts';
import { type EntryAt, type Keep, removeEntry } from '../files/remove-entry.ts';
import { hashLargeBlob } from '../git-objects/large-blob.ts';
import { objectId } from '../git-objects/object-id.ts';
import type { Git } from '../host-git/git.ts';
import type { Owner } from '../port.ts';
import { gitPermissions, keptBits, kindOf, type Permissions, permissionsAt } from './permissions.ts';
import { type Scan, scanEntry } from './scan.ts';
import { type Entry, type Folder, isFolder, isSame, type Leaf } from './tree.ts';
import { writeLeaves } from './write-leaves.ts';

export interface Bring {
  readonly git: Git;
  /** For telling which files are right already; stores nothing. */
  readonly scan: Scan;
  /** For some paths another one. @default `scan` */
  readonly scanAt?: (path: string) => Scan;
  readonly gitDir: string;
  readonly tree: string;
  /** The file system's time, ns. */
  readonly clock: () => bigint;
  /** Owner of what is written; undefined on a host that cannot give files away. */
  readonly owner: Owner | undefined;
  /** Whether an entry is left exactly as it is. */
  readonly keep: (path: string, status: BigIntStats) => boolean;
  /** Called for every file that was written. */
  readonly onWritten?: (bytes: number, path: string) => void;
  /** Names that are neither written nor removed. @default `.git` entries */
  readonly hides?: (name: string) => boolean;
  /** @default git's own */
  readonly permissions?: Permissions;
  readonly signal?: AbortSignal;
}

/** A sink that stores nothing. */
export const hashOnly: Scan['content'] = {
  blob: (content) => objectId('blob', content),
  largeBlob: hashLargeBlob,
  has: () => true,
  relieve: () => undefined,
};

/** A file to write. */
export interface Wanted {
  path: string;
  leaf: Leaf;
  /** Permission bits; a link has none. */
  bits: number;
}

/**
 * Makes the tree equal to `target`: first removes what is not in it, then writes what differs. Running it again after an
 * interruption ends in the same state.
 */
export async function bringTree(bring: Bring, target: Folder): Promise<void> {
  const wanted: Wanted[] = [];
  using top = openTree(bring.tree);
  await bringFolder(bring, { directory: top, path: '', wanted }, target);
  await writeLeaves(bring, { top, wanted });
}

interface Place {
  directory: Directory;
  path: string;
  wanted: Wanted[];
}

async function bringFolder(bring: Bring, place: Place, target: Folder): Promise<void> {
  const { directory } = place;
  const hides = bring.hides ?? isDotGit;
  const keep: Keep = (at, status) => hides(at.name) || bring.keep(at.path, status);
  for (const name of new Set([...namesIn(directory), ...target.entries.keys()])) {
    const path = join(place.path, name);
    const status = statIn(directory, name);
    if (hides(name) || (status !== undefined && bring.keep(path, status))) continue;
    const entry = target.entries.get(name);
    if (entry === undefined) await removeEntry({ pace: bring.scan.pace, keep }, { directory, name, path });
    else await bringEntry(bring, { directory, name, path }, status, entry, place.wanted);
    const pause = bring.scan.pace();
    if (pause !== undefined) await pause;
  }
}

async function bringEntry(
  bring: Bring,
  at: EntryAt,
  status: BigIntStats | undefined,
  target: Entry,
  wanted: Wanted[],
): Promise<void> {
  const isDirectory = status?.isDirectory() === true;
  const kind = kindOf(target);
  const bits = kind === undefined ? 0 : permissionsAt(bring.permissions ?? gitPermissions, at.path, kind);
  if (isFolder(target)) {
    if (status !== undefined && !isDirectory) await removeEntry(bring.scan, at);
    if (!isDirectory) mkdirSync(at.directory.at(at.name), 0o755);
    using directory = openForOwner(at.directory, at.name);
    if (status === undefined || !isDirectory) giveFolder(directory.fd, bring.owner, bits);
    else if (keptBits(status.mode, 'folder') !== bits) giveFolder(directory.fd, undefined, bits);
    // Awaited here, while the directory is open.
    return await bringFolder(bring, { directory, path: at.path, wanted }, target);
  }
  // A directory in the way makes room for the file that the snapshot knows; whatever else is there is replaced by a rename.
  if (isDirectory) await removeEntry(bring.scan, at);
  else if (
    status !== undefined &&
    isSame(await scanEntry(bring.scanAt?.(at.path) ?? bring.scan, at, undefined), target)
  ) {
    if (kind === undefined || keptBits(status.mode, kind) === bits) return;
  }
  wanted.push({ path: at.path, leaf: target, bits });
}
