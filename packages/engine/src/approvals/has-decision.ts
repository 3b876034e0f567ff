import type { WorkerDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/index.ts';
import { readApproval } from '../log/index.ts';

/** Whether a person decided on the call itself. An answer to a question of the server is no decision on the call. */
export async function hasDecision(
  { redis }: Pick<WorkerDeps, 'redis'>,
  run: RunState,
  { approval, asked }: StepState,
): Promise<boolean> {
  if (approval === undefined || asked === undefined || asked.decided) return approval !== undefined;
  return (await readApproval(redis, run.id, approval))?.request.kind !== 'input';
}
