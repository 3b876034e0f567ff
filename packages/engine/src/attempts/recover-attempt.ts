import type { Problem } from '@holdpoint/contract';
import { requestApproval } from '../approvals/index.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import * as runLog from '../log/index.ts';

/** An attempt that ended without an outcome, with the reason. */
export interface Interruption {
  reason: Problem;
  /** @default true */
  retryable?: boolean;
  error?: unknown;
  /** The call was not made: nothing can have taken effect. */
  neverBegan?: true;
}

/** After this many attempts without an outcome the run pauses, because the step may be killing its workers. */
const attemptsPerRound = 5;

/**
 * The effect of a lost attempt decides: a `read` runs again; a `workspace` step runs again on a new tree, made from the snapshot before
 * the step; an `external` step is parked until a person says what happened. A step with a requested cancel settles.
 */
export async function recoverAttempt(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  interruption: Interruption & { lastTry: boolean },
): Promise<void> {
  deps.logger.warn(
    { run_id: run.id, step_id: step.id, attempt: step.attempt, reason: interruption.reason, err: interruption.error },
    'an attempt ended without an outcome',
  );
  if (await endCanceled(deps, run.id, step)) return;
  if (step.effect === 'external' && domain.mayWrite(step) && !interruption.neverBegan)
    return park(deps, run, step, interruption.reason);
  const exhausted =
    interruption.lastTry || interruption.retryable === false || (step.interruptions + 1) % attemptsPerRound === 0;
  const pause = exhausted && (run.status === 'running' || run.status === 'waiting');
  const { ok } = await runLog.append(deps, run.id, domain.retryAttempt(run, step, interruption.reason, { pause }));
  if (!ok) await endCanceled(deps, run.id, step);
}

async function park(deps: WorkerDeps, run: domain.RunState, step: domain.StepState, reason: Problem): Promise<void> {
  const preview = await runLog.toPayload(deps.blobs, await everythingKnown(deps, run, step, reason));
  const before = step.approval === undefined ? undefined : await runLog.readApproval(deps.redis, run.id, step.approval);
  const deciders = before?.request.deciders ?? step.call.verdict?.deciders;
  const confirm = before?.request.confirm ?? step.call.verdict?.confirm;
  await requestApproval(deps, run, async (open) => {
    const { approvalId: id, expiresAt } = await open();
    const edited_by = before && domain.editorsOf(before);
    return domain.recordIndeterminate(run, step, { id, expiresAt, reason, preview, deciders, confirm, edited_by });
  });
}

/** Everything that helps a person to find out whether the call took effect. */
async function everythingKnown(deps: WorkerDeps, run: domain.RunState, step: domain.StepState, reason: Problem) {
  const connections = [];
  let started: { worker: string; at: string } | undefined;
  for await (const event of runLog.readWholeLog(deps.redis, run.id)) {
    if (!('step_id' in event) || event.step_id !== step.id) continue;
    if (event.type === 'step.started' && event.data.attempt === step.attempt) {
      started = { worker: event.data.worker, at: event.time };
    }
    if (event.type === 'network.connected' && event.data.attempt === step.attempt) {
      const { attempt, ...connection } = event.data;
      connections.push({ ended_at: event.time, ...connection });
    }
    if (event.type === 'network.counted' && event.data.attempt === step.attempt) {
      for (const counted of event.data.counts) connections.push({ ended_at: event.time, ...counted });
    }
  }
  return {
    kind: 'indeterminate',
    tool: step.call.tool,
    args: await runLog.fromPayload(deps.blobs, step.args),
    attempt: step.attempt,
    idempotency_key: step.id,
    worker: started?.worker ?? null,
    started_at: started?.at ?? null,
    lost_because: reason,
    // A connection is recorded when it ends: the connections open at the worker's death are missing.
    connections,
    workspace: 'What it changed in the workspace is dropped.',
  };
}

/**
 * Settles an attempt without an outcome, or an attempt about to wait for a person or a task, when a caller canceled its step: the call is
 * never made again. The attempt's changes are dropped with the tree.
 * @returns whether the step settled as canceled
 */
export async function endCanceled(
  deps: Pick<WorkerDeps, 'redis' | 'now'>,
  runId: string,
  { id, attempt }: { id: string; attempt: number },
): Promise<boolean> {
  let isEnded = false;
  await runLog.retryWhileContended(id, async () => {
    const found = await runLog.readStep(deps.redis, runId, id);
    const { step, run } = found ?? {};
    if (run === undefined || step?.cancel === undefined || step.status !== 'running' || step.attempt !== attempt) {
      return true;
    }
    // A run that is being canceled settles its steps as canceled.
    if (run.status === 'canceling') return true;
    isEnded = (await runLog.append(deps, runId, domain.settleCanceled(run, step))).ok;
    return isEnded;
  });
  return isEnded;
}
