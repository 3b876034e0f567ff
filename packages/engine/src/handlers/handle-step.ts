import { fromPayload, toPayload } from '../blobs/blob-store.ts';
import type { WorkerDeps } from '../deps.ts';
import { runField } from '../domain/fields.ts';
import type { RunState, StepState } from '../domain/state.ts';
import { changedTools, toolsChanged } from '../domain/tool-versions.ts';
import { openIs, type Transition } from '../domain/transition.ts';
import {
  type AttemptResult,
  cancelStep,
  deferAttempt,
  recordConnection,
  settleAttempt,
  startAttempt,
} from '../domain/transitions/attempt.ts';
import { expire } from '../domain/transitions/decide.ts';
import { pauseRun } from '../domain/transitions/run-life.ts';
import type { Problem } from '../domain/vocabulary.ts';
import { EngineError } from '../errors.ts';
import { append } from '../log/append.ts';
import { untrackApproval } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';
import { readApproval, readStep } from '../log/read-state.ts';
import type { Outcome, SettledStep } from '../ports.ts';
import type { StepJob } from '../queues/queues.ts';
import { appendWithTask, beginTask } from './begin-task.ts';
import { plannerInput } from './history.ts';
import { readError } from './infrastructure-error.ts';
import { abortReason, done, HandBack, type JobContext, type JobEnd } from './job.ts';
import { type Planned, planNext, recordPlan } from './plan-next.ts';
import { type Doubt, recoverAttempt } from './recover-attempt.ts';
import { settleForward } from './settle-forward.ts';
import { openTaskDoor } from './task-door.ts';
import { isWaitOver } from './wait-over.ts';

const mostRounds = 20;

/**
 * Brings one step as far as it can go now: sleeps while it is parked or waits for a task, runs its next attempt, recovers one whose worker
 * was lost, and makes sure that the successor of a settled step is under way. Woken again at any point, it goes on from what the log says.
 */
export async function handleStep(deps: WorkerDeps, job: StepJob, context: JobContext): Promise<JobEnd> {
  for (let round = 0; round < mostRounds; round++) {
    const found = await readStep(deps.redis, job.run_id, job.step_id);
    if (!found) return done;
    // Only who has just been given the job may take a running step for lost. Later on, it is this handler that lost the job.
    if (round > 0 && found.step.status === 'running') {
      throw new EngineError('superseded', `another worker took over the step ${job.step_id}`);
    }
    const end = await move(deps, found.run, found.step, context);
    if (end !== 'again') return end;
  }
  throw new EngineError('contended', `other writers kept changing the step ${job.step_id}`);
}

/** When a sleeping job must wake although its time has not come: read this after the job was put to sleep. */
export async function mayStillSleep(deps: WorkerDeps, job: StepJob): Promise<boolean> {
  const found = await readStep(deps.redis, job.run_id, job.step_id);
  if (found?.step.status === 'deferred') return !(await isWaitOver(deps, found.run, found.step));
  return found !== undefined && (found.step.status === 'parked' || found.step.status === 'unknown');
}

async function move(deps: WorkerDeps, run: RunState, step: StepState, context: JobContext): Promise<JobEnd | 'again'> {
  const isOpen = run.status === 'running' || run.status === 'waiting';
  switch (step.status) {
    case 'parked':
    case 'unknown':
      return sleepOrExpire(deps, run, step);
    case 'running':
      return lost(deps, run, step, context);
    case 'deferred':
      if (isOpen && !(await isWaitOver(deps, run, step))) {
        return { kind: 'sleep', until: Date.parse(step.deferred?.until ?? '') };
      }
      return isOpen && run.restore !== 'due' ? attempt(deps, run, step, context) : forward(deps, run, context);
    case 'queued':
      return isOpen && run.restore !== 'due' ? attempt(deps, run, step, context) : forward(deps, run, context);
    default:
      return forward(deps, run, context);
  }
}

async function forward(deps: WorkerDeps, run: RunState, { signal }: JobContext): Promise<JobEnd> {
  await settleForward(deps, run.id, signal);
  return done;
}

async function sleepOrExpire(deps: WorkerDeps, run: RunState, step: StepState): Promise<JobEnd | 'again'> {
  const approval = step.approval === undefined ? undefined : await readApproval(deps.redis, run.id, step.approval);
  if (approval?.status !== 'pending') return 'again';
  const until = Date.parse(approval.request.expires_at);
  if (until > deps.now()) return { kind: 'sleep', until };
  const appended = await append(deps, run.id, expire(run, step, approval));
  if (appended.ok) await untrackApproval(deps.redis, approval.id);
  return 'again';
}

/** A job that finds its step running: whoever ran it is gone, or was taken for gone. */
async function lost(deps: WorkerDeps, run: RunState, step: StepState, context: JobContext): Promise<'again'> {
  if (run.status === 'canceling') {
    await deps.workspaces.quiesce(run.id);
    await append(deps, run.id, cancelStep(step, false));
    return 'again';
  }
  const code = 'EWORKERLOST';
  const message = `The worker ${step.worker ?? ''} was lost while it ran attempt ${step.attempt}.`;
  await recoverAttempt(deps, run, step, { reason: { code, message }, lastTry: context.lastTry });
  // The tree is to be made anew, whatever becomes of the step.
  await settleForward(deps, run.id, context.signal);
  return 'again';
}

async function attempt(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  context: JobContext,
): Promise<JobEnd | 'again'> {
  if (await isPausedForTools(deps, run, step)) return forward(deps, run, context);
  const started = await append(deps, run.id, startAttempt(run, step, deps.workerId));
  if (!started.ok) return 'again';
  const number = step.attempt + 1;
  const result = await execute(deps, run, { ...step, attempt: number }, context);
  switch (result.kind) {
    case 'doubt': {
      const running = { ...step, attempt: number, status: 'running' as const };
      await recoverAttempt(deps, run, running, { ...result.doubt, lastTry: context.lastTry });
      await settleForward(deps, run.id, context.signal);
      if (result.doubt.retryable !== false && !context.lastTry) throw result.doubt.error;
      return done;
    }
    case 'deferred': {
      const { until, taskId, created } = result;
      const wait = { until: new Date(until).toISOString(), taskId, ...(created === undefined ? {} : { created }) };
      const transition = deferAttempt(step.id, number, wait);
      if (created === undefined) {
        const deferred = await append(deps, run.id, transition);
        return deferred.ok ? { kind: 'sleep', until } : 'again';
      }
      const begun = await appendWithTask(deps, run, created, transition);
      if ('full' in begun) return settle(deps, run, step, refused(number, begun.full), context);
      if (!begun.ok) return 'again';
      await settleForward(deps, run.id, context.signal);
      return { kind: 'sleep', until };
    }
    case 'result':
      return settle(deps, run, step, result.result, context);
    default:
      return result satisfies never;
  }
}

/** Records the outcome, and with it the task that begins, if one does and there is room. */
async function settle(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  result: AttemptResult,
  context: JobContext,
): Promise<JobEnd | 'again'> {
  const { created } = result;
  const transition = settleAttempt(step.id, result);
  if (created !== undefined) {
    const begun = await appendWithTask(deps, run, created, transition);
    if ('full' in begun) {
      const { snapshot, attempt: number } = result;
      return settle(deps, run, step, { ...refused(number, begun.full), ...(snapshot && { snapshot }) }, context);
    }
    return begun.ok ? forward(deps, run, context) : 'again';
  }
  const ahead = await planAhead(deps, run, step, result, context);
  if (ahead !== undefined) {
    const both = await recordPlan(deps, run, { ...ahead, transition: together(transition, ahead.transition) });
    if (both.ok) return ahead.isWhole ? done : forward(deps, run, context);
  }
  const settled = await append(deps, run.id, transition);
  if (!settled.ok) return 'again';
  if (settled.status === 'running' && settled.open === 0) {
    await deps.queues.addTurn(run, run.turn + 1);
    return done;
  }
  return forward(deps, run, context);
}

/**
 * Of a plan the next group follows from what is known here, when this is the last open step of its group: it is recorded together with
 * the outcome. A model is asked by a job of its own.
 */
async function planAhead(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  result: AttemptResult,
  { signal }: JobContext,
): Promise<Planned | undefined> {
  if (run.header.planner !== 'scripted' || run.status !== 'running' || run.open !== 1 || signal.aborted)
    return undefined;
  try {
    const spec = await readSpec(deps, run);
    const { status, value, error } = result;
    const just: SettledStep = {
      id: step.id,
      ...(step.call.name === undefined ? {} : { name: step.call.name }),
      tool: step.call.tool,
      args: await fromPayload(deps.blobs, step.args),
      status,
      ...(value === undefined ? {} : { value: await fromPayload(deps.blobs, value) }),
      ...(error === undefined ? {} : { error }),
    };
    return await planNext(deps, run, spec, plannerInput(deps, run, spec, just), signal);
  } catch (error) {
    deps.logger.warn({ run_id: run.id, err: error }, 'the next turn could not be planned ahead; a job of its own will');
    return undefined;
  }
}

/** The outcome of the last open step, and what follows from it, as one entry. */
const together = (outcome: Transition, next: Transition): Transition => ({
  if: [...outcome.if, ...next.if.filter(({ field }) => field !== runField.open), openIs(1)],
  events: [...outcome.events, ...next.events],
});

const refused = (attempt: number, error: Problem): AttemptResult => ({
  attempt,
  status: 'failed',
  error,
  duration_ms: 0,
});

/** Arguments that were checked against another version of the tool are not given to this one unseen. */
async function isPausedForTools(deps: WorkerDeps, run: RunState, step: StepState): Promise<boolean> {
  const pinned = run.tools?.[step.call.tool];
  if (pinned === undefined || pinned === deps.catalog.versions(run.header.toolset)[step.call.tool]) return false;
  const reason = toolsChanged(changedTools(run, await readSpec(deps, run), deps.catalog.versions(run.header.toolset)));
  if (reason !== undefined) await append(deps, run.id, pauseRun(run, reason));
  return reason !== undefined;
}

type Executed =
  | { kind: 'result'; result: AttemptResult }
  | { kind: 'deferred'; until: number; taskId: string; created?: AttemptResult['created'] }
  | { kind: 'doubt'; doubt: Doubt };

async function execute(deps: WorkerDeps, run: RunState, step: StepState, context: JobContext): Promise<Executed> {
  const startedAt = deps.now();
  try {
    const writes = step.effect !== 'read';
    const taskId = step.task ?? deps.newId('task');
    const outcome = await call(deps, run, step, taskId, context);
    const reason = abortReason(context.signal);
    if (reason === 'shutdown') throw new HandBack();
    if (reason === 'lock-lost')
      throw new EngineError('superseded', 'the lock of the job was lost; another worker has it');
    if (outcome.status === 'deferred') {
      const { on, until } = outcome;
      if ('task_id' in on) return { kind: 'deferred', until, taskId: on.task_id };
      // An earlier attempt began it: a step begins one task at most.
      if (step.task !== undefined) return { kind: 'deferred', until, taskId };
      return { kind: 'deferred', until, taskId, created: await beginTask(deps, step, taskId, on.task) };
    }
    const snapshot = writes && reason !== 'canceled' ? await snapshotOf(deps, run, step, outcome) : undefined;
    const error = outcome.status === 'succeeded' ? {} : { error: outcome.error };
    const begun =
      outcome.status === 'succeeded' && reason !== 'canceled' && step.task === undefined ? outcome.task : undefined;
    return {
      kind: 'result',
      result: {
        attempt: step.attempt,
        status: reason === 'canceled' ? 'killed' : outcome.status,
        ...(outcome.value === undefined ? {} : { value: await toPayload(deps.blobs, outcome.value) }),
        ...(reason === 'canceled' ? { error: { code: 'ECANCELED', message: 'The run was canceled.' } } : error),
        duration_ms: deps.now() - startedAt,
        ...(outcome.capabilities === undefined ? {} : { capabilities: outcome.capabilities }),
        ...(snapshot === undefined ? {} : { snapshot: { ...snapshot, parent: run.snapshot ?? '' } }),
        ...(begun === undefined ? {} : { created: await beginTask(deps, step, taskId, begun) }),
      },
    };
  } catch (error) {
    const reason = abortReason(context.signal);
    // Whoever took over decides about this attempt; a worker that shuts down leaves it to the next one.
    if (reason === 'lock-lost') throw error;
    if (reason === 'shutdown') throw new HandBack();
    const { problem, retryable } = readError(error);
    return { kind: 'doubt', doubt: { reason: problem, retryable, error } };
  }
}

async function call(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  taskId: string,
  { signal }: JobContext,
): Promise<Outcome> {
  const spec = await readSpec(deps, run);
  const args = await fromPayload(deps.blobs, step.args);
  return deps.executor.execute(
    { toolset: run.header.toolset, tool: step.call.tool, args },
    {
      runId: run.id,
      stepId: step.id,
      attempt: step.attempt,
      epoch: run.lease,
      taskId,
      tasks: openTaskDoor(deps, run, step, signal),
      ...(step.deferred === undefined
        ? {}
        : { deferred: { task_id: step.deferred.task_id, until: Date.parse(step.deferred.until) } }),
      depth: run.parent?.depth ?? 0,
      maxDepth: spec.limits.max_depth,
      ...(run.header.model === undefined ? {} : { model: run.header.model }),
      wallMs: spec.limits.step_wall_s * 1000,
      limits: spec.limits.command ?? {},
      network: spec.network,
      onConnection: (connection) => {
        append(deps, run.id, recordConnection(step.id, step.attempt, connection)).catch((error: unknown) =>
          deps.logger.warn(
            { run_id: run.id, step_id: step.id, connection, err: error },
            'a connection was not recorded',
          ),
        );
      },
      signal,
    },
  );
}

const snapshotOf = (
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  outcome: Exclude<Outcome, { status: 'deferred' }>,
) =>
  deps.workspaces.snapshot({
    runId: run.id,
    epoch: run.lease,
    parent: run.snapshot ?? '',
    message: `${step.call.tool} (${step.id}, attempt ${step.attempt})`,
    ...(outcome.touched === undefined ? {} : { paths: outcome.touched }),
  });
