import type { Call, Deps } from '../deps.ts';
import { requireRecord, runFolder, writeMark } from '../run-folder/index.ts';
import { assertSnapshot } from '../tree/index.ts';

export async function markPrepared(deps: Deps, { runId, snapshot }: Call<'markPrepared'>): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  assertSnapshot(folder, snapshot);
  await writeMark(folder, snapshot);
}
