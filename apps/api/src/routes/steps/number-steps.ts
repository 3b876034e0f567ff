import type { StepState } from '@holdpoint/engine';

/** A step with its number, as fork and undo take it; null when the step was undone. */
export interface NumberedStep {
  step: StepState;
  number: number | null;
}

/** Steps in the order they were planned; an undone step comes before its replacement. */
export function numberSteps(steps: readonly StepState[]): NumberedStep[] {
  let count = 0;
  return steps.toSorted(byPlan).map((step) => ({ step, number: step.status === 'undone' ? null : ++count }));
}

/** Ids of one kind sort by creation time. */
const byPlan = (a: StepState, b: StepState): number =>
  a.call.turn - b.call.turn || a.call.index - b.call.index || (a.id < b.id ? -1 : 1);
