import type { CallGate, Effect, EventOf, NewEvent, Payload, Problem, Risk, Verdict } from '@holdpoint/contract';
import { openIs, type RunState, runIs, type Transition, turnIs } from '../model.ts';

/** A call of a turn to be recorded. With `error` the call settles now and never runs. */
export interface TurnStep {
  id: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: Payload;
  effect: Effect;
  risk: Risk;
  gate?: CallGate;
  sequential?: true;
  beside?: true;
  looks?: true;
  /** Planned in plan mode. */
  planning?: true;
  verdict?: Verdict;
  /** The policies behind the verdict. */
  policies?: string;
  /** The arguments as the caller wrote them, when validation changed them. */
  written?: Payload;
  error?: Problem;
  /** A caller canceled the call before its turn: the call settles as canceled, with `error`. */
  isCanceled?: boolean | undefined;
  /** Why the call passes the gate now. */
  passes?: string;
}

/** The message of a planner, its usage, and the inputs read by the planner. */
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
