import { createYielder, isPlainName } from '../files/index.ts';
import { WorkspaceError } from '../port.ts';
import { canonicalMode, emptyFolder, type Folder, isFolder } from './tree.ts';

export interface Listing {
  readonly root: Folder;
  readonly submodules: { path: string; oid: string }[];
  /** Ids of all trees and files, also of those with names that must never become files. */
  readonly oids: Set<string>;
  /** Ids of the trees below the root. */
  readonly trees: Set<string>;
  /** Sizes of files in bytes by id, where the listing has them. */
  readonly sizes: Map<string, number>;
  /** Whether `root` is exactly the tree that was listed. */
  readonly isWhole: boolean;
}

/** What git prints as the size of an object that the repository does not have. Whatever needs the object finds that out. */
const missing = 'BAD';

/**
 * Reads what `git ls-tree -r -t -z [-l]` printed. Omits names that must never become files. Submodules become empty folders and are listed.
 * The ids of folders above an omitted name are cleared.
 */
export async function readListing(printed: Buffer, isName: (name: string) => boolean = isPlainName): Promise<Listing> {
  const maybeYield = createYielder();
  const listing: Omit<Listing, 'isWhole'> = {
    ...{ root: emptyFolder(), submodules: [], oids: new Set(), trees: new Set(), sizes: new Map() },
  };
  const folders = new Map<string, Folder>([['', listing.root]]);
  const incomplete = new Set<string>();
  for (const row of rowsOf(printed)) {
    const pause = maybeYield();
    if (pause !== undefined) await pause;
    const match = /^(\d{6}) \w+ ([0-9a-f]{40})(?: +(\d+|-|BAD))?\t(.*)$/s.exec(row);
    if (match === null) throw new WorkspaceError('EWORKSPACECORRUPT', `git listed an entry as ${JSON.stringify(row)}.`);
    const [, mode = '', oid = '', size, path = ''] = match;
    if (mode !== '160000') listing.oids.add(oid);
    if (mode === '040000') listing.trees.add(oid);
    else if (size !== undefined && size !== '-' && size !== missing) listing.sizes.set(oid, Number(size));
    const slash = path.lastIndexOf('/');
    const parentPath = path.slice(0, Math.max(slash, 0));
    const parent = folders.get(parentPath);
    if (parent === undefined) continue;
    const name = path.slice(slash + 1);
    if (!isName(name)) {
      incomplete.add(parentPath);
      continue;
    }
    if (mode === '160000') {
      listing.submodules.push({ path, oid });
      parent.entries.set(name, emptyFolder());
      incomplete.add(parentPath);
    } else if (mode === '040000') {
      const folder: Folder = { entries: new Map(), oid };
      folders.set(path, folder);
      parent.entries.set(name, folder);
    } else {
      parent.entries.set(name, { mode: canonicalMode(mode), oid });
    }
  }
  for (const path of incomplete) unseal(listing.root, path);
  return { ...listing, isWhole: incomplete.size === 0 };
}

/** Row by row: 100,000 rows that are cut out together take twice their bytes in memory. */
function* rowsOf(printed: Buffer): Generator<string> {
  for (let at = 0, end = printed.indexOf(0); end !== -1; at = end + 1, end = printed.indexOf(0, at)) {
    yield printed.toString('latin1', at, end);
  }
}

/** Clears the ids of a folder and of every folder above it. */
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
