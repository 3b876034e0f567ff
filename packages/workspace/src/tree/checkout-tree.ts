import type { BigIntStats } from 'node:fs';
import { mkdirSync } from 'node:fs';
import type { Directory } from '../files/open-directory.ts';
import { namesIn, openForOwner, openTree, statIn } from '../files/open-directory.ts';
import { isDotGit, join } from '../files/path-name.ts';
import type { EntryAt, Keep } from '../files/remove-entry.ts';
import { removeEntry } from '../files/remove-entry.ts';
import { setFolderOwner } from '../files/set-owner.ts';
import { hashLargeBlob } from '../git-objects/large-blob.ts';
import { objectId } from '../git-objects/object-id.ts';
import type { Git } from '../host-git/git.ts';
import type { Owner } from '../port.ts';
import { gitPermissions, keptBits, kindOf, type Permissions, permissionsAt } from './permissions.ts';
import type { Scan } from './scan.ts';
import { scanEntry } from './scan.ts';
import type { Entry, Folder, Leaf } from './tree.ts';
import { isFolder, isSame } from './tree.ts';
import { writeLeaves } from './write-leaves.ts';

export interface Checkout {
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
  backpressure: () => undefined,
};

/** A file to write. */
export interface WantedFile {
  path: string;
  leaf: Leaf;
  /** Permission bits; a link has none. */
  bits: number;
}

/**
 * Makes the tree equal to `target`: first removes what is not in it, then writes what differs. Running it again after an
 * interruption ends in the same state.
 */
export async function checkoutTree(checkout: Checkout, target: Folder): Promise<void> {
  const wanted: WantedFile[] = [];
  using top = openTree(checkout.tree);
  await checkoutFolder(checkout, { directory: top, path: '', wanted }, target);
  await writeLeaves(checkout, { top, wanted });
}

interface Place {
  directory: Directory;
  path: string;
  wanted: WantedFile[];
}

async function checkoutFolder(checkout: Checkout, place: Place, target: Folder): Promise<void> {
  const { directory } = place;
  const hides = checkout.hides ?? isDotGit;
  const keep: Keep = (at, status) => hides(at.name) || checkout.keep(at.path, status);
  for (const name of new Set([...namesIn(directory), ...target.entries.keys()])) {
    const path = join(place.path, name);
    const status = statIn(directory, name);
    if (hides(name) || (status !== undefined && checkout.keep(path, status))) continue;
    const entry = target.entries.get(name);
    if (entry === undefined)
      await removeEntry({ maybeYield: checkout.scan.maybeYield, keep }, { directory, name, path });
    else await checkoutEntry(checkout, { directory, name, path }, status, entry, place.wanted);
    const pause = checkout.scan.maybeYield();
    if (pause !== undefined) await pause;
  }
}

async function checkoutEntry(
  checkout: Checkout,
  at: EntryAt,
  status: BigIntStats | undefined,
  target: Entry,
  wanted: WantedFile[],
): Promise<void> {
  const isDirectory = status?.isDirectory() === true;
  const kind = kindOf(target);
  const bits = kind === undefined ? 0 : permissionsAt(checkout.permissions ?? gitPermissions, at.path, kind);
  if (isFolder(target)) {
    if (status !== undefined && !isDirectory) await removeEntry(checkout.scan, at);
    if (!isDirectory) mkdirSync(at.directory.at(at.name), 0o755);
    using directory = openForOwner(at.directory, at.name);
    if (status === undefined || !isDirectory) setFolderOwner(directory.fd, checkout.owner, bits);
    else if (keptBits(status.mode, 'folder') !== bits) setFolderOwner(directory.fd, undefined, bits);
    // Awaited here, while the directory is open.
    return await checkoutFolder(checkout, { directory, path: at.path, wanted }, target);
  }
  // A directory in the way makes room for the file that the snapshot knows; whatever else is there is replaced by a rename.
  if (isDirectory) await removeEntry(checkout.scan, at);
  else if (
    status !== undefined &&
    isSame(await scanEntry(checkout.scanAt?.(at.path) ?? checkout.scan, at, undefined), target)
  ) {
    if (kind === undefined || keptBits(status.mode, kind) === bits) return;
  }
  wanted.push({ path: at.path, leaf: target, bits });
}
