import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/state.ts';
import { trackActive, untrackActive } from '../log/indexes.ts';
import { readRun } from '../log/read-state.ts';

export const isPublicationPending = (run: RunState): boolean =>
  run.publication === 'requested' || run.publication === 'discarding';

/**
 * Takes an ended run out of the sweeper's sight, unless something was asked for at the same moment: looks again afterwards, because whoever
 * asks puts the run into sight before.
 * @returns whether it is out of sight
 */
export async function releaseUnlessPending(deps: Pick<EngineDeps, 'redis'>, runId: string): Promise<boolean> {
  await untrackActive(deps.redis, runId);
  const run = await readRun(deps.redis, runId);
  if (!run || !isPublicationPending(run)) return true;
  await trackActive(deps.redis, runId);
  return false;
}
