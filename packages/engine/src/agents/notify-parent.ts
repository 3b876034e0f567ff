import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { reportToAll } from './report-agent.ts';

/**
 * Reports to the runs above a sub-agent that it waits, or stopped waiting. For commands: the handlers of a worker report by themselves. A
 * lost report only costs time: the sweeper sends it too.
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
