import type { BigIntStats } from 'node:fs';
import type { Call, Deps, SkippedPath } from '../deps.ts';
import type { UsedTree } from '../drivers/port.ts';
import { useTree } from '../drivers/trees.ts';
import { type Directory, fromText } from '../files/index.ts';
import { checkoutSnapshot } from '../repository/index.ts';
import { assertCurrent, type RunFolder, requireRecord, runFolder, type WorkspaceRecord } from '../run-folder/index.ts';
import { allSnapshots } from '../store/journal/index.ts';
import { find } from '../store/objects/index.ts';
import * as trees from '../tree/index.ts';

/**
 * Restores the tree to a snapshot: files, links, modes and empty folders return to their state, and everything else is removed, including
 * `.git` entries. Keeps paths skipped by this snapshot, and paths skipped by any other snapshot of the run as long as they still cannot be
 * stored.
 * @param input.known the certain content of the tree, not read again. @default the content found by a read of the tree
 */
export async function restoreSnapshot(
  deps: Deps,
  input: Call<'restore'> & { isShared?: boolean; known?: trees.KnownTree; mtimeOf?: trees.MtimeOf },
): Promise<void> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  assertCurrent(folder);
  const state = deps.states.of(folder);
  const target = await trees.loadSnapshot(deps, { folder, state, id: input.snapshot });
  const tree = await useTree(deps, folder);
  // Open until the end, to keep the tree in use.
  using top = tree.open();
  const { keep } = await preservedPaths(deps, { folder, record, target });
  const learn = input.isShared !== true;
  const checkout = {
    git: deps.git,
    scan: trees.startScan(deps, { folder, state, content: trees.hashOnly, learn }),
    gitDir: folder.shadow,
    tree: folder.tree,
    clock: () => trees.fileSystemClock(folder),
    mtimeOf: input.mtimeOf,
    owner: deps.isRoot ? record.owner : undefined,
    keep,
    known:
      input.known ??
      (tree.scansWrites ? await knownFiles(deps, { folder, state, target, top, tree, learn }) : undefined),
  };
  deps.onPoint('restore.begin');
  await checkoutSnapshot(deps, { checkout, folder, state, target });
  deps.onPoint('restore.end');
  assertCurrent(folder);
}

/** The present content of a tree. */
async function knownFiles(
  deps: Deps,
  input: {
    folder: RunFolder;
    state: trees.RunState;
    target: trees.LoadedSnapshot;
    top: Directory;
    tree: UsedTree;
    learn: boolean;
  },
): Promise<trees.KnownTree | undefined> {
  const { target } = input;
  const { permissions } = target.manifest;
  const scan = trees.startScan(deps, { ...input, content: trees.hashOnly, usual: permissions.usual });
  const root = await input.tree.scan({ ...input, scan }, undefined);
  const found = { usual: permissions.usual, others: scan.permissions };
  return trees.knownTree({ root, permissions: found, unsure: [...scan.skipped.keys(), ...scan.hidden] }, permissions);
}

/** The paths to keep because a snapshot cannot restore them: candidates, and a check of the actual entry. */
export async function preservedPaths(
  deps: Deps,
  { folder, record, target }: { folder: RunFolder; record: WorkspaceRecord; target: trees.LoadedSnapshot },
): Promise<{ paths: string[]; keep: trees.Checkout['keep'] }> {
  const skipped = await allSkippedPaths(deps, folder);
  const leftOut = new Set(record.left_out.map(({ path }) => fromText(path)));
  return {
    paths: [...new Set([...target.manifest.skipped.keys(), ...skipped.keys()])].sort(),
    keep: (path, status) => {
      const left = target.manifest.skipped.get(path);
      // A path left out of the copy was made by the run, so the path goes, unless still impossible to store.
      if (left !== undefined) return !leftOut.has(path) || isStillSkipped(deps.limits.fileBytes, 'too_large', status);
      if (find(target.root, path.split('/')) !== undefined) return false;
      return isStillSkipped(deps.limits.fileBytes, skipped.get(path), status);
    },
  };
}

function isStillSkipped(fileBytes: number, reason: SkippedPath['reason'] | undefined, status: BigIntStats): boolean {
  if (reason === undefined) return false;
  return reason === 'unreadable' || trees.specialKind(status) !== undefined || status.size > fileBytes;
}

/** Every path skipped by any snapshot of the run. */
async function allSkippedPaths(deps: Deps, folder: RunFolder): Promise<Map<string, SkippedPath['reason']>> {
  const skipped = new Map<string, SkippedPath['reason']>();
  await trees.readCommits(deps, { gitDir: folder.shadow, ids: allSnapshots(folder.shadow) }, (_, { message }) => {
    for (const [path, { reason }] of trees.readManifest(message).skipped) skipped.set(path, reason);
  });
  return skipped;
}
