import type { Redis } from 'ioredis';
import { correctHistory } from '../../log/approval-history.ts';
import { ensureFacets } from '../../log/approval-lists.ts';
import { readEntry } from '../../log/damaged.ts';
import { pagesOfRuns } from '../../log/pages.ts';
import { readApprovals } from '../../log/read-state.ts';
import type { Migration } from './migration.ts';

const page = 200;

/** The lists follow from the states, as they do when the sweeper corrects them. */
export const approvalHistory: Migration = {
  from: 4,
  to: 5,
  title: 'decided approvals are listed by status, by who decided and by what they are about',
  async run({ redis }) {
    for await (const runIds of pagesOfRuns(redis, page)) {
      // No list has the approvals of a run that cannot be read, but the run does not hold up the others.
      for (const runId of runIds) await readEntry(runId, () => listApprovals(redis, runId));
    }
  },
};

async function listApprovals(redis: Redis, runId: string): Promise<void> {
  for (const { id, status } of await readApprovals(redis, runId)) {
    await correctHistory(redis, runId, id);
    if (status === 'pending') await ensureFacets(redis, runId, id);
  }
}
