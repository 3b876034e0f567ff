import { type AgentSpec, type GivenLimits, isTaskOver } from '@holdpoint/contract';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, controlChannel, fromPayload, readRun, readTask, retryWhileContended } from '../log/index.ts';

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
      // The run was canceled because of its pause (`report-end.ts`): the reason of the pause is the reason of the failure.
      if (task.kill === undefined && isPauseFinal(child, spec, now)) {
        return { status: 'failed' as const, exit_code: 1, ...reason, ...message };
      }
      return domain.killedOutcome({ code: 'EKILLED', message: `The run of the sub-agent (${child.id}) was canceled.` });
    default:
      return { status: 'failed' as const, exit_code: null, ...reason, ...message };
  }
}

/**
 * Whether a pause ends this sub-agent. A pause by hand does not, because the person also resumes. Any other pause does with `on_pause:
 * fail`, and so does a reached limit of the sub-agent's kind. Such a pause needs no person, and the run above reads its reason.
 */
function isPauseFinal(child: domain.RunState, { on_pause, kind }: AgentSpec, now: number): boolean {
  const { reason } = child;
  if (reason === undefined || reason.code === domain.pausedByHand) return false;
  return on_pause === 'fail' || isLimitOfKind(child, reason.code, kind?.limits, now);
}

/** Whether the kind's limit is reached. A limit of a run above has the same code. */
function isLimitOfKind(child: domain.RunState, code: string, limits: GivenLimits | undefined, now: number): boolean {
  if (limits === undefined || !Object.hasOwn(limits, code)) return false;
  if (code === 'max_turns') return true;
  return domain.budgetReached(child, limits, now)?.code === code;
}

/**
 * Ends a paused sub-agent that no person resumes: its run is canceled and keeps the reason of the pause. Its task fails with this reason.
 * @returns whether the run changed
 */
export async function failPaused(deps: WorkerDeps, child: domain.RunState): Promise<boolean> {
  const { parent, reason } = child;
  if (parent === undefined || reason === undefined) return false;
  const task = await readTask(deps.redis, parent.run_id, parent.task_id);
  if (task === undefined || isTaskOver(task.status)) return false;
  if (!isPauseFinal(child, await agentSpecOf(deps, task), deps.now())) return false;
  const appended = await append(deps, child.id, domain.cancelRun(child, parent.run_id, reason.message));
  if (appended.ok) await deps.redis.publish(controlChannel, JSON.stringify({ kind: 'cancel', run_id: child.id }));
  return true;
}

/** The spec of a sub-agent's task. */
async function agentSpecOf({ blobs }: Pick<EngineDeps, 'blobs'>, task: domain.TaskState): Promise<AgentSpec> {
  const spec = await fromPayload(blobs, task.about.spec);
  if (!('goal' in spec)) throw new TypeError(`the task ${task.id} has no goal`);
  return spec;
}
