import { mkdirSync } from 'node:fs';
import { type Deps, type Materialised, type Owner, WorkspaceError } from '../deps.ts';
import { fromPlain, join, openTop, setFolderOwner, toText } from '../files/index.ts';
import { bigFileFlags } from '../host-git/git.ts';
import type { FoundSource } from '../source-repository/found-source.ts';
import { asOwner, readGit, rethrowBroken } from '../source-repository/repository.ts';
import {
  type Folder,
  gitPermissions,
  isFolder,
  kindOf,
  type Leaf,
  type Listing,
  modes,
  readListing,
} from '../tree/index.ts';
import { type Copied, newCopied } from './copy-directory.ts';
import { statusFields } from './import/copy-files.ts';
import type { Importer } from './import/importer.ts';
import { BrokenSource, type WantedObject } from './import/take-objects.ts';
import { countBytes, countEntry, type ImportContext } from './import-context.ts';
import { selectTree } from './selection.ts';

export type GitFound = Extract<FoundSource, { type: 'git' }>;

/** A commit of a source, and which of its files the workspace gets. */
export interface Commit {
  /** Content of the commit object. */
  readonly content: Buffer;
  /** Id of the whole tree. */
  readonly tree: string;
  readonly listing: Listing;
  /** The selected files. */
  readonly root: Folder;
  readonly submodules: Materialised['submodules'];
}

/** Reads the names and sizes of a commit's files. Throws before anything is copied when the commit is too large. */
export async function readCommitTree(
  deps: Pick<Deps, 'git'>,
  input: { found: GitFound; context: ImportContext; signal?: AbortSignal | undefined },
): Promise<Commit> {
  const { found, context } = input;
  const options = { maxBytes: 1024 * 1024 * 1024, ...(input.signal && { signal: input.signal }) };
  const list = ['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', `${found.commit}^{tree}`];
  const [{ stdout: content }, { stdout: listed }] = await Promise.all([
    readGit(deps.git, found.repository, ['cat-file', 'commit', found.commit], options),
    readGit(deps.git, found.repository, list, options),
  ]);
  const tree = /^tree ([0-9a-f]{40})\n/.exec(content.toString('latin1', 0, 64))?.[1];
  if (tree === undefined) {
    throw new WorkspaceError('ESOURCEBROKEN', `git gave no commit for ${found.commit} of ${found.repository.common}.`);
  }
  const listing = readListing(listed);
  if (listing.root.entries.size > 0 && listing.isWhole) listing.root.oid = tree;
  const root = selectTree(listing.root, context.selection);
  countFiles(context, { root, listing });
  const wanted = listing.submodules.filter(({ path }) => context.selection.has(path));
  const submodules = wanted.map(({ path, oid }) => ({ path: toText(path), commit: oid }));
  return { content, tree, listing, root, submodules };
}

function countFiles(context: ImportContext, { root, listing }: Pick<Commit, 'root' | 'listing'>): void {
  for (const { leaf } of leavesOf(root)) {
    countEntry(context);
    countBytes(context, listing.sizes.get(leaf.oid) ?? 0);
  }
}

/**
 * Writes the files of a commit, and stores all of its objects: each is read from the source once.
 * @param input.to undefined: the objects are only stored
 */
export async function checkOut(
  deps: Pick<Deps, 'git'>,
  input: {
    found: GitFound;
    commit: Commit;
    importer: Importer;
    to: string | undefined;
    temporary: string;
    owner: ImportContext['owner'];
    fileBytes: number;
    learn: (path: string, status: BigInt64Array, oid: string) => void;
  },
): Promise<Copied> {
  const { commit, importer, to, found } = input;
  if (to !== undefined)
    makeFolders(commit.root, {
      to: fromPlain(to),
      owner: input.owner,
      bitsOf: () => gitPermissions.usual.folder,
    });
  const wanted = wantedObjects(commit, to);
  const { at, options } = asOwner(found.repository);
  const args = [...bigFileFlags, ...at, 'cat-file', '--batch', '--buffer'];
  const command = deps.git.command(args, options);
  const prefix = to === undefined ? 0 : fromPlain(to).length + 1;
  await Promise.all(
    split(wanted, importer.partsOf(wanted.length), commit.listing).map(async (objects) => {
      const { status } = await importer.takeObjects({ command, objects, temporary: input.temporary });
      for (const [index, { path, oid, isLink }] of objects.entries()) {
        const numbers = status.subarray(index * statusFields, (index + 1) * statusFields);
        if (path !== undefined && isLink !== true) input.learn(path.slice(prefix), numbers, oid);
      }
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof BrokenSource)) throw error;
    return rethrowBroken(found.repository)(new WorkspaceError('EGITFAILED', error.message, { cause: error }));
  });
  return describeCommit(commit, input.fileBytes);
}

/** What a workspace with the files of a commit holds. */
export function describeCommit({ root, listing }: Pick<Commit, 'root' | 'listing'>, fileBytes: number): Copied {
  const copied: Copied = { ...newCopied(), root };
  for (const { path, leaf } of leavesOf(root)) {
    if (leaf.mode === modes.symlink) continue;
    const size = listing.sizes.get(leaf.oid) ?? 0;
    // The snapshot's walk counts it.
    if (size > fileBytes) {
      copied.unstored.push(path);
      continue;
    }
    copied.files += 1;
    copied.bytes += size;
  }
  return copied;
}

/** Every file and link below a folder, by its path below it. */
export function* leavesOf(folder: Folder, above = ''): Generator<{ path: string; leaf: Leaf }> {
  for (const [name, entry] of folder.entries) {
    const path = above === '' ? name : `${above}/${name}`;
    if (isFolder(entry)) yield* leavesOf(entry, path);
    else yield { path, leaf: entry };
  }
}

/**
 * All folders first: a name that a broken tree gives to a link as well is then taken.
 * @param to byte path of a folder that no other process looks at
 * @param bitsOf permissions of the folder at a byte path below `to`
 */
export function makeFolders(
  root: Folder,
  { to, owner, bitsOf }: { to: string; owner: Owner | undefined; bitsOf: (path: string) => number },
): void {
  const visit = (folder: Folder, above: string) => {
    for (const [name, entry] of folder.entries) {
      if (!isFolder(entry)) continue;
      const path = join(above, name);
      const at = Buffer.from(`${to}/${path}`, 'latin1');
      mkdirSync(at, 0o700);
      using made = openTop(at);
      setFolderOwner(made.fd, owner, bitsOf(path));
      visit(entry, path);
    }
  };
  visit(root, '');
}

function wantedObjects({ root, tree, listing }: Commit, to: string | undefined): WantedObject[] {
  const wanted: WantedObject[] = [...new Set([tree, ...listing.trees])].map((oid) => ({ oid, type: 'tree' }));
  const files = new Set(listing.oids);
  for (const oid of listing.trees) files.delete(oid);
  const top = to === undefined ? '' : fromPlain(to);
  for (const { path, leaf } of to === undefined ? [] : leavesOf(root)) {
    const isLink = leaf.mode === modes.symlink;
    const kind = kindOf(leaf) ?? 'file';
    wanted.push({ oid: leaf.oid, type: 'blob', path: `${top}/${path}`, bits: gitPermissions.usual[kind], isLink });
    files.delete(leaf.oid);
  }
  // Files that the workspace does not get belong to the commit nevertheless.
  for (const oid of files) wanted.push({ oid, type: 'blob' });
  return wanted;
}

/** Neighbours stay together, because git keeps the bases of their deltas. */
function split(wanted: WantedObject[], parts: number, { sizes }: Listing): WantedObject[][] {
  const weight = ({ oid }: WantedObject) => 4096 + (sizes.get(oid) ?? 0);
  const total = wanted.reduce((sum, one) => sum + weight(one), 0);
  const found: WantedObject[][] = Array.from({ length: parts }, () => []);
  let before = 0;
  for (const one of wanted) {
    found[Math.min(parts - 1, Math.floor((before * parts) / total))]?.push(one);
    before += weight(one);
  }
  return found.filter((part) => part.length > 0);
}
