import type { AgentsTotal, NewEvent } from '@holdpoint/contract';
import { runField } from '../fields.ts';
import type { RunState } from '../state.ts';
import { type Condition, parkedIs, runIs, seqIs, type Transition } from '../transition.ts';

/**
 * A run is `waiting` while any approval is open. Whoever opens or closes one keeps that true: with the number of open approvals as a
 * condition, so that of two racing writers the second looks again.
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

/** All that is left of the run's turn waits for sub-agents that wait themselves. */
export const waitForAgents = (run: RunState): Transition => ({
  if: [runIs('running'), seqIs(run.seq)],
  events: [{ type: 'run.waiting', data: { for: 'task' } }],
});

/** Something of the run moves again. */
export const stopWaiting = (run: RunState): Transition => ({
  if: [runIs('waiting'), parkedIs(0), seqIs(run.seq)],
  events: [resumedAfterTask(run)],
});

/** Its sub-agents have reported nothing since. */
export const totalIs = ({ agents_total: total }: RunState): Condition => ({
  field: runField.agentsTotal,
  is: [total === undefined ? '' : JSON.stringify(total)],
});

/** A run waits for an approval of its own, or for a sub-agent that waits: when neither is left, it does not. */
export function totalChange(run: RunState, total: AgentsTotal): { if: Condition[]; events: NewEvent[] } {
  const isOver = run.status === 'waiting' && run.parked === 0 && total.waiting === 0;
  return {
    if: [totalIs(run), runIs(run.status), parkedIs(run.parked)],
    events: isOver ? [resumedAfterTask(run)] : [],
  };
}

const resumedAfterTask = ({ turn }: RunState): NewEvent => ({
  type: 'run.resumed',
  data: { after: 'task', status: 'running', turn },
});
