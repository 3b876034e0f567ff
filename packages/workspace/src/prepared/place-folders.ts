import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { type Deps, type Owner, type RunFolder, WorkspaceError } from '../deps.ts';
import {
  createYielder,
  type Directory,
  join,
  openChain,
  openTop,
  openTree,
  removeFolder,
  statIn,
  toText,
} from '../files/index.ts';
import { bigFileFlags } from '../host-git/git.ts';
import { mountedTree } from '../layers/index.ts';
import { leavesOf, makeFolders } from '../materialise/check-out.ts';
import { Importer } from '../materialise/import/importer.ts';
import type { WantedObject } from '../materialise/import/take-objects.ts';
import { type RunState, temporaryPath, type WorkspaceRecord } from '../run/index.ts';
import {
  type Folder,
  fileSystemClock,
  isFolder,
  type KnownTree,
  kindOf,
  knownRoot,
  type LoadedSnapshot,
  modes,
  type Permissions,
  permissionsAt,
  type StatCache,
  trustedStats,
  withEntry,
} from '../tree/index.ts';

interface Input {
  folder: RunFolder;
  record: WorkspaceRecord;
  state: RunState;
  /** What the tree holds. */
  parent: LoadedSnapshot;
  /** What it shall hold, and the permissions. Its repository has all objects. */
  root: Folder;
  permissions: Permissions;
}

/** A folder that the tree has not, by its byte path. */
interface NewFolder {
  path: string;
  entry: Folder;
}

/**
 * Puts the folders that are new as a whole into the tree. They are written where no process of the run can look, so each file is written under
 * its final name by its plain path, in threads: that takes as long as `cp -a`, and writing them file by file into the tree three times as long.
 * @returns what the tree holds now
 */
export async function placeFolders(deps: Deps, input: Input): Promise<KnownTree> {
  const { folder, parent, root } = input;
  const layer = await mountedTree(deps, folder);
  using top = openTree(folder.tree);
  const found = [...newFolders(parent.root, root)].filter(({ path }) => isFree(top, path));
  const known = found.reduce((to, { path, entry }) => withEntry(to, path.split('/'), entry), knownRoot(parent));
  if (found.length > 0) {
    await using making = await makeAside(deps, layer === undefined ? undefined : top);
    await writeFolders(deps, { ...input, found, making: making.directory });
    deps.onPoint('prepared.written');
    for (const [index, { path }] of found.entries()) {
      using above = parentOf(top, path);
      if (above === undefined) throw new WorkspaceError('EWORKSPACEBUSY', `The folder of ${toText(path)} vanished.`);
      renameSync(making.directory.at(String(index)), above.at(nameOf(path)));
    }
    learn(input, { top, found });
  }
  return { root: known, isUnsure: () => false };
}

/**
 * An empty folder that belongs to this process and is removed at the end of the scope.
 * @param top a tree on a layer, which is a file system of its own, so the folder has to be in it. Trees are on layers only where the user of
 * this process is root, and no process of a run can open the folder.
 */
async function makeAside(
  deps: Deps,
  top: Directory | undefined,
): Promise<{ directory: Directory; [Symbol.asyncDispose](): Promise<void> }> {
  const path = top?.at(`.holdpoint-${randomBytes(8).toString('hex')}`) ?? Buffer.from(temporaryPath(deps, 'prepared'));
  mkdirSync(path, { recursive: top === undefined, mode: 0o700 });
  // Threads reach the folder by the descriptor, whatever has its name by then.
  const directory = openTop(path);
  return {
    directory,
    async [Symbol.asyncDispose]() {
      directory[Symbol.dispose]();
      await removeFolder(path.toString());
    },
  };
}

function* newFolders(before: Folder, after: Folder, above = ''): Generator<{ path: string; entry: Folder }> {
  for (const [name, entry] of after.entries) {
    if (!isFolder(entry)) continue;
    const path = join(above, name);
    const old = before.entries.get(name);
    if (old === undefined) yield { path, entry };
    else if (isFolder(old)) yield* newFolders(old, entry, path);
  }
}

/** Whether nothing is at its place: a snapshot does not know everything that is in a tree. */
function isFree(top: Directory, path: string): boolean {
  using above = parentOf(top, path);
  return above !== undefined && statIn(above, nameOf(path)) === undefined;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const parentOf = (top: Directory, path: string): Directory | undefined => openChain(top, path.split('/').slice(0, -1));

async function writeFolders(
  deps: Deps,
  { folder, record, permissions, found, making }: Input & { found: NewFolder[]; making: Directory },
): Promise<void> {
  const owner: Owner | undefined = deps.isRoot ? record.owner : undefined;
  const wanted: WantedObject[] = [];
  const to = making.self.toString('latin1');
  for (const [index, { path: above, entry }] of found.entries()) {
    const whole: Folder = { entries: new Map([[String(index), entry]]) };
    const namedAt = (path: string) => path.replace(/^[0-9]+/, above);
    makeFolders(whole, {
      to,
      owner,
      bitsOf: (path) => permissionsAt(permissions, namedAt(path), 'folder'),
    });
    for (const { path, leaf } of leavesOf(whole)) {
      const bits = permissionsAt(permissions, namedAt(path), kindOf(leaf) ?? 'file');
      const isLink = leaf.mode === modes.symlink;
      wanted.push({ oid: leaf.oid, type: 'blob', path: `${to}/${path}`, bits, isLink });
    }
  }
  const { fileBytes, freeBytes } = deps.limits;
  const pack = { gitDir: undefined, reuse: [], space: { dataDir: deps.dataDir, limits: { freeBytes } } };
  const command = deps.git.command([...bigFileFlags, `--git-dir=${folder.shadow}`, 'cat-file', '--batch', '--buffer']);
  await using importer = new Importer(
    { pack, owner, learns: 'source', fileBytes },
    { maybeYield: createYielder(undefined), onFiles: () => {} },
  );
  const each = Math.ceil(wanted.length / importer.partsOf(wanted.length));
  const parts = Array.from({ length: Math.ceil(wanted.length / each) }, (_, part) =>
    wanted.slice(part * each, (part + 1) * each),
  );
  await Promise.all(parts.map((objects) => importer.takeObjects({ command, objects, temporary: to })));
}

/** Notes the status of the files, so that the next snapshot need not read them. */
function learn({ folder, state }: Input, { top, found }: { top: Directory; found: readonly NewFolder[] }): void {
  const stats = trustedStats(folder, state.stats, true);
  const clock = fileSystemClock(folder);
  for (const { path, entry } of found) {
    using directory = openChain(top, path.split('/'));
    if (directory !== undefined) learnFolder({ stats, clock }, { directory, path }, entry);
  }
}

function learnFolder(
  at: { stats: StatCache; clock: bigint },
  { directory, path }: { directory: Directory; path: string },
  folder: Folder,
): void {
  for (const [name, entry] of folder.entries) {
    if (isFolder(entry)) {
      using below = openChain(directory, [name]);
      if (below !== undefined) learnFolder(at, { directory: below, path: join(path, name) }, entry);
    } else {
      const status = statIn(directory, name);
      if (status !== undefined) at.stats.set(join(path, name), status, entry.oid, at.clock);
    }
  }
}
