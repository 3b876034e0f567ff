import { join } from 'node:path';
import { z } from 'zod';
import type { Call, Deps, RunFolder, SnapshotId } from '../deps.ts';
import { readJson, writeDurably } from '../files/index.ts';
import { requireRecord, runFolder } from '../run/index.ts';
import { assertSnapshot } from '../tree/index.ts';

const markSchema = z.strictObject({ snapshot: z.string().regex(/^[0-9a-f]{40}$/) });
const markOf = ({ path }: RunFolder): string => join(path, 'prepared.json');

/** The snapshot after the commands of `prepare`; undefined while there is none. */
export const preparedSnapshot = (folder: RunFolder): SnapshotId | undefined =>
  readJson(markOf(folder), markSchema)?.snapshot;

export async function markPrepared(deps: Deps, { runId, snapshot }: Call<'markPrepared'>): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  assertSnapshot(folder, snapshot);
  await writeMark(folder, snapshot);
}

export const writeMark = (folder: RunFolder, snapshot: SnapshotId): Promise<void> =>
  writeDurably(markOf(folder), JSON.stringify({ snapshot }));
