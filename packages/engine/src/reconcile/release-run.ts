import { isTerminal } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/state.ts';
import { trackActive, untrackActive } from '../log/indexes.ts';
import { readRun } from '../log/read-state.ts';

/** Whether a run's workspace has something to be done, or to be decided, that its workspace job sees to. */
export const isWorkspaceDue = (run: RunState): boolean =>
  run.restore === 'due' ||
  run.publication === 'requested' ||
  run.publication === 'parked' ||
  run.publication === 'discarding';

/**
 * Takes an ended run out of the sweeper's sight, unless something was asked for at the same moment: looks again afterwards, because whoever
 * asks puts the run into sight before.
 * @returns whether nothing is due
 */
export async function releaseUnlessDue(deps: Pick<EngineDeps, 'redis'>, run: RunState): Promise<boolean> {
  if (!isTerminal(run.status)) return !isWorkspaceDue(run);
  await untrackActive(deps.redis, run.id);
  const now = await readRun(deps.redis, run.id);
  if (!now || !isWorkspaceDue(now)) return true;
  await trackActive(deps.redis, run.id);
  return false;
}
