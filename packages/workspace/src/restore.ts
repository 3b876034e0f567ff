import type { BigIntStats } from 'node:fs';
import type { Call, Deps, SkippedPath } from './deps.ts';
import { type Directory, fromText } from './files/index.ts';
import { readCommit } from './git-objects/index.ts';
import { allSnapshots } from './journal/index.ts';
import { knownTree, type Layer, mountedTree, openMounted, readTree } from './layers/index.ts';
import { checkoutSnapshot } from './repository/index.ts';
import {
  assertCurrent,
  type RunFolder,
  type RunState,
  requireRecord,
  runFolder,
  type WorkspaceRecord,
} from './run/index.ts';
import { startScan } from './snapshot.ts';
import {
  type Checkout,
  fileSystemClock,
  find,
  hashOnly,
  type KnownTree,
  type LoadedSnapshot,
  loadSnapshot,
  type MtimeOf,
  readManifest,
  specialKind,
} from './tree/index.ts';

/**
 * Restores the tree to a snapshot: files, links, modes and empty folders become what they were, and everything else is removed, including
 * `.git` entries. Keeps paths that this snapshot skipped, and paths that any other snapshot of the run skipped as long as they still
 * cannot be stored.
 * @param input.known what the tree is sure to hold, which is not looked at. @default what a look at the tree shows
 */
export async function restoreSnapshot(
  deps: Deps,
  input: Call<'restore'> & { isShared?: boolean; known?: KnownTree; mtimeOf?: MtimeOf },
): Promise<void> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  assertCurrent(folder);
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: input.snapshot });
  const layer = await mountedTree(deps, folder);
  // Open until the end, so that it stays mounted.
  using top = openMounted(folder, layer);
  const { keep } = await preservedPaths(deps, { folder, record, target });
  const learn = input.isShared !== true;
  const checkout = {
    git: deps.git,
    scan: startScan(deps, { folder, state, content: hashOnly, learn }),
    gitDir: folder.shadow,
    tree: folder.tree,
    clock: () => fileSystemClock(folder),
    mtimeOf: input.mtimeOf,
    owner: deps.isRoot ? record.owner : undefined,
    keep,
    known: input.known ?? (layer && (await knownFiles(deps, { folder, state, target, top, layer, learn }))),
  };
  deps.onPoint('restore.begin');
  await checkoutSnapshot(deps, { checkout, folder, state, target });
  deps.onPoint('restore.end');
  assertCurrent(folder);
}

/** What a tree on a layer holds now. It takes as long as what the run wrote is large, not the tree. */
async function knownFiles(
  deps: Deps,
  input: {
    folder: RunFolder;
    state: RunState;
    target: LoadedSnapshot;
    top: Directory;
    layer: Layer;
    learn: boolean;
  },
): Promise<KnownTree | undefined> {
  const { target } = input;
  const { permissions } = target.manifest;
  const scan = startScan(deps, { ...input, content: hashOnly, usual: permissions.usual });
  const root = await readTree(deps, { ...input, scan }, undefined);
  const found = { usual: permissions.usual, others: scan.permissions };
  return knownTree({ root, permissions: found, unsure: [...scan.skipped.keys(), ...scan.hidden] }, permissions);
}

/** The paths that a snapshot cannot restore and that must be kept: candidates, and a check of the actual entry. */
export async function preservedPaths(
  deps: Deps,
  { folder, record, target }: { folder: RunFolder; record: WorkspaceRecord; target: LoadedSnapshot },
): Promise<{ paths: string[]; keep: Checkout['keep'] }> {
  const skipped = await allSkippedPaths(deps, folder);
  const leftOut = new Set(record.left_out.map(({ path }) => fromText(path)));
  return {
    paths: [...new Set([...target.manifest.skipped.keys(), ...skipped.keys()])].sort(),
    keep: (path, status) => {
      const left = target.manifest.skipped.get(path);
      // A path that the copy left out was created by the run, so it goes, unless it cannot be stored either.
      if (left !== undefined) return !leftOut.has(path) || isStillSkipped(deps.limits.fileBytes, 'too_large', status);
      if (find(target.root, path.split('/')) !== undefined) return false;
      return isStillSkipped(deps.limits.fileBytes, skipped.get(path), status);
    },
  };
}

function isStillSkipped(fileBytes: number, reason: SkippedPath['reason'] | undefined, status: BigIntStats): boolean {
  if (reason === undefined) return false;
  return reason === 'unreadable' || specialKind(status) !== undefined || status.size > fileBytes;
}

/** Every path that any snapshot of the run skipped. */
async function allSkippedPaths(deps: Deps, folder: RunFolder): Promise<Map<string, SkippedPath['reason']>> {
  const { stdout } = await deps.git.run([`--git-dir=${folder.shadow}`, 'cat-file', '--batch', '--buffer'], {
    input: `${allSnapshots(folder.shadow).join('\n')}\n`,
    maxBytes: 1024 * 1024 * 1024,
  });
  const skipped = new Map<string, SkippedPath['reason']>();
  let rest = stdout;
  while (rest.length > 0) {
    const start = rest.indexOf(0x0a) + 1;
    const size = Number(rest.toString('latin1', 0, start - 1).split(' ')[2]);
    const { message } = readCommit(rest.subarray(start, start + size));
    for (const [path, { reason }] of readManifest(message).skipped) skipped.set(path, reason);
    rest = rest.subarray(start + size + 1);
  }
  return skipped;
}
