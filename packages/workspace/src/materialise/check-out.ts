import { Readable } from 'node:stream';
import { type LfsPointers, mostAbsentPaths } from '@holdpoint/contract';
import { type Deps, type Materialised, WorkspaceError } from '../deps.ts';
import { toText } from '../files/index.ts';
import type { Git } from '../host-git/git.ts';
import { withObjectReader } from '../host-git/object-reader.ts';
import { mostListed } from '../host-git/stream-blobs.ts';
import { sizedTreeRows } from '../host-git/tree-rows.ts';
import { largestCommit, readNamedCommit } from '../source/git/named-commit.ts';
import * as gitSource from '../source/git/repository.ts';
import { pipePack } from '../source/git/take-commit.ts';
import { assertUsablePath, countBytes, countEntry, type ImportContext, selectTree } from '../source/import-context.ts';
import { isPointer, largestPointer } from '../source/lfs-pointer.ts';
import { type Folder, leavesOf, modes, newPackPaths, objectsIn } from '../store/objects/index.ts';
import { type Listing, readListing } from '../tree/index.ts';
import { type Copied, newCopied } from './copy-directory.ts';

export type GitFound = Extract<gitSource.FoundSource, { type: 'git' }>;

/** A commit of a source, with the files selected for the workspace. */
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
  const { found, context, signal } = input;
  const list = ['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', `${found.commit}^{tree}`];
  const content = found.content ?? (await readContent(deps.git, found, signal));
  const tree = /^tree ([0-9a-f]{40})\n/.exec(content.toString('latin1', 0, 64))?.[1];
  if (tree === undefined) {
    throw new WorkspaceError('ESOURCEBROKEN', `git gave no commit for ${found.commit} of ${found.repository.common}.`);
  }
  const rows =
    (await listSmall(deps.git, { found, tree, signal })) ??
    gitSource.listGit(deps.git, found.repository, list, { most: mostListed(context.limits), signal });
  const listing = await readListing(rows, { takes: (path, isFolder) => takes(context, path, isFolder) });
  if (listing.root.entries.size > 0 && listing.isWhole) listing.root.oid = tree;
  const root = selectTree(listing.root, context.selection);
  for (const { leaf } of leavesOf(root)) countBytes(context, listing.sizes.get(leaf.oid) ?? 0);
  const wanted = listing.submodules.filter(({ path }) => context.selection.has(path));
  const submodules = wanted.map(({ path, oid }) => ({ path: toText(path), commit: oid }));
  return { content, tree, listing, root, submodules };
}

/** Entries of a tree that the kept program of the operation lists: git lists more of them in less time by itself. */
const smallTree = 5000;

/** Undefined for a large tree, and for every tree that git may know more about: a damaged one, for example. */
async function listSmall(
  git: Git,
  { found, tree, signal }: { found: GitFound; tree: string; signal: AbortSignal | undefined },
): Promise<AsyncIterable<string[]> | undefined> {
  if (git.objects === undefined || !git.abilities.batchCommand) return undefined;
  const { options } = gitSource.asOwner(found.repository);
  const query = { gitDir: gitSource.gitDirName(found.repository), options, signal, treeish: tree, most: smallTree };
  try {
    const rows = await sizedTreeRows(git.objects, query);
    return Readable.from([rows]);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

async function readContent(git: Git, { repository, commit }: GitFound, signal: AbortSignal | undefined) {
  const kept = await readNamedCommit(git, repository, { name: commit, signal });
  if (kept !== undefined) return kept.content;
  const options = { maxBytes: largestCommit, signal };
  return (await gitSource.readGit(git, repository, ['cat-file', 'commit', commit], options)).stdout;
}

/** Counts the workspace's paths during git's listing: a repository of ten objects can list more paths than any memory holds. */
function takes(context: ImportContext, path: string, isFolder: boolean): boolean {
  const isSelected = context.selection.has(path);
  if (isSelected) {
    assertUsablePath(path);
    countEntry(context);
  }
  // An unselected folder may have selected files.
  return isSelected || (isFolder && !context.selection.excludes(path));
}

/**
 * Copies the objects of a commit's tree into a bare repository, in the source's form: git packs nothing again, and computes the id of each. On
 * disk at the return, but for the names in the folder.
 * @throws WorkspaceError ESOURCEBROKEN when the source lacks some of them
 */
export async function takeTree(
  deps: Pick<Deps, 'git'>,
  input: { found: GitFound; commit: Commit; gitDir: string; signal?: AbortSignal | undefined },
): Promise<void> {
  const { repository } = input.found;
  const { tree, listing } = input.commit;
  const { at, options } = gitSource.asOwner(repository);
  const packing = ['-c', 'pack.compression=1', 'pack-objects', '--window=0', '--revs', '--stdout'];
  packing.push('--delta-base-offset', '-q');
  const { pack, index } = newPackPaths(input.gitDir);
  await pipePack(deps.git, {
    pack: {
      args: [...at, ...packing],
      options: { ...options, signal: input.signal },
      failed: gitSource.rethrowBroken(repository),
    },
    index: {
      args: [`--git-dir=${input.gitDir}`, 'index-pack', '--stdin', pack],
      options: { signal: input.signal },
      failed: rethrowUnstored,
    },
    revs: `${tree}\n`,
  });
  const taken = new Set(objectsIn(index));
  for (const oid of [tree, ...listing.oids]) {
    if (taken.has(oid)) continue;
    throw new WorkspaceError('ESOURCEBROKEN', `git cannot read ${repository.common}: the object ${oid} is damaged.`);
  }
}

function rethrowUnstored(cause: unknown): never {
  if (!(cause instanceof WorkspaceError) || cause.code !== 'EGITFAILED') throw cause;
  throw new WorkspaceError('EIO', `The objects of the source cannot be stored. ${cause.message}`, { cause });
}

/** The content of a workspace with the files of a commit. */
export function describeCommit({ root, listing }: Pick<Commit, 'root' | 'listing'>, fileBytes: number): Copied {
  const copied: Copied = { ...newCopied(), root };
  for (const { path, leaf } of leavesOf(root)) {
    if (leaf.mode === modes.symlink) continue;
    const size = listing.sizes.get(leaf.oid) ?? 0;
    // The snapshot's walk counts the file.
    if (size > fileBytes) {
      copied.unstored.push(path);
      continue;
    }
    copied.files += 1;
    copied.bytes += size;
  }
  return copied;
}

const largestAttributes = 1024 * 1024;
/** Pointers and attributes are small. Content of a commit beyond these bytes of either is not searched. */
const mostBytes = 32 * 1024 * 1024;

/** The pointer files of git-lfs in a commit. Only a commit with the filter in its attributes is read: a rare case. */
export async function findLfsPointers(
  deps: Pick<Deps, 'git'>,
  input: { found: GitFound; root: Folder; listing: Pick<Listing, 'sizes'>; signal?: AbortSignal | undefined },
): Promise<LfsPointers | undefined> {
  const files: { path: string; oid: string; size: number }[] = [];
  for (const { path, leaf } of leavesOf(input.root)) {
    if (leaf.mode === modes.symlink) continue;
    files.push({ path, oid: leaf.oid, size: input.listing.sizes.get(leaf.oid) ?? 0 });
  }
  const attributes = within(files.filter(({ path, size }) => isAttributes(path) && size <= largestAttributes));
  if (attributes.length === 0) return undefined;
  const texts = await contentsOf(deps, input, attributes);
  if (!texts.some((text) => /\bfilter=lfs\b/.test(text.toString('latin1')))) return undefined;
  const small = within(files.filter(({ size }) => size > 0 && size <= largestPointer));
  const contents = await contentsOf(deps, input, small);
  const pointers = small.filter((_, index) => isPointer(contents[index] ?? Buffer.alloc(0)));
  if (pointers.length === 0) return undefined;
  return { files: pointers.length, paths: pointers.slice(0, mostAbsentPaths).map(({ path }) => toText(path)) };
}

/** The first files, `mostBytes` together at most. */
function within<File extends { size: number }>(files: readonly File[]): File[] {
  let bytes = 0;
  return files.filter(({ size }) => {
    bytes += size;
    return bytes <= mostBytes;
  });
}

const isAttributes = (path: string): boolean => path === '.gitattributes' || path.endsWith('/.gitattributes');

async function contentsOf(
  deps: Pick<Deps, 'git'>,
  { found, signal }: { found: GitFound; signal?: AbortSignal | undefined },
  files: readonly { oid: string }[],
): Promise<Buffer[]> {
  if (files.length === 0) return [];
  const contents: Buffer[] = [];
  const { repository } = found;
  await withObjectReader(deps, ({ git }) =>
    gitSource.readKept(git, repository, { names: files.map(({ oid }) => oid), type: 'blob', signal }, (_, content) => {
      contents.push(content);
    }),
  ).catch(gitSource.rethrowBroken(repository));
  return contents;
}
