import { mkdirSync, realpathSync } from 'node:fs';
import { placeOf, type Source, type SourceFolder, sourceFoldersOf } from '@holdpoint/contract';
import type { Deps, Owner, RunFolder, WorkspaceRecord } from '../../deps.ts';
import * as files from '../../files/index.ts';
import { WorkspaceError } from '../../port/workspaces.ts';
import { type Entry, emptyFolder, type Folder, find, isFolder, withEntry } from '../../store/objects/index.ts';
import { judgeFolder, refuse } from './judge-folder.ts';

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
