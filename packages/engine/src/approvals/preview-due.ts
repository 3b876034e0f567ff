import type { EngineDeps } from '../deps.ts';
import type { ApprovalState, RunState, StepState } from '../domain/index.ts';
import { readApproval } from '../log/index.ts';

/** The first word of a `uses` value that binds an approval to a result. */
export const resultWord = 'result';

export const isResult = (uses: string | undefined): uses is string => uses?.startsWith(`${resultWord} `) === true;

/** Whether a caller waits for the result of a held call, and a worker may run the call now. */
export const isPreviewDue = (run: RunState, { status, previewing }: ApprovalState): boolean =>
  (run.status === 'running' || run.status === 'waiting') &&
  run.restore !== 'due' &&
  status === 'pending' &&
  previewing !== undefined;

/** The approval of a parked step whose result a worker has to show now. */
export async function dueForPreview(
  { redis }: Pick<EngineDeps, 'redis'>,
  run: RunState,
  { status, approval: id }: StepState,
): Promise<ApprovalState | undefined> {
  const approval = status !== 'parked' || id === undefined ? undefined : await readApproval(redis, run.id, id);
  return approval !== undefined && isPreviewDue(run, approval) ? approval : undefined;
}
