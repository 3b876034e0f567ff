import { runFolder } from '../../run-folder/run-folder.ts';
import { foldJournals, type JournalDeps, journalsIn } from './journal.ts';

/** Brings the snapshots of a run into order before their first use in a process. */
type RecoverSnapshots = (runId: string) => Promise<void>;

const mostRemembered = 10_000;

/**
 * A power cut may have torn git's files of journaled snapshots. So journals of an earlier boot are folded before git runs on the
 * repository; until the fold every snapshot named by an event is whole in a journal. No new journal of an earlier boot can appear while the
 * process runs.
 */
export function createRecovery(deps: Pick<JournalDeps, 'dataDir' | 'holder' | 'logger'>): RecoverSnapshots {
  const recovered = new Map<string, Promise<void>>();
  return (runId) => {
    const known = recovered.get(runId);
    if (known !== undefined) return known;
    const done = recover(deps, runId);
    recovered.set(runId, done);
    for (const oldest of recovered.keys()) if (recovered.size > mostRemembered) recovered.delete(oldest);
    done.catch(() => recovered.delete(runId));
    return done;
  };
}

async function recover({ dataDir, holder, logger }: Parameters<typeof createRecovery>[0], runId: string) {
  const { shadow } = runFolder(dataDir, runId, 1);
  const journals = journalsIn(shadow).filter(({ boot }) => boot !== holder.boot);
  if (journals.length === 0) return;
  // Several processes may recover at once.
  await foldJournals({ onPoint: () => {} }, { shadow, journals, ended: () => true });
  logger.info({ run_id: runId, journals: journals.length }, 'the snapshots of an earlier boot were recovered');
}
