import { isTerminal } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, trackActive, untrackActive } from '../log/index.ts';

/** Whether the workspace job of a run has work or waits for a decision. */
export const isWorkspaceDue = (run: RunState): boolean =>
  run.restore === 'due' ||
  run.publication === 'requested' ||
  run.publication === 'parked' ||
  run.publication === 'discarding';

/**
 * Removes an ended run from the index of active runs, unless a request arrived at the same moment. The function reads the run again
 * afterwards: a request adds the run to the index before its append, and a Redis that lost its last writes may have the run as it was
 * before its end.
 * @returns whether nothing is due
 */
export async function releaseUnlessDue(deps: Pick<EngineDeps, 'redis'>, run: RunState): Promise<boolean> {
  if (!isTerminal(run.status)) return !isWorkspaceDue(run);
  await untrackActive(deps.redis, run.id);
  const now = await readRun(deps.redis, run.id);
  if (!now || (isTerminal(now.status) && !isWorkspaceDue(now))) return true;
  await trackActive(deps.redis, run.id);
  return false;
}
