import { isSettled } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { isWaitingForModel, type RunState } from '../domain/index.ts';
import type { JobSleep } from '../jobs/index.ts';
import { readRun, readSpec, readTurnSteps } from '../log/index.ts';
import { longestNapMs } from '../queues/queues.ts';

/** A run in line is woken with its place. After this time the job of a run not yet begun asks again without a wake-up. */
const newRunsAskAgainMs = 10 * 60_000;

/** A run has no place when the run waits for a person, is paused or has ended. */
export const isInProgress = ({ status }: RunState): boolean => status === 'queued' || status === 'running';

/**
 * Asks for the place a run needs to begin, or to plan its next turn. Sub-agents need none: they work in the place of the run above, which
 * waits for them.
 * @returns false: the run stands in line
 */
export async function takePlace(deps: WorkerDeps, run: RunState): Promise<boolean> {
  const { admission } = deps;
  if (admission === undefined || run.parent !== undefined) return true;
  if (!isInProgress(run) && !isWaitingForModel(run)) {
    // A run canceled or paused in line leaves the line.
    await admission.leave(run.id, { force: true });
    return true;
  }
  if (run.open > 0 || run.restore === 'due' || run.closing !== undefined || run.awaits_calls !== undefined) return true;
  return admission.enter(run, await readSpec(deps, run));
}

/** The sleep of a turn's job whose run stands in line. */
export const inLine = (deps: WorkerDeps, run: RunState): JobSleep => ({
  kind: 'sleep',
  until: deps.now() + (run.status === 'queued' ? newRunsAskAgainMs : longestNapMs),
  seen: run.seq,
  awaits: 'place',
});

/** Gives the place of a run without work to other runs. The next review repairs a failure here. */
export async function leavePlace({ admission, logger }: WorkerDeps, runId: string): Promise<void> {
  await admission?.leave(runId).catch((error: unknown) => {
    logger.warn({ run_id: runId, err: error }, 'a place was not given back; the next review gives it back');
  });
}

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
