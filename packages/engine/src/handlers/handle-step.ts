import { fromPayload, toPayload } from '../blobs/blob-store.ts';
import type { WorkerDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/state.ts';
import {
  type AttemptResult,
  cancelStep,
  recordConnection,
  settleAttempt,
  startAttempt,
} from '../domain/transitions/attempt.ts';
import { expire } from '../domain/transitions/decide.ts';
import { EngineError } from '../errors.ts';
import { append } from '../log/append.ts';
import { untrackApproval } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';
import { readApproval, readStep } from '../log/read-state.ts';
import type { Outcome } from '../ports.ts';
import type { StepJob } from '../queues/queues.ts';
import { readError } from './infrastructure-error.ts';
import { abortReason, done, HandBack, type JobContext, type JobEnd } from './job.ts';
import { type Doubt, recoverAttempt } from './recover-attempt.ts';
import { settleForward } from './settle-forward.ts';

const mostRounds = 20;

/**
 * Brings one step as far as it can go now: sleeps while it is parked, runs its next attempt, recovers one whose worker was lost, and
 * makes sure that the successor of a settled step is under way. Woken again at any point, it goes on from what the log says.
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
  return found !== undefined && (found.step.status === 'parked' || found.step.status === 'unknown');
}

async function move(deps: WorkerDeps, run: RunState, step: StepState, context: JobContext): Promise<JobEnd | 'again'> {
  switch (step.status) {
    case 'parked':
    case 'unknown':
      return sleepOrExpire(deps, run, step);
    case 'running':
      return lost(deps, run, step, context);
    case 'queued':
      if (run.status !== 'running' && run.status !== 'waiting') return forward(deps, run, context);
      return attempt(deps, run, step, context);
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
  return 'again';
}

async function attempt(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  context: JobContext,
): Promise<JobEnd | 'again'> {
  const started = await append(deps, run.id, startAttempt(step, deps.workerId));
  if (!started.ok) return 'again';
  const number = step.attempt + 1;
  const result = await execute(deps, run, { ...step, attempt: number }, context);
  if (result.kind === 'doubt') {
    const running = { ...step, attempt: number, status: 'running' as const };
    await recoverAttempt(deps, run, running, { ...result.doubt, lastTry: context.lastTry });
    if (result.doubt.retryable !== false && !context.lastTry) throw result.doubt.error;
    return forward(deps, run, context);
  }
  const settled = await append(deps, run.id, settleAttempt(step.id, result.result));
  if (!settled.ok) return 'again';
  if (settled.status === 'running' && settled.open === 0) {
    await deps.queues.addTurn(run.id, run.turn + 1);
    return done;
  }
  return forward(deps, run, context);
}

type Executed = { kind: 'result'; result: AttemptResult } | { kind: 'doubt'; doubt: Doubt };

async function execute(deps: WorkerDeps, run: RunState, step: StepState, context: JobContext): Promise<Executed> {
  const startedAt = deps.now();
  try {
    const writes = step.effect !== 'read';
    const parent = run.snapshot ?? '';
    if (writes && step.attempt > 1) {
      await deps.workspaces.quiesce(run.id);
      await deps.workspaces.restore({ runId: run.id, snapshot: parent });
    }
    const outcome = await call(deps, run, step, context);
    const reason = abortReason(context.signal);
    if (reason === 'shutdown') throw new HandBack();
    if (reason === 'lock-lost')
      throw new EngineError('superseded', 'the lock of the job was lost; another worker has it');
    const snapshot = writes && reason !== 'canceled' ? await snapshotOf(deps, run, step, outcome) : undefined;
    const error = outcome.status === 'succeeded' ? {} : { error: outcome.error };
    return {
      kind: 'result',
      result: {
        attempt: step.attempt,
        status: reason === 'canceled' ? 'killed' : outcome.status,
        ...(outcome.value === undefined ? {} : { value: await toPayload(deps.blobs, outcome.value) }),
        ...(reason === 'canceled' ? { error: { code: 'ECANCELED', message: 'The run was canceled.' } } : error),
        duration_ms: deps.now() - startedAt,
        ...(outcome.capabilities === undefined ? {} : { capabilities: outcome.capabilities }),
        ...(snapshot === undefined ? {} : { snapshot: { ...snapshot, parent } }),
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

async function call(deps: WorkerDeps, run: RunState, step: StepState, { signal }: JobContext): Promise<Outcome> {
  const spec = await readSpec(deps, run);
  const args = await fromPayload(deps.blobs, step.args);
  return deps.executor.execute(
    { toolset: run.header.toolset, tool: step.call.tool, args },
    {
      runId: run.id,
      stepId: step.id,
      attempt: step.attempt,
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

const snapshotOf = (deps: WorkerDeps, run: RunState, step: StepState, outcome: Outcome) =>
  deps.workspaces.snapshot({
    runId: run.id,
    parent: run.snapshot ?? '',
    message: `${step.call.tool} (${step.id}, attempt ${step.attempt})`,
    ...(outcome.touched === undefined ? {} : { paths: outcome.touched }),
  });
