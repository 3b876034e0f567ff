import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Deps, type RunFolder, WorkspaceError } from '../deps.ts';
import { useTree } from '../drivers/trees.ts';
import * as files from '../files/index.ts';
import { checkOutFiles } from '../materialise/check-out-files.ts';
import { temporaryPath, type WorkspaceRecord } from '../run-folder/index.ts';
import { noProgress } from '../source/import-context.ts';
import { type Folder, isFolder, leavesOf, withEntry } from '../store/objects/index.ts';
import * as tree from '../tree/index.ts';
import { createLearner } from '../tree/learner.ts';

const timesFile = (entry: string): string => join(entry, 'times');

/** Writes when the files of an entry got their content, ns. A file of an unknown time is left out. */
export function writeTimes(entry: string, overlay: Folder, mtimeOf: tree.MtimeOf): void {
  let rows = '';
  for (const { path, leaf } of leavesOf(overlay)) {
    const mtime = mtimeOf(path, leaf.oid);
    if (mtime !== undefined) rows += `${mtime} ${path}\0`;
  }
  writeFileSync(timesFile(entry), rows, { encoding: 'latin1', mode: 0o600 });
}

/** Times of an entry of an earlier version are not known. */
export function readTimes(entry: string): ReadonlyMap<string, bigint> {
  let text: string;
  try {
    text = readFileSync(timesFile(entry), 'latin1');
  } catch {
    return new Map();
  }
  return new Map(
    text
      .split('\0')
      .slice(0, -1)
      .map((row) => {
        const end = row.indexOf(' ');
        return [row.slice(end + 1), BigInt(row.slice(0, end))];
      }),
  );
}

/** Sets the times of a tree's files, while no process of the run uses the tree. The stat cache then knows them with these. */
async function setTimes(
  folder: RunFolder,
  input: { top: files.Directory; path: string; root: Folder; mtimeOf: tree.MtimeOf; stats: tree.StatCache },
): Promise<void> {
  const maybeYield = files.createYielder();
  const written: [string, NonNullable<ReturnType<typeof files.statIn>>, string][] = [];
  const visit = async (directory: files.Directory, root: Folder, above: string): Promise<void> => {
    for (const [name, entry] of root.entries) {
      const path = `${above}/${name}`;
      if (isFolder(entry)) {
        using below = files.openChain(directory, [name]);
        if (below !== undefined) await visit(below, entry, path);
        continue;
      }
      const mtime = input.mtimeOf(path, entry.oid);
      if (mtime === undefined) continue;
      files.setMtime(directory.at(name), mtime);
      const status = files.statIn(directory, name);
      if (status?.isFile() === true) written.push([path, status, entry.oid]);
      await maybeYield();
    }
  };
  using at = files.openChain(input.top, input.path.split('/'));
  if (at !== undefined) await visit(at, input.root, input.path);
  const clock = tree.fileSystemClock(folder);
  for (const [path, status, oid] of written) input.stats.set(path, status, oid, clock);
}

interface Input {
  folder: RunFolder;
  record: WorkspaceRecord;
  state: tree.RunState;
  /** The content of the tree. */
  parent: tree.LoadedSnapshot;
  /** The wanted content, and the permissions. Its repository has all objects. */
  root: Folder;
  permissions: tree.Permissions;
  mtimeOf: tree.MtimeOf;
}

/** A folder missing in the tree, by its byte path. */
interface NewFolder {
  path: string;
  entry: Folder;
}

/**
 * Puts the wholly new folders into the tree. They are written out of sight of the run's processes, under their final names, in the time of
 * `cp -a`; writing them file by file into the tree takes three times as long. A tree with a file system of its own is closed to renames
 * from outside, so its files are left to the caller.
 * @returns the present content of the tree
 */
export async function placeFolders(deps: Deps, input: Input): Promise<tree.KnownTree> {
  const { folder, parent, root } = input;
  using top = files.openTree(folder.tree);
  const { takesFolders } = await useTree(deps, folder);
  const found = takesFolders ? [...newFolders(parent.root, root)].filter(({ path }) => isFree(top, path)) : [];
  const known = found.reduce((to, { path, entry }) => withEntry(to, path.split('/'), entry), tree.knownRoot(parent));
  if (found.length > 0) {
    const aside = temporaryPath(deps, 'prepared');
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    try {
      await writeFolders(deps, { ...input, found, to: aside });
      deps.onPoint('prepared.written');
      for (const [index, { path }] of found.entries()) {
        using above = parentOf(top, path);
        if (above === undefined)
          throw new WorkspaceError('EWORKSPACEBUSY', `The folder of ${files.toText(path)} vanished.`);
        renameSync(join(aside, String(index)), above.at(nameOf(path)));
      }
      const stats = tree.trustedStats(folder, input.state.stats, true);
      for (const { path, entry } of found) {
        await setTimes(folder, { top, path, root: entry, mtimeOf: input.mtimeOf, stats });
      }
    } finally {
      await files.removeFolder(aside);
    }
  }
  return { root: known, isUnsure: () => false };
}

function* newFolders(before: Folder, after: Folder, above = ''): Generator<{ path: string; entry: Folder }> {
  for (const [name, entry] of after.entries) {
    if (!isFolder(entry)) continue;
    const path = files.join(above, name);
    const old = before.entries.get(name);
    if (old === undefined) yield { path, entry };
    else if (isFolder(old)) yield* newFolders(old, entry, path);
  }
}

/** Whether nothing is at its place: a snapshot does not know the whole content of a tree. */
function isFree(top: files.Directory, path: string): boolean {
  using above = parentOf(top, path);
  return above !== undefined && files.statIn(above, nameOf(path)) === undefined;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const parentOf = (top: files.Directory, path: string): files.Directory | undefined =>
  files.openChain(top, path.split('/').slice(0, -1));

async function writeFolders(
  deps: Deps,
  { folder, record, state, permissions, found, to }: Input & { found: NewFolder[]; to: string },
): Promise<void> {
  const learner = createLearner(folder);
  for (const [index, { path: above, entry }] of found.entries()) {
    const root: Folder = { entries: new Map([[String(index), entry]]) };
    const namedAt = (path: string) => path.replace(/^[0-9]+/, () => above);
    await checkOutFiles(deps, {
      ...{ gitDir: folder.shadow, root, to, temporary: folder.path },
      owner: deps.isRoot ? record.owner : undefined,
      bitsOf: (path, kind) => tree.permissionsAt(permissions, namedAt(path), kind),
      context: { ...noProgress(), maybeYield: files.createYielder(undefined) },
      learn: (path, status, oid) => learner.add(namedAt(path), status, oid),
    });
  }
  // The next snapshot need not read the placed files.
  learner.settle(tree.trustedStats(folder, state.stats, true));
}
