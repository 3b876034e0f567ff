import { readSync } from 'node:fs';
import { type Directory, isDotGit, openChain, readFully } from '../files/index.ts';
import type { Git } from '../host-git/git.ts';
import type { RunFolder } from '../run-folder/run-folder.ts';
import * as objects from '../store/objects/index.ts';
import { clearStatFields, clearStatFieldsOfLarge } from './index-file.ts';
import * as loadSnapshot from './load-snapshot.ts';
import { isSameManifest, type Manifest, readManifest, snapshotMessage } from './manifest.ts';
import { gitPermissions } from './permissions.ts';
import { type Scan, scanEntry } from './scan.ts';

const prefix = 'dot:';

/** Escapes names rejected by `git fsck` in tree objects. */
const escapeNames = (folder: objects.Folder): objects.Folder =>
  renamed(folder, (name) => (isDotGit(name) || name.startsWith(prefix) ? `${prefix}${name}` : name));

const unescapeNames = (folder: objects.Folder): objects.Folder =>
  renamed(folder, (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));

/** Folders without a changed name stay the same objects and keep their ids. */
function renamed(folder: objects.Folder, rename: (name: string) => string): objects.Folder {
  const entries = new Map<string, objects.Entry>();
  let isSame = true;
  for (const [name, entry] of folder.entries) {
    const next = objects.isFolder(entry) ? renamed(entry, rename) : entry;
    const renamedTo = rename(name);
    isSame &&= renamedTo === name && next === entry;
    entries.set(renamedTo, next);
  }
  return isSame ? folder : { entries };
}

/**
 * The `.git` entries of a tree: Holdpoint's own repository at the top, and repositories made by commands below. A snapshot stores them in a
 * separate commit, its second parent. So they are part of the snapshot's id, the id in approvals, and are restored with the files, while a
 * diff or a publish never sees them. Here they are data: git never runs on them outside a sandbox.
 */
export interface Repositories extends FoundRepositories {
  /** The commit, whose parent is the base commit of the repository at the top. */
  readonly id: string;
  readonly baseCommit: string;
}

export interface FoundRepositories {
  /** The tree of `.git` entries and the folders above them. */
  readonly root: objects.Folder;
  readonly manifest: Manifest;
}

export interface RepositoriesCache extends loadSnapshot.SnapshotCache {
  /** Latest first, at most two. */
  readonly repositories: Repositories[];
  /** The most recently used repositories of this process, of any run, by id. */
  readonly recentRepositories: Map<string, Repositories>;
}

/** Reads the `.git` entries found by a walk. */
export async function scanRepositories(
  scan: Scan,
  input: { top: Directory; previous: objects.Folder | undefined },
): Promise<FoundRepositories> {
  const own = repositoryScan(scan);
  const root = objects.emptyFolder();
  for (const path of scan.hidden) {
    const names = path.split('/');
    const name = names.at(-1) ?? '';
    using directory = openChain(input.top, names.slice(0, -1));
    if (directory === undefined) continue;
    const before = input.previous && objects.find(input.previous, names);
    const entry = await scanEntry(own, { directory, name, path }, before);
    if (entry !== undefined) addEntry(root, names, entry);
    const pause = scan.maybeYield();
    if (pause !== undefined) await pause;
  }
  const { skipped } = own;
  // Only the run's user has access, so permissions beyond git's two modes do not matter.
  const manifest = { skipped, empty: objects.emptyFolders(root), permissions: gitPermissions, repositories: undefined };
  return { root, manifest };
}

/** Not `withEntry`, because `withEntry` copies folders: there may be very many entries. */
function addEntry(root: objects.Folder, names: readonly string[], entry: objects.Entry): void {
  let folder = root;
  for (const name of names.slice(0, -1)) {
    const child = folder.entries.get(name);
    const next = objects.isFolder(child) ? child : objects.emptyFolder();
    folder.entries.set(name, next);
    folder = next;
  }
  folder.entries.set(names.at(-1) ?? '', entry);
}

/** A scan without hidden names and without the status fields of an index. */
export function repositoryScan(scan: Scan): Scan {
  const { content } = scan;
  return {
    ...scan,
    hides: () => false,
    hidden: new Set(),
    skipped: new Map(),
    permissions: new Map(),
    entries: 0,
    content: {
      blob: (bytes, path) =>
        content.blob(clearStatFields(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)) ?? bytes, path),
      largeBlob: async (fd, size, path) => {
        const read = size <= maxIndexBytes && isIndex(fd) ? readFully(fd, size) : undefined;
        const index = read && (await clearStatFieldsOfLarge(read));
        // A new index has no status fields yet; large content is compressed outside of the event loop.
        const isAsRead = index === undefined || index === read;
        return isAsRead ? content.largeBlob(fd, size, path) : content.blob(index, path);
      },
      has: (oid) => content.has(oid),
      backpressure: () => content.backpressure(),
    },
  };
}

/** The index of 500,000 files. A larger index is stored unchanged. */
const maxIndexBytes = 64 * 1024 * 1024;

function isIndex(fd: number): boolean {
  const start = Buffer.alloc(4);
  readSync(fd, start, 0, 4, 0);
  return start.toString('latin1') === 'DIRC';
}

/** Adds the entries to the written objects and returns their commit: the previous commit when nothing differs. */
export async function storeRepositories(
  state: RepositoriesCache,
  input: {
    writer: objects.ObjectWriter;
    found: FoundRepositories;
    previous: Repositories | undefined;
    baseCommit: string;
    seconds: number;
  },
): Promise<string> {
  const { writer, found, previous, baseCommit } = input;
  if (previous !== undefined && isSameRepositories(previous, found)) return previous.id;
  const tree = await writer.root(escapeNames(found.root));
  const message = snapshotMessage('repositories', found.manifest);
  const id = writer.commit({ tree, parent: baseCommit, seconds: input.seconds, message });
  cacheRepositories(state, { ...found, id, baseCommit });
  return id;
}

export const isSameRepositories = (a: FoundRepositories, b: FoundRepositories): boolean =>
  objects.changesBetween(a.root, b.root).length === 0 && isSameManifest(a.manifest, b.manifest);

/** The `.git` entries of a snapshot; undefined when the snapshot has none. */
export async function loadRepositories(
  deps: { git: Git },
  input: { folder: RunFolder; state: RepositoriesCache; snapshot: Pick<loadSnapshot.LoadedSnapshot, 'manifest'> },
): Promise<Repositories | undefined> {
  const { folder, state, snapshot } = input;
  const id = snapshot.manifest.repositories;
  if (id === undefined) return undefined;
  const kept = state.repositories.find((one) => one.id === id);
  if (kept !== undefined) return kept;
  const recent = state.recentRepositories.get(id);
  // The snapshot needs the objects, so this repository has them.
  if (recent !== undefined) {
    loadSnapshot.noteObjects(recent.root, state.known);
    cacheRepositories(state, recent);
    return recent;
  }
  const { tree, parent, message } = objects.readCommit(
    await loadSnapshot.commitContent(deps, { gitDir: folder.shadow, id }),
  );
  const manifest = readManifest(message);
  const stored = await loadSnapshot.loadTree(deps, { folder, state, treeish: tree, isName: isFileName });
  const root = unescapeNames(stored.root);
  for (const path of manifest.empty) loadSnapshot.addEmptyFolder(root, path.split('/'));
  const loaded = { id, baseCommit: parent ?? '', root, manifest };
  cacheRepositories(state, loaded);
  return loaded;
}

const mostRecent = 4;

const isFileName = (name: string): boolean => name !== '' && name !== '.' && name !== '..';

function cacheRepositories(state: RepositoriesCache, repositories: Repositories): void {
  const others = state.repositories.filter(({ id }) => id !== repositories.id);
  loadSnapshot.keepRecent(state.recentRepositories, mostRecent, repositories);
  state.repositories.splice(0, state.repositories.length, repositories, ...others.slice(0, 1));
}

/** Merges the files of a snapshot with its `.git` entries. */
export function wholeTree(root: objects.Folder, repositories: objects.Folder): objects.Folder {
  const entries = new Map(root.entries);
  for (const [name, entry] of repositories.entries) {
    const there = entries.get(name);
    const both = !isDotGit(name) && objects.isFolder(entry) && objects.isFolder(there);
    entries.set(name, both ? wholeTree(there, entry) : entry);
  }
  return { entries };
}
