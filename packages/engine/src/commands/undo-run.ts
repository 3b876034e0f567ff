import { isSettled, isTerminal, type NewEvent } from '@holdpoint/contract';
import { notifyParent } from '../agents/index.ts';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type Rewind, type RunState, rewindRun, type StepState, type TaskState } from '../domain/index.ts';
import { append, claimOwner, readSpec, retryWhileContended, trackActive, untrackApproval } from '../log/index.ts';
import { findRewindPoint, listSteps, type RewindPoint } from '../queries/index.ts';
import { planAgain, readTurn } from './plan-again.ts';
import { releaseModelWait } from './steer-run.ts';

interface Undo {
  /** The last kept step: its id, or its number in the list of steps, from 1; 0: no step is kept. */
  toStep: string | number;
  /** Effects outside of the workspace cannot be undone. `true` accepts this, `false` refuses to undo such steps. */
  keepExternalEffects: boolean;
  by: string;
}

/**
 * Undoes the last steps of a paused run: the workspace returns to the snapshot after `toStep`, and the run continues as if the later steps
 * had never been planned. When the call returns, the undo is recorded. A worker restores the tree before any step of the run starts.
 * @returns the ids of the undone steps
 * @throws EngineError `run_not_found`, `run_not_paused`, `run_not_idle`, `step_not_found`, `step_not_settled`, `external_effects`
 */
export async function undoSteps(deps: EngineDeps, runId: string, request: Undo): Promise<string[]> {
  let undone: string[] = [];
  await retryWhileContended(runId, async () => {
    const past = await listSteps(deps, runId);
    const { run } = past;
    if (run.status !== 'paused') throw notPaused(run);
    const rewind = await prepareRewind(deps, past, request);
    undone = rewind.undone.map((step) => step.id);
    if (undone.length === 0) return true;
    const isRecorded = await recordRewind(deps, run, rewind, []);
    if (isRecorded) await notifyParent(deps, run);
    return isRecorded;
  });
  return undone;
}

function notPaused({ id, status }: RunState): EngineError {
  const next = isTerminal(status)
    ? 'Only the steps of a paused run can be undone. Fork this run from the last step to keep.'
    : 'Pause the run first, then undo its steps.';
  return new EngineError('run_not_paused', `the run ${id} is ${status}`, { next });
}

/**
 * Finds the changes of undoing the steps after `toStep`. Changes nothing.
 * @throws EngineError `run_not_idle`, `step_not_found`, `step_not_settled`, `external_effects`
 */
export async function prepareRewind(
  deps: EngineDeps,
  { run, steps, approvals, tasks }: Awaited<ReturnType<typeof listSteps>>,
  request: Undo,
): Promise<Rewind> {
  const running = steps.find((step) => step.status === 'running');
  if (running) throw new EngineError('run_not_idle', `the step ${running.id} is still running`);
  if (run.open_tasks > 0) throw new EngineError('run_not_idle', `${run.open_tasks} tasks of the run are still open`);
  const point = await findRewindPoint(deps, { run, steps }, request.toStep);
  const undone: StepState[] = point.after;
  const external = undone.filter((step) => step.effect === 'external' && step.attempt > 0);
  if (external.length > 0 && !request.keepExternalEffects) {
    const names = external.map((step) => `${step.id} (${step.call.tool})`).join(', ');
    throw new EngineError('external_effects', `these steps had effects outside of the workspace: ${names}`);
  }
  const turn = point.again.length === 0 ? undefined : await readTurn(deps, run.id, point.turn);
  const isPlanUndone = undone.some(({ id }) => id === run.plan_approved);
  const at = isPlanUndone ? { id: run.id } : run;
  const planning = { spec: await readSpec(deps, at), run };
  const open = approvals.filter(({ status, request: { step_id } }) => {
    return status === 'pending' && undone.some((step) => step.id === step_id);
  });
  return {
    ...point,
    lostTasks: takenBack(tasks, point),
    again: await Promise.all(point.again.map((step) => planAgain(deps, step, turn, planning))),
    undone,
    approvals: open.map(({ id, request: { step_id } }) => ({ id, stepId: step_id ?? '' })),
    by: request.by,
  };
}

/** Background commands, and sub-agents merged without a call, whose steps are kept and whose changes are not. */
const takenBack = (tasks: readonly TaskState[], { before, captured }: RewindPoint): string[] =>
  tasks
    .filter(({ about, outcome, started_at }) =>
      about.kind === 'shell' ? started_at !== undefined : outcome?.merged !== undefined && 'paths' in outcome.merged,
    )
    .filter(({ about }) => before.some((step) => step.id === about.step_id))
    .flatMap(({ id, status }) => (status === 'lost' || captured.has(id) ? [] : [id]));

/** @param then events of the same append. @returns false when another writer changed the run: look again */
export async function recordRewind(
  deps: EngineDeps,
  run: RunState,
  rewind: Rewind,
  then: readonly NewEvent[],
): Promise<boolean> {
  await claimOwner(
    deps.redis,
    run.id,
    rewind.again.map((step) => step.id),
  );
  await trackActive(deps.redis, run.id);
  const transition = rewindRun(run, rewind);
  const appended = await append(deps, run.id, { ...transition, events: [...transition.events, ...then] });
  if (!appended.ok) return false;
  // Again: a worker that just finished with the run may have removed the run from the index of active runs in between.
  await trackActive(deps.redis, run.id);
  await Promise.all(rewind.approvals.map(({ id }) => untrackApproval(deps.redis, id)));
  await Promise.all([wake(deps, run.id, rewind), releaseModelWait(deps, run)]);
  return true;
}

/** A lost wake-up only costs time: the sweeper sends the wake-up, too. */
async function wake({ queues, logger }: EngineDeps, runId: string, { undone }: Rewind): Promise<void> {
  // The jobs of steps that waited for a decision or a task.
  const asleep = undone.filter(({ status }) => !isSettled(status)).map(({ id }) => queues.releaseStep(id));
  await Promise.all([queues.wakeWorkspace(runId), ...asleep]).catch((error: unknown) => {
    logger.warn({ run_id: runId, err: error }, 'a wake-up was not sent; the sweeper will');
  });
}
