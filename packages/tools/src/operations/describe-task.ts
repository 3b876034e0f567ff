import type { OutputPage, Problem, TaskView } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { type Failure, failure } from './cut-short.ts';

/** A task in the form of a tool's result. */
export function describeTask({ id, kind, title, agent, status, outcome, child, started_at }: TaskView) {
  return {
    task_id: id,
    kind,
    title,
    agent,
    // Callers see the capture of its changes as the last part of running.
    status: status === 'capturing' ? 'running' : status,
    exit_code: kind === 'shell' ? (outcome?.exit_code ?? null) : undefined,
    reason: outcome?.reason,
    message: outcome?.message,
    duration_ms: outcome?.duration_ms,
    run_id: child?.run_id,
    run_status: child?.status,
    started_at,
  };
}

/** A part of a command's output in the form of a tool's result. */
export const outputPage = ({ text, next, total, omitted }: OutputPage) => ({
  text,
  next_cursor: next,
  total_bytes: total,
  omitted_bytes: omitted,
});

export const isOver = ({ status }: TaskView): boolean =>
  status !== 'queued' && status !== 'running' && status !== 'capturing';

/** The error for an unknown task, with the known ones. */
export async function noSuchTask({ tasks }: ToolContext, taskId: string): Promise<Failure> {
  const known = await tasks.list();
  const names = known.map(({ id, title, status }) => `${id} (${status}: ${title.slice(0, 60)})`).join(', ');
  return failure(
    'ENOTASK',
    `This run has no task ${taskId}.`,
    known.length === 0 ? 'This run started nothing in the background.' : `Use one of: ${names}.`,
  );
}

export const tooDeep = (maxDepth: number): Problem => ({
  code: 'ETOODEEP',
  message:
    maxDepth === 0
      ? 'This run may have no sub-agents.'
      : `This run is itself a sub-agent, and sub-agents nest at most ${maxDepth} deep here.`,
  next: 'Do the work in this run.',
});
