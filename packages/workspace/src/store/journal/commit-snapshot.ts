import { errnoOf } from '../../errors.ts';
import type { RunFolder } from '../../run-folder/run-folder.ts';
import { foldJournals } from './fold.ts';
import { appendToJournal, type JournalDeps } from './journal.ts';
import type { JournalRecord } from './record.ts';
import { showObjects, showRef } from './show.ts';

/** Makes a snapshot durable, and visible to git and other processes. */
export async function commitSnapshot(
  deps: Pick<JournalDeps, 'holder' | 'onPoint' | 'logger'>,
  { shadow, runId }: RunFolder,
  record: JournalRecord,
): Promise<void> {
  const due = await appendToJournal(shadow, deps.holder, record);
  deps.onPoint('snapshot.journal');
  showObjects(shadow, record);
  deps.onPoint('snapshot.objects');
  showRef(shadow, record);
  deps.onPoint('snapshot.ref');
  if (due === undefined) return;
  // Concurrent with the next steps: nothing waits for the fold, and the journal is kept until its end.
  foldJournals(deps, { shadow, journals: [due], ended: () => true }).catch((error: unknown) => {
    // The run was discarded.
    if (errnoOf(error) === 'ENOENT') return;
    deps.logger.warn(
      { run_id: runId, err: error },
      'the snapshots of a run could not be packed, and stay in their journal',
    );
  });
}
