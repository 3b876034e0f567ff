import type { LeftOut } from '@holdpoint/contract';
import type { Deps, RunFolder, WorkspaceRecord } from '../deps.ts';
import { type BytePath, fromText, isWithin } from '../files/index.ts';
import { preparedSnapshot } from '../run-folder/index.ts';
import { createSelection } from '../source/selection.ts';
import { type Change, type Folder, find, isFolder, isSame } from '../store/objects/index.ts';
import { loadSnapshot } from '../tree/index.ts';
import type { SharedRules } from './ignore-rules.ts';
import { ignoredPaths } from './ignored-paths.ts';

/** Decides about the membership of changes in the change set. */
export interface Scope {
  folder: RunFolder;
  record: WorkspaceRecord;
  includeIgnored: boolean;
  /** Trees of the source. git tracks a path in such a tree, so the path belongs to the change set even against an ignore rule. */
  tracked: readonly Folder[];
  /** The ignore rules shared by the questions of an operation. */
  rules?: SharedRules | undefined;
}

/**
 * Finds the changes outside the change set, with the reason: excluded by the globs of the source, in the folder of a submodule, made by
 * `prepare`, or ignored by a git source. A directory source has no ignore rules, even inside a repository.
 * @param input.root the newer tree
 */
export async function findLeftOut(
  deps: Pick<Deps, 'git' | 'dataDir' | 'states' | 'bounds' | 'isRoot'>,
  scope: Scope,
  input: { root: Folder; changes: readonly Pick<Change, 'path'>[] },
): Promise<Map<BytePath, LeftOut['reason']>> {
  const { folder, record } = scope;
  const { source } = record;
  const reasons = new Map<BytePath, LeftOut['reason']>();
  if (source.type === 'empty') return reasons;
  const selection = createSelection(source);
  const isInSubmodule = submoduleFolders(record);
  for (const { path } of input.changes) {
    if (!selection.has(path)) reasons.set(path, 'excluded');
    else if (isInSubmodule(path)) reasons.set(path, 'submodule');
  }
  const isPrepared = await preparedPaths(deps, { folder, record, root: input.root });
  for (const { path } of input.changes) if (!reasons.has(path) && isPrepared(path)) reasons.set(path, 'prepared');
  if (source.type !== 'git' || scope.includeIgnored) return reasons;
  const isTracked = (path: BytePath) => scope.tracked.some((tree) => find(tree, path.split('/')) !== undefined);
  const paths = input.changes.map(({ path }) => path).filter((path) => !reasons.has(path) && !isTracked(path));
  const ignored = await ignoredPaths(deps, { folder, record, root: input.root, paths, isTracked, rules: scope.rules });
  for (const path of ignored) reasons.set(path, 'ignored');
  return reasons;
}

/** Whether a path is below the folder of a submodule. A file in place of the folder is not: the file replaces the submodule, a conflict. */
export function submoduleFolders({ submodules }: Pick<WorkspaceRecord, 'submodules'>): (path: BytePath) => boolean {
  const folders = submodules.map(({ path }) => fromText(path));
  return (path) => folders.some((folder) => path !== folder && isWithin(path, folder));
}

/**
 * Whether the commands of `prepare` made a change: the file is in the state after `prepare`, or lies in a folder made by `prepare`. A file of
 * the source with changes by both belongs to the run.
 * @param input.root the newer tree
 */
async function preparedPaths(
  deps: Pick<Deps, 'git' | 'states'>,
  { folder, record, root }: { folder: RunFolder; record: WorkspaceRecord; root: Folder },
): Promise<(path: BytePath) => boolean> {
  const id = preparedSnapshot(folder);
  if (id === undefined) return () => false;
  const state = deps.states.of(folder);
  const source = await loadSnapshot(deps, { folder, state, id: record.base });
  const prepared = await loadSnapshot(deps, { folder, state, id });
  const made = new Map<BytePath, boolean>();
  const isMade = (above: BytePath): boolean => {
    const known = made.get(above);
    if (known !== undefined) return known;
    const names = above.split('/');
    const is = isFolder(find(prepared.root, names)) && !isFolder(find(source.root, names));
    made.set(above, is);
    return is;
  };
  return (path) => {
    const names = path.split('/');
    const was = find(source.root, names);
    const is = find(prepared.root, names);
    if (!isSame(was, is) && isSame(is, find(root, names))) return true;
    return names.slice(1).some((_, index) => isMade(names.slice(0, index + 1).join('/')));
  };
}
