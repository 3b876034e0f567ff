import { isSettled } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, readTurnSteps } from '../log/index.ts';
import { isInProgress } from './take-place.ts';

/**
 * Reports the runs of this worker, and compares the other runs in a place with their logs: a dead process gave no place back. So a place is
 * a claim about a run, belongs to no worker, and the log decides about the claim. Call about once per second.
 */
export async function reviewPlaces(deps: WorkerDeps): Promise<void> {
  const { admission } = deps;
  if (admission === undefined) return;
  const idle = await admission.review();
  const runs = await Promise.all(idle.map((id) => readRun(deps.redis, id)));
  const kept: string[] = [];
  for (const [at, id] of idle.entries()) {
    const run = runs[at];
    if (run === undefined || !(await needsPlace(deps, run))) {
      await admission.leave(id, { force: true });
      continue;
    }
    kept.push(id);
    // The process which gave the run its place may have died before waking the job.
    if (run.open === 0) await deps.queues.wakeTurn(run, run.turn + 1);
  }
  await admission.touch(kept);
}

/** A run does nothing when all its calls wait for background commands. A run waiting for its sub-agents works through them. */
async function needsPlace(deps: WorkerDeps, run: RunState): Promise<boolean> {
  if (!isInProgress(run)) return false;
  if (run.open === 0 || run.agents > 0) return true;
  const open = (await readTurnSteps(deps.redis, run)).filter(({ status }) => !isSettled(status));
  return open.length === 0 || open.some(({ status }) => status !== 'deferred');
}
