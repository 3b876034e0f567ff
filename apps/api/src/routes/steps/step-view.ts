import type { Json } from '@holdpoint/contract';
import type { Attempt, Step, StepDetail } from '@holdpoint/contract/wire';
import type { Attempt as LoggedAttempt, StepState } from '@holdpoint/engine';
import type { NumberedStep } from './number-steps.ts';

/** A step as it stands in a list. */
export const toStep = (runId: string, { step, number }: NumberedStep, result: Step['result']): Step => ({
  ...shared(runId, step),
  number,
  args: step.args,
  result,
});

/** A step by itself, with its arguments and its result. */
export const toStepDetail = (runId: string, step: StepState, args: Json, result: Json): StepDetail => ({
  ...shared(runId, step),
  args,
  result,
  verdict: step.call.verdict ?? null,
});

function shared(runId: string, step: StepState): Omit<Step, 'number' | 'args' | 'result'> {
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
    duration_ms: outcome?.duration_ms ?? null,
    created_at: step.created_at,
    started_at: step.started_at ?? null,
    settled_at: step.settled_at ?? null,
  };
}

export const toAttempt = (attempt: LoggedAttempt): Attempt => ({
  number: attempt.number,
  worker: attempt.worker,
  started_at: attempt.started_at,
  ended_at: attempt.ended_at ?? null,
  end: attempt.end ?? null,
  reason: attempt.reason ?? null,
  duration_ms: attempt.duration_ms ?? null,
  capabilities: attempt.capabilities ?? null,
});
