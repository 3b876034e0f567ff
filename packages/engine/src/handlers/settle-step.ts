import type { Problem } from '@holdpoint/contract';
import { type Again, beginApprovedTask, bindTask, endCanceled, settleAndRelease } from '../attempts/index.ts';
import type { WorkerDeps } from '../deps.ts';
import { type AttemptResult, type RunState, type StepState, settleAttempt } from '../domain/index.ts';
import type { BoundTransition } from '../events/known-state.ts';
import { done, doneAt, type JobContext, type JobEnd } from '../jobs/index.ts';
import { append, appendParts, asWhole, readTurnSteps } from '../log/index.ts';
import { type Planned, planAhead, recordAfter } from '../planning/index.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { appendWithTask } from '../tasks/begin-task.ts';

/**
 * Records the outcome of an attempt, together with the task that the attempt starts within the limits. When nothing else of the turn is
 * open, the next turn of a plan, or the job that asks a model, is sent together with the outcome and the end of this job.
 * @param start the start of the attempt, when the log does not have the start yet
 */
export async function settle(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  result: AttemptResult,
  context: JobContext,
  start?: BoundTransition,
): Promise<JobEnd | Again> {
  const { created } = result;
  const transition = settleAttempt(step.id, result);
  if (created !== undefined) {
    const bound = bindTask(step, created);
    const begun =
      bound === undefined
        ? await appendWithTask(deps, run, created, transition)
        : await beginApprovedTask(deps, run, step, { created: bound, result });
    if ('full' in begun) {
      const { snapshot, attempt: number } = result;
      return settle(deps, run, step, { ...refusal(number, begun.full), snapshot }, context);
    }
    if (begun.ok) return forward(deps, run, context, done);
    await endCanceled(deps, run.id, { id: step.id, attempt: result.attempt });
    return 'again';
  }
  if (result.restore) {
    const appended = await append(deps, run.id, transition);
    return appended.ok ? forward(deps, run, context, done) : 'again';
  }
  const isStarting = start !== undefined;
  const ahead = await planAhead(deps, run, step, result, { signal: context.signal, isStarting });
  // The plan may depend on the time of the outcome.
  const first = (start === undefined ? [transition] : [start, transition]).map((one) => ({
    ...one,
    time: ahead?.time,
  }));
  if (ahead !== undefined) return withPlan(deps, run, step, { first, ahead, context, start });
  if (run.status === 'running' && run.open === 1) return withTurnJob(deps, run, step, { first, context, start });
  if (await settleAndRelease(deps, run, step, transition)) return done;
  const settled = asWhole(await appendParts(deps, run.id, first), first.length);
  if (!settled.ok) return refusedAs(start);
  if (settled.status === 'running' && settled.open === 0) {
    await deps.queues.addTurn(run, run.turn + 1);
    return done;
  }
  return settled.status === 'running' && (await isUnderWay(deps, run)) ? done : forward(deps, run, context, done);
}

interface Settling {
  /** The transitions that record the outcome. */
  first: readonly BoundTransition[];
  context: JobContext;
  start: BoundTransition | undefined;
}

async function withPlan(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  { first, ahead, context, start }: Settling & { ahead: Planned },
): Promise<JobEnd | Again> {
  let isFinished = false;
  const finish = () => {
    isFinished = context.finish !== undefined;
    context.finish?.();
  };
  const { parts } = await recordAfter(deps, run, first, ahead, { ...context, finish });
  if (parts > first.length) return ahead.nothingElsePending ? done : forward(deps, run, context, done);
  if (isFinished) return wakeChanged(deps, run, step);
  return parts === first.length ? forward(deps, run, context, done) : refusedAs(start);
}

/** A turn job only looks at the run when the outcome was refused or the run has changed. */
async function withTurnJob(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  { first, context, start }: Settling,
): Promise<JobEnd | Again> {
  const addTurn = () => deps.queues.addTurn(run, run.turn + 1);
  const recording = Promise.all([appendParts(deps, run.id, first), addTurn()]);
  context.finish?.();
  const [appended] = await recording;
  const settled = asWhole(appended, first.length);
  if (settled.ok) {
    // The server did not know the script, and the job was there before the outcome.
    if (settled.late) await addTurn();
    return settled.status === 'running' && settled.open === 0 ? done : forward(deps, run, context, done);
  }
  return context.finish === undefined ? refusedAs(start) : wakeChanged(deps, run, step);
}

/** The job has ended, and the run has changed: a new job finds the run's next work. */
async function wakeChanged(deps: WorkerDeps, run: RunState, step: StepState): Promise<JobEnd> {
  await deps.queues.wakeStep(run, step.id);
  return done;
}

/** Whether each open call of the turn has passed its gate and waits for nothing. Then the call's own job continues the run. */
async function isUnderWay(deps: WorkerDeps, run: RunState): Promise<boolean> {
  if (run.parent !== undefined) return false;
  const steps = await readTurnSteps(deps.redis, run);
  return steps.every(({ status }) => !needsLook.has(status)) && steps.some(({ status }) => hasJob.has(status));
}
const hasJob: ReadonlySet<StepState['status']> = new Set(['queued', 'running']);
const needsLook: ReadonlySet<StepState['status']> = new Set(['pending', 'parked', 'indeterminate', 'deferred']);

const refusedAs = (start: BoundTransition | undefined): Again => (start === undefined ? 'again' : 'not started');

/** The outcome of a call whose task does not start. */
export const refusal = (attempt: number, error: Problem): AttemptResult => ({
  attempt,
  status: 'failed',
  error,
  duration_ms: 0,
});

/** @param end `done` of a step that is settled */
export async function forward(
  deps: WorkerDeps,
  run: RunState,
  { signal }: JobContext,
  end: JobEnd = doneAt(run),
): Promise<JobEnd> {
  await reconcile(deps, run.id, signal);
  return end;
}
