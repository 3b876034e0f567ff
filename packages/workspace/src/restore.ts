import type { BigIntStats } from 'node:fs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from './deps.ts';
import { fromText } from './files/path-name.ts';
import { readCommit } from './git-objects/commit-object.ts';
import type { SkippedPath, SnapshotId } from './port.ts';
import { bringSnapshot } from './repository/bring-snapshot.ts';
import { assertCurrent, type RunFolder, runFolder } from './run/run-folder.ts';
import { requireRecord, type WorkspaceRecord } from './run/workspace-record.ts';
import { startScan } from './snapshot.ts';
import { type Bring, hashOnly } from './tree/bring-tree.ts';
import { type LoadedSnapshot, loadSnapshot } from './tree/load-snapshot.ts';
import { readManifest } from './tree/manifest.ts';
import { specialKind } from './tree/scan.ts';
import { fileSystemClock } from './tree/stat-cache.ts';
import { find } from './tree/tree.ts';

/**
 * Brings the tree to a snapshot: files, links, modes and empty folders become as they were, and what no snapshot knows is
 * removed, `.git` entries included. Left alone: paths that were skipped — in this snapshot, or in any other of the run as long as they
 * still are what could not be stored.
 */
export async function restoreSnapshot(
  deps: Deps,
  input: { runId: string; epoch: number; snapshot: SnapshotId; isShared?: boolean },
): Promise<void> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  assertCurrent(folder);
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: input.snapshot });
  const { keep } = await leftAlone(deps, { folder, record, target });
  const bring = {
    git: deps.git,
    scan: startScan(deps, { folder, state, content: hashOnly, learns: input.isShared !== true }),
    gitDir: folder.shadow,
    tree: folder.tree,
    clock: () => fileSystemClock(folder),
    owner: deps.isRoot ? record.owner : undefined,
    keep,
  };
  deps.onPoint('restore.begin');
  await bringSnapshot(deps, { bring, folder, state, target });
  deps.onPoint('restore.end');
  assertCurrent(folder);
}

/** What a snapshot cannot bring back, and nobody may take away: paths that may be so, and whether an entry is. */
export async function leftAlone(
  deps: Deps,
  { folder, record, target }: { folder: RunFolder; record: WorkspaceRecord; target: LoadedSnapshot },
): Promise<{ paths: string[]; keep: Bring['keep'] }> {
  const skipped = await everSkipped(deps, folder);
  const leftOut = new Set(record.left_out.map(({ path }) => fromText(path)));
  return {
    paths: [...new Set([...target.manifest.skipped.keys(), ...skipped.keys()])].sort(),
    keep: (path, status) => {
      const left = target.manifest.skipped.get(path);
      // What never was in the tree is made by the run, unless it could not be stored either.
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

/** Every path that some snapshot of the run left out. */
async function everSkipped(deps: Deps, folder: RunFolder): Promise<Map<string, SkippedPath['reason']>> {
  const ids = readdirSync(join(folder.shadow, 'refs', 'snapshots')).filter((name) => /^[0-9a-f]{40}$/.test(name));
  const { stdout } = await deps.git.run([`--git-dir=${folder.shadow}`, 'cat-file', '--batch', '--buffer'], {
    input: `${ids.join('\n')}\n`,
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
