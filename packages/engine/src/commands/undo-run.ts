import type { EngineDeps } from '../deps.ts';
import type { StepState } from '../domain/state.ts';
import { rewindRun } from '../domain/transitions/rewind-run.ts';
import { EngineError } from '../errors.ts';
import { append } from '../log/append.ts';
import { claimOwner, trackActive, untrackApproval } from '../log/indexes.ts';
import { listSteps } from '../queries/list-steps.ts';
import { planAgain, readTurn } from './plan-again.ts';
import { retryWhileContended } from './retry-while-contended.ts';
import { rewindPoint } from './rewind-point.ts';

interface Undo {
  /** The last step that is kept: its id, or its number in the list of steps, from 1; 0: none is. */
  toStep: string | number;
  /** Effects outside of the workspace cannot be undone; they are left as they are when this is set. */
  keepExternalEffects: boolean;
  by: string;
}

/**
 * Undoes the last steps of a paused run: the workspace goes back to the snapshot after `toStep`, and the run goes on from there as if the
 * later steps had never been planned. When this returns it is recorded; a worker brings the tree back before anything of the run starts.
 * @returns the ids of the steps that were undone
 * @throws EngineError `run_not_found`, `run_not_paused`, `run_not_idle`, `step_not_found`, `step_not_settled`, `external_effects`
 */
export async function undoSteps(deps: EngineDeps, runId: string, request: Undo): Promise<string[]> {
  let undone: StepState[] = [];
  await retryWhileContended(runId, async () => {
    const { run, steps, approvals } = await listSteps(deps, runId);
    if (run.status !== 'paused') throw new EngineError('run_not_paused', `the run ${runId} is ${run.status}`);
    const running = steps.find((step) => step.status === 'running');
    if (running) throw new EngineError('run_not_idle', `the step ${running.id} is still running`);
    const point = rewindPoint(run, steps, request.toStep);
    undone = point.after;
    if (undone.length === 0) return true;
    const external = undone.filter((step) => step.effect === 'external' && step.attempt > 0);
    if (external.length > 0 && !request.keepExternalEffects) {
      const names = external.map((step) => `${step.id} (${step.call.tool})`).join(', ');
      throw new EngineError('external_effects', `these steps had effects outside of the workspace: ${names}`);
    }
    const turn = point.again.length === 0 ? undefined : await readTurn(deps, run.id, point.turn);
    const again = point.again.map((step) => planAgain(deps, step, turn));
    const open = approvals.filter(({ status, request: { step_id } }) => {
      return status === 'pending' && undone.some((step) => step.id === step_id);
    });
    await claimOwner(
      deps.redis,
      runId,
      again.map((step) => step.id),
    );
    await trackActive(deps.redis, runId);
    const rewind = {
      ...point,
      again,
      undone,
      approvals: open.map(({ id, request: { step_id } }) => ({ id, stepId: step_id ?? '' })),
      by: request.by,
    };
    const appended = await append(deps, runId, rewindRun(run, rewind));
    if (!appended.ok) return false;
    await Promise.all(open.map(({ id }) => untrackApproval(deps.redis, id)));
    await wake(deps, runId);
    return true;
  });
  return undone.map((step) => step.id);
}

/** A lost wake-up only costs time: the sweeper looks too. */
async function wake(deps: EngineDeps, runId: string): Promise<void> {
  await deps.queues.wakeWorkspace(runId).catch((error: unknown) => {
    deps.logger.warn({ run_id: runId, err: error }, 'the wake-up was not sent; the sweeper will');
  });
}
