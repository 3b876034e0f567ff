import { isPlainName } from '../files/index.ts';
import { WorkspaceError } from '../port/workspaces.ts';
import { canonicalMode, emptyFolder, type Folder, isFolder } from '../store/objects/index.ts';

export interface Listing {
  readonly root: Folder;
  readonly submodules: { path: string; oid: string }[];
  /** Ids of all trees and files, files with forbidden names included. */
  readonly oids: Set<string>;
  /** Ids of the trees below the root. */
  readonly trees: Set<string>;
  /** Sizes of files in bytes by id, where the listing has them. */
  readonly sizes: Map<string, number>;
  /** Whether `root` is exactly the listed tree. */
  readonly isWhole: boolean;
}

/** git's word for the size of an object missing in the repository. A later user of the object finds the loss. */
const missing = 'BAD';

interface ListingOptions {
  /** Whether a name may become a file. @default `isPlainName` */
  readonly isName?: ((name: string) => boolean) | undefined;
  /** Whether the caller takes an entry. Throws to refuse the whole listing. @default every entry */
  readonly takes?: (path: string, isFolder: boolean) => boolean;
}

/**
 * Reads the output of `git ls-tree -r -t -z [-l]`. Omits names forbidden for files, and entries refused by the caller. Submodules become
 * empty folders and are listed. The ids of folders above an omitted name are cleared.
 */
export async function readListing(
  rows: AsyncIterable<readonly string[]>,
  { isName = isPlainName, takes = () => true }: ListingOptions = {},
): Promise<Listing> {
  const listing: Omit<Listing, 'isWhole'> = {
    ...{ root: emptyFolder(), submodules: [], oids: new Set(), trees: new Set(), sizes: new Map() },
  };
  const reading: Reading = { listing, folders: new Map([['', listing.root]]), incomplete: new Set() };
  for await (const some of rows) {
    for (const row of some) {
      const { path, name, parent, ...entry } = readRow(reading, row);
      if (parent === undefined) continue;
      const isTaken = isName(name) && takes(path, entry.mode === '040000');
      if (isTaken) place(reading, { ...entry, path, name, parent });
      if (!isTaken || entry.mode === '160000') reading.incomplete.add(parentOf(path));
    }
  }
  for (const path of reading.incomplete) unseal(listing.root, path);
  return { ...listing, isWhole: reading.incomplete.size === 0 };
}

interface Reading {
  readonly listing: Omit<Listing, 'isWhole'>;
  readonly folders: Map<string, Folder>;
  /** Folders with a lost entry. */
  readonly incomplete: Set<string>;
}

/** Reads a row, and notes its object. Without a parent, the entry lies in an omitted folder. */
function readRow({ listing, folders }: Reading, row: string) {
  const match = /^(\d{6}) \w+ ([0-9a-f]{40})(?: +(\d+|-|BAD))?\t(.*)$/s.exec(row);
  if (match === null) throw new WorkspaceError('EWORKSPACECORRUPT', `git listed an entry as ${JSON.stringify(row)}.`);
  const [, mode = '', oid = '', size, path = ''] = match;
  if (mode !== '160000') listing.oids.add(oid);
  if (mode === '040000') listing.trees.add(oid);
  else if (size !== undefined && size !== '-' && size !== missing) listing.sizes.set(oid, Number(size));
  return { mode, oid, path, name: path.slice(path.lastIndexOf('/') + 1), parent: folders.get(parentOf(path)) };
}

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

function place(
  { listing, folders }: Reading,
  { mode, oid, path, name, parent }: { mode: string; oid: string; path: string; name: string; parent: Folder },
): void {
  if (mode === '160000') {
    listing.submodules.push({ path, oid });
    parent.entries.set(name, emptyFolder());
  } else if (mode === '040000') {
    const folder: Folder = { entries: new Map(), oid };
    folders.set(path, folder);
    parent.entries.set(name, folder);
  } else {
    parent.entries.set(name, { mode: canonicalMode(mode), oid });
  }
}

/** Clears the ids of a folder and of every parent folder. */
function unseal(root: Folder, path: string): void {
  let current: Folder = root;
  delete current.oid;
  for (const name of path === '' ? [] : path.split('/')) {
    const child = current.entries.get(name);
    if (!isFolder(child)) return;
    current = child;
    delete current.oid;
  }
}
