import { type Call, type Deps, errnoOf, type MergeResult } from '../deps.ts';
import { assertFreeSpace, toText } from '../files/index.ts';
import { newlySkipped } from '../publish/index.ts';
import { mergeTrees } from '../publish/merge/merge-trees.ts';
import { assertCurrent, requireRecord, runFolder } from '../run-folder/index.ts';
import { restoreSnapshot } from '../snapshots/restore.ts';
import { commitTree } from '../snapshots/snapshot.ts';
import { openOrigin } from '../source/git/repository.ts';
import { linkObjects } from '../store/link-objects.ts';
import * as objects from '../store/objects/index.ts';
import { kindOf, type LoadedSnapshot, loadSnapshot, type Permissions, permissionsAt } from '../tree/index.ts';

/**
 * Merges the changes of another run since `from.base`, a snapshot of this run, into this run: a three-way merge, then a restore of the tree to
 * the merged snapshot. The other run's objects are hard-linked; its workspace is not changed.
 */
export async function mergeRun(deps: Deps, input: Call<'merge'>): Promise<MergeResult> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const other = runFolder(deps.dataDir, input.from.runId);
  const record = requireRecord(folder);
  requireRecord(other);
  assertCurrent(folder);
  const theirs = await loadSnapshot(deps, { folder: other, state: deps.states.of(other), id: input.from.snapshot });
  const state = deps.states.of(folder);
  const base = await loadSnapshot(deps, { folder, state, id: input.from.base });
  const ours = await loadSnapshot(deps, { folder, state, id: input.parent });
  await takeObjects(other.shadow, folder.shadow);
  const writer = objects.createObjectWriter({
    gitDir: folder.shadow,
    known: state.known,
    assertSpace: () => assertFreeSpace(deps),
  });
  const isMoved = objects.changesBetween(base.root, ours.root).length > 0;
  const sides = { source: 'this run', run: 'the other run' };
  const sourceGitDir = (await openOrigin(deps, record))?.gitDir;
  const trees = { base: base.root, source: ours.root, run: theirs.root };
  const merged = isMoved
    ? await mergeTrees(deps, { folder, writer, ...trees, resolutions: [], sides, sourceGitDir })
    : { root: theirs.root, conflicts: [] };
  if (merged.conflicts.length > 0) {
    return { status: 'conflict', conflicts: merged.conflicts.map(({ path, detail }) => ({ path, reason: detail })) };
  }
  const paths = objects.changesBetween(ours.root, merged.root).map(({ path }) => toText(path));
  const snapshot = await commitTree(deps, {
    ...{ folder, state, writer, root: merged.root, parent: ours, message: input.message },
    manifest: {
      skipped: ours.manifest.skipped,
      empty: objects.emptyFolders(merged.root),
      permissions: mergePermissions(merged.root, ours, theirs),
      repositories: ours.manifest.repositories,
    },
    seconds: record.created_at,
  });
  deps.onPoint('merge.committed');
  const { runId, epoch, isShared = false } = input;
  await restoreSnapshot(deps, { runId, epoch, snapshot: snapshot.id, isShared });
  const left_out = [...newlySkipped(base, theirs).keys()].sort().map(toText);
  return { status: 'merged', snapshot, paths, left_out };
}

/** The permissions of this run, and of the other run for its merged files and new folders. */
function mergePermissions(root: objects.Folder, ours: LoadedSnapshot, theirs: LoadedSnapshot): Permissions {
  const { usual, others } = ours.manifest.permissions;
  const merged = new Map(others);
  const incoming = new Set([...theirs.manifest.permissions.others.keys(), ...others.keys()]);
  for (const { path } of objects.changesBetween(ours.root, theirs.root)) {
    const names = path.split('/');
    for (let depth = 1; depth <= names.length; depth++) incoming.add(names.slice(0, depth).join('/'));
  }
  for (const path of incoming) {
    const names = path.split('/');
    const [now, mine, other] = [root, ours.root, theirs.root].map((tree) => objects.find(tree, names));
    const kind = now && kindOf(now);
    const isTheirs = objects.isFolder(now)
      ? !objects.isFolder(mine)
      : !objects.isSame(now, mine) && objects.isSame(now, other);
    if (kind === undefined) merged.delete(path);
    else if (isTheirs) {
      const bits = permissionsAt(theirs.manifest.permissions, path, kind);
      if (bits === usual[kind]) merged.delete(path);
      else merged.set(path, bits);
    }
  }
  return { usual, others: merged };
}

/** How often a garbage collection of the other repository may interrupt. */
const mostRounds = 10;

async function takeObjects(from: string, to: string): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      return await linkObjects(from, to);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || round === mostRounds) throw error;
    }
  }
}
