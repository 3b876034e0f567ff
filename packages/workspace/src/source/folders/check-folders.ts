import { accessSync, constants, type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Source, sourceFoldersOf } from '@holdpoint/contract';
import type { Deps } from '../../deps.ts';
import { createYielder, fromPlain, isWithin, type Yielder } from '../../files/index.ts';
import { errnoOf } from '../../port/workspaces.ts';
import { type FoundSource, listGit } from '../git/repository.ts';
import { type OpenFolder, openFolder, refuse } from './judge-folder.ts';

interface Unusable {
  /** Paths relative to the folder; the first few. */
  unreadable: string[];
  /** All of them. */
  count: number;
  /** The first FIFO: a run's write to the FIFO would reach a process of the host. */
  fifo: string | undefined;
  /** Whether there are more entries than `most`; the walk ended there. */
  tooMany: boolean;
}

const mostNamed = 3;

/**
 * Looks for files unreadable for a run, and for FIFOs. Takes 6 µs per entry, so 0.35 s for 58,000.
 * @param input.asOther whether runs are other users than the owner of the files; otherwise they are the user of this process
 */
async function findUnusable(
  top: string,
  { asOther, most, maybeYield }: { asOther: boolean; most: number; maybeYield: Yielder },
): Promise<Unusable> {
  const found: Unusable = { unreadable: [], count: 0, fifo: undefined, tooMany: false };
  const note = (path: string) => {
    found.count += 1;
    if (found.unreadable.length < mostNamed) found.unreadable.push(path);
  };
  const mayRead = asOther ? mayOthersRead : mayIRead;
  let entries = 0;
  const folders = [''];
  if (!mayRead(top, true)) note('.');
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of childrenOf(join(top, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      entries += 1;
      if (entries > most) return { ...found, tooMany: true };
      if (entry.isFIFO()) found.fifo ??= path;
      const isFolder = entry.isDirectory();
      if (isFolder) folders.push(path);
      if ((isFolder || entry.isFile()) && !mayRead(join(top, path), isFolder)) note(path);
      const pause = maybeYield();
      if (pause !== undefined) await pause;
    }
  }
  return found;
}

/** A missing folder, or a folder unreadable for this process, has no children: its mode reveals the latter. */
function childrenOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  }
}

function mayOthersRead(path: string, isFolder: boolean): boolean {
  const needed = isFolder ? 0o005 : 0o004;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? needed;
  return (mode & needed) === needed;
}

function mayIRead(path: string, isFolder: boolean): boolean {
  try {
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'EACCES';
  }
}

type CheckDeps = Pick<Deps, 'git' | 'bounds' | 'isRoot' | 'limits'>;
type GitFound = Extract<FoundSource, { type: 'git' }>;

/**
 * Refuses the folders of a source invisible to its runs: missing folders, links, files of the run, and folders unreadable for a run.
 * @param input.top real path of the source
 * @throws WorkspaceError ESOURCEFOLDER, ESOURCEFORBIDDEN, ESOURCEINDATADIR
 */
export async function checkFolders(
  deps: CheckDeps,
  { source, found, top }: { source: Source; found: FoundSource; top: string },
): Promise<void> {
  for (const path of sourceFoldersOf(source)) {
    if (found.type === 'git') {
      const { gitDir, common } = found.repository;
      if ([gitDir, common].some((folder) => isWithin(fromPlain(top), fromPlain(folder)))) {
        throw refuse({ path }, 'cannot be shown: a repository without a work tree has no such folders');
      }
    }
    using opened = openFolder(deps, { top, path });
    if (found.type === 'git') await assertUntracked(deps, { found, path });
    await assertUsable(deps, opened);
  }
}

/** A file of the commit at a path, or in the place of a parent folder, is a file of the run. */
async function assertUntracked(deps: Pick<Deps, 'git'>, input: { found: GitFound; path: string }): Promise<void> {
  const { found, path } = input;
  const names = path.split('/');
  const paths = names.map((_, index) => names.slice(0, index + 1).join('/'));
  for await (const rows of listGit(deps.git, found.repository, ['ls-tree', '-z', found.commit, '--', ...paths])) {
    for (const row of rows) {
      const [, kind = '', name = ''] = /^\d+ (\w+) [0-9a-f]+\t(.*)$/s.exec(row) ?? [];
      const at = Buffer.from(name, 'latin1').toString('utf8');
      // git also lists the other content of the parent folders. A submodule is an empty folder in a workspace.
      if (!paths.includes(at) || kind === 'commit' || (kind === 'tree' && at !== path)) continue;
      throw refuse({ path }, at === path ? 'is part of the commit, so the run has it' : `lies below the file ${at}`);
    }
  }
}

async function assertUsable({ isRoot, limits }: CheckDeps, { folder, opened }: OpenFolder): Promise<void> {
  const input = { asOther: isRoot, most: limits.entries, maybeYield: createYielder() };
  const { unreadable, count, fifo, tooMany } = await findUnusable(opened.path, input);
  if (tooMany) throw refuse(folder, `has more than ${limits.entries} files and folders`);
  if (fifo !== undefined) throw refuse(folder, `has the FIFO ${fifo}, through which a run could reach other programs`);
  if (count === 0) return;
  const names = `${unreadable.join(', ')}${count > unreadable.length ? ', …' : ''}`;
  const who = isRoot ? 'the users of runs' : 'the user of the worker';
  throw refuse(folder, `has what ${who} cannot read (${count}: ${names}); try chmod -R o+rX ${folder.host}`);
}
