import { z } from 'zod';
import type { EventOf, NewEvent } from '../events.ts';
import type { Payload } from '../payload.ts';
import type { RunState, StepState } from '../state.ts';
import { attemptIs, runIs, snapshotIs, stepIs, type Transition } from '../transition.ts';
import type { Problem } from '../vocabulary.ts';
import { isOrdered } from './gate-steps.ts';
import { parkedChange } from './waiting.ts';

/** Attempt n begins: from here on every write of an earlier attempt fails its condition. */
export function startAttempt(step: StepState, worker: string): Transition {
  const bound = isOrdered(step) && step.approved_snapshot !== undefined ? [snapshotIs(step.approved_snapshot)] : [];
  return {
    if: [runIs('running', 'waiting'), stepIs(step.id, 'queued'), attemptIs(step.id, step.attempt), ...bound],
    events: [{ type: 'step.started', step_id: step.id, data: { attempt: step.attempt + 1, worker } }],
  };
}

export interface AttemptResult {
  attempt: number;
  status: 'succeeded' | 'failed' | 'timed_out' | 'killed';
  value?: Payload;
  error?: Problem;
  duration_ms: number;
  capabilities?: unknown;
  snapshot?: { snapshot: string; parent: string; files_changed: number; skipped: number };
}

/** The outcome of the running attempt, with the snapshot it left, as one entry. */
export function settleAttempt(stepId: string, result: AttemptResult): Transition {
  const { attempt, status, snapshot, capabilities, ...rest } = result;
  const events: NewEvent[] = [];
  if (snapshot !== undefined) {
    events.push({ type: 'workspace.snapshotted', step_id: stepId, data: { attempt, ...snapshot } });
  }
  const data = {
    attempt,
    ...rest,
    ...(capabilities === undefined ? {} : { capabilities: z.json().parse(capabilities) }),
  };
  events.push({ type: `step.${status}`, step_id: stepId, data });
  return { if: [stepIs(stepId, 'running'), attemptIs(stepId, attempt)], events };
}

/** A connection of the running attempt. Told for the record; changes nothing else. */
export const recordConnection = (stepId: string, attempt: number, connection: Connection): Transition => ({
  if: [attemptIs(stepId, attempt)],
  events: [{ type: 'network.connected', step_id: stepId, data: { attempt, ...connection } }],
});

type Connection = Omit<EventOf<'network.connected'>['data'], 'attempt'>;

/** The attempt is over without an outcome; what it did is undone or did not matter, so the step may run again. */
export function retryAttempt(step: StepState, reason: Problem, options: { pause: boolean }): Transition {
  const events: NewEvent[] = [{ type: 'step.retried', step_id: step.id, data: { attempt: step.attempt, reason } }];
  if (options.pause) events.push({ type: 'run.paused', data: { reason } });
  return {
    if: [
      stepIs(step.id, 'running'),
      attemptIs(step.id, step.attempt),
      ...(options.pause ? [runIs('running', 'waiting')] : []),
    ],
    events,
  };
}

/** Nobody knows whether an external effect happened: a person decides. It is never run again by itself. */
export function doubtAttempt(
  run: RunState,
  step: StepState,
  approval: { id: string; expiresAt: string; reason: Problem },
): Transition {
  const waiting = parkedChange(run, 1);
  return {
    if: [...waiting.if, stepIs(step.id, 'running'), attemptIs(step.id, step.attempt)],
    events: [
      { type: 'step.unknown', step_id: step.id, data: { attempt: step.attempt, reason: approval.reason } },
      {
        type: 'approval.requested',
        step_id: step.id,
        data: {
          approval_id: approval.id,
          kind: 'in_doubt',
          snapshot: run.snapshot ?? '',
          reason: approval.reason.message,
          risk: 'high',
          allowed_decisions: ['approve', 'respond', 'reject'],
          expires_at: approval.expiresAt,
        },
      },
      ...waiting.events,
    ],
  };
}

/** A step of a run that is being canceled settles; an open approval closes with it. */
export function cancelStep(step: StepState, approvalOpen: boolean): Transition {
  const error: Problem = { code: 'ECANCELED', message: 'The run was canceled.' };
  const ran = step.status === 'running';
  const events: NewEvent[] = [];
  if (approvalOpen && step.approval !== undefined) {
    events.push({
      type: 'approval.canceled',
      step_id: step.id,
      data: { approval_id: step.approval, reason: 'the run was canceled' },
    });
  }
  events.push(
    ran
      ? { type: 'step.killed', step_id: step.id, data: { attempt: step.attempt, error } }
      : { type: 'step.canceled', step_id: step.id, data: { attempt: null, error } },
  );
  return { if: [runIs('canceling'), stepIs(step.id, step.status), attemptIs(step.id, step.attempt)], events };
}
