import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/state.ts';
import { reportToAll } from './report-agent.ts';

/**
 * Tells the runs above a sub-agent that it waits, or does so no longer. For commands: a worker's handlers report by themselves. A lost
 * report only costs time: the sweeper looks too.
 */
export async function notifyParent(
  deps: Pick<EngineDeps, 'redis' | 'queues' | 'logger' | 'newId' | 'now'>,
  { id, parent }: RunState,
): Promise<void> {
  if (parent === undefined) return;
  try {
    await reportToAll(deps, id);
    await deps.queues.wakeTask(parent.run_id, parent.task_id);
  } catch (error) {
    deps.logger.warn({ run_id: id, err: error }, 'the run above was not notified; the sweeper will do it');
  }
}
