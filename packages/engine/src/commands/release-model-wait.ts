import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';

/**
 * Ends the sleep of the next turn of a run that waited for a model until now: its job finds that the turn is not due, and makes room for a
 * later job. A lost wake-up only costs time: a resume sends the wake-up, too.
 */
export async function releaseModelWait(
  { queues, logger }: Pick<EngineDeps, 'queues' | 'logger'>,
  run: Pick<RunState, 'id' | 'turn' | 'model_wait'>,
): Promise<void> {
  if (run.model_wait === undefined) return;
  await queues.releaseTurn(run.id, run.turn + 1).catch((error: unknown) => {
    logger.warn({ run_id: run.id, err: error }, 'a wake-up was not sent; a resume will');
  });
}
