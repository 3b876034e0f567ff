import type * as contract from '@holdpoint/contract';
import * as model from '../model.ts';
import { isWaitingForModel } from './conversation.ts';
import { snapshotted, type TakenSnapshot } from './snapshotted.ts';

/**
 * A run is `waiting` while any approval is open. Every transition that opens or closes approvals adds these conditions and events. The
 * number of open approvals is a condition, so the second of two racing writers reads the run again.
 */
export function parkedChange(run: model.RunState, by: number): { if: model.Condition[]; events: contract.NewEvent[] } {
  const conditions = [model.parkedIs(run.parked), model.runIs(run.status)];
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
export const waitForAgents = (run: model.RunState): model.Transition => ({
  if: [model.runIs('running'), model.seqIs(run.seq)],
  events: [{ type: 'run.waiting', data: { for: 'task' } }],
});

/** A step or a sub-agent of the run can continue. */
export const stopWaiting = (run: model.RunState): model.Transition => ({
  if: [model.runIs('waiting'), model.parkedIs(0), model.seqIs(run.seq)],
  events: [resumedAfterTask(run)],
});

/** No sub-agent has reported since the caller read the run. */
export const totalIs = (run: model.RunState) => model.fieldIs(model.runField.agents_total, run.agents_total);

/** A run waits for an approval of its own or for a waiting sub-agent. The run resumes when neither is left. */
export function totalChange(
  run: model.RunState,
  total: contract.AgentsTotal,
): { if: model.Condition[]; events: contract.NewEvent[] } {
  const { awaits_calls, model_wait } = run;
  const waitsForAgents = run.status === 'waiting' && awaits_calls === undefined && !isWaitingForModel(run);
  const isOver = waitsForAgents && run.parked === 0 && total.waiting === 0;
  return {
    if: [
      totalIs(run),
      model.runIs(run.status),
      model.parkedIs(run.parked),
      model.fieldIs(model.runField.awaits_calls, awaits_calls),
      model.fieldIs(model.runField.model_wait, model_wait),
    ],
    events: isOver ? [resumedAfterTask(run)] : [],
  };
}

const resumedAfterTask = ({ turn }: model.RunState): contract.NewEvent => ({
  type: 'run.resumed',
  data: { after: 'task', status: 'running', turn },
});

/** A question of the other side of a call, as it is recorded. */
export interface NewQuestion {
  question: contract.Payload<contract.OutsideQuestion>;
  state: contract.EventOf<'step.asked'>['data']['state'];
  /** What the call changed up to its question. */
  snapshot: TakenSnapshot | undefined;
}

/** Number of the next question of a call, from 1. */
export const nextRound = ({ asked }: Pick<model.StepState, 'asked'>): number => (asked?.round ?? 0) + 1;

/**
 * The running attempt ends with a question: the call parks until a person answers, and keeps what it changed so far. The answer queues the
 * call again.
 */
export function askQuestion(
  run: model.RunState,
  step: model.StepState,
  {
    question,
    state,
    snapshot,
    ...asked
  }: NewQuestion & {
    approvalId: string;
    expiresAt: string;
    reason: string;
    preview: contract.Payload<contract.Shown>;
    /** Whether the call had been let run by a decision on it. */
    decided: boolean;
    /** The part of the decision's digest for the question. */
    uses: string;
    terms: contract.ApprovalTerms;
  },
): model.Transition {
  const waiting = parkedChange(run, 1);
  const { id: step_id, attempt } = step;
  const { approvalId: approval_id, expiresAt: expires_at, reason, preview, uses, terms, decided } = asked;
  return {
    if: [
      ...waiting.if,
      ...model.attemptRuns(step_id, attempt),
      model.leaseIs(run.lease),
      model.snapshotIs(run.snapshot ?? ''),
    ],
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
