import { fstatSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { placeOf, type Source, type SourceFolder, sourceFoldersOf } from '@holdpoint/contract';
import type { Bounds, OpenPath } from '../../bounds/bounds.ts';
import { mountPointsIn } from '../../bounds/mounts.ts';
import type { Deps, Owner, RunFolder, WorkspaceRecord } from '../../deps.ts';
import * as files from '../../files/index.ts';
import { errnoOf, WorkspaceError } from '../../port/workspaces.ts';
import { type Entry, emptyFolder, type Folder, find, isFolder, withEntry } from '../../store/objects/index.ts';

type JudgeDeps = { bounds: Bounds };

/** The place of a folder: the real path of a source, and a relative path below. */
export interface FolderPlace {
  top: string;
  path: string;
}

/** An open folder of a source, visible to runs. */
export interface OpenFolder extends Disposable {
  folder: SourceFolder;
  opened: OpenPath;
}

/**
 * Opens a folder of a source without following any link, and judges the opened folder: its bounds, and the bounds of everything mounted
 * below. A later exchange of the path shows as another identity.
 * @throws WorkspaceError ESOURCEFOLDER, or an error of the bounds
 */
export function openFolder({ bounds }: JudgeDeps, place: FolderPlace): OpenFolder {
  using found = openWithoutLinks(place);
  const opened = bounds.open(found.self.toString(), 'source');
  try {
    const host = join(place.top, place.path);
    if (opened.real !== host) throw refuse(place, `leads to ${opened.real}`);
    for (const point of mountPointsOf(host)) if (point !== host) bounds.assert(point, 'source');
    const folder = { path: place.path, host, identity: identityOf(found.fd) };
    return { folder, opened, [Symbol.dispose]: () => opened[Symbol.dispose]() };
  } catch (error) {
    opened[Symbol.dispose]();
    throw error;
  }
}

/** How long a judgement holds for the same folder at the same real path: a whole judgement takes 1 ms, and each call of a run asks. */
const judgedMs = 10_000;
const judged = new WeakMap<Bounds, Map<string, { identity: string; until: number }>>();

/**
 * Judges a folder like `openFolder`, without opening the folder. A folder judged a moment ago, with the same identity, is not judged again.
 */
function judgeFolder(deps: JudgeDeps, place: FolderPlace): SourceFolder {
  const host = join(place.top, place.path);
  const known = judged.get(deps.bounds) ?? new Map<string, { identity: string; until: number }>();
  judged.set(deps.bounds, known);
  {
    using found = openWithoutLinks(place);
    const identity = identityOf(found.fd);
    const last = known.get(host);
    if (last?.identity === identity && performance.now() < last.until && realpathSync(found.self) === host) {
      return { path: place.path, host, identity };
    }
  }
  using opened = openFolder(deps, place);
  known.set(host, { identity: opened.folder.identity, until: performance.now() + judgedMs });
  return opened.folder;
}

function identityOf(fd: number): string {
  const { dev, ino, birthtimeNs } = fstatSync(fd, { bigint: true });
  return [dev, ino, birthtimeNs].join();
}

export const refuse = ({ path }: Pick<FolderPlace, 'path'>, why: string): WorkspaceError =>
  new WorkspaceError('ESOURCEFOLDER', `${path} ${why}.`);

const mountPointsOf = (path: string): string[] => (process.platform === 'linux' ? mountPointsIn(path) : []);

function openWithoutLinks(place: FolderPlace): files.Directory {
  const names = place.path.split('/');
  if (names.some(files.isDotGit)) throw refuse(place, 'is a repository');
  try {
    using top = files.openTop(place.top);
    const found = files.openChain(top, names);
    if (found !== undefined) return found;
  } catch (cause) {
    throw new WorkspaceError('ESOURCEFOLDER', `${place.path} cannot be opened: ${errnoOf(cause) ?? cause}.`, { cause });
  }
  throw refuse(place, whyNot(place, names));
}

/** The reason why a path is no folder, or has a link inside. */
function whyNot({ top }: FolderPlace, names: readonly string[]): string {
  for (let end = 1; end <= names.length; end++) {
    const part = names.slice(0, end).join('/');
    const status = lstatSync(join(top, part), { throwIfNoEntry: false });
    if (status === undefined) return `does not exist in ${top}`;
    const itself = end === names.length;
    if (status.isSymbolicLink()) return itself ? 'is a link' : `lies behind the link ${part}`;
    if (!status.isDirectory()) return itself ? 'is not a folder' : `lies below the file ${part}`;
  }
  return 'changed during the check';
}

/*
 * The shown folders of a source are mounted in each sandbox over empty folders of the run's tree. These are made with the first tree and
 * belong to every snapshot, so a fork, an undo and a take-over have them without further work. In a sandbox a mount point can be neither
 * removed nor replaced; only a parent folder can be moved.
 */

/** Real path of a source whose folders its runs see; undefined for all others. */
export const topOf = (source: Source): string | undefined =>
  source.type === 'empty' || sourceFoldersOf(source).length === 0 ? undefined : realpathSync(placeOf(source));

/**
 * Makes the empty folders in a new tree.
 * @param input.root the content of the tree; returned with the folders
 * @throws WorkspaceError ESOURCEFOLDER where the tree has another entry
 */
export function makeMountPoints(input: {
  tree: string;
  paths: readonly string[];
  root: Folder;
  owner: Owner | undefined;
}): Folder {
  let { root } = input;
  if (input.paths.length === 0) return root;
  using top = files.openTree(input.tree);
  for (const path of input.paths) {
    const names = path.split('/').map(files.fromPlain);
    for (let end = 1; end <= names.length; end++) {
      const entry = find(root, names.slice(0, end));
      if (!mayStand(entry, end === names.length)) throw refuse({ path }, 'is part of the files of the run');
    }
    makeFolders(top, names, input.owner);
    if (find(root, names) === undefined) root = withEntry(root, names, emptyFolder());
  }
  return root;
}

function mayStand(entry: Entry | undefined, isLast: boolean): boolean {
  return entry === undefined || (isFolder(entry) && (!isLast || entry.entries.size === 0));
}

function makeFolders(top: files.Directory, names: readonly string[], owner: Owner | undefined): void {
  let current = files.openTop(top.self);
  for (const name of names) {
    using parent = current;
    const isNew = files.statIn(parent, name) === undefined;
    if (isNew) mkdirSync(parent.at(name));
    current = files.openChild(parent, name);
    if (isNew) files.setFolderOwner(current.fd, owner);
  }
  current[Symbol.dispose]();
}

/**
 * The folders of the source visible to a run now. A folder with a moved or filled place in the tree is left out.
 * @throws WorkspaceError ESOURCEFOLDERLOST for a lost folder, or a folder closed by the bounds
 */
export function findFolders(
  deps: Pick<Deps, 'bounds'>,
  { folder, record }: { folder: RunFolder; record: WorkspaceRecord },
): SourceFolder[] {
  const paths = sourceFoldersOf(record.source);
  const { top } = record;
  if (paths.length === 0 || top === undefined) return [];
  using tree = files.openTree(folder.tree);
  return paths.flatMap((path) => {
    if (!isMountPoint(tree, path)) return [];
    try {
      return [judgeFolder(deps, { top, path })];
    } catch (cause) {
      if (!(cause instanceof WorkspaceError)) throw cause;
      const message = `A folder that the run sees from its source cannot be shown any more: ${cause.message}`;
      throw new WorkspaceError('ESOURCEFOLDERLOST', message, { cause });
    }
  });
}

function isMountPoint(tree: files.Directory, path: string): boolean {
  using place = files.openChain(tree, path.split('/').map(files.fromPlain));
  return place !== undefined && files.namesIn(place).length === 0;
}
