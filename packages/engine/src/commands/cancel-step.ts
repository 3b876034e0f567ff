import { isSettled, isTaskOver } from '@holdpoint/contract';
import { notifyParent } from '../agents/index.ts';
import { pendingApproval } from '../approvals/index.ts';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type RunState, requestStepCancel, type StepState, type TaskState } from '../domain/index.ts';
import {
  append,
  controlChannel,
  readRun,
  readStep,
  readTask,
  retryWhileContended,
  untrackApproval,
} from '../log/index.ts';

interface CancelRequest {
  by: string;
  message?: string | undefined;
}

/**
 * Ends one call of a run; its siblings continue. The call never starts again, whatever dies next. A running call is killed, and its files are kept
 * as they are then; a call that waits for its own background command or sub-agent ends with that. No-op for a step whose end was asked for.
 * @throws EngineError `step_not_found`, `step_not_begun`, `step_settled`
 */
export async function requestCancelOfStep(
  deps: EngineDeps,
  runId: string,
  stepId: string,
  request: CancelRequest,
): Promise<void> {
  await retryWhileContended(stepId, async () => {
    const found = await readStep(deps.redis, runId, stepId);
    if (!found) throw await unknownStep(deps, runId, stepId);
    const { run, step } = found;
    if (step.cancel !== undefined || isEnding(run, step)) return true;
    if (isSettled(step.status)) throw new EngineError('step_settled', `the step ${stepId} is ${step.status}`);
    const [approval, task] = await Promise.all([waitsFor(deps, run, step), ownTask(deps, run, step)]);
    const appended = await append(deps, runId, requestStepCancel(run, step, request, { approval, task }));
    if (appended.ok) await passOn(deps, run, step, task);
    return appended.ok;
  });
}

/** An open run names the steps of the calls that wait before it makes them. */
async function unknownStep({ redis }: EngineDeps, runId: string, stepId: string): Promise<EngineError> {
  const run = await readRun(redis, runId);
  if (run === undefined || run.taken >= run.received) {
    return new EngineError('step_not_found', `there is no step ${stepId}`);
  }
  return new EngineError('step_not_begun', `the call ${stepId} waits behind other calls of the run ${runId}`);
}

/** The cancel of its run ends it. */
const isEnding = (run: RunState, { status }: StepState): boolean => run.status === 'canceling' && !isSettled(status);

const waitsFor = (deps: EngineDeps, run: RunState, { status, approval }: StepState) =>
  pendingApproval(deps, run, status === 'parked' || status === 'indeterminate' ? approval : undefined);

/** The task that the step began and waits for. A step that waits for the task of another one leaves that alone. */
async function ownTask(
  { redis }: EngineDeps,
  run: RunState,
  { status, deferred, task }: StepState,
): Promise<TaskState | undefined> {
  if (status !== 'deferred' || task === undefined || deferred?.task_id !== task) return undefined;
  return readTask(redis, run.id, task);
}

/** Messages and wake-ups only save time: workers look for canceled steps, and the sweeper sends what is missing. */
async function passOn(deps: EngineDeps, run: RunState, step: StepState, task: TaskState | undefined): Promise<void> {
  const run_id = run.id;
  const tell = (message: object) => deps.redis.publish(controlChannel, JSON.stringify({ ...message, run_id }));
  try {
    await tell({ kind: 'cancel_step', step_id: step.id });
    if (task !== undefined && !isTaskOver(task.status)) {
      await tell({ kind: 'kill', task_id: task.id });
      await deps.queues.wakeTask(run_id, task.id);
    } else if (step.status !== 'running') await deps.queues.wakeStep(run, step.id);
    if (step.approval !== undefined) await untrackApproval(deps.redis, step.approval);
    await notifyParent(deps, run);
  } catch (error) {
    deps.logger.warn({ run_id, step_id: step.id, err: error }, 'the wake-up was not sent; the sweeper will');
  }
}
