import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, type Deps, errnoOf } from '../deps.ts';
import { syncPath } from '../files/index.ts';
import { assertCurrent, type RunFolder, requireRecord, runFolder } from '../run-folder/index.ts';
import { restoreSnapshot } from '../snapshots/restore.ts';
import { snapshotRef } from '../store/journal/index.ts';
import { linkObjects } from '../store/link-objects.ts';
import { writeRef } from '../store/objects/index.ts';
import { assertSnapshot } from '../tree/index.ts';

/**
 * Snapshots made by a call on a throw-away fork, kept until a person has decided. Their refs lie apart from the refs of snapshots: a
 * preview rejected by a person leaves nothing in the run.
 */
const folderOf = ({ shadow }: RunFolder): string => join(shadow, 'refs', 'previews');
const previewRef = (id: string): string => `refs/previews/${id}`;

/** How often a garbage collection of the fork may interrupt. */
const mostRounds = 10;

/** Takes a snapshot of a fork over: objects first, then the ref. The fork may be discarded afterwards. */
export async function keepPreview(deps: Deps, { runId, from }: Call<'keepPreview'>): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  const fork = runFolder(deps.dataDir, from.runId);
  requireRecord(folder);
  assertSnapshot(fork, from.snapshot);
  for (let round = 1; ; round++) {
    try {
      await linkObjects(fork.shadow, folder.shadow);
      break;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || round === mostRounds) throw error;
    }
  }
  deps.onPoint('preview.linked');
  await writeRef(folder.shadow, previewRef(from.snapshot), from.snapshot);
  deps.onPoint('preview.kept');
}

/** Brings the tree to a kept preview, and the preview becomes a snapshot of the run. May be called again after a crash. */
export async function applyPreview(deps: Deps, input: Call<'applyPreview'>): Promise<void> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  requireRecord(folder);
  assertCurrent(folder);
  if (existsSync(join(folder.shadow, previewRef(input.snapshot)))) {
    await writeRef(folder.shadow, snapshotRef(input.snapshot), input.snapshot);
  }
  deps.onPoint('preview.snapshot');
  await restoreSnapshot(deps, input);
  deps.onPoint('preview.applied');
  await removeRef(folder, input.snapshot);
}

/** Forgets a preview. Its objects go with the next collection. @param input.snapshot @default all of the run */
export async function dropPreviews(deps: Deps, { runId, snapshot }: Call<'dropPreviews'>): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  for (const id of namesIn(folderOf(folder))) {
    if (snapshot === undefined || id === snapshot) await removeRef(folder, id);
  }
}

async function removeRef(folder: RunFolder, id: string): Promise<void> {
  if (!existsSync(join(folder.shadow, previewRef(id)))) return;
  rmSync(join(folder.shadow, previewRef(id)), { force: true });
  await syncPath(folderOf(folder));
}

const namesIn = (path: string): string[] =>
  existsSync(path) ? readdirSync(path).filter((name) => /^[0-9a-f]{40}$/.test(name)) : [];
