import type { Effect, EventOf, NewEvent, Payload, Problem, Risk, Verdict } from '@holdpoint/contract';
import { openIs, type RunState, runIs, type Transition, turnIs } from '../model.ts';

/** A call of a turn that is about to be recorded. With `error` it settles now and never runs. */
export interface TurnStep {
  id: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: Payload;
  effect: Effect;
  risk: Risk;
  gate?: 'input';
  sequential?: true;
  beside?: true;
  looks?: true;
  verdict?: Verdict;
  /** The policies that made the verdict. */
  policies?: string;
  /** The arguments as the caller wrote them, when validation changed them. */
  written?: Payload;
  error?: Problem;
  /** A caller canceled the call before its turn: it settles as canceled, with `error`. */
  isCanceled?: boolean | undefined;
  /** Why it passes the gate now. */
  passes?: string;
}

/** The message of a planner, its usage, and what it had read. */
export type PlannerOutput = Omit<EventOf<'turn.planned'>['data'], 'turn' | 'steps'>;

/** Records the turn and all of its steps in one append, or nothing. */
export function planTurn(run: RunState, { steps, ...output }: PlannerOutput & { steps: TurnStep[] }): Transition {
  const number = run.turn + 1;
  return {
    if: [runIs('running'), turnIs(run.turn), openIs(0)],
    events: [
      {
        type: 'turn.planned',
        data: { turn: number, steps: steps.map((step) => step.id), ...output },
      },
      ...steps.flatMap((step, index) => created(step, number, index)),
    ],
  };
}

function created({ id, error, isCanceled, passes, ...call }: TurnStep, turn: number, index: number): NewEvent[] {
  const event: NewEvent = { type: 'step.created', step_id: id, data: { turn, index, ...call } };
  if (passes !== undefined) return [event, { type: 'step.queued', step_id: id, data: { reason: passes } }];
  if (error === undefined) return [event];
  return [event, { type: isCanceled ? 'step.canceled' : 'step.failed', step_id: id, data: { attempt: null, error } }];
}
