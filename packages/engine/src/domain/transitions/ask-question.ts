import type {
  AgentsTotal,
  ApprovalTerms,
  EventOf,
  NewEvent,
  OutsideQuestion,
  Payload,
  Shown,
} from '@holdpoint/contract';
import {
  attemptRuns,
  type Condition,
  fieldIs,
  leaseIs,
  parkedIs,
  type RunState,
  runField,
  runIs,
  type StepState,
  seqIs,
  snapshotIs,
  type Transition,
} from '../model.ts';
import { isWaitingForModel } from './conversation.ts';
import { snapshotted, type TakenSnapshot } from './snapshotted.ts';

/**
 * A run is `waiting` while any approval is open. Every transition that opens or closes approvals adds these conditions and events. The
 * number of open approvals is a condition, so the second of two racing writers reads the run again.
 */
export function parkedChange(run: RunState, by: number): { if: Condition[]; events: NewEvent[] } {
  const conditions = [parkedIs(run.parked), runIs(run.status)];
  const after = run.parked + by;
  if (run.status === 'running' && after > 0)
    return { if: conditions, events: [{ type: 'run.waiting', data: { for: 'approval' } }] };
  if (run.status === 'waiting' && after === 0) {
    return {
      if: conditions,
      events: [{ type: 'run.resumed', data: { after: 'approval', status: 'running', turn: run.turn } }],
    };
  }
  return { if: conditions, events: [] };
}

/** Every open step of the turn waits for sub-agents, and the sub-agents wait, too. */
export const waitForAgents = (run: RunState): Transition => ({
  if: [runIs('running'), seqIs(run.seq)],
  events: [{ type: 'run.waiting', data: { for: 'task' } }],
});

/** A step or a sub-agent of the run can continue. */
export const stopWaiting = (run: RunState): Transition => ({
  if: [runIs('waiting'), parkedIs(0), seqIs(run.seq)],
  events: [resumedAfterTask(run)],
});

/** No sub-agent has reported since the caller read the run. */
export const totalIs = (run: RunState) => fieldIs(runField.agents_total, run.agents_total);

/** A run waits for an approval of its own or for a waiting sub-agent. The run resumes when neither is left. */
export function totalChange(run: RunState, total: AgentsTotal): { if: Condition[]; events: NewEvent[] } {
  const { awaits_calls, model_wait } = run;
  const waitsForAgents = run.status === 'waiting' && awaits_calls === undefined && !isWaitingForModel(run);
  const isOver = waitsForAgents && run.parked === 0 && total.waiting === 0;
  return {
    if: [
      totalIs(run),
      runIs(run.status),
      parkedIs(run.parked),
      fieldIs(runField.awaits_calls, awaits_calls),
      fieldIs(runField.model_wait, model_wait),
    ],
    events: isOver ? [resumedAfterTask(run)] : [],
  };
}

const resumedAfterTask = ({ turn }: RunState): NewEvent => ({
  type: 'run.resumed',
  data: { after: 'task', status: 'running', turn },
});

/** A question of the other side of a call, as it is recorded. */
export interface NewQuestion {
  question: Payload<OutsideQuestion>;
  state: EventOf<'step.asked'>['data']['state'];
  /** What the call changed up to its question. */
  snapshot: TakenSnapshot | undefined;
}

/** Number of the next question of a call, from 1. */
export const nextRound = ({ asked }: Pick<StepState, 'asked'>): number => (asked?.round ?? 0) + 1;

/**
 * The running attempt ends with a question: the call parks until a person answers, and keeps what it changed so far. The answer queues the
 * call again.
 */
export function askQuestion(
  run: RunState,
  step: StepState,
  {
    question,
    state,
    snapshot,
    ...asked
  }: NewQuestion & {
    approvalId: string;
    expiresAt: string;
    reason: string;
    preview: Payload<Shown>;
    /** Whether the call had been let run by a decision on it. */
    decided: boolean;
    /** The part of the decision's digest for the question. */
    uses: string;
    terms: ApprovalTerms;
  },
): Transition {
  const waiting = parkedChange(run, 1);
  const { id: step_id, attempt } = step;
  const { approvalId: approval_id, expiresAt: expires_at, reason, preview, uses, terms, decided } = asked;
  return {
    if: [...waiting.if, ...attemptRuns(step_id, attempt), leaseIs(run.lease), snapshotIs(run.snapshot ?? '')],
    events: [
      ...snapshotted(step, snapshot),
      {
        type: 'step.asked',
        step_id,
        data: { attempt, round: nextRound(step), question, state, approval_id, decided },
      },
      {
        type: 'approval.requested',
        step_id,
        data: {
          ...{ approval_id, kind: 'input', reason, preview, uses, expires_at },
          snapshot: snapshot?.snapshot ?? run.snapshot ?? '',
          risk: step.call.risk,
          ...terms,
          allowed_decisions: ['respond', 'reject'],
        },
      },
      ...waiting.events,
    ],
  };
}
