import type { WorkerDeps } from '../deps.ts';
import { type RunState, takeLease } from '../domain/index.ts';
import { append } from '../log/index.ts';

/**
 * Gives the run a new tree at a snapshot, under an epoch above the epochs of all earlier trees, including trees missing in a log that lost
 * entries.
 * @returns the epoch; undefined when another worker was faster
 */
export async function takeTree(
  deps: WorkerDeps,
  run: RunState,
  { snapshot, signal }: { snapshot: string; signal: AbortSignal },
): Promise<number | undefined> {
  const epoch = Math.max(run.lease, await deps.workspaces.newestEpoch(run.id)) + 1;
  const leased = await append(deps, run.id, takeLease(run, deps.workerId, epoch));
  if (!leased.ok) return undefined;
  await deps.workspaces.takeOver({ runId: run.id, epoch, snapshot, signal });
  return epoch;
}
