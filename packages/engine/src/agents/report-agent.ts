import { isTaskOver, isTerminal } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { atLeast, isSameReport, type RunState, reportAgent, reportOf } from '../domain/index.ts';
import { append, readRun, readTask, retryWhileContended } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis' | 'newId' | 'now'>;

/**
 * Records a sub-agent's usage, and whether the sub-agent waits, in the log of the run above. `reportEnd` records the end of a sub-agent.
 * @returns whether the report is news
 */
export async function reportToParent(deps: Deps, childId: string): Promise<boolean> {
  let isNews = false;
  await retryWhileContended(childId, async () => {
    isNews = false;
    const child = await readRun(deps.redis, childId);
    if (child?.parent === undefined || isTerminal(child.status)) return true;
    const { run_id, task_id } = child.parent;
    const [run, task] = await Promise.all([readRun(deps.redis, run_id), readTask(deps.redis, run_id, task_id)]);
    if (!run || !task || isTaskOver(task.status)) return true;
    const now = reportOf(child, deps.now());
    const report = task.report === undefined ? now : { ...now, used: atLeast(now.used, task.report.used) };
    if (isSameReport(task.report, report)) return true;
    isNews = true;
    return (await append(deps, run.id, reportAgent(run, task, report))).ok;
  });
  return isNews;
}

/** Like `reportToParent`, up to the root: each report changes the report of the run above. */
export async function reportToAll(deps: Deps, childId: string): Promise<void> {
  let run = await readRun(deps.redis, childId);
  while (run?.parent !== undefined) {
    await reportToParent(deps, run.id);
    run = await readRun(deps.redis, run.parent.run_id);
  }
}

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
