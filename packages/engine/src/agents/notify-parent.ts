import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { reportToAll } from './report-agent.ts';

/**
 * Reports the start or the end of a sub-agent's wait to the runs above. For commands only: the handlers of a worker report without this
 * function. A lost report only costs time: the sweeper sends the report, too.
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
