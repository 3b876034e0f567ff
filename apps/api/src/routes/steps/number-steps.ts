import type { StepState } from '@holdpoint/engine';

/** A step with its number, as fork and undo take it; null: it was undone, and does not count any more. */
export interface NumberedStep {
  step: StepState;
  number: number | null;
}

/** Steps in the order they were planned; one that was undone comes before the one that was made in its place. */
export function numberSteps(steps: readonly StepState[]): NumberedStep[] {
  let count = 0;
  return steps.toSorted(byPlan).map((step) => ({ step, number: step.status === 'undone' ? null : ++count }));
}

/** Ids of one kind sort by the time they were made. */
const byPlan = (a: StepState, b: StepState): number =>
  a.call.turn - b.call.turn || a.call.index - b.call.index || (a.id < b.id ? -1 : 1);
