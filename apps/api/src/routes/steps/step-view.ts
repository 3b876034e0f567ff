import type { Json } from '@holdpoint/contract';
import type { Attempt, Step, StepDetail } from '@holdpoint/contract/wire';
import * as engineApi from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

/** A step in a list. */
export const toStep = (runId: string, { step, number }: engineApi.NumberedStep, result: Step['result']): Step => ({
  ...shared(runId, step),
  number,
  args: step.args,
  result,
});

export const toStepDetail = (runId: string, step: engineApi.StepState, args: Json, result: Json): StepDetail => ({
  ...shared(runId, step),
  args,
  result,
  reads: step.call.reads ?? null,
  verdict: step.call.verdict ?? null,
});

/** A single step, read whole. */
export async function readStepDetail(
  { engine }: Pick<ApiDeps, 'engine'>,
  run: engineApi.RunState,
  step: engineApi.StepState,
): Promise<StepDetail> {
  const [args, result = null] = await Promise.all([engine.read(step.args), engine.runs.result(run, step)]);
  return toStepDetail(run.id, step, args, result);
}

/** A step, or the call of an open run that waits for its turn. @throws EngineError `step_not_found` */
export async function showStep(deps: Pick<ApiDeps, 'engine' | 'catalog'>, id: string): Promise<StepDetail> {
  const waiting = await deps.engine.runs.waitingCall(id);
  if (waiting !== undefined) return toWaitingStep(deps, waiting.run, waiting.call);
  const { run, step } = await deps.engine.runs.step(id);
  return readStepDetail(deps, run, step);
}

/** A call in the queue behind other calls of its run, in the form of its future step. */
export function toWaitingStep(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  { id: runId, header: { toolset } }: Pick<engineApi.RunState, 'id' | 'header'>,
  { id, index, call: { tool, args, name }, received_at, isDropped, cancel }: engineApi.WaitingCall,
): StepDetail {
  const described = catalog.describe({ toolset, tool, args });
  const { effect, risk } = described.ok ? described : ({ effect: 'read', risk: 'low' } as const);
  return {
    ...{ id, run_id: runId, turn: null, index, name: name ?? null, tool, effect, risk, args },
    ...endOf({ isDropped, cancel }),
    created_at: received_at,
    ...{ attempts: 0, approval_id: null, worker: null, snapshot: null, duration_ms: null, started_at: null },
    ...{ result: null, reads: null, verdict: null },
  };
}

/** The run makes neither a dropped nor a canceled call. */
function endOf({ isDropped, cancel }: Pick<engineApi.WaitingCall, 'isDropped' | 'cancel'>) {
  if (cancel !== undefined) {
    const error = engineApi.waitingCallError(cancel);
    return { status: 'canceled', error, cancel: { message: null, ...cancel }, settled_at: cancel.at } as const;
  }
  const none = { cancel: null, settled_at: null };
  return isDropped
    ? ({ ...none, status: 'canceled', error: dropped } as const)
    : ({ ...none, status: 'pending', error: null } as const);
}

const dropped = { code: 'ECANCELED', message: 'The run was canceled before it made the call.' };

function shared(runId: string, step: engineApi.StepState): Omit<Step, 'number' | 'args' | 'result'> {
  const { call, outcome } = step;
  return {
    id: step.id,
    run_id: runId,
    turn: call.turn,
    index: call.index,
    name: call.name ?? null,
    tool: call.tool,
    effect: step.effect,
    risk: call.risk,
    status: step.status,
    attempts: step.attempt,
    approval_id: step.approval ?? null,
    worker: step.worker ?? null,
    snapshot: step.snapshot ?? null,
    error: outcome?.error ?? null,
    cancel: step.cancel === undefined ? null : { message: null, ...step.cancel },
    duration_ms: outcome?.duration_ms ?? null,
    created_at: step.created_at,
    started_at: step.started_at ?? null,
    settled_at: step.settled_at ?? null,
  };
}

export const toAttempt = (attempt: engineApi.Attempt): Attempt => ({
  number: attempt.number,
  worker: attempt.worker,
  started_at: attempt.started_at,
  ended_at: attempt.ended_at ?? null,
  end: attempt.end ?? null,
  reason: attempt.reason ?? null,
  duration_ms: attempt.duration_ms ?? null,
  capabilities: attempt.capabilities ?? null,
});
