import type { WorkerDeps } from '../deps.ts';
import { isWaitingForModel, type RunState } from '../domain/index.ts';
import type { JobSleep } from '../jobs/index.ts';
import { readSpec } from '../log/index.ts';
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
