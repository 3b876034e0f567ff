import { isSettled, isTaskOver, isTerminal } from '@holdpoint/contract';
import { notifyParent } from '../agents/index.ts';
import { pendingApproval } from '../approvals/index.ts';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import * as runLog from '../log/index.ts';
import { findWaiting } from '../queries/read-calls.ts';

interface CancelRequest {
  by: string;
  message?: string | undefined;
}

/**
 * Ends one call of a run; its siblings continue. The call never starts again, even when processes die later. A running call is killed, and
 * its files are kept as they are at the kill. A call that waits for its own background command or sub-agent ends together with its task.
 * No-op for a step with an earlier cancel.
 * @throws EngineError `step_not_found`, `step_not_begun`, `step_settled`
 */
export async function requestCancelOfStep(
  deps: EngineDeps,
  runId: string,
  stepId: string,
  request: CancelRequest,
): Promise<void> {
  await runLog.retryWhileContended(stepId, async () => {
    const found = await runLog.readStep(deps.redis, runId, stepId);
    if (!found) return cancelWaiting(deps, runId, stepId, request);
    const { run, step } = found;
    if (step.cancel !== undefined || isEnding(run, step)) return true;
    if (isSettled(step.status)) throw new domain.EngineError('step_settled', `the step ${stepId} is ${step.status}`);
    const [approval, task] = await Promise.all([waitsFor(deps, run, step), ownTask(deps, run, step)]);
    const appended = await runLog.append(deps, runId, domain.requestStepCancel(run, step, request, { approval, task }));
    if (appended.ok) await passOn(deps, run, step, task);
    return appended.ok;
  });
}

/**
 * Ends a call of an open run before its turn begins: the turn records the call as canceled. When the turn begins at the same moment, the
 * first of both appends wins.
 * @returns false when another writer changed the run
 */
async function cancelWaiting(
  deps: EngineDeps,
  runId: string,
  stepId: string,
  request: CancelRequest,
): Promise<boolean> {
  const run = await runLog.readRun(deps.redis, runId);
  const waiting = run && (await findWaiting(deps, run, stepId));
  if (run === undefined || waiting === undefined) {
    // The call's turn may have begun between both reads.
    if (await runLog.readStep(deps.redis, runId, stepId)) return false;
    throw new domain.EngineError('step_not_found', `there is no step ${stepId}`);
  }
  if (waiting.cancel !== undefined || waiting.isDropped || run.status === 'canceling') return true;
  if (isTerminal(run.status)) {
    throw new domain.EngineError(
      'step_not_begun',
      `the run ${runId} is ${run.status} and does not make the call ${stepId}`,
    );
  }
  return (await runLog.append(deps, runId, domain.cancelWaitingCall(run, stepId, request))).ok;
}

/** Whether the cancel of the run ends the step. */
const isEnding = (run: domain.RunState, { status }: domain.StepState): boolean =>
  run.status === 'canceling' && !isSettled(status);

const waitsFor = (deps: EngineDeps, run: domain.RunState, { status, approval }: domain.StepState) =>
  pendingApproval(deps, run, status === 'parked' || status === 'indeterminate' ? approval : undefined);

/** The task that the step began and waits for. Undefined for a step that waits for another step's task. */
async function ownTask(
  { redis }: EngineDeps,
  run: domain.RunState,
  { status, deferred, task }: domain.StepState,
): Promise<domain.TaskState | undefined> {
  if (status !== 'deferred' || task === undefined || deferred?.task_id !== task) return undefined;
  return runLog.readTask(redis, run.id, task);
}

/** Messages and wake-ups only save time: workers look for canceled steps, and the sweeper sends missing wake-ups. */
async function passOn(
  deps: EngineDeps,
  run: domain.RunState,
  step: domain.StepState,
  task: domain.TaskState | undefined,
): Promise<void> {
  const run_id = run.id;
  const tell = (message: object) => deps.redis.publish(runLog.controlChannel, JSON.stringify({ ...message, run_id }));
  try {
    await tell({ kind: 'cancel_step', step_id: step.id });
    if (task !== undefined && !isTaskOver(task.status)) {
      await tell({ kind: 'kill', task_id: task.id });
      await deps.queues.wakeTask(run_id, task.id);
    } else if (step.status !== 'running') await deps.queues.wakeStep(run, step.id);
    if (step.approval !== undefined) await runLog.untrackApproval(deps.redis, step.approval);
    await notifyParent(deps, run);
  } catch (error) {
    deps.logger.warn({ run_id, step_id: step.id, err: error }, 'the wake-up was not sent; the sweeper will');
  }
}
