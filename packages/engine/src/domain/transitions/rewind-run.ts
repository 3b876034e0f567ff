import type { Grant, NewEvent, Payload, RefusedCalls } from '@holdpoint/contract';
import { timesOf } from '../call-times.ts';
import { parkedIs, type RunState, runIs, type StepState, seqIs, type Transition } from '../model.ts';
import type { TurnStep } from './run-life.ts';

/** The kept part of a run's past, and the steps which replace the rest. */
export interface Rewind {
  to: string | null;
  turn: number;
  snapshot: string;
  /** The kept steps of turn `turn`. */
  kept: readonly StepState[];
  /** The other steps of turn `turn`, which run again as new steps. */
  again: readonly (TurnStep & { index: number })[];
  /** Every undone step. */
  undone: readonly StepState[];
  /** Background commands whose changes are undone, although their steps stay. */
  lostTasks: readonly string[];
  /** Open approvals of undone steps. */
  approvals: readonly { id: string; stepId: string }[];
  by: string;
}

/** Undoes the last steps of a paused or ended run. The log keeps them; the run continues as if they had never been planned. */
export function rewindRun(run: RunState, rewind: Rewind): Transition {
  const { to, turn, snapshot, kept, again, undone, lostTasks, approvals, by } = rewind;
  return {
    if: [runIs(run.status), parkedIs(run.parked), seqIs(run.seq)],
    events: [
      ...approvals.map(({ id, stepId }): NewEvent => {
        const data = { approval_id: id, reason: 'its step was undone' };
        return { type: 'approval.canceled', step_id: stepId, data };
      }),
      {
        type: 'run.rewound',
        data: {
          by,
          to_step: to,
          turn,
          steps: [...kept, ...again].map((step) => step.id),
          open: again.length,
          snapshot,
          planning: undone.some(({ id }) => id === run.plan_approved) || undefined,
          lost_tasks: lostTasks.length === 0 ? undefined : [...lostTasks],
          undone: undone.map(({ id, call: { name } }) => ({ id, name })),
        },
      },
      ...again.flatMap((step) => recreated(step, turn)),
    ],
  };
}

function recreated({ id, error, ...call }: TurnStep & { index: number }, turn: number): NewEvent[] {
  const event: NewEvent = { type: 'step.created', step_id: id, data: { turn, ...call } };
  if (error === undefined) return [event];
  return [event, { type: 'step.failed', step_id: id, data: { attempt: null, error } }];
}

/** A step of the original run, and the decisions for its execution there. */
interface Inherited {
  step: StepState;
  grants: readonly Grant[];
}

/** The first turn of a fork, when only a part is kept: recorded again with the outcomes of its kept steps. */
export interface PartialTurn {
  turn: number;
  message: string;
  answer?: Payload;
  refused?: RefusedCalls;
  steps: readonly (TurnStep & { index: number; inherited?: Inherited })[];
}

export function inheritTurn({ turn, message, answer, refused, steps }: PartialTurn): NewEvent[] {
  return [
    {
      type: 'turn.planned',
      data: {
        ...{ turn, steps: steps.map((step) => step.id), message, answer, refused },
      },
    },
    ...steps.flatMap(({ inherited, ...step }) => [
      ...recreated(step, turn),
      ...(inherited === undefined ? [] : [outcomeOf(step.id, inherited)]),
    ]),
  ];
}

function outcomeOf(stepId: string, { step: from, grants }: Inherited): NewEvent {
  const { value, error, instead, long } = from.outcome ?? {};
  const granted = grants.length === 0 ? undefined : [...grants];
  const times = timesOf(from, { deterministic: false });
  const data = { attempt: null, value, error, instead, long, inherited_from: from.id, grants: granted, times };
  switch (from.status) {
    case 'succeeded':
    case 'failed':
    case 'killed':
    case 'timed_out':
    case 'rejected':
    case 'expired':
    case 'canceled':
      return { type: `step.${from.status}`, step_id: stepId, data };
    default:
      throw new TypeError(`the step ${from.id} is ${from.status}`);
  }
}
