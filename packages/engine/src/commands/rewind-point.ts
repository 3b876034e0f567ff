import { isSettled } from '@holdpoint/contract';
import type { RunState, StepState } from '../domain/state.ts';
import { EngineError } from '../errors.ts';

/** A moment in a run's past: everything up to and with one step. */
export interface RewindPoint {
  /** The last step that is kept; null: none is. */
  to: string | null;
  /** The last turn of which something is kept; 0 or the turn it was forked at when nothing is. */
  turn: number;
  /** Steps of that turn, in order. `again` is empty when the turn is kept whole. */
  kept: StepState[];
  again: StepState[];
  /** Every step after the moment, those of `again` included. */
  after: StepState[];
  /** Steps before and with the moment, in order. */
  before: StepState[];
  /** The snapshot that the run began with. */
  began: string;
}

/**
 * Finds the moment after a step. The order is that of the plan: turn by turn, and within a turn as the planner wrote it; a workspace
 * changes in that order too.
 * @param steps all of the run, in order
 * @param to a step's id or its number in the list, from 1; 0: before the first
 * @throws EngineError `step_not_found`, `step_not_settled`, `workspace_not_ready`
 */
export function rewindPoint(run: RunState, steps: readonly StepState[], to: string | number): RewindPoint {
  const alive = steps.filter((step) => step.status !== 'undone');
  const count = typeof to === 'number' ? to : alive.findIndex((step) => step.id === to) + 1;
  if (count > alive.length || (typeof to === 'string' && count === 0)) {
    throw new EngineError('step_not_found', `the run ${run.id} has no step ${to}`);
  }
  const before = alive.slice(0, count);
  const open = before.find((step) => !isSettled(step.status));
  if (open) throw new EngineError('step_not_settled', `the step ${open.id} is ${open.status}`);
  const began = run.forked_from?.snapshot ?? run.base;
  if (began === undefined) throw new EngineError('workspace_not_ready', `the run ${run.id} has no workspace yet`);
  const last = before.at(-1);
  const turn = last?.call.turn ?? run.forked_from?.turn ?? 0;
  const inTurn = (step: StepState) => step.call.turn === turn;
  const after = alive.slice(count);
  return {
    to: last?.id ?? null,
    turn,
    kept: before.filter(inTurn),
    again: last === undefined ? [] : after.filter(inTurn),
    after,
    before,
    began,
  };
}
