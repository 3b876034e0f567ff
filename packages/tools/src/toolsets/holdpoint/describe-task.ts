import type { Problem, TaskView } from '@holdpoint/contract';
import type { ToolContext } from '../../tool.ts';
import { type Failure, failure } from './failure.ts';

/** A task as tools return it. */
export function describeTask({ id, kind, title, status, outcome, child, started_at }: TaskView) {
  return {
    task_id: id,
    kind,
    title,
    // Taking its changes into a snapshot is the end of running, as far as anybody outside is concerned.
    status: status === 'capturing' ? 'running' : status,
    ...(kind === 'shell' ? { exit_code: outcome?.exit_code ?? null } : {}),
    ...(outcome?.reason === undefined ? {} : { reason: outcome.reason }),
    ...(outcome?.message === undefined ? {} : { message: outcome.message }),
    ...(outcome?.duration_ms === undefined ? {} : { duration_ms: outcome.duration_ms }),
    ...(child === undefined ? {} : { run_id: child.run_id, run_status: child.status }),
    ...(started_at === undefined ? {} : { started_at }),
  };
}

export const isOver = ({ status }: TaskView): boolean =>
  status !== 'queued' && status !== 'running' && status !== 'capturing';

/** What a planner is told that names a task which is none, with those that are. */
export async function noSuchTask({ tasks }: ToolContext, taskId: string): Promise<Failure> {
  const known = await tasks.list();
  const names = known.map(({ id, title, status }) => `${id} (${status}: ${title.slice(0, 60)})`).join(', ');
  return failure(
    'ENOTASK',
    `This run has no task ${taskId}.`,
    known.length === 0 ? 'Nothing was begun in the background.' : `Use one of: ${names}.`,
  );
}

export const tooDeep = (maxDepth: number): Problem => ({
  code: 'ETOODEEP',
  message:
    maxDepth === 0
      ? 'This run may have no sub-agents.'
      : `This run is a sub-agent already; they go ${maxDepth} deep at most here.`,
  next: 'Do it yourself.',
});
