import type { EventOf, Problem } from '@holdpoint/contract';
import { openIs, type RunState, runIs, type Transition, turnIs } from '../model.ts';
import { type PlannerOutput, planTurn } from './plan-turn.ts';

const betweenTurns = (run: RunState) => [runIs('running'), turnIs(run.turn), openIs(0)];

/** The instructions of the model. */
export const instruct = (run: RunState, data: EventOf<'context.instructed'>['data']): Transition => ({
  if: betweenTurns(run),
  events: [{ type: 'context.instructed', data }],
});

/** What stands for older turns in later requests. */
export const compact = (run: RunState, data: EventOf<'context.compacted'>['data']): Transition => ({
  if: betweenTurns(run),
  events: [{ type: 'context.compacted', data }],
});

/** Records a turn without steps, and pauses: only a person can say how to continue. */
export function pauseAfterTurn(run: RunState, reason: Problem, output: PlannerOutput): Transition {
  const turn = planTurn(run, { ...output, steps: [] });
  return { ...turn, events: [...turn.events, { type: 'run.paused', data: { reason, from: 'running' } }] };
}
