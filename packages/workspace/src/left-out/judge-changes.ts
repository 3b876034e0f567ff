import type { LeftOut } from '@holdpoint/contract';
import type { Deps } from '../deps.ts';
import type { BytePath } from '../files/path-name.ts';
import { createSelection } from '../materialise/selection.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { WorkspaceRecord } from '../run/workspace-record.ts';
import { type Change, type Folder, find } from '../tree/tree.ts';
import { ignoredPaths } from './ignored-paths.ts';

/** What decides which changes are part of the change set. */
export interface Scope {
  folder: RunFolder;
  record: WorkspaceRecord;
  includeIgnored: boolean;
  /** Trees that the source has: what git tracks stays part of the change set, whatever the ignore rules say. */
  tracked: readonly Folder[];
}

/**
 * The changes that are no part of the change set, and why: what the globs of the source leave out, and what a git source ignores.
 * A directory has no ignore rules, even when it lies in a repository.
 * @param input.root the newer tree
 */
export async function judgeChanges(
  deps: Pick<Deps, 'git' | 'dataDir' | 'states' | 'bounds' | 'isRoot'>,
  scope: Scope,
  input: { root: Folder; changes: readonly Pick<Change, 'path'>[] },
): Promise<Map<BytePath, LeftOut['reason']>> {
  const { folder, record } = scope;
  const { source } = record;
  const judged = new Map<BytePath, LeftOut['reason']>();
  if (source.type === 'empty') return judged;
  const selection = createSelection(source);
  for (const { path } of input.changes) if (!selection.has(path)) judged.set(path, 'excluded');
  if (source.type !== 'git' || scope.includeIgnored) return judged;
  const isTracked = (path: BytePath) => scope.tracked.some((tree) => find(tree, path.split('/')) !== undefined);
  const paths = input.changes.map(({ path }) => path).filter((path) => !judged.has(path) && !isTracked(path));
  const ignored = await ignoredPaths(deps, { folder, record, root: input.root, paths, isTracked });
  for (const path of ignored) judged.set(path, 'ignored');
  return judged;
}
