import { setTimeout as delay } from 'node:timers/promises';
import { expireStep } from '../approvals/expire-step.ts';
import { parkAttempt } from '../approvals/hold-attempt.ts';
import { awaitDecision } from '../approvals/index.ts';
import { parkQuestion } from '../approvals/request-approval.ts';
import { dropResult, dueForPreview } from '../approvals/result-preview.ts';
import { showResult } from '../approvals/show-result.ts';
import * as attempts from '../attempts/index.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import type { KnownState } from '../events/known-state.ts';
import { abortReason, done, doneAt, type JobContext, type JobEnd, pauseOrRetry, untilCanceled } from '../jobs/index.ts';
import { append, readSpec, readStep, takeCachedStep } from '../log/index.ts';
import type { StepJob } from '../queues/queues.ts';
import { openGateAhead, reconcile } from '../reconcile/reconcile.ts';
import { isWaitOver } from '../reconcile/release-run.ts';
import { appendWithTask } from '../tasks/begin-task.ts';
import { forward, refusal, settle } from './settle-step.ts';

const mostRounds = 20;
/** While a sub-agent's changes are merged, a writing call tries again after this time. */
const mergeMs = 100;

/**
 * Advances one step as far as possible now: sleeps while the step is parked or waits for a task, runs the next attempt, recovers an attempt
 * whose worker was lost, and makes sure that the successor of a settled step is under way. After each wake-up the handler continues from
 * the log.
 */
export async function handleStep(deps: WorkerDeps, job: StepJob, context: JobContext): Promise<JobEnd> {
  // The append that planned the step may have returned the step's state. When nothing was appended since, the cached state saves a read.
  const cached = takeCachedStep(deps.redis, job);
  const quick = cached && (await attempt(deps, cached.run, cached.step, context, cached.known));
  if (quick !== undefined && quick !== 'again' && quick !== 'not started') return quick;
  for (let round = quick === 'again' ? 1 : 0; round < mostRounds; round++) {
    const found = await readStep(deps.redis, job.run_id, job.step_id);
    if (!found) return doneAt(undefined);
    // In the first round a running step was lost, because its job was just delivered. In a later round this handler has lost the job.
    if (round > 0 && found.step.status === 'running') {
      throw new domain.EngineError('superseded', `another worker took over the step ${job.step_id}`);
    }
    const end = await move(deps, found.run, found.step, context);
    if (end !== 'again' && end !== 'not started') return end;
  }
  throw new domain.EngineError('contended', `other writers kept changing the step ${job.step_id}`);
}

/** The other side may still work for a call that was canceled, or whose question a person declined or let expire. */
const endedWithoutResult = ({ status, outcome }: domain.StepState): boolean =>
  status === 'killed' || (status === 'failed' && endsOfQuestions.has(outcome?.error?.code ?? ''));

/** Codes of a question without an answer. No tool fails with these codes after its call was made. */
const endsOfQuestions: ReadonlySet<string> = new Set(['EREJECTED', 'EEXPIRED']);

async function move(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
): Promise<JobEnd | attempts.Again> {
  const isOpen = run.status === 'running' || run.status === 'waiting';
  switch (step.status) {
    case 'pending':
      return openGate(deps, run, step, context);
    case 'parked': {
      const asked = await dueForPreview(deps, run, step);
      if (asked !== undefined) {
        await showResult(deps, run, step, { asked, context });
        return 'again';
      }
      return sleepUntilDecided(deps, run, step, context);
    }
    case 'indeterminate':
      return sleepUntilDecided(deps, run, step, context);
    case 'running':
      return lost(deps, run, step, context);
    case 'deferred':
      if (run.status === 'canceling' && domain.asksOutside(step)) return endWaiting(deps, run, step, context);
      if (step.cancel !== undefined && run.status !== 'canceling' && (await isWaitOver(deps, run, step))) {
        const appended = await append(deps, run.id, domain.settleCanceled(run, step));
        return appended.ok ? forward(deps, run, context, done) : 'again';
      }
      if (isOpen && !(await isWaitOver(deps, run, step))) {
        return { kind: 'sleep', until: Date.parse(step.deferred?.until ?? '') };
      }
      if (isOpen && step.deferred?.begins !== undefined) {
        const appended = await append(deps, run.id, domain.settleBegun(run, step, step.deferred.begins));
        return appended.ok ? forward(deps, run, context, done) : 'again';
      }
      return isOpen && run.restore !== 'due' ? attempt(deps, run, step, context) : forward(deps, run, context);
    case 'queued':
      if (run.status === 'canceling' && domain.asksOutside(step)) return endWaiting(deps, run, step, context);
      return isOpen && run.restore !== 'due' ? attempt(deps, run, step, context) : forward(deps, run, context);
    default:
      await dropResult(deps, run, step);
      if (endedWithoutResult(step)) await attempts.letGo(deps, run, step);
      return forward(deps, run, context, done);
  }
}

/** A run that is canceled settles its calls; this job lets go of the work first, because nothing wakes it again. */
async function endWaiting(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
): Promise<JobEnd | attempts.Again> {
  await attempts.letGo(deps, run, step);
  const appended = await append(deps, run.id, domain.cancelStep(step, false, true));
  return appended.ok ? forward(deps, run, context, done) : 'again';
}

const sleepUntilDecided = (deps: WorkerDeps, run: domain.RunState, step: domain.StepState, context: JobContext) =>
  awaitDecision(deps, run, step.approval, (approval) => expireStep(deps, run, step, approval, context.signal));

/** A call with a shown result runs on a fork first. */
async function openGate(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
): Promise<JobEnd | attempts.Again> {
  const { signal } = untilCanceled(context);
  try {
    if ((await openGateAhead(deps, run, step, signal)) === 'again') return 'again';
  } catch (error) {
    if (abortReason(signal) !== 'canceled') await pauseOrRetry(deps, run, error, context);
  }
  await reconcile(deps, run.id, context.signal);
  // A step that passed its gate has this job already, so reconcile added no job.
  const now = await readStep(deps.redis, run.id, step.id);
  return now === undefined || now.step.status === 'pending' ? doneAt(run) : 'again';
}

/** A job that finds its step running: the step's worker is presumed dead. */
async function lost(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
): Promise<'again'> {
  if (run.status === 'canceling') {
    await deps.workspaces.killAll(run.id);
    await append(deps, run.id, domain.cancelStep(step, false));
    return 'again';
  }
  const code = 'EWORKERLOST';
  const message = `The worker ${step.worker ?? ''} was lost while it ran attempt ${step.attempt}.`;
  await attempts.recoverAttempt(deps, run, step, { reason: { code, message }, lastTry: context.lastTry });
  // A new tree is due, for every outcome of the step.
  await reconcile(deps, run.id, context.signal);
  return 'again';
}

async function attempt(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
  known?: KnownState,
): Promise<JobEnd | attempts.Again> {
  if (await isPausedForTools(deps, run, step)) return forward(deps, run, context);
  if (run.merging !== undefined && domain.mayWrite(step)) {
    await delay(mergeMs);
    return 'not started';
  }
  const given = [deps, run, step, context] as const;
  const begun = attempts.isBound(step)
    ? await attempts.whileFrozen(deps, run, context, () => attempts.beginAttempt(...given, known))
    : await attempts.beginAttempt(...given, known);
  if (begun === 'lost') return forward(deps, run, context);
  if (begun === 'not started' || begun === 'again') return begun;
  const result = begun.executed;
  const number = step.attempt + 1;
  switch (result.kind) {
    case 'indeterminate': {
      const running = { ...step, attempt: number, status: 'running' as const };
      await attempts.recoverAttempt(deps, run, running, { ...result.interruption, lastTry: context.lastTry });
      await reconcile(deps, run.id, context.signal);
      if (result.interruption.retryable !== false && !context.lastTry) throw result.interruption.error;
      return doneAt(run);
    }
    case 'held':
      await parkAttempt(deps, run, { ...step, attempt: number }, result.verdict, context.signal);
      await attempts.endCanceled(deps, run.id, { id: step.id, attempt: number });
      return 'again';
    case 'asked':
      await parkQuestion(deps, run, { ...step, attempt: number }, result.asked);
      await attempts.endCanceled(deps, run.id, { id: step.id, attempt: number });
      return 'again';
    case 'waits': {
      const { wait } = result;
      const waiting = await append(deps, run.id, domain.awaitOutside(run, { id: step.id, attempt: number }, wait));
      if (waiting.ok) return waiting.status === 'canceling' ? 'again' : { kind: 'sleep', until: wait.until };
      if (await attempts.endCanceled(deps, run.id, { id: step.id, attempt: number }))
        await attempts.letGo(deps, run, step, wait.outside);
      return 'again';
    }
    case 'deferred': {
      const { until, taskId, created } = result;
      const wait = { until: new Date(until).toISOString(), taskId, created };
      const transition = domain.deferAttempt(step.id, number, wait);
      if (created === undefined) {
        const deferred = await append(deps, run.id, transition);
        if (deferred.ok) return { kind: 'sleep', until };
        await attempts.endCanceled(deps, run.id, { id: step.id, attempt: number });
        return 'again';
      }
      const begun = await appendWithTask(deps, run, created, transition);
      if ('full' in begun) return settle(deps, run, step, refusal(number, begun.full), context);
      if (!begun.ok) {
        await attempts.endCanceled(deps, run.id, { id: step.id, attempt: number });
        return 'again';
      }
      await reconcile(deps, run.id, context.signal);
      return { kind: 'sleep', until };
    }
    case 'result':
      // Before the outcome: the next worker does it again when this one dies.
      if (result.outside === undefined) return settle(deps, run, step, result.result, context, begun.start);
      await attempts.letGo(deps, run, step, result.outside);
      return settle(deps, run, step, { ...result.result, let_go: true }, context, begun.start);
    default:
      return result satisfies never;
  }
}

/** Arguments that were checked against another version of a tool do not reach the present version without a review. */
async function isPausedForTools(deps: WorkerDeps, run: domain.RunState, step: domain.StepState): Promise<boolean> {
  const pinned = run.tools?.[step.call.tool];
  if (pinned === undefined || pinned === deps.catalog.versions(run.header.toolset)[step.call.tool]) return false;
  const reason = domain.toolsChanged(
    domain.changedTools(run, await readSpec(deps, run), deps.catalog.versions(run.header.toolset)),
  );
  if (reason !== undefined) await append(deps, run.id, domain.pauseRun(run, reason));
  return reason !== undefined;
}
