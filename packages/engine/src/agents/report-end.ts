import { type AgentSpec, isTaskOver } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, readRun, readTask, retryWhileContended } from '../log/index.ts';
import { agentSpecOf } from './agent-spec.ts';
import { isPauseFinal } from './fail-paused.ts';

/** Records the end of a sub-agent's run in the log of the run above. @returns whether the log changed */
export async function reportEnd(deps: WorkerDeps, child: domain.RunState): Promise<boolean> {
  const { parent } = child;
  if (parent === undefined) return false;
  let isNews = false;
  await retryWhileContended(child.id, async () => {
    isNews = false;
    const [run, task] = await Promise.all([
      readRun(deps.redis, parent.run_id),
      readTask(deps.redis, parent.run_id, parent.task_id),
    ]);
    if (!run || !task || isTaskOver(task.status) || task.status === 'capturing') return true;
    const last = domain.reportOf(child, deps.now());
    const used = domain.atLeast(last.used, task.report?.used ?? last.used);
    // The sub-agent has ended: its reserved but uncounted sub-agents were never started.
    const report = { ...last, used: { ...used, agents: last.used.agents } };
    isNews = true;
    const spec = await agentSpecOf(deps, task);
    const outcome = outcomeOf(child, spec, { task, now: deps.now() });
    const merges = outcome.status === 'completed' && spec.merge === 'on_success';
    const transition = merges
      ? domain.exitAgent(run, task, outcome, report)
      : domain.endAgent(run, task, outcome, report);
    return (await append(deps, run.id, transition)).ok;
  });
  return isNews;
}

function outcomeOf(child: domain.RunState, spec: AgentSpec, { task, now }: { task: domain.TaskState; now: number }) {
  const reason = child.reason === undefined ? {} : { reason: child.reason };
  const message = child.message === undefined ? {} : { message: child.message };
  switch (child.status) {
    case 'succeeded':
      return { status: 'completed' as const, exit_code: null, ...message };
    case 'canceled':
      // The run was canceled because of its pause (`fail-paused.ts`): the reason of the pause is the reason of the failure.
      if (task.kill === undefined && isPauseFinal(child, spec, now)) {
        return { status: 'failed' as const, exit_code: 1, ...reason, ...message };
      }
      return domain.killedOutcome({ code: 'EKILLED', message: `The run of the sub-agent (${child.id}) was canceled.` });
    default:
      return { status: 'failed' as const, exit_code: null, ...reason, ...message };
  }
}
